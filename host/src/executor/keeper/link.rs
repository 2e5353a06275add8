//! One keeper, as its host holds it.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use tokio::process::{Child, Command};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::channel::Channel;
use super::listen::{Listener, Shared, listen};
use super::program::KeeperProgram;
use super::protocol::{Reply, Request};
use crate::error::Error;
use crate::executor::command::{failed, shown_path};
use crate::executor::service::{NotStarted, Process};
use crate::text::shown_within;

/// How long a keeper may take to start, or to start a command, on a machine that is very busy.
pub(super) const START_TIME: Duration = Duration::from_secs(10);

/// A keeper that runs, or did. Dropping it lets the keeper end everything and go.
#[derive(Debug)]
pub(super) struct Link {
    shared: Arc<Shared>,
}

impl Link {
    /// Starts a keeper and waits until it has begun.
    ///
    /// # Errors
    /// `execution-failed`, with what to do.
    pub(super) async fn open(program: &KeeperProgram) -> Result<Self, Error> {
        let name = shown_path(&program.program);
        let advice = "name a dsh-env command of this very version, or a program that calls serve_keeper, as the keeper";
        let not_started =
            |why: String| failed(format!("the keeper {name} was not started: {why}. To mend it, {advice}"));
        if !program.program.is_absolute() {
            return Err(not_started("that is no absolute path".to_owned()));
        }
        let (channel, theirs) =
            Channel::pair().map_err(|error| not_started(format!("no socket could be made ({error})")))?;
        let mut child = spawn(program, theirs).map_err(|error| not_started(error.to_string()))?;
        let why = match timeout(START_TIME, channel.receive::<Reply>()).await {
            Ok(Ok(Some((Reply::Ready { version }, _)))) if version == env!("CARGO_PKG_VERSION") => {
                let shared = Shared::new(channel);
                tokio::spawn(listen(Listener::new(&shared), child));
                return Ok(Self { shared });
            }
            Ok(Ok(Some((Reply::Ready { version }, _)))) => {
                format!("it is of version {}, and this is {}", shown_within(&version, 64), env!("CARGO_PKG_VERSION"))
            }
            Ok(Ok(None)) => match timeout(START_TIME, child.wait()).await {
                Ok(Ok(status)) => format!("it ended by itself ({status}), so it is no keeper"),
                _ => "it closed its standard input, so it is no keeper".to_owned(),
            },
            Ok(Ok(Some(_)) | Err(_)) => "it said something else, so it is no keeper".to_owned(),
            Err(_) => format!("it said nothing for {} s, so it is no keeper", START_TIME.as_secs()),
        };
        let _ = child.kill().await;
        Err(not_started(why))
    }

    /// Whether commands can be started with it, as far as is known.
    pub(super) fn is_alive(&self) -> bool {
        !self.shared.lock().over
    }

    /// Asks for a command. What comes back is whether it started, later.
    ///
    /// # Errors
    /// When the keeper was gone before it was asked.
    pub(super) async fn start(
        &self,
        arguments: usize,
        descriptors: &[OwnedFd; 4],
    ) -> io::Result<oneshot::Receiver<Result<Process, NotStarted>>> {
        let (started, starts) = oneshot::channel();
        let id = {
            let mut commands = self.shared.lock();
            if commands.over {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            commands.last_id += 1;
            let id = commands.last_id;
            commands.starting.insert(id, started);
            id
        };
        let descriptors = descriptors.each_ref().map(|descriptor| descriptor.as_fd());
        let mut unsent = Unsent { shared: &self.shared, id: Some(id) };
        self.shared.channel.send(&Request::Start { id, arguments }, &descriptors).await?;
        unsent.id = None;
        Ok(starts)
    }

    /// Kills a keeper that does not answer, and its commands with it.
    pub(super) fn give_up(&self) {
        self.shared.give_up();
    }

    /// Lets the keeper end everything and go, and waits for that. One that does not go is killed.
    pub(super) async fn close(&self, patience: Duration) {
        self.shared.channel.finish();
        let mut gone = self.shared.gone.subscribe();
        if timeout(patience, gone.wait_for(|gone| *gone)).await.is_ok() {
            return;
        }
        tracing::warn!("a keeper did not end what commands left behind, and is killed");
        self.shared.give_up();
        let _ = timeout(patience, gone.wait_for(|gone| *gone)).await;
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.shared.channel.finish();
    }
}

/// A command that the keeper was not asked for yet. It is forgotten if it never is.
struct Unsent<'a> {
    shared: &'a Shared,
    id: Option<u64>,
}

impl Drop for Unsent<'_> {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            self.shared.lock().starting.remove(&id);
        }
    }
}

fn spawn(program: &KeeperProgram, socket: OwnedFd) -> io::Result<Child> {
    Command::new(&program.program)
        .args(&program.arguments)
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::from(socket))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
}
