//! Letting commands in until the executor is shut down, and knowing when the last is out.

use std::sync::Arc;

use tokio::sync::watch;

use crate::error::{Code, Error, Result};

/// Counts what is inside.
#[derive(Clone, Debug)]
pub(super) struct Gate {
    state: Arc<watch::Sender<State>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    closing: bool,
    inside: usize,
}

/// Being inside.
#[derive(Debug)]
pub(super) struct Pass {
    state: Arc<watch::Sender<State>>,
}

impl Gate {
    pub(super) fn new() -> Self {
        Self { state: Arc::new(watch::Sender::new(State::default())) }
    }

    /// Goes in.
    ///
    /// # Errors
    /// `shutting-down` when the gate is closed.
    pub(super) fn enter(&self) -> Result<Pass> {
        let entered = self.state.send_if_modified(|state| {
            state.inside += usize::from(!state.closing);
            !state.closing
        });
        if !entered {
            return Err(Self::is_closed());
        }
        Ok(Pass { state: Arc::clone(&self.state) })
    }

    /// Why nobody is let in any more.
    pub(super) fn is_closed() -> Error {
        Error::host(Code::ShuttingDown, "the executor is shut down: no command is started any more")
    }

    /// Lets nobody in any more, and asks those inside to leave.
    pub(super) fn close(&self) {
        self.state.send_modify(|state| state.closing = true);
    }

    /// Waits until nobody is inside.
    pub(super) async fn empty(&self) {
        // The sender is here, so it does not go while this waits.
        let _ = self.state.subscribe().wait_for(|state| state.inside == 0).await;
    }
}

impl Pass {
    /// Waits until the gate closes.
    pub(super) async fn closing(&self) {
        let _ = self.state.subscribe().wait_for(|state| state.closing).await;
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        self.state.send_modify(|state| state.inside = state.inside.saturating_sub(1));
    }
}
