//! Compiling what strangers wrote, on a thread that nobody waits for longer than agreed.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use wasmtime::Engine;
use wasmtime::component::Component;

use super::limits::Limits;
use super::survey::Survey;
use super::{componentize, loaded};
use crate::error::{Code, Error, Result};
use crate::text::shown;

/// How long compiling may take. A 60,000-function component takes five seconds on two cores.
const TIME: Duration = Duration::from_secs(20);

/// Stack of the compiling thread: parsers and compilers recurse by the nesting of their input.
const STACK_BYTES: usize = 16 * 1024 * 1024;

/// Compiles a component, or a core module that can become one.
///
/// A thread that takes longer is left behind and its result dropped; it holds a processor until it is
/// done, and nothing else.
///
/// # Errors
/// What is wrong with the bytes; `compile-limit` when it takes longer than 20 s.
pub(super) fn compile(engine: &Engine, ceiling: &Limits, bytes: std::sync::Arc<[u8]>) -> Result<Component> {
    let (sender, receiver) = sync_channel(1);
    let (engine, ceiling) = (engine.clone(), *ceiling);
    let work = move || {
        let compiled = catch_unwind(AssertUnwindSafe(|| compile_here(&engine, &ceiling, &bytes)));
        let crashed = |_| {
            Err(Error::load(
                Code::Malformed,
                "it crashed the compiler, which is a mistake in the compiler: build the component with other options, and report it",
            ))
        };
        // Nobody listens any more when it took too long.
        let _ = sender.send(compiled.unwrap_or_else(crashed));
    };
    let started = thread::Builder::new().name("dsh-env-compile".to_owned()).stack_size(STACK_BYTES).spawn(work);
    started.map_err(|error| {
        Error::host(
            Code::Internal,
            format!("no thread could be started to compile ({error}): allow the process more threads"),
        )
    })?;
    receiver.recv_timeout(TIME).unwrap_or_else(|why| match why {
        RecvTimeoutError::Timeout => Err(Error::load(
            Code::CompileLimit,
            format!(
                "compiling it took longer than {} s: make the component smaller, or split its largest functions",
                TIME.as_secs()
            ),
        )),
        RecvTimeoutError::Disconnected => {
            Err(Error::host(Code::Internal, "the compiling thread ended without a result"))
        }
    })
}

fn compile_here(engine: &Engine, ceiling: &Limits, bytes: &[u8]) -> Result<Component> {
    let component = componentize::component(bytes)?;
    let survey = Survey::of(&component)?;
    loaded::check_world(&survey)?;
    survey.check(ceiling)?;
    Component::from_binary(engine, &component).map_err(|error| refused(&format!("{error:#}")))
}

/// What the engine says of a component that it does not take.
fn refused(words: &str) -> Error {
    let shown = shown(words);
    if words.contains("implementation limit")
        || words.contains("Implementation limit")
        || words.contains("Code for function is too large")
    {
        return Error::load(
            Code::CompileLimit,
            format!("it is more than the compiler takes ({shown}): split its largest functions"),
        );
    }
    Error::load(
        Code::Malformed,
        format!("the engine does not take it ({shown}): build it again, without experimental features of WebAssembly"),
    )
}
