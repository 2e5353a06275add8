//! Working on what strangers wrote, on a thread that nobody waits for longer than agreed.
//!
//! Parsers and compilers take time and stack by the nesting of their input, and have mistakes of their own.
//! On this thread a panic is an error and a long silence is another. A thread that takes longer is left
//! behind and its result dropped; it holds one processor until it is done, and nothing else.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use super::compile::{is_out_of_memory, took_too_long, took_too_much_memory};
use super::limits::COMPILE_TIME;
use crate::error::{Code, Error, Result};

/// What these threads are called, so that a program's panic hook can tell theirs from its own.
pub const GUARDED_THREAD: &str = "dsh-env-guarded";

/// How often work is looked at that goes on for longer.
const LOOK: Duration = Duration::from_millis(100);

/// Parsers and compilers recurse by the nesting of their input.
const STACK_BYTES: usize = 16 * 1024 * 1024;

/// What is to be said of work that panicked.
fn crashed(panic: &(dyn Any + Send)) -> Error {
    let words = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    if words.is_some_and(is_out_of_memory) {
        return took_too_much_memory();
    }
    Error::load(
        Code::Malformed,
        "it crashed a parser or the compiler, which is a mistake in those: build the component with other options, and report it",
    )
}

/// Does the work.
///
/// # Errors
/// The work's own; `compile-limit` when it takes longer than 20 s, `malformed` when it panics.
pub(super) fn guarded<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    guarded_while(|_| false, work)
}

/// As [`guarded`], but after 20 s the work goes on for as long as `goes_on` says, given how long it has taken.
///
/// # Errors
/// As [`guarded`].
pub(super) fn guarded_while<T: Send + 'static>(
    goes_on: impl Fn(Duration) -> bool,
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let started = Instant::now();
    let (sender, receiver) = sync_channel(1);
    let guard = move || {
        // Nobody listens any more when it took too long.
        let _ = sender.send(catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(crashed(&*panic))));
    };
    thread::Builder::new().name(GUARDED_THREAD.to_owned()).stack_size(STACK_BYTES).spawn(guard).map_err(|error| {
        Error::host(Code::Internal, format!("no thread could be started ({error}): allow the process more threads"))
    })?;
    loop {
        let patience = COMPILE_TIME.saturating_sub(started.elapsed()).max(LOOK);
        match receiver.recv_timeout(patience) {
            Ok(done) => return done,
            Err(RecvTimeoutError::Timeout) if goes_on(started.elapsed()) => {}
            Err(RecvTimeoutError::Timeout) => return Err(took_too_long()),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Error::host(Code::Internal, "a thread ended without a result"));
            }
        }
    }
}
