//! The host's side: starting commands with a keeper, and a keeper when there is none.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::timeout;

use super::link::{Link, START_TIME};
use super::program::KeeperProgram;
use super::protocol::pack;
use crate::error::Error;
use crate::executor::command::{Spec, failed};
use crate::executor::service::{NotStarted, Process};
use crate::executor::spawn::Streams;

/// How long a keeper has to end everything and go; one that is not stopped gives up before.
const CLOSE_TIME: Duration = Duration::from_secs(30);

/// How often a command is tried with another keeper, because one was gone before it was asked.
const TRIES: usize = 3;

/// A keeper, started when it is needed, and again when it is gone.
#[derive(Debug)]
pub(in crate::executor) struct Remote {
    program: KeeperProgram,
    link: Mutex<Option<Arc<Link>>>,
}

impl Remote {
    pub(in crate::executor) fn new(program: KeeperProgram) -> Self {
        Self { program, link: Mutex::new(None) }
    }

    /// Starts a command.
    pub(in crate::executor) async fn start(&self, spec: &Spec, streams: Streams) -> Result<Process, NotStarted> {
        let cannot = |error: io::Error| {
            NotStarted::Other(failed(format!(
                "the command could not be handed to its keeper ({error}): see `ulimit -n`"
            )))
        };
        let Streams { stdin, stdout, stderr } = streams;
        let descriptors: [OwnedFd; 4] = [pack(spec).map_err(cannot)?, stdin, stdout, stderr];
        let mut tries = 0;
        let silent = |link: &Link| {
            link.give_up();
            NotStarted::Other(failed(format!(
                "the command was not started: its keeper did not answer for {} s, as one that was \
                 stopped, and was killed. Try again, a new one is started",
                START_TIME.as_secs()
            )))
        };
        let (link, starts) = loop {
            tries += 1;
            let link = self.link().await.map_err(NotStarted::Other)?;
            match timeout(START_TIME, link.start(spec.arguments.len(), &descriptors)).await {
                Ok(Ok(starts)) => break (link, starts),
                // Gone, and nobody had noticed.
                Ok(Err(error)) if error.kind() == io::ErrorKind::BrokenPipe && tries < TRIES => {
                    self.forget(&link).await;
                }
                Ok(Err(error)) => return Err(cannot(error)),
                Err(_) => return Err(silent(&link)),
            }
        };
        // The keeper alone holds the other ends of the pipes now.
        drop(descriptors);
        let gone = || NotStarted::Other(failed("the keeper is gone: try again, a new one is started"));
        match timeout(START_TIME, starts).await {
            Ok(started) => started.unwrap_or_else(|_| Err(gone())),
            Err(_) => Err(silent(&link)),
        }
    }

    /// Ends everything that commands left behind, and the keeper.
    pub(in crate::executor) async fn close(&self) {
        if let Some(link) = self.link.lock().await.take() {
            link.close(CLOSE_TIME).await;
        }
    }

    async fn link(&self) -> Result<Arc<Link>, Error> {
        let mut current = self.link.lock().await;
        if let Some(link) = current.as_ref().filter(|link| link.is_alive()) {
            return Ok(Arc::clone(link));
        }
        let program = self.program.clone();
        // In a task, so that a keeper is not left half started when nobody waits any more.
        let opened = tokio::spawn(async move { Link::open(&program).await }).await;
        let link = Arc::new(opened.map_err(|_| failed("the keeper was not started: the runtime ends"))??);
        *current = Some(Arc::clone(&link));
        Ok(link)
    }

    async fn forget(&self, link: &Arc<Link>) {
        let mut current = self.link.lock().await;
        if current.as_ref().is_some_and(|current| Arc::ptr_eq(current, link)) {
            *current = None;
        }
    }
}
