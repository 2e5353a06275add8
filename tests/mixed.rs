//! Ten thousand hostile calls among ten thousand good ones, in both tiers. In a process of its own, since it looks at
//! the process's memory.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails"
)]

mod support;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use dsh_env::contract::{Binding, Contributor as _, Deadline, Execution};
use dsh_env::sandbox::{
    Allocation, Extensions, Grants, Isolation, Limits, Sandbox, SandboxOptions, SandboxedContributor, WorkerProgram,
};
use support::guest::Guest;

/// Calls of each kind, good and hostile. One in twenty-five is in a worker, where a call costs a hundred times as
/// much.
const CALLS: usize = 10_000;
const IN_WORKER: usize = 25;

/// Bytes by which a process may be larger afterwards: what its allocator keeps.
const SLACK_BYTES: usize = 16 * 1024 * 1024;

struct Everyone {
    good: SandboxedContributor,
    hostile: Vec<SandboxedContributor>,
    probe: SandboxedContributor,
}

impl Everyone {
    fn new() -> Self {
        let workers = Isolation::Workers(WorkerProgram::dsh_env(env!("CARGO_BIN_EXE_dsh-env")));
        let sandbox = Sandbox::new(&SandboxOptions::new().allocation(Allocation::Pooled).isolation(workers)).unwrap();
        let load = |guest: Guest| sandbox.load(guest.component()).unwrap().contributor().unwrap();
        let spin = Limits { cpu: Duration::from_millis(5), ..Limits::RESOLVE };
        let hostile = [
            "(unreachable)",
            "(drop (memory.grow (i32.const 900))) (memory.fill (i32.const 8192) (i32.const 1) (i32.const 1000000)) (unreachable)",
            "(i32.const 0x7ffffff0)",
            "(i32.store (i32.const 1412) (i32.const 0x7fffffff)) (i32.const 1408)",
            "(i32.store (i32.const 1416) (i32.const 0x7fffffff)) (i32.const 1408)",
        ];
        let mut hostile: Vec<_> = hostile.iter().map(|body| load(Guest::good().with("resolve", *body))).collect();
        let recursion = "(func $f (param i32) (result i32) (i32.add (call $f (local.get 0)) (i32.const 1)))";
        hostile.push(load(Guest::good().with("extra", recursion).with("resolve", "(call $f (i32.const 1))")));
        let spinning = "(loop $l (br $l)) (unreachable)";
        hostile.push(load(Guest::good().with("resolve", spinning)).with_limits(spin));
        let probe = std::fs::read(support::fixtures().join("guests/probe/probe.wasm")).unwrap();
        let extensions = Extensions::Named(BTreeSet::from(["probe".to_owned()]));
        let probe = sandbox.load(probe).unwrap().contributor().unwrap();
        Self {
            good: load(Guest::good()),
            hostile,
            probe: probe.with_grants(Grants { extensions, ..Grants::default() }).with_limits(spin),
        }
    }

    fn call_good(&self, number: usize) {
        if number.is_multiple_of(IN_WORKER) {
            assert!(self.tell("arguments").unwrap().starts_with(r#"[{"op":"arguments","ok":[]"#));
        } else {
            let answer = self.good.resolve(&Execution::new("bash"), &Deadline::after(Duration::from_secs(60)));
            assert_eq!(answer.unwrap(), [Binding::new("DSH_PROBE", "1")]);
        }
    }

    fn call_hostile(&self, number: usize) {
        if number.is_multiple_of(IN_WORKER) {
            let does = ["spin", "exit 1", "abort", "flood-forever"];
            self.tell(does[number / IN_WORKER % does.len()]).unwrap_err();
        } else {
            let hostile = &self.hostile[number % self.hostile.len()];
            hostile.resolve(&Execution::new("bash"), &Deadline::after(Duration::from_secs(60))).unwrap_err();
        }
    }

    fn tell(&self, operation: &str) -> Result<String, dsh_env::contract::Failure> {
        let mut execution = Execution::new("bash");
        execution.extensions.push(("probe".to_owned(), operation.to_owned()));
        let said = self.probe.resolve(&execution, &Deadline::after(Duration::from_secs(60)))?;
        Ok(said[0].value.replace(": ", ":").replace(", ", ","))
    }

    fn call_all(self: &Arc<Self>, calls: usize) {
        std::thread::scope(|scope| {
            scope.spawn(|| (0..calls).for_each(|number| self.call_good(number)));
            scope.spawn(|| (0..calls).for_each(|number| self.call_hostile(number)));
        });
    }
}

/// Bytes of memory that this process has.
fn resident() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

#[test]
fn every_good_call_is_right_among_as_many_hostile_ones_and_memory_is_back_where_it_was() {
    let everyone = Arc::new(Everyone::new());
    everyone.call_all(CALLS / 10);
    let before = resident();
    everyone.call_all(CALLS);
    let after = resident();
    assert!(after <= before + SLACK_BYTES, "{before} bytes became {after}");
}
