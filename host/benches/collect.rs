//! What an overlay costs: `cargo bench --all-features`. The measure is `bash -c true` in the same run; the
//! aim is that ten contributors in fresh sandboxes stay within 5 % of it.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a benchmark that cannot go on fails")]

use std::path::Path;
use std::process::Command;

use divan::Bencher;
use dsh_env::contract::{Binding, Contributor, Deadline, Declaration, Execution, Failure, SessionHeader, SessionId};
use dsh_env::environment::ChildEnvironment;
use dsh_env::home::Home;
use dsh_env::registry::{Registration, Registry};
use dsh_env::sandbox::{Allocation, Sandbox, SandboxOptions, SandboxedContributor};

fn main() {
    divan::main();
}

/// The example component under a name and a key of its own, since a registry takes each once.
struct Numbered(SandboxedContributor, usize);

impl Numbered {
    fn key(&self) -> String {
        format!("DSH_REGION_{}", self.1)
    }
}

impl Contributor for Numbered {
    fn declare(&self) -> Declaration {
        Declaration::new(format!("region-{}", self.1)).variable(self.key(), "A region.")
    }

    fn resolve(&self, execution: &Execution, deadline: &Deadline) -> Result<Vec<Binding>, Failure> {
        let bindings = self.0.resolve(execution, deadline)?;
        Ok(bindings.into_iter().map(|binding| Binding { key: self.key(), ..binding }).collect())
    }

    fn may_wait(&self) -> bool {
        false
    }
}

fn registry(contributors: usize, allocation: Allocation) -> (Registry, Vec<Registration>) {
    let file =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../guest-examples/rust/deployment-region/deployment-region.wasm");
    let sandbox = Sandbox::new(&SandboxOptions::new().allocation(allocation)).unwrap();
    let component = sandbox.load(std::fs::read(file).unwrap()).unwrap();
    let registry = Registry::new(&Home::resolve(Some("/".as_ref())).unwrap());
    let registered = (0..contributors)
        .map(|number| registry.register(Numbered(component.contributor().unwrap(), number)).unwrap())
        .collect();
    (registry, registered)
}

fn execution() -> Execution {
    let header = SessionHeader::new(SessionId::new("0190f3c2-7b1e-7a3c-9d4e-aaaaaaaaaaaa").unwrap());
    Execution::new("bash").owned_by(header.with_cwd("/srv/app")).in_workdir("/srv/app")
}

#[divan::bench(args = [0, 1, 10])]
fn collect_pooled(bencher: Bencher, contributors: usize) {
    let (registry, _registered) = registry(contributors, Allocation::Pooled);
    let execution = execution();
    bencher.bench_local(|| registry.collect(&execution).unwrap());
}

#[divan::bench(args = [1, 10])]
fn collect_on_demand(bencher: Bencher, contributors: usize) {
    let (registry, _registered) = registry(contributors, Allocation::OnDemand);
    let execution = execution();
    bencher.bench_local(|| registry.collect(&execution).unwrap());
}

#[divan::bench]
fn merge_the_environment(bencher: Bencher) {
    let (registry, _registered) = registry(10, Allocation::OnDemand);
    let overlay = registry.collect(&execution()).unwrap();
    bencher.bench_local(|| ChildEnvironment::builder(std::env::vars_os()).with_overlay(&overlay));
}

#[divan::bench(sample_size = 1)]
fn bare_shell() {
    Command::new("bash").args(["-c", "true"]).status().unwrap();
}
