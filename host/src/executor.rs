//! Commands: started, bounded in time and output, ended with their host.
//!
//! An [`Executor`] runs commands in the foreground ([`run`](Executor::run)) and as jobs in the background
//! ([`start`](Executor::start)). The environment of a command is made elsewhere; here it is what the child gets.
//!
//! Each command leads a process group of its own and has three descriptors: standard input, which is `/dev/null` or
//! a pipe, and two pipes for its output. It has returned when its own process exits, whatever that left behind: its
//! output is then what it wrote itself, to the last byte, and what came from others until they were quiet. To end it
//! is SIGTERM to its group, a grace, SIGKILL; what has left the group (`setsid`, `set -m`) ends with the keeper
//! only. The memory that its output takes is bounded, and so is its file.
//!
//! # How far commands end with their host
//!
//! | what happens | [`Keeper::Program`] | [`Keeper::InHost`] |
//! | --- | --- | --- |
//! | [`shut_down`](Executor::shut_down), the last clone dropped | everything ends | commands end, what they left behind goes on |
//! | the runtime is dropped | everything ends | the groups of commands are killed |
//! | the host is killed with SIGKILL, or aborts | everything ends | everything goes on |
//! | the keeper alone is killed | commands and their groups end | |
//! | the keeper is stopped (SIGSTOP) | it is continued, or killed if it does not answer then | |
//! | the host is killed while the keeper is stopped | everything goes on until it is continued | everything goes on |
//! | host and keeper are killed together | commands end, what they started goes on | |
//!
//! "Everything" is every process that descends from a command, also in a session of its own (`setsid`) or one whose
//! parents have exited (a daemon): the keeper is their parent in the end. What is left outside:
//!
//! - a process that another daemon starts for a command (`at`, `systemd-run`, `docker run`, a server that it talks
//!   to): it descends from that daemon;
//! - a process that the keeper may not signal: one of another user, by `sudo` for instance;
//! - a process that waits in the kernel for a device that does not answer: it goes when that does;
//! - a command that kills its keeper, or stops it again and again until it is killed for that, as any process of the
//!   same user can, and was clever about it before;
//! - the keeper, with all of the above, when the machine takes a whole control group down: then the commands are in
//!   it too, unless they were moved.
//!
//! A keeper gives up after some seconds of killing what does not go. It finds descendants in `/proc`: where that is
//! not mounted, it ends the commands and their groups only. A host that forks without exec shares its end of the
//! keeper's socket with that child, and the keeper believes in the host until both are gone.
//!
//! None of this is a sandbox: a command may do what its user may.

pub(crate) mod child_setup;
mod command;
mod finished;
mod gate;
mod group;
mod jobs;
#[cfg(target_os = "linux")]
mod keeper;
mod launch;
mod limits;
mod output;
mod pipes;
mod service;
mod spawn;

use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

pub use command::{Input, ShellCommand};
pub use finished::{End, Finished, signal_name};
pub use jobs::{JobCompleted, JobId, JobOutput, JobState, JobStatus, Owner};
#[cfg(target_os = "linux")]
pub use keeper::{KEEPER_ARGUMENT, KeeperProgram, serve_keeper};
pub use limits::{
    DEFAULT_LIMIT, MAX_ACTIVE_JOBS, MAX_ENDED_JOBS, MAX_LIMIT, MAX_RUNNING, MAX_SPILLED_BYTES, ORPHAN_GRACE,
    READ_BYTES, SPILL_BYTES, TAIL_BYTES, TERM_GRACE,
};
pub use output::{Chunk, Output, Spill};

use crate::error::{Code, Error, Result};
use jobs::Table;
use launch::Launcher;
use output::SpillFolder;
use service::Service;

/// How an executor works.
#[derive(Clone, Debug)]
pub struct ExecutorOptions {
    /// The folder below which output goes that is too long for memory. It is made, with mode 0700, if it does not
    /// exist; else it must be a real directory that belongs to the user and that nobody else can write to.
    pub spill_folder: PathBuf,
    /// Who starts the commands.
    pub keeper: Keeper,
}

/// Who starts the commands and looks after them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Keeper {
    /// The host's own process.
    ///
    /// Commands then end with the host as long as it ends in order: by [`Executor::shut_down`], or when the runtime
    /// is dropped, which kills their process groups. What a command left behind (`sleep 60 &`) is not known any more
    /// once its shell has exited, and goes on; and a host that is killed with SIGKILL leaves everything running.
    /// (`PR_SET_PDEATHSIG` would not do: it follows the *thread* that started a process, and a runtime's threads end
    /// before the host does.) Commands keep the host's terminal, if it has one.
    InHost,
    /// A process of its own, which outlives the host for as long as it takes to end what the host started. On Linux.
    ///
    /// It is started with the first command and again if it is gone; commands that it looked after are then
    /// told as failed. Neither it nor its commands have a terminal.
    #[cfg(target_os = "linux")]
    Program(KeeperProgram),
}

/// Runs commands. Clones are the same executor; jobs are ended when the last is dropped.
///
/// It needs a tokio runtime with input, output and time enabled, of either kind. A command belongs to the runtime in
/// which it was started, and ends with it.
#[derive(Clone, Debug)]
pub struct Executor {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    launcher: Launcher,
    jobs: Arc<Table>,
}

impl Executor {
    /// An executor. No process is started yet.
    ///
    /// # Errors
    /// `unsafe-permissions` for a spill folder that is no directory, not the user's own or writable by others;
    /// `execution-failed` where none can be made.
    pub fn new(options: ExecutorOptions) -> Result<Self> {
        let ExecutorOptions { spill_folder, keeper } = options;
        let spills = SpillFolder::create_below(&spill_folder)?;
        let service = match keeper {
            Keeper::InHost => Service::InHost,
            #[cfg(target_os = "linux")]
            Keeper::Program(program) => Service::Keeper(keeper::Remote::new(program)),
        };
        let launcher = Launcher::new(service, spills);
        Ok(Self { inner: Arc::new(Inner { launcher, jobs: Arc::default() }) })
    }

    /// Runs a command in the foreground, for at most `limit`, which is at most [`MAX_LIMIT`]: a larger one is taken
    /// for that.
    ///
    /// Not more than [`MAX_RUNNING`] run at the same time: those beyond wait for their turn, and `limit` counts from
    /// the command's own start.
    ///
    /// When the time is over or `cancelled` resolves, the command's process group gets SIGTERM and, after
    /// [`TERM_GRACE`], SIGKILL; the result says so and has what it wrote until then. If this future is dropped, the
    /// same happens in the background. A command that is being started is started first and ended then.
    ///
    /// # Errors
    /// `invalid-arguments` for a limit of zero; `execution-failed` when the command cannot be started or its end is
    /// not known; `cancelled` when it was while it waited for its turn; `shutting-down`; `environment-too-large`.
    pub async fn run(
        &self,
        command: ShellCommand,
        limit: Duration,
        cancelled: impl Future<Output = ()>,
    ) -> Result<Finished> {
        if limit.is_zero() {
            return Err(Error::host(
                Code::InvalidArguments,
                "a command that may take no time cannot be run: give it a limit, or leave that out",
            ));
        }
        let launcher = &self.inner.launcher;
        let mut cancelled = pin!(cancelled);
        let admitted = tokio::select! {
            biased;
            admitted = launcher.admit_in_turn() => admitted?,
            () = &mut cancelled => return Err(Error::host(
                Code::Cancelled,
                format!("the command was not started: it was cancelled while {MAX_RUNNING} others ran"),
            )),
        };
        let mut running = launcher.launch(admitted, command, Some(limit.min(MAX_LIMIT))).await?;
        let lost = |_| Err(command::failed("how the command ended is not known: its runtime is gone"));
        tokio::select! {
            finished = &mut running.finished => return finished.unwrap_or_else(lost),
            () = cancelled => {}
        }
        drop(running.stop);
        running.finished.await.unwrap_or_else(lost)
    }

    /// Starts a command in the background, without a limit of time, as a job of `owner`. Its name is that of the
    /// tool and a number, such as `bash-1`.
    ///
    /// # Errors
    /// `too-many-jobs` when [`MAX_ACTIVE_JOBS`] of the owner run already, otherwise as [`run`](Self::run).
    pub async fn start(&self, owner: &Owner, tool: &str, command: ShellCommand) -> Result<JobId> {
        let place = self.inner.jobs.place(owner)?;
        let admitted = self.inner.launcher.admit_job()?;
        let running = self.inner.launcher.launch(admitted, command, None).await?;
        Ok(place.take(tool, running))
    }

    /// What a job wrote since it was last read, at most [`READ_BYTES`] of each stream, and how it is doing. No byte
    /// is returned twice, and none is lost that the spill file or the tail still has.
    ///
    /// # Errors
    /// `job-not-found`, in the same words for a job of another owner.
    pub fn read(&self, owner: &Owner, job: &JobId) -> Result<JobOutput> {
        self.inner.jobs.read(owner, job)
    }

    /// Ends a job, with SIGTERM to its process group and after [`TERM_GRACE`] SIGKILL, and waits until it has. A job
    /// that has ended stays as it is. Its end is not told by [`completions`](Self::completions) any more.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub async fn kill(&self, owner: &Owner, job: &JobId) -> Result<JobStatus> {
        self.inner.jobs.kill(owner, job).await
    }

    /// The jobs of an owner in the order of their starts: those that run and the last [`MAX_ENDED_JOBS`] that have
    /// ended.
    #[must_use]
    pub fn jobs(&self, owner: &Owner) -> Vec<JobStatus> {
        self.inner.jobs.statuses(owner)
    }

    /// The jobs of an owner that have ended and were not told of yet, here or by
    /// [`next_completion`](Self::next_completion): each is told once.
    #[must_use]
    pub fn completions(&self, owner: &Owner) -> Vec<JobCompleted> {
        self.inner.jobs.completions(owner, usize::MAX)
    }

    /// Waits for a job of an owner to end that was not told of yet. Nothing is lost when this future is dropped.
    pub async fn next_completion(&self, owner: &Owner) -> JobCompleted {
        self.inner.jobs.next_completion(owner).await
    }

    /// Kills the jobs of an owner as [`kill`](Self::kill) does, waits until they have ended, and forgets them:
    /// they cannot be read any more, and numbers begin with 1 again.
    pub async fn end_owner(&self, owner: &Owner) {
        self.inner.jobs.end_owner(owner).await;
    }

    /// Ends everything, as a cancelled command is ended, waits until it has, and removes the spill files. Whatever
    /// is asked for later is refused.
    pub async fn shut_down(&self) {
        self.inner.launcher.shut_down().await;
        self.inner.jobs.all_ended().await;
    }
}

#[cfg(test)]
mod tests;
