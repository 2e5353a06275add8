//! The worker's side: what `dsh-env worker` does.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::{ClockId, clock_gettime};
use wasmtime::component::Component;

use super::channel::{Channel, Fault, Until};
use super::confine;
use super::protocol::{Call, Refusal, Reply, Request, Role, Said};
use crate::contract::Failure;
use crate::error::{Code, Error, Result};
use crate::sandbox::callable::Callable;
use crate::sandbox::engine::{Isolation, Sandbox, SandboxOptions};
use crate::sandbox::limits::{COMPILE_PATIENCE, COMPILE_TIME};
use crate::sandbox::world::{Granted, Log, Preopen, World};
use crate::sandbox::{MAX_COMPONENT_BYTES, compile, contract, guarded};

/// Components that a worker keeps ready; the one that was not called for longest goes first.
const KEPT: usize = 32;

/// Works for the host at the other end of standard input until that is gone.
///
/// For programs that are named as a [`WorkerProgram`](super::WorkerProgram): call it first thing in `main`, with
/// nothing open and no thread started.
#[must_use]
pub fn serve() -> ExitCode {
    confine::close_inherited();
    match work() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("dsh-env worker: {why}");
            ExitCode::FAILURE
        }
    }
}

fn work() -> Result<(), String> {
    let socket = std::io::stdin().as_fd().try_clone_to_owned().map_err(|error| error.to_string())?;
    let channel = Channel::new(socket);
    let (request, directories) = match channel.receive_all(&Until::Ever) {
        Ok(received) => received,
        Err(Fault::Gone) => return Ok(()),
        Err(fault) => return Err(format!("standard input is no host: {fault}")),
    };
    let Request::Begin { role, directories: names, data_bytes } = request else {
        return Err("the host did not say what to do".to_owned());
    };
    let confinement = confine::confine(role, &directories, data_bytes)?;
    end_with_host(&channel)?;
    // What a guest waits for. wasmtime-wasi's own would have a thread for every processor of the machine. It
    // waits for time and for files, which threads read, and for no socket: that is denied before.
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_time().build();
    let runtime = runtime.map_err(|error| format!("no thread could be started: {error}"))?;
    let _entered = runtime.enter();
    let sandbox =
        Sandbox::new(&SandboxOptions::new().isolation(Isolation::InProcess)).map_err(|error| error.to_string())?;
    let ready = Reply::Ready {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        engine: sandbox.inner.fingerprint(),
        confinement,
    };
    let mut worker =
        Worker { role, sandbox, directories: names.into_iter().zip(directories).collect(), kept: Vec::new() };
    let answered = answer(&channel, &ready).and_then(|()| {
        loop {
            let (request, descriptors) = channel.receive_all(&Until::Ever)?;
            answer(&channel, &worker.answer(request, descriptors))?;
        }
    });
    match answered {
        Ok(()) | Err(Fault::Gone) => Ok(()),
        Err(fault) => Err(fault.to_string()),
    }
}

fn answer(channel: &Channel, reply: &Reply) -> Result<(), Fault> {
    channel.send(reply, &[], &Until::Ever)
}

/// Ends this process with its host, also while a guest runs or waits.
fn end_with_host(channel: &Channel) -> Result<(), String> {
    let socket = channel.socket().try_clone_to_owned().map_err(|error| error.to_string())?;
    let watch = move || {
        while poll(&mut [PollFd::new(&socket, PollFlags::RDHUP)], None).is_err() {}
        std::process::exit(0);
    };
    let watching = thread::Builder::new().name("dsh-env-host".to_owned()).stack_size(64 * 1024).spawn(watch);
    watching.map(drop).map_err(|error| error.to_string())
}

struct Worker {
    role: Role,
    sandbox: Sandbox,
    directories: Vec<(String, OwnedFd)>,
    /// Least recently called first.
    kept: Vec<(String, Callable<World>)>,
}

impl Worker {
    fn answer(&mut self, request: Request, descriptors: Vec<OwnedFd>) -> Reply {
        let answered = match (self.role, request) {
            (Role::Compiler, Request::Compile { bytes }) => self.compile(bytes, descriptors),
            (Role::Caller, Request::Keep { key }) => self.keep(key, descriptors).map(|()| Reply::Kept),
            (Role::Caller, Request::Call { key, call, granted }) => Ok(self.call(&key, call, &granted)),
            _ => Err(internal("a worker was asked for what it is not there for")),
        };
        answered.unwrap_or_else(|error| Reply::Refused(error.into()))
    }

    fn compile(&self, bytes: u64, descriptors: Vec<OwnedFd>) -> Result<Reply> {
        let [component, code] =
            <[OwnedFd; 2]>::try_from(descriptors).map_err(|_| internal("two files belong to it"))?;
        let mut read = Vec::new();
        let most = bytes.min(MAX_COMPONENT_BYTES as u64);
        File::from(component).take(most).read_to_end(&mut read).map_err(|error| internal(&error.to_string()))?;
        let engine = self.sandbox.inner.engine.clone();
        let compiled = guarded::guarded_while(is_kept_waiting, move || compile::compile(&engine, &read))?;
        File::from(code).write_all(&compiled.code).map_err(|error| internal(&error.to_string()))?;
        Ok(Reply::Compiled { bytes: compiled.code.len() as u64, imports: compiled.imports })
    }

    fn keep(&mut self, key: String, descriptors: Vec<OwnedFd>) -> Result<()> {
        let [code] = <[OwnedFd; 1]>::try_from(descriptors).map_err(|_| internal("a file belongs to it"))?;
        let inner = &self.sandbox.inner;
        let component = deserialize(&inner.engine, code)?;
        let callable = Callable::new(inner, inner.world_linker()?, &component)?;
        self.kept.retain(|(kept, _)| *kept != key);
        let surplus = (self.kept.len() + 1).saturating_sub(KEPT);
        self.kept.drain(..surplus);
        self.kept.push((key, callable));
        Ok(())
    }

    fn call(&mut self, key: &str, call: Call, granted: &Granted) -> Reply {
        let Some(at) = self.kept.iter().position(|(kept, _)| kept == key) else { return Reply::Unknown };
        let kept = self.kept.remove(at);
        let log = Log::new(granted.log);
        let said = self.preopens().and_then(|preopens| {
            let world = World::new(granted, preopens, &log);
            match call {
                Call::Declare => kept.1.declare(world).map(Said::Declared),
                Call::Resolve { limits, execution } => {
                    let extensions = contract::extensions(&execution, |_| true);
                    let execution = contract::execution(&execution, &extensions);
                    kept.1.resolve(world, &limits, &execution, None).map(Said::resolved)
                }
            }
        });
        self.kept.push(kept);
        Reply::Called { said: said.map_err(Refusal::from), log: log.take() }
    }

    fn preopens(&self) -> Result<Vec<Preopen>, Failure> {
        let preopen = |(name, directory): &(String, OwnedFd)| {
            Ok(Preopen { name: name.clone(), directory: directory.try_clone()?.into() })
        };
        let preopens: std::io::Result<Vec<_>> = self.directories.iter().map(preopen).collect();
        preopens.map_err(|error| Failure::new(Code::Internal, format!("a directory cannot be shown ({error})")))
    }
}

/// Whether others keep this process, which compiles one component, from the processor time that it may take.
fn is_kept_waiting(elapsed: Duration) -> bool {
    let used = Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or(Duration::MAX);
    used < COMPILE_TIME && elapsed < COMPILE_PATIENCE
}

/// Maps compiled code from its descriptor.
fn deserialize(engine: &wasmtime::Engine, code: OwnedFd) -> Result<Component> {
    let path = format!("/proc/self/fd/{}", code.as_raw_fd());
    #[expect(unsafe_code, reason = "wasmtime cannot tell whether compiled code is what it compiled")]
    // SAFETY: the file came from the host over the socket that it alone has, is what a compiler of this very build
    // made for engines like this one (both sides compared theirs at the start, and wasmtime checks again), and is
    // sealed, so that nobody changes it while it is mapped. The descriptor is open until this returns, so the path
    // leads to that file.
    let component = unsafe { Component::deserialize_file(engine, path) };
    drop(code);
    component.map_err(|error| internal(&format!("compiled code cannot be mapped: {error:#}")))
}

fn internal(message: &str) -> Error {
    Error::host(Code::Internal, message)
}
