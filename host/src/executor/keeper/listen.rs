//! What a keeper tells, passed on to those who wait for it.

use std::collections::HashMap;
use std::convert::Infallible;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tokio::process::Child;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{Notify, oneshot, watch};
use tokio::time::timeout;

use super::channel::Channel;
use super::protocol::{Reply, Request};
use crate::error::Error;
use crate::executor::command::failed;
use crate::executor::finished::Exit;
use crate::executor::limits::{ANSWER_TIME, TERM_GRACE};
use crate::executor::service::{NotStarted, Process};
use crate::text::shown_within;

/// What a host knows of a keeper.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) channel: Channel,
    commands: Mutex<Commands>,
    /// Whether the keeper's process is gone.
    pub(super) gone: watch::Sender<bool>,
    /// Whether it is to be killed, because it does not answer.
    given_up: watch::Sender<bool>,
    /// Woken when it has answered.
    answered: Notify,
}

/// The commands that a keeper was asked for and that have not ended.
#[derive(Debug, Default)]
pub(super) struct Commands {
    /// Nothing is to be expected of the keeper any more.
    pub(super) over: bool,
    pub(super) last_id: u64,
    pub(super) starting: HashMap<u64, oneshot::Sender<Result<Process, NotStarted>>>,
    running: HashMap<u64, Run>,
}

#[derive(Debug)]
struct Run {
    group: Option<Pid>,
    exited: oneshot::Sender<Result<Exit, Error>>,
    /// Dropped with this.
    _runs: oneshot::Sender<Infallible>,
}

/// Whoever takes what a keeper says. When it is dropped with its runtime, nobody does: the keeper is let go.
pub(super) struct Listener {
    shared: Arc<Shared>,
}

pub(super) async fn listen(listener: Listener, mut child: Child) {
    let keeper = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    let ended_everything = tokio::select! {
        ended_everything = listener.hear_all(&mut child) => ended_everything,
        never = keep_awake(keeper) => match never {},
        () = listener.shared.until_given_up() => {
            // This signal ends what is stopped, too.
            let _ = timeout(ANSWER_TIME, child.kill()).await;
            false
        }
    };
    if !ended_everything {
        listener.shared.kill_groups();
    }
}

/// Continues a keeper that was stopped, as any of its commands can do: one that is stopped does nothing for anybody,
/// and would not even notice the end of its host. A host gets a signal when one of its children is stopped.
async fn keep_awake(keeper: Option<Pid>) -> Infallible {
    if let (Some(keeper), Ok(mut children)) = (keeper, signal(SignalKind::child())) {
        while children.recv().await.is_some() {
            // To one that runs it means nothing.
            let _ = kill_process(keeper, Signal::CONT);
        }
    }
    std::future::pending().await
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.shared.channel.finish();
        self.shared.lose_all();
        self.shared.gone.send_replace(true);
    }
}

impl Listener {
    pub(super) fn new(shared: &Arc<Shared>) -> Self {
        Self { shared: Arc::clone(shared) }
    }

    /// Hears a keeper until it is gone, and tells whether it ended everything.
    async fn hear_all(&self, child: &mut Child) -> bool {
        while let Ok(Some((reply, _))) = self.shared.channel.receive::<Reply>().await {
            self.hear(reply);
        }
        self.shared.lock().over = true;
        self.shared.channel.finish();
        child.wait().await.is_ok_and(|status| status.success())
    }

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
            Reply::Pong => self.shared.answered.notify_waiters(),
            // Said once, before this began.
            Reply::Ready { .. } => {}
        }
    }

    fn started(&self, id: u64, group: Option<Pid>) {
        let mut commands = self.shared.lock();
        let Some(starting) = commands.starting.remove(&id) else { return };
        let (exited, exit) = oneshot::channel();
        let (end, asked) = oneshot::channel();
        let (runs, ended) = oneshot::channel();
        commands.running.insert(id, Run { group, exited, _runs: runs });
        drop(commands);
        tokio::spawn(forward_end(Arc::clone(&self.shared), id, asked, ended));
        // If nobody waits for it any more, it is ended by being dropped here.
        let _ = starting.send(Ok(Process::new(exit, end)));
    }

    fn exited(&self, id: u64, exit: Result<Exit, Error>) {
        if let Some(run) = self.shared.lock().running.remove(&id) {
            let _ = run.exited.send(exit);
        }
    }
}

/// Tells a keeper to end a command, once its holder says so or drops it. A keeper that has not done so in time and
/// does not answer either is given up: it is nobody's who waits for it.
async fn forward_end(
    shared: Arc<Shared>,
    id: u64,
    asked: oneshot::Receiver<Duration>,
    ended: oneshot::Receiver<Infallible>,
) {
    let grace = asked.await.unwrap_or(TERM_GRACE);
    let is_running = shared.lock().running.contains_key(&id);
    if !is_running {
        return;
    }
    let done = async {
        // A keeper that is gone is noticed by who listens.
        let _ = shared.channel.send(&Request::End { id, grace }, &[]).await;
        let _ = ended.await;
    };
    if timeout(grace + ANSWER_TIME, done).await.is_err() && !shared.answers().await {
        shared.give_up();
    }
}

impl Shared {
    pub(super) fn new(channel: Channel) -> Arc<Self> {
        Arc::new(Self {
            channel,
            commands: Mutex::default(),
            gone: watch::Sender::new(false),
            given_up: watch::Sender::new(false),
            answered: Notify::new(),
        })
    }

    /// Has the keeper killed, and its commands with it. No command is started with it any more.
    pub(super) fn give_up(&self) {
        self.lock().over = true;
        self.given_up.send_replace(true);
    }

    async fn until_given_up(&self) {
        let _ = self.given_up.subscribe().wait_for(|given_up| *given_up).await;
    }

    /// Whether the keeper answers.
    async fn answers(&self) -> bool {
        let answered = self.answered.notified();
        tokio::pin!(answered);
        answered.as_mut().enable();
        let asked = async {
            // One that cannot be asked is gone, or was told to go, which is waited for elsewhere.
            if self.channel.send(&Request::Ping, &[]).await.is_ok() {
                answered.await;
            }
        };
        timeout(ANSWER_TIME, asked).await.is_ok()
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Commands> {
        self.commands.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Kills the groups of commands whose keeper was killed, just now. They themselves were killed with it by the
    /// kernel, but not what they started.
    fn kill_groups(&self) {
        for group in self.lock().running.values().filter_map(|run| run.group) {
            // A number is given to another group only after all others were: not so soon.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }

    /// Tells everybody who waits that the keeper is gone.
    fn lose_all(&self) {
        let (starting, running) = {
            let mut commands = self.lock();
            commands.over = true;
            (std::mem::take(&mut commands.starting), std::mem::take(&mut commands.running))
        };
        let why =
            if *self.given_up.borrow() { "did not answer, as one that was stopped, and was killed" } else { "is gone" };
        let gone = || {
            failed(format!(
                "the keeper, which looks after the commands, {why}, and the command was ended with it. \
                 The next command gets a new one"
            ))
        };
        for (_, starting) in starting {
            let _ = starting.send(Err(NotStarted::Other(gone())));
        }
        for (_, run) in running {
            let _ = run.exited.send(Err(gone()));
        }
    }
}
