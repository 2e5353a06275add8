//! How the ticking thread goes to sleep while nobody needs it, and is woken by whoever does.
//!
//! All that the two sides have to agree on is in one number, so that whatever they do to it has an order: either
//! a call that begins finds the sleeper's mark, or the sleeper finds the call. The crate `models` tries both in
//! every order there is.

use crate::sync::{AtomicUsize, Ordering, Thread, park};

/// The thread sleeps, or is about to.
const ASLEEP: usize = 1;

/// Nobody will need the thread again.
const STOPPED: usize = 2;

/// One call under way; there may be many.
const CALL: usize = 4;

/// What calls and the thread that sleeps between them agree on.
#[derive(Default)]
pub(super) struct Handshake {
    state: AtomicUsize,
}

impl Handshake {
    /// A call begins: the thread is awake, or about to be.
    pub(super) fn begin(&self, sleeper: &Thread) {
        if self.state.fetch_add(CALL, Ordering::AcqRel) & ASLEEP != 0 {
            sleeper.unpark();
        }
    }

    /// A call that [began](Self::begin) is over.
    pub(super) fn end(&self) {
        self.state.fetch_sub(CALL, Ordering::AcqRel);
    }

    /// Ends a sleep for good.
    pub(super) fn stop(&self, sleeper: &Thread) {
        self.state.fetch_or(STOPPED, Ordering::AcqRel);
        sleeper.unpark();
    }

    /// Whether a call is under way.
    pub(super) fn is_needed(&self) -> bool {
        self.state.load(Ordering::Acquire) >= CALL
    }

    /// Whether nobody will need the thread again.
    pub(super) fn is_stopped(&self) -> bool {
        self.state.load(Ordering::Acquire) & STOPPED != 0
    }

    /// Sleeps until a call begins or nobody will need the thread again; not at all where that is so already.
    /// For one thread alone, the one that is given to [`begin`](Self::begin) and [`stop`](Self::stop).
    pub(super) fn sleep(&self) {
        if self.state.compare_exchange(0, ASLEEP, Ordering::AcqRel, Ordering::Acquire).is_err() {
            return;
        }
        // A call may be over before this thread was woken for it.
        while self.state.load(Ordering::Acquire) == ASLEEP {
            park();
        }
        self.state.fetch_and(!ASLEEP, Ordering::AcqRel);
    }
}
