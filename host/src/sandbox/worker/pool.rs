//! The workers of a sandbox: as many as are needed at once, and a few kept warm.

use std::os::fd::{AsFd as _, BorrowedFd};
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::process::{Process, Refused};
use super::program::WorkerProgram;
use super::protocol::{Confinement, Request, Role};
use crate::contract::{Deadline, Failure};
use crate::error::Code;
use crate::sandbox::grants::Shown;
use crate::sandbox::limits::{COMPILE_BYTES, Limits};

/// The most workers that call at once. Each is a process of some ten megabytes; calls beyond wait for one.
const MAX_CALLERS: usize = 64;

/// The most workers that compile at once: each may take a gigabyte.
const MAX_COMPILERS: usize = 2;

/// Workers that are kept while nobody needs them: as many as a host has contributors with imports, usually.
const KEPT: usize = 12;

/// Bytes that a worker needs itself, beside the memory of the guest: the code of a component, what is copied
/// for it, threads.
const OWN_BYTES: u64 = 512 * 1024 * 1024;

/// How long a caller waits before it looks again whether anybody still waits for it.
const PATIENCE: Duration = Duration::from_millis(10);

/// What a worker may be used for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Profile {
    role: Role,
    /// The digest of the one component that it calls: what another may see does not pass through it.
    component: String,
    /// The directories that it may read, for its whole life.
    directories: Vec<Directory>,
}

/// Which directory it is, under which name: a directory that was replaced at its path is another.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Directory {
    name: &'static str,
    path: PathBuf,
    device: u64,
    inode: u64,
}

impl Profile {
    pub(super) fn compiler() -> Self {
        Self { role: Role::Compiler, component: String::new(), directories: Vec::new() }
    }

    pub(super) fn caller(component: &str, shown: &[Shown]) -> std::io::Result<Self> {
        let directory = |shown: &Shown| {
            let stat = rustix::fs::fstat(&shown.directory)?;
            Ok(Directory { name: shown.name, path: shown.path.clone(), device: stat.st_dev, inode: stat.st_ino })
        };
        let directories = shown.iter().map(directory).collect::<std::io::Result<_>>()?;
        Ok(Self { role: Role::Caller, component: component.to_owned(), directories })
    }
}

/// The workers of a sandbox. They end with it.
#[derive(Debug)]
pub(in crate::sandbox) struct Pool {
    program: WorkerProgram,
    /// What the host's compiled code has to fit.
    engine: String,
    data_bytes: u64,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Least recently used first.
    idle: Vec<(Profile, Process)>,
    callers: usize,
    compilers: usize,
}

impl State {
    fn count(&mut self, role: Role) -> &mut usize {
        match role {
            Role::Caller => &mut self.callers,
            Role::Compiler => &mut self.compilers,
        }
    }
}

/// A worker that is being used. It goes back when [`Leased::give_back`] is called, else it is killed.
pub(super) struct Leased<'p> {
    pool: &'p Pool,
    profile: Profile,
    process: Option<Process>,
    /// Whether it has worked before.
    warm: bool,
}

impl Pool {
    pub(in crate::sandbox) fn new(program: WorkerProgram, engine: String, ceiling: &Limits) -> Self {
        let data_bytes = OWN_BYTES + ceiling.memory as u64;
        Self { program, engine, data_bytes, state: Mutex::default(), changed: Condvar::new() }
    }

    /// A worker for a profile: a warm one, or a new one once there is room.
    ///
    /// # Errors
    /// `overlay-timeout` and `cancelled` while it waits; `overloaded` or `internal` where none can be started.
    pub(super) fn lease(
        &self,
        profile: Profile,
        shown: &[Shown],
        deadline: Option<&Deadline>,
    ) -> Result<Leased<'_>, Failure> {
        let most = match profile.role {
            Role::Caller => MAX_CALLERS,
            Role::Compiler => MAX_COMPILERS,
        };
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        while *state.count(profile.role) >= most {
            if let Some(deadline) = deadline {
                deadline.check()?;
            }
            let waited = self.changed.wait_timeout(state, PATIENCE);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        let warm = loop {
            let Some(at) = state.idle.iter().rposition(|(idle, _)| *idle == profile) else { break None };
            let (_, mut process) = state.idle.remove(at);
            if process.is_alive() {
                break Some(process);
            }
        };
        *state.count(profile.role) += 1;
        drop(state);
        let mut leased = Leased { pool: self, profile, warm: warm.is_some(), process: warm };
        if leased.process.is_none() {
            leased.process = Some(self.start(&leased.profile, shown, deadline)?);
        }
        Ok(leased)
    }

    fn start(&self, profile: &Profile, shown: &[Shown], deadline: Option<&Deadline>) -> Result<Process, Failure> {
        let begin = Request::Begin {
            role: profile.role,
            directories: profile.directories.iter().map(|directory| directory.name.to_owned()).collect(),
            data_bytes: if profile.role == Role::Compiler { COMPILE_BYTES } else { self.data_bytes },
        };
        let directories: Vec<BorrowedFd<'_>> = shown.iter().map(|shown| shown.directory.as_fd()).collect();
        let started = Instant::now();
        let starting = Process::start(&self.program, &self.engine, &begin, &directories, deadline);
        let process = starting.map_err(|refused| match (refused, deadline.map(Deadline::check)) {
            (Refused::Unwanted, Some(Err(failure))) => failure,
            (Refused::Unwanted, _) => Failure::new(Code::Cancelled, "nobody waits for the call any more"),
            (Refused::Because(why), _) => {
                Failure::new(Code::Internal, format!("there is no worker process to run it in: {why}"))
            }
        })?;
        tracing::debug!(took = ?started.elapsed(), confinement = ?process.confinement(), "a worker started");
        Ok(process)
    }

    /// What holds the workers of this sandbox, from one that is started to be asked.
    ///
    /// # Errors
    /// `internal` where none can be started.
    pub(in crate::sandbox) fn confinement(&self) -> Result<Confinement, Failure> {
        let profile = Profile { role: Role::Caller, component: String::new(), directories: Vec::new() };
        let leased = self.lease(profile, &[], None)?;
        let confinement = leased.process()?.confinement().clone();
        leased.give_back();
        Ok(confinement)
    }
}

impl Leased<'_> {
    pub(super) fn process(&self) -> Result<&Process, Failure> {
        self.process.as_ref().ok_or_else(|| Failure::new(Code::Internal, "a worker was given back while it was used"))
    }

    /// Whether it has worked before.
    pub(super) fn is_warm(&self) -> bool {
        self.warm
    }

    /// Keeps the worker for the next call.
    pub(super) fn give_back(mut self) {
        let Some(process) = self.process.take() else { return };
        let mut state = self.pool.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.idle.push((self.profile.clone(), process));
        let surplus = state.idle.len().saturating_sub(KEPT);
        let ended: Vec<_> = state.idle.drain(..surplus).collect();
        drop(state);
        drop(ended);
    }

    /// Takes the process out, to see how it ended.
    pub(super) fn take(mut self) -> Option<Process> {
        self.process.take()
    }
}

impl Drop for Leased<'_> {
    fn drop(&mut self) {
        // Before its place is free: there are never more than so many.
        drop(self.process.take());
        let mut state = self.pool.state.lock().unwrap_or_else(PoisonError::into_inner);
        let count = state.count(self.profile.role);
        *count = count.saturating_sub(1);
        drop(state);
        self.pool.changed.notify_all();
    }
}
