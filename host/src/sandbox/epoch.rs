//! The clock that ends calls: a thread of the sandbox's own.
//!
//! Compiled code looks at the engine's epoch at every loop and function entry. The ticker moves the
//! epoch on every [`TICK`] while calls are under way; each call then looks at its clocks and goes on or
//! ends. A task of an asynchronous runtime could not do this: it starves while a guest spins on the only
//! core. Between calls the thread sleeps, and waking it costs nothing on a busy host, since it stays
//! awake a while after the last call.

mod handshake;

use std::sync::Arc;
use std::thread::{self, Thread};
use std::time::Duration;

use wasmtime::Engine;

use crate::error::{Code, Error, Result};
use handshake::Handshake;

/// How often a call looks at its clocks: a twentieth of the usual limit of processor time.
pub(super) const TICK: Duration = Duration::from_millis(5);

/// Ticks without a call before the thread goes to sleep.
const IDLE_TICKS: u32 = 100;

/// Ticks while calls are under way; stops with the sandbox.
pub(super) struct Ticker {
    handshake: Arc<Handshake>,
    thread: Thread,
}

/// A call under way: the epoch moves as long as one exists.
pub(super) struct Ticking<'a>(&'a Handshake);

impl Ticker {
    pub(super) fn start(engine: &Engine) -> Result<Self> {
        let handshake = Arc::new(Handshake::default());
        let (weak, theirs) = (engine.weak(), Arc::clone(&handshake));
        let handle = thread::Builder::new()
            .name("dsh-env-epoch".to_owned())
            .stack_size(128 * 1024)
            .spawn(move || {
                let mut idle = 0;
                while !theirs.is_stopped() {
                    if idle >= IDLE_TICKS {
                        theirs.sleep();
                        idle = 0;
                    }
                    thread::sleep(TICK);
                    // Once however long the sleep was: a late tick must not come in a burst.
                    let Some(engine) = weak.upgrade() else { return };
                    engine.increment_epoch();
                    idle = if theirs.is_needed() { 0 } else { idle + 1 };
                }
            })
            .map_err(|error| {
                Error::host(Code::Internal, format!("no thread could be started to watch the time of calls ({error}): allow the process more threads"))
            })?;
        Ok(Self { handshake, thread: handle.thread().clone() })
    }

    /// Keeps the epoch moving until the guard is dropped.
    pub(super) fn tick(&self) -> Ticking<'_> {
        self.handshake.begin(&self.thread);
        Ticking(&self.handshake)
    }
}

impl Drop for Ticking<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.handshake.stop(&self.thread);
    }
}
