//! Calling and compiling in a worker, as the rest of the sandbox sees it.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::channel::{Fault, Until};
use super::pool::{Leased, Pool, Profile};
use super::process::{Process, in_memory, seal, sealed};
use super::protocol::{Call, Reply, Request, Said};
use crate::contract::{Binding, Deadline, Declaration, Execution, Failure};
use crate::error::{Code, Error, Result};
use crate::sandbox::compile::Compiled;
use crate::sandbox::grants::Shown;
use crate::sandbox::limits::{COMPILE_PATIENCE, Limits};
use crate::sandbox::meter::Phase;
use crate::sandbox::world::Granted;
use crate::sandbox::{compile, failure};

/// How much longer than its own limit a call is waited for: a guest that is ended by its worker's clock is
/// answered for, and the worker lives.
const GRACE: Duration = Duration::from_millis(25);

/// How much longer than it may take a compilation is waited for: its worker is to say that it took too long.
const COMPILE_GRACE: Duration = Duration::from_secs(1);

/// How long a worker may take to map a component's code, on a machine that is very busy.
const KEEP_TIME: Duration = Duration::from_secs(10);

/// A component that is called in workers.
#[derive(Debug)]
pub(in crate::sandbox) struct Remote {
    pool: Arc<Pool>,
    /// The digest of its file.
    key: String,
    code: OwnedFd,
}

impl Remote {
    /// # Errors
    /// `internal` where the system has no memory for it.
    pub(in crate::sandbox) fn new(pool: Arc<Pool>, key: String, code: &[u8]) -> Result<Self> {
        let code = sealed(code).map_err(|error| no_memory(&error))?;
        Ok(Self { pool, key, code })
    }

    /// Asks the component what it declares, under the host's own limits and without any grant. Answers also with
    /// what it printed.
    pub(in crate::sandbox) fn declare(&self, granted: Granted) -> (Result<Declaration, Failure>, String) {
        let (said, log) = self.call(Call::Declare, Phase::Declare, &Limits::DECLARE, granted, &[], None);
        let said = said.and_then(|said| match said {
            Said::Declared(declaration) => Ok(declaration),
            Said::Resolved(_) => Err(confused()),
        });
        (said, log)
    }

    /// Asks the component for its values. Answers also with what it printed.
    pub(in crate::sandbox) fn resolve(
        &self,
        execution: Execution,
        limits: &Limits,
        granted: Granted,
        shown: &[Shown],
        deadline: &Deadline,
    ) -> (Result<Vec<Binding>, Failure>, String) {
        let call = Call::Resolve { limits: *limits, execution };
        let (said, log) = self.call(call, Phase::Resolve, limits, granted, shown, Some(deadline));
        let said = said.and_then(|said| match said {
            Said::Resolved(pairs) => Ok(pairs.into_iter().map(|(key, value)| Binding { key, value }).collect()),
            Said::Declared(_) => Err(confused()),
        });
        (said, log)
    }

    fn call(
        &self,
        call: Call,
        phase: Phase,
        limits: &Limits,
        granted: Granted,
        shown: &[Shown],
        deadline: Option<&Deadline>,
    ) -> (Result<Said, Failure>, String) {
        let request = Request::Call { key: self.key.clone(), call, granted };
        match self.ask(&request, phase, limits, shown, deadline) {
            Ok((said, log)) => (said, log),
            Err(failure) => (Err(failure), String::new()),
        }
    }

    fn ask(
        &self,
        request: &Request,
        phase: Phase,
        limits: &Limits,
        shown: &[Shown],
        deadline: Option<&Deadline>,
    ) -> Result<(Result<Said, Failure>, String), Failure> {
        loop {
            let profile = Profile::caller(&self.key, shown)
                .map_err(|error| Failure::new(Code::Internal, format!("a directory cannot be shown ({error})")))?;
            let leased = self.pool.lease(profile, shown, deadline)?;
            let was_warm = leased.is_warm();
            match self.ask_worker(leased.process()?, request, limits, deadline) {
                Ok(Reply::Called { said, mut log }) => {
                    // One that says it cannot is of no more use.
                    if !said.as_ref().is_err_and(|refusal| refusal.code() == Code::Internal) {
                        leased.give_back();
                    }
                    log.truncate(log.floor_char_boundary(limits.log));
                    return Ok((said.map_err(Failure::from), log));
                }
                // What happened to it while it was idle, or kept by others, is not the fault of this call.
                Ok(Reply::Refused(_)) | Err(Fault::Gone) if was_warm => {}
                Ok(Reply::Refused(refusal)) => return Err(refusal.into()),
                Ok(_) => return Err(confused()),
                Err(Fault::Late) => {
                    // Killed here, with whatever it waits for.
                    drop(leased);
                    if let Some(deadline) = deadline {
                        deadline.check()?;
                    }
                    return Err(failure::wall_clock_ran_out(phase, limits));
                }
                Err(Fault::Gone) => return Err(self.ended(leased, phase, limits)),
                Err(fault) => {
                    let message = format!("its worker process went wrong: {fault}");
                    return Err(Failure::new(Code::InvalidOutput, message));
                }
            }
        }
    }

    /// Asks a worker, which is given the component's code if it does not have it.
    fn ask_worker(
        &self,
        worker: &Process,
        request: &Request,
        limits: &Limits,
        deadline: Option<&Deadline>,
    ) -> Result<Reply, Fault> {
        let wanted = || deadline.is_none_or(|deadline| deadline.check().is_ok());
        let until = || Until::At(Instant::now() + limits.wall + GRACE, &wanted);
        let reply = worker.ask(request, &[], &until())?;
        if !matches!(reply, Reply::Unknown) {
            return Ok(reply);
        }
        let keep = Request::Keep { key: self.key.clone() };
        match worker.ask(&keep, &[self.code.as_fd()], &Until::At(Instant::now() + KEEP_TIME, &wanted))? {
            Reply::Kept => worker.ask(request, &[], &until()),
            other => Ok(other),
        }
    }

    fn ended(&self, leased: Leased<'_>, phase: Phase, limits: &Limits) -> Failure {
        let Some(process) = leased.take() else { return confused() };
        let death = process.death();
        if death.is_out_of_memory() {
            return failure::host_memory_ran_out(phase, limits);
        }
        // Its last words may have a guest's in them.
        let message = format!("the worker process that it ran in ended ({death}): please report it");
        Failure::new(Code::Trap, message).with_guest_text(death.last_words())
    }
}

/// Compiles a component in a worker of its own, which is not used again: what one component did to it must not
/// reach the next. What it answers is called like any other code of this host, so it is trusted like the compiler.
///
/// # Errors
/// What is wrong with the bytes; `compile-limit` when it takes longer than 20 s or more than 1 GiB.
pub(in crate::sandbox) fn compile(pool: &Pool, component: &[u8]) -> Result<Compiled> {
    let (component_file, code) =
        sealed(component).and_then(|component| Ok((component, in_memory()?))).map_err(|error| no_memory(&error))?;
    let leased = pool.lease(Profile::compiler(), &[], None).map_err(Failure::into_load_error)?;
    let request = Request::Compile { bytes: component.len() as u64 };
    let descriptors: [BorrowedFd<'_>; 2] = [component_file.as_fd(), code.as_fd()];
    // The worker itself watches the time; this is for one that cannot.
    let until = Until::At(Instant::now() + COMPILE_PATIENCE + COMPILE_GRACE, &|| true);
    let process = leased.process().map_err(Failure::into_load_error)?;
    match process.ask(&request, &descriptors, &until) {
        Ok(Reply::Compiled { bytes, imports }) => {
            let code = read(code, bytes).map_err(|error| no_memory(&error))?;
            Ok(Compiled { code, imports })
        }
        Ok(Reply::Refused(refusal)) => Err(refusal.into()),
        Ok(_) => Err(confused().into_load_error()),
        Err(Fault::Late) => Err(compile::took_too_long()),
        Err(Fault::Gone) => {
            let death = leased.take().map(Process::death);
            if death.as_ref().is_some_and(|death| death.is_out_of_memory() || death.was_killed()) {
                return Err(compile::took_too_much_memory());
            }
            let how = death.map_or_else(String::new, |death| format!("{death}: {}", death.last_words()));
            Err(Error::load(
                Code::Malformed,
                format!(
                    "it crashed the compiler ({how}), which is a mistake in that: build the component with other options, and report it"
                ),
            ))
        }
        Err(fault) => Err(Error::host(Code::Internal, format!("its worker process went wrong: {fault}"))),
    }
}

/// Reads what a worker wrote, once nobody can change it any more.
fn read(code: OwnedFd, bytes: u64) -> std::io::Result<Vec<u8>> {
    use std::io::{Read as _, Seek as _};
    seal(code.as_fd())?;
    let mut file = std::fs::File::from(code);
    file.rewind()?;
    let mut read = Vec::with_capacity(usize::try_from(bytes.min(file.metadata()?.len())).unwrap_or_default());
    file.take(bytes).read_to_end(&mut read)?;
    if read.len() as u64 == bytes { Ok(read) } else { Err(std::io::ErrorKind::UnexpectedEof.into()) }
}

fn no_memory(error: &std::io::Error) -> Error {
    Error::host(Code::Internal, format!("there is no memory for a component's code ({error}): allow the process more"))
}

/// A worker answered something else than it was asked.
fn confused() -> Failure {
    Failure::new(Code::Internal, "a worker process answered what it was not asked")
}
