//! A caller's way of giving up on a collection.

use std::time::Instant;

use crate::sync::{Arc, AtomicBool, Condvar, Mutex, Ordering, PoisonError};

/// Cancels the collections that it was given to; cheap to clone, and every clone is the same.
#[derive(Clone, Debug)]
pub struct Cancellation {
    /// This one's flag and those of its parents.
    flags: Vec<Arc<AtomicBool>>,
    signal: Arc<Signal>,
}

/// Shared by a cancellation and its children, so that waiting for one is waiting for all.
#[derive(Debug, Default)]
struct Signal {
    lock: Mutex<()>,
    changed: Condvar,
}

impl Default for Cancellation {
    fn default() -> Self {
        Self::new()
    }
}

impl Cancellation {
    /// Not cancelled yet.
    #[must_use]
    pub fn new() -> Self {
        Self { flags: vec![Arc::default()], signal: Arc::default() }
    }

    /// One that is cancelled with this one, and can be cancelled alone.
    #[must_use]
    pub fn child(&self) -> Self {
        let mut flags = vec![Arc::default()];
        flags.extend(self.flags.iter().cloned());
        Self { flags, signal: Arc::clone(&self.signal) }
    }

    /// Ends the collections, now and in future, with `cancelled`.
    pub fn cancel(&self) {
        if let Some(own) = self.flags.first() {
            own.store(true, Ordering::Release);
        }
        self.wake();
    }

    /// Whether [`cancel`](Self::cancel) was called on this one or a parent.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.flags.iter().any(|flag| flag.load(Ordering::Acquire))
    }

    /// Lets whoever waits look again.
    pub(crate) fn wake(&self) {
        // Taken so that nobody is between looking and waiting.
        drop(self.signal.lock.lock().unwrap_or_else(PoisonError::into_inner));
        self.signal.changed.notify_all();
    }

    /// Waits until `look` finds something, the moment is there, or the caller gave up.
    pub(crate) fn wait_for<T>(&self, at: Instant, mut look: impl FnMut() -> Option<T>) -> Option<T> {
        let mut guard = self.signal.lock.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let found = look();
            let left = at.saturating_duration_since(Instant::now());
            if found.is_some() || self.is_cancelled() || left.is_zero() {
                return found;
            }
            guard = self.signal.changed.wait_timeout(guard, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}
