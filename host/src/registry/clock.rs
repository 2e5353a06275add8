//! The time that policies go by. Tests move it, so that none of them has to wait.

use std::sync::Arc;
use std::time::Instant;

/// Tells the time.
#[derive(Clone)]
pub(super) struct Clock(Arc<dyn Fn() -> Instant + Send + Sync>);

impl Clock {
    /// One that tells what `now` says.
    #[cfg(test)]
    pub(super) fn of(now: impl Fn() -> Instant + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    /// What time it is.
    pub(super) fn now(&self) -> Instant {
        (self.0)()
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self(Arc::new(Instant::now))
    }
}
