//! The keeper's side: what `dsh-env keeper` does.

use std::collections::{HashMap, HashSet};
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitCode;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, getpid, set_child_subreaper, setsid};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{mpsc, oneshot};

use super::channel::Channel;
use super::protocol::{Reply, Request, unpack};
use super::{descendants, everything};
use crate::executor::child_setup::{Parent, close_others_on_exec};
use crate::executor::finished::Exit;
use crate::executor::group::tend;
use crate::executor::limits::ORPHAN_GRACE;
use crate::executor::spawn::{Streams, spawn};

/// Starts commands for the host at the other end of standard input, until that is gone; then ends everything.
///
/// For programs that are named as a [`KeeperProgram`](super::KeeperProgram): call it first thing in `main`, with
/// nothing open and no thread started, and return what it returns.
#[must_use]
pub fn serve() -> ExitCode {
    match begin() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("dsh-env keeper: {error}");
            ExitCode::FAILURE
        }
    }
}

fn begin() -> io::Result<()> {
    // Out of the host's group and away from its terminal. One that leads a group already stays there.
    let _ = setsid();
    close_others_on_exec()?;
    set_child_subreaper(Some(getpid()))?;
    // One thread, which is the one that starts the commands: they die with it.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let channel = Channel::new(io::stdin().as_fd().try_clone_to_owned()?)?;
        Server::new(&channel).serve().await
    })
}

/// A command that runs.
struct Known {
    pid: Pid,
    end: Option<oneshot::Sender<Duration>>,
}

struct Server<'a> {
    channel: &'a Channel,
    known: HashMap<u64, Known>,
    exited: mpsc::UnboundedSender<(u64, io::Result<Exit>)>,
    exits: mpsc::UnboundedReceiver<(u64, io::Result<Exit>)>,
}

impl<'a> Server<'a> {
    fn new(channel: &'a Channel) -> Self {
        let (exited, exits) = mpsc::unbounded_channel();
        Self { channel, known: HashMap::new(), exited, exits }
    }

    async fn serve(mut self) -> io::Result<()> {
        let mut child = signal(SignalKind::child())?;
        // Whoever ends it in order ends the commands.
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut hangup = signal(SignalKind::hangup())?;
        let ready = Reply::Ready { version: env!("CARGO_PKG_VERSION").to_owned() };
        if self.channel.send(&ready, &[]).await.is_err() {
            return Ok(());
        }
        loop {
            let told = tokio::select! {
                request = self.channel.receive() => match request {
                    Ok(Some((request, descriptors))) => self.obey(request, descriptors).await,
                    Ok(None) => break,
                    Err(error) => Err(error),
                },
                Some((id, exit)) = self.exits.recv() => self.tell_exit(id, exit).await,
                _ = child.recv() => Ok(()),
                _ = terminate.recv() => break,
                _ = interrupt.recv() => break,
                _ = hangup.recv() => break,
            };
            // Whatever happened: an orphan may have been behind a command that was not buried yet.
            descendants::bury_orphans(&pids(&self.known));
            if told.is_err() {
                break;
            }
        }
        self.end_everything().await;
        Ok(())
    }

    async fn obey(&mut self, request: Request, descriptors: Vec<OwnedFd>) -> io::Result<()> {
        match request {
            Request::Start { id, arguments } => {
                let reply = match self.start(id, arguments, descriptors) {
                    Ok(pid) => Reply::Started { id, pid: pid.as_raw_nonzero().get() },
                    Err(error) => Reply::Failed { id, errno: errno_of(&error) },
                };
                self.channel.send(&reply, &[]).await
            }
            Request::End { id, grace } => {
                if let Some(end) = self.known.get_mut(&id).and_then(|known| known.end.take()) {
                    let _ = end.send(grace);
                }
                Ok(())
            }
            Request::Ping => self.channel.send(&Reply::Pong, &[]).await,
        }
    }

    fn start(&mut self, id: u64, arguments: usize, descriptors: Vec<OwnedFd>) -> io::Result<Pid> {
        let [command, stdin, stdout, stderr] =
            <[OwnedFd; 4]>::try_from(descriptors).map_err(|_| io::Error::from(Errno::INVAL))?;
        let spec = unpack(command, arguments)?;
        let child = spawn(&spec, Streams { stdin, stdout, stderr }, Parent::Lasting(getpid()))?;
        let pid = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let pid = pid.ok_or(Errno::SRCH)?;
        let (end, asked) = oneshot::channel();
        self.known.insert(id, Known { pid, end: Some(end) });
        let exited = self.exited.clone();
        let tended = tend(child, asked);
        tokio::spawn(async move {
            let _ = exited.send((id, tended.await));
        });
        Ok(pid)
    }

    async fn tell_exit(&mut self, id: u64, exit: io::Result<Exit>) -> io::Result<()> {
        self.known.remove(&id);
        let reply = match exit {
            Ok(Exit { status, ended_by }) => Reply::Exited { id, status: status.into_raw(), ended_by },
            Err(error) => Reply::Lost { id, why: error.to_string() },
        };
        self.channel.send(&reply, &[]).await
    }

    async fn end_everything(mut self) {
        for known in self.known.values_mut() {
            if let Some(end) = known.end.take() {
                let _ = end.send(ORPHAN_GRACE);
            }
        }
        let Self { mut known, mut exits, .. } = self;
        everything::end(|| {
            while let Ok((id, _)) = exits.try_recv() {
                known.remove(&id);
            }
            pids(&known)
        })
        .await;
    }
}

fn pids(known: &HashMap<u64, Known>) -> HashSet<Pid> {
    known.values().map(|known| known.pid).collect()
}

/// The system's number for an error of the system, and that for nonsense otherwise.
fn errno_of(error: &io::Error) -> i32 {
    error.raw_os_error().unwrap_or_else(|| Errno::INVAL.raw_os_error())
}
