//! How many of something there are now.

use std::sync::Arc;

use tokio::sync::watch;

/// Counts what goes in and comes out again; every clone is the same.
#[derive(Clone, Debug)]
pub(super) struct Gauge(Arc<watch::Sender<u64>>);

impl Default for Gauge {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(0)))
    }
}

impl Gauge {
    /// One more, until what this returns is dropped.
    pub(super) fn enter(&self) -> Inside {
        self.0.send_modify(|count| *count += 1);
        Inside(self.clone())
    }

    /// How many there are.
    pub(super) fn now(&self) -> u64 {
        *self.0.borrow()
    }

    /// Waits until there is none.
    pub(super) async fn empty(&self) {
        // The sender is here, so that it is not closed meanwhile.
        let _ = self.0.subscribe().wait_for(|count| *count == 0).await;
    }
}

/// One that is counted.
#[derive(Debug)]
pub(super) struct Inside(Gauge);

impl Drop for Inside {
    fn drop(&mut self) {
        self.0.0.send_modify(|count| *count -= 1);
    }
}
