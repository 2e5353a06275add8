//! One keeper, as its host holds it.

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, Command};
use tokio::sync::{oneshot, watch};
use tokio::time::timeout;

use super::channel::Channel;
use super::program::KeeperProgram;
use super::protocol::{Reply, Request};
use crate::error::Error;
use crate::executor::command::{failed, shown_path};
use crate::executor::finished::Exit;
use crate::executor::limits::TERM_GRACE;
use crate::executor::service::{NotStarted, Process};
use crate::text::shown_within;

/// How long a keeper may take to start, on a machine that is very busy.
const START_TIME: Duration = Duration::from_secs(10);

/// A keeper that runs, or did. Dropping it lets the keeper end everything and go.
#[derive(Debug)]
pub(super) struct Link {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    channel: Channel,
    commands: Mutex<Commands>,
    /// Whether the keeper's process is gone.
    gone: watch::Sender<bool>,
}

/// The commands that a keeper was asked for and that have not ended.
#[derive(Debug, Default)]
struct Commands {
    /// Nothing is to be expected of the keeper any more.
    over: bool,
    last_id: u64,
    starting: HashMap<u64, oneshot::Sender<Result<Process, NotStarted>>>,
    running: HashMap<u64, Run>,
}

#[derive(Debug)]
struct Run {
    group: Option<Pid>,
    exited: oneshot::Sender<Result<Exit, Error>>,
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
                let shared = Arc::new(Shared { channel, commands: Mutex::default(), gone: watch::Sender::new(false) });
                tokio::spawn(listen(Listener { shared: Arc::clone(&shared) }, child));
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
        let sent = self.shared.channel.send(&Request::Start { id, arguments }, &descriptors).await;
        if sent.is_err() {
            self.shared.lock().starting.remove(&id);
        }
        sent.map(|()| starts)
    }

    /// Lets the keeper end everything and go, and waits for that.
    pub(super) async fn close(&self, patience: Duration) {
        self.shared.channel.finish();
        let mut gone = self.shared.gone.subscribe();
        if timeout(patience, gone.wait_for(|gone| *gone)).await.is_err() {
            tracing::warn!("a keeper still tries to end what commands left behind");
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.shared.channel.finish();
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

/// Whoever takes what a keeper says. When it is dropped with its runtime, nobody does: the keeper is let go.
struct Listener {
    shared: Arc<Shared>,
}

async fn listen(listener: Listener, mut child: Child) {
    while let Ok(Some((reply, _))) = listener.shared.channel.receive::<Reply>().await {
        listener.hear(reply);
    }
    listener.shared.lose_all();
    listener.shared.channel.finish();
    let _ = child.wait().await;
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.shared.channel.finish();
        self.shared.lose_all();
        self.shared.gone.send_replace(true);
    }
}

impl Listener {
    fn hear(&self, reply: Reply) {
        match reply {
            Reply::Started { id, pid } => self.started(id, Pid::from_raw(pid)),
            Reply::Failed { id, errno } => {
                if let Some(starting) = self.shared.lock().starting.remove(&id) {
                    let _ = starting.send(Err(NotStarted::System(io::Error::from_raw_os_error(errno))));
                }
            }
            Reply::Exited { id, status, ended_by } => {
                self.exited(id, Ok(Exit { status: ExitStatus::from_raw(status), ended_by }));
            }
            Reply::Lost { id, why } => {
                let why = shown_within(&why, 128);
                self.exited(id, Err(failed(format!("how the command ended is not known ({why})"))));
            }
            // Said once, before this began.
            Reply::Ready { .. } => {}
        }
    }

    fn started(&self, id: u64, group: Option<Pid>) {
        let mut commands = self.shared.lock();
        let Some(starting) = commands.starting.remove(&id) else { return };
        let (exited, exit) = oneshot::channel();
        let (end, asked) = oneshot::channel();
        commands.running.insert(id, Run { group, exited });
        drop(commands);
        tokio::spawn(forward_end(Arc::clone(&self.shared), id, asked));
        // If nobody waits for it any more, it is ended by being dropped here.
        let _ = starting.send(Ok(Process::new(exit, end)));
    }

    fn exited(&self, id: u64, exit: Result<Exit, Error>) {
        if let Some(run) = self.shared.lock().running.remove(&id) {
            let _ = run.exited.send(exit);
        }
    }
}

/// Tells a keeper to end a command, once its holder says so or drops it.
async fn forward_end(shared: Arc<Shared>, id: u64, asked: oneshot::Receiver<Duration>) {
    let grace = asked.await.unwrap_or(TERM_GRACE);
    let is_running = shared.lock().running.contains_key(&id);
    if is_running {
        // A keeper that is gone is noticed by who listens.
        let _ = shared.channel.send(&Request::End { id, grace }, &[]).await;
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Commands> {
        self.commands.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells everybody who waits that the keeper is gone. Its commands were killed with it by the kernel; what
    /// they started was not, so their groups are killed here.
    fn lose_all(&self) {
        let (starting, running) = {
            let mut commands = self.lock();
            commands.over = true;
            (std::mem::take(&mut commands.starting), std::mem::take(&mut commands.running))
        };
        let gone = || {
            failed(
                "the keeper, which looks after the commands, is gone, and the command was ended with it. The next command gets a new one",
            )
        };
        for (_, starting) in starting {
            let _ = starting.send(Err(NotStarted::Other(gone())));
        }
        for (_, run) in running {
            if let Some(group) = run.group {
                // A number is given to another group only after all others were: not so soon.
                let _ = kill_process_group(group, Signal::KILL);
            }
            let _ = run.exited.send(Err(gone()));
        }
    }
}
