//! Where a component is called: here, if it imports nothing, else where it can be ended.

use std::sync::Arc;

use wasmtime::component::Component;

use super::callable::Callable;
use super::compile::Compiled;
use super::contract;
use super::engine::Inner;
use super::grants::{Grants, View};
use super::limits::Limits;
use super::meter::Phase;
#[cfg(target_os = "linux")]
use super::worker::Remote;
use super::world::{Granted, Log, World};
use crate::contract::{Binding, Deadline, Declaration, Execution, Facts, Failure};
use crate::error::{Code, Error, Result};
use crate::text::shown;

/// A component, and where it is called.
pub(super) enum Runner {
    /// On the thread of whoever asks: it imports nothing, so that it cannot wait.
    Here(Callable<()>),
    /// On a thread of this process, which is lost when the guest waits for ever. What an embedder accepted.
    InProcess(Callable<World>),
    /// In a worker process.
    #[cfg(target_os = "linux")]
    Worker(Remote),
}

/// What came of a call.
pub(super) struct Outcome<T> {
    pub(super) said: Result<T, Failure>,
    /// What the guest printed.
    pub(super) printed: String,
    /// What the host has to say of it beside: why something that is granted is not shown.
    pub(super) note: Option<String>,
}

impl<T> From<(Result<T, Failure>, String)> for Outcome<T> {
    fn from((said, printed): (Result<T, Failure>, String)) -> Self {
        Self { said, printed, note: None }
    }
}

impl Runner {
    /// Makes a compiled component ready to be called.
    ///
    /// # Errors
    /// `forbidden-import` where it imports something and there is nowhere to run such a one;
    /// `missing-export` and `wrong-type`, which a worker says only when it is asked.
    pub(super) fn new(sandbox: &Arc<Inner>, digest: &str, compiled: &Compiled) -> Result<Self> {
        if compiled.imports.is_empty() {
            let component = deserialize(sandbox, compiled)?;
            return Ok(Self::Here(Callable::new(sandbox, &sandbox.linker, &component)?));
        }
        match &sandbox.isolation {
            #[cfg(target_os = "linux")]
            super::engine::Isolated::Workers(pool) => {
                Ok(Self::Worker(Remote::new(Arc::clone(pool), digest.to_owned(), &compiled.code)?))
            }
            super::engine::Isolated::InProcess => {
                let component = deserialize(sandbox, compiled)?;
                Ok(Self::InProcess(Callable::new(sandbox, sandbox.world_linker()?, &component)?))
            }
            super::engine::Isolated::Refused => Err(Error::load(
                Code::ForbiddenImport,
                format!(
                    "it imports {}, so that it can wait in the host, and this host has no worker processes for such components: name the dsh-env command as the worker program, or accept that they are called in this process",
                    compiled.imports.first().map(|name| shown(name)).unwrap_or_default()
                ),
            )),
        }
    }

    /// Whether asking it can wait for longer than its own limits.
    pub(super) fn may_wait(&self) -> bool {
        matches!(self, Self::InProcess(_))
    }

    /// Asks it what it declares, without any grant.
    pub(super) fn declare(self: &Arc<Self>) -> Outcome<Declaration> {
        let granted = Granted { log: Limits::DECLARE.log, ..Granted::default() };
        match &**self {
            Self::Here(callable) => (callable.declare(()), String::new()).into(),
            Self::InProcess(callable) => {
                let _ = callable;
                declare_on_a_thread(Arc::clone(self), granted).into()
            }
            #[cfg(target_os = "linux")]
            Self::Worker(remote) => remote.declare(granted).into(),
        }
    }

    /// Asks it for its values.
    pub(super) fn resolve(
        &self,
        execution: &Execution,
        facts: &Facts,
        limits: &Limits,
        grants: &Grants,
        deadline: &Deadline,
    ) -> Outcome<Vec<Binding>> {
        if let Self::Here(callable) = self {
            let extensions = contract::extensions(execution, |name| grants.extensions.includes(name));
            let execution = contract::execution(execution, &extensions);
            return (callable.resolve((), limits, &execution, Some(deadline)), String::new()).into();
        }
        let View { granted, shown, note } = grants.view(execution, facts, limits);
        let (said, printed) = match self {
            Self::Here(_) => (Ok(Vec::new()), String::new()),
            Self::InProcess(callable) => {
                let extensions = contract::extensions(execution, |name| grants.extensions.includes(name));
                let execution = contract::execution(execution, &extensions);
                let log = Log::new(granted.log);
                let world = World::new(&granted, shown.into_iter().map(Into::into).collect(), &log);
                (callable.resolve(world, limits, &execution, Some(deadline)), log.take())
            }
            #[cfg(target_os = "linux")]
            Self::Worker(remote) => {
                let mut seen = execution.clone();
                seen.extensions.retain(|(name, _)| grants.extensions.includes(name));
                remote.resolve(seen, limits, granted, &shown, deadline)
            }
        };
        Outcome { said, printed, note }
    }
}

/// Asks on a thread of its own, which is left behind if the guest waits for longer than it may: nobody has a deadline
/// when a component is loaded.
fn declare_on_a_thread(runner: Arc<Runner>, granted: Granted) -> (Result<Declaration, Failure>, String) {
    let (sender, receiver) = std::sync::mpsc::sync_channel(1);
    let ask = move || {
        let Runner::InProcess(callable) = &*runner else { return };
        let log = Log::new(granted.log);
        let said = callable.declare(World::new(&granted, Vec::new(), &log));
        // Nobody listens any more when it took too long.
        let _ = sender.send((said, log.take()));
    };
    let failed = |failure| (Err(failure), String::new());
    if let Err(error) = std::thread::Builder::new().name("dsh-env-declare".to_owned()).spawn(ask) {
        return failed(Failure::new(Code::Internal, format!("no thread could be started ({error})")));
    }
    let answer = receiver.recv_timeout(Limits::DECLARE.wall + super::epoch::TICK * 2);
    answer.unwrap_or_else(|_| failed(super::failure::wall_clock_ran_out(Phase::Declare, &Limits::DECLARE)))
}

/// Makes compiled code callable in this process.
fn deserialize(sandbox: &Inner, compiled: &Compiled) -> Result<Component> {
    #[expect(unsafe_code, reason = "wasmtime cannot tell whether compiled code is what it compiled")]
    // SAFETY: the code was compiled by an engine of these settings, in this process or a worker of the same
    // build, or read from the cache, which answers with nothing but what this user or root put there whole. It is
    // held in memory, so that nothing can change it after it was checked. Wasmtime itself refuses code of
    // another version or other settings.
    let component = unsafe { Component::deserialize(&sandbox.engine, &compiled.code) };
    component.map_err(|error| {
        Error::host(Code::Internal, format!("compiled code cannot be used: {}", shown(&format!("{error:#}"))))
    })
}
