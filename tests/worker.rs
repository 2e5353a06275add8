//! Components that import something, in the worker processes of the real command: what they see, how they are
//! ended, and what is left of them.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails"
)]

mod support;

#[path = "worker/authority.rs"]
mod authority;
#[path = "worker/confinement.rs"]
mod confinement;
#[path = "worker/escapes.rs"]
mod escapes;
#[path = "worker/time.rs"]
mod time;

use std::sync::OnceLock;
use std::time::Duration;

use dsh_env::contract::{Contributor as _, Deadline, Execution, Failure, SessionHeader, SessionId};
use dsh_env::sandbox::{
    ContributorLog, Grants, Isolation, Limits, Sandbox, SandboxOptions, SandboxedContributor, WorkerProgram,
};
use serde_json::Value;

/// A sandbox whose workers are the command that was built with these tests.
fn sandbox() -> Sandbox {
    Sandbox::new(&SandboxOptions::new().isolation(workers())).unwrap()
}

fn workers() -> Isolation {
    Isolation::Workers(WorkerProgram::dsh_env(env!("CARGO_BIN_EXE_dsh-env")))
}

/// The sandbox of all tests that do not look at its processes.
fn shared() -> &'static Sandbox {
    static SHARED: OnceLock<Sandbox> = OnceLock::new();
    SHARED.get_or_init(sandbox)
}

/// The guest that does what it is told.
struct Probe {
    contributor: SandboxedContributor,
}

impl Probe {
    fn new(grants: Grants) -> Self {
        Self::of(shared(), grants, Limits::RESOLVE)
    }

    fn limited(limits: Limits) -> Self {
        Self::of(shared(), Grants::default(), limits)
    }

    fn of(sandbox: &Sandbox, grants: Grants, limits: Limits) -> Self {
        static PROBE: OnceLock<Vec<u8>> = OnceLock::new();
        let probe = PROBE.get_or_init(|| std::fs::read(support::fixtures().join("guests/probe/probe.wasm")).unwrap());
        // It has to be told what to do.
        let mut grants = grants;
        if let dsh_env::sandbox::Extensions::Named(names) = &mut grants.extensions {
            names.insert("probe".to_owned());
        }
        let contributor = sandbox.load(probe.as_slice()).unwrap().contributor().unwrap();
        Self { contributor: contributor.with_grants(grants).with_limits(limits) }
    }

    /// Tells it one operation a line, for an execution.
    fn tell_in(&self, execution: &Execution, operations: &str) -> Result<Vec<Value>, Failure> {
        let mut execution = execution.clone();
        execution.extensions.push(("probe".to_owned(), operations.to_owned()));
        let said = self.contributor.resolve(&execution, &Deadline::after(Duration::from_secs(20)))?;
        let json = &said.iter().find(|binding| binding.key == "DSH_PROBE").unwrap().value;
        Ok(serde_json::from_str::<Vec<Value>>(json).unwrap())
    }

    fn tell(&self, operations: &str) -> Result<Vec<Value>, Failure> {
        self.tell_in(&execution(), operations)
    }

    /// What came of one operation: `Ok` or the name of its error.
    fn try_in(&self, execution: &Execution, operation: &str) -> Result<Value, String> {
        let mut said = self.tell_in(execution, operation).map_err(|failure| format!("call: {failure:?}"))?;
        let said = said.remove(0);
        match said.get("error") {
            Some(error) => Err(error.as_str().unwrap().to_owned()),
            None => Ok(said["ok"].clone()),
        }
    }

    fn try_one(&self, operation: &str) -> Result<Value, String> {
        self.try_in(&execution(), operation)
    }

    fn log(&self) -> ContributorLog {
        self.contributor.log()
    }
}

fn execution() -> Execution {
    let header = SessionHeader::new(SessionId::new("s1").unwrap()).with_cwd("/srv");
    Execution::new("bash").owned_by(header).in_workdir("/srv/app")
}
