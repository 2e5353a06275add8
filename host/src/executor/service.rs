//! Who starts processes and looks after them: this process, or a keeper for it.

use std::io;
use std::time::Duration;

use tokio::sync::oneshot;

use super::child_setup::Parent;
use super::command::{Spec, failed};
use super::finished::Exit;
use super::group::tend;
#[cfg(target_os = "linux")]
use super::keeper::Remote;
use super::spawn::{Streams, spawn};
use crate::error::Error;

/// Starts processes.
#[derive(Debug)]
pub(super) enum Service {
    InHost,
    #[cfg(target_os = "linux")]
    Keeper(Remote),
}

/// A process that was started. Dropping it ends its group.
#[derive(Debug)]
pub(super) struct Process {
    exit: oneshot::Receiver<Result<Exit, Error>>,
    end: Option<oneshot::Sender<Duration>>,
}

/// Why none was started.
#[derive(Debug)]
pub(super) enum NotStarted {
    /// What the system says of the command.
    System(io::Error),
    /// Something else, in words for people.
    Other(Error),
}

impl Service {
    /// Starts a process. If nobody waits for it any more, it is ended.
    pub(super) async fn start(&self, spec: &Spec, streams: Streams) -> Result<Process, NotStarted> {
        match self {
            Self::InHost => start_here(spec, streams).map_err(NotStarted::System),
            #[cfg(target_os = "linux")]
            Self::Keeper(remote) => remote.start(spec, streams).await,
        }
    }

    /// Ends everything that was ever started and still runs, as far as that is known here, and waits for it.
    pub(super) async fn close(&self) {
        match self {
            Self::InHost => {}
            #[cfg(target_os = "linux")]
            Self::Keeper(remote) => remote.close().await,
        }
    }
}

fn start_here(spec: &Spec, streams: Streams) -> io::Result<Process> {
    let child = spawn(spec, streams, Parent::Host)?;
    let (end, asked) = oneshot::channel();
    let (exited, exit) = oneshot::channel();
    // Outside the task, which may be dropped with its runtime before it begins.
    let tended = tend(child, asked);
    tokio::spawn(async move {
        let exit = tended.await.map_err(|error| lost(&error));
        let _ = exited.send(exit);
    });
    Ok(Process::new(exit, end))
}

fn lost(error: &io::Error) -> Error {
    failed(format!("how the command ended is not known: somebody else waited for it ({error})"))
}

impl Process {
    /// A process whose exit somebody will tell, and who waits for what to do with it.
    pub(super) fn new(exit: oneshot::Receiver<Result<Exit, Error>>, end: oneshot::Sender<Duration>) -> Self {
        Self { exit, end: Some(end) }
    }

    /// Asks it to end: SIGTERM to its group, a grace, SIGKILL.
    pub(super) fn end(&mut self, grace: Duration) {
        if let Some(end) = self.end.take() {
            let _ = end.send(grace);
        }
    }

    /// How it ended, once it has.
    ///
    /// # Errors
    /// Why that is not known.
    pub(super) async fn exit(&mut self) -> Result<Exit, Error> {
        let gone = || failed("how the command ended is not known: what looked after it is gone");
        (&mut self.exit).await.unwrap_or_else(|_| Err(gone()))
    }
}
