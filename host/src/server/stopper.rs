//! Ending a server, with patience or without.

use std::sync::Arc;

use tokio::sync::watch;

/// How far a server is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    /// It takes connections and requests.
    Serving,
    /// It takes none, and finishes what is under way.
    Draining,
    /// It says what there is to say, and ends.
    Ending,
}

/// Ends a server; every clone ends the same one.
#[derive(Clone, Debug)]
pub struct Stopper(Arc<watch::Sender<Phase>>);

impl Stopper {
    pub(super) fn new() -> Self {
        Self(Arc::new(watch::Sender::new(Phase::Serving)))
    }

    /// Lets the server finish what is under way, for the grace time at most; asked again, it ends at once.
    pub fn stop(&self) {
        self.0.send_modify(|phase| *phase = if *phase == Phase::Serving { Phase::Draining } else { Phase::Ending });
    }

    /// Takes the server to a phase, if it is not as far yet.
    pub(super) fn advance(&self, to: Phase) {
        self.0.send_if_modified(|phase| {
            let earlier = *phase < to;
            *phase = to.max(*phase);
            earlier
        });
    }

    pub(super) fn phase(&self) -> Phase {
        *self.0.borrow()
    }

    /// Waits until the server is that far.
    pub(super) async fn reached(&self, wanted: Phase) {
        // The sender is here, so that it is not closed meanwhile.
        let _ = self.0.subscribe().wait_for(|phase| *phase >= wanted).await;
    }
}
