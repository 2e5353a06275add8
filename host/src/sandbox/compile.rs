//! From bytes that anybody may have written to code that can be called.

use wasmtime::Engine;

use super::engine::quick_compiler;
use super::limits::{COMPILE_BYTES, COMPILE_TIME};
use super::survey::Survey;
use super::{componentize, loaded};
use crate::error::{Code, Error, Result};
use crate::text::shown;

/// Bytes from which on a component is compiled quickly rather than well: an interpreter and its library. Well, that
/// takes twice as long, of a time that is limited; its calls take milliseconds either way.
const LARGE_BYTES: usize = 1024 * 1024;

/// A component as machine code, and what has to be known before it is called.
pub(super) struct Compiled {
    /// What the engine compiled, to be called by one of the same version and settings.
    pub(super) code: Vec<u8>,
    /// The names of what it imports, in order.
    pub(super) imports: Vec<String>,
}

/// Compiles a component, or a core module that can become one. To be [guarded](super::guarded).
///
/// # Errors
/// What is wrong with the bytes.
pub(super) fn compile(engine: &Engine, bytes: &[u8]) -> Result<Compiled> {
    let component = componentize::component(bytes)?;
    let survey = Survey::of(&component)?;
    loaded::check_world(&survey)?;
    survey.check()?;
    let quick = if component.len() < LARGE_BYTES { None } else { Some(quick_compiler()?) };
    let code = quick
        .as_ref()
        .unwrap_or(engine)
        .precompile_component(&component)
        .map_err(|error| refused(&format!("{error:#}")))?;
    Ok(Compiled { code, imports: survey.imports })
}

/// The error of a component that was compiled for too long.
pub(super) fn took_too_long() -> Error {
    Error::load(
        Code::CompileLimit,
        format!(
            "compiling it took longer than {} s: make the component smaller, or split its largest functions",
            COMPILE_TIME.as_secs()
        ),
    )
}

/// The error of a component that was compiled with too much memory.
pub(super) fn took_too_much_memory() -> Error {
    Error::load(
        Code::CompileLimit,
        format!(
            "compiling it took more than {} MiB of memory: make the component smaller, or split its largest functions",
            COMPILE_BYTES / 1024 / 1024
        ),
    )
}

/// Whether a compiler's last words say that there was no more memory: some of its parts return that as an error,
/// others panic.
pub(super) fn is_out_of_memory(words: &str) -> bool {
    words.contains("out of memory") || words.contains("out-of-memory") || words.contains("memory allocation of")
}

/// What the engine says of a component that it does not take.
fn refused(words: &str) -> Error {
    if is_out_of_memory(words) {
        return took_too_much_memory();
    }
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
