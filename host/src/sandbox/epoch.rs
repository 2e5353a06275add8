//! The clock that ends calls: a thread of the sandbox's own.
//!
//! Compiled code looks at the engine's epoch at every loop and function entry. The ticker moves the
//! epoch on every [`TICK`] while calls are under way; each call then looks at its clocks and goes on or
//! ends. A task of an asynchronous runtime could not do this: it starves while a guest spins on the only
//! core. Between calls the thread sleeps, and waking it costs nothing on a busy host, since it stays
//! awake a while after the last call.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, Thread};
use std::time::Duration;

use wasmtime::Engine;

use crate::error::{Code, Error, Result};

/// How often a call looks at its clocks: a twentieth of the usual limit of processor time.
pub(super) const TICK: Duration = Duration::from_millis(5);

/// Ticks without a call before the thread goes to sleep.
const IDLE_TICKS: u32 = 100;

/// Ticks while calls are under way; stops with the sandbox.
pub(super) struct Ticker {
    shared: Arc<Shared>,
    thread: Thread,
}

#[derive(Default)]
struct Shared {
    calls: AtomicUsize,
    asleep: AtomicBool,
    stopped: AtomicBool,
}

/// A call under way: the epoch moves as long as one exists.
pub(super) struct Ticking<'a>(&'a Shared);

impl Ticker {
    pub(super) fn start(engine: &Engine) -> Result<Self> {
        let shared = Arc::new(Shared::default());
        let (weak, theirs) = (engine.weak(), Arc::clone(&shared));
        let handle = thread::Builder::new()
            .name("dsh-env-epoch".to_owned())
            .stack_size(128 * 1024)
            .spawn(move || {
                let mut idle = 0;
                while !theirs.stopped.load(Ordering::SeqCst) {
                    if idle >= IDLE_TICKS {
                        theirs.sleep();
                        idle = 0;
                    }
                    thread::sleep(TICK);
                    // Once however long the sleep was: a late tick must not come in a burst.
                    let Some(engine) = weak.upgrade() else { return };
                    engine.increment_epoch();
                    idle = if theirs.calls.load(Ordering::SeqCst) == 0 { idle + 1 } else { 0 };
                }
            })
            .map_err(|error| {
                Error::host(Code::Internal, format!("no thread could be started to watch the time of calls ({error}): allow the process more threads"))
            })?;
        Ok(Self { shared, thread: handle.thread().clone() })
    }

    /// Keeps the epoch moving until the guard is dropped.
    pub(super) fn tick(&self) -> Ticking<'_> {
        self.shared.calls.fetch_add(1, Ordering::SeqCst);
        if self.shared.asleep.load(Ordering::SeqCst) {
            self.thread.unpark();
        }
        Ticking(&self.shared)
    }
}

impl Shared {
    /// Parks until a call begins. Both sides write their own flag before they read the other's, so that
    /// a call which begins meanwhile is seen here, or sees that this thread is asleep.
    fn sleep(&self) {
        self.asleep.store(true, Ordering::SeqCst);
        while self.calls.load(Ordering::SeqCst) == 0 && !self.stopped.load(Ordering::SeqCst) {
            thread::park();
        }
        self.asleep.store(false, Ordering::SeqCst);
    }
}

impl Drop for Ticking<'_> {
    fn drop(&mut self) {
        self.0.calls.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        self.thread.unpark();
    }
}
