//! What watching costs a collection: `cargo bench --bench observers`. Ten native contributors, whose answers are as
//! good as free, without a watcher, with each one, and with a value of the greatest length there is.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a benchmark that cannot go on fails")]

use std::sync::Arc;

use divan::Bencher;
use dsh_env::activity::Activity;
use dsh_env::calls::{CallLog, CallLogOptions};
use dsh_env::contract::{Binding, Contributor, Deadline, Declaration, Execution, Failure, SessionHeader, SessionId};
use dsh_env::home::Home;
use dsh_env::registry::{Collected, Observer, Registration, Registry};

fn main() {
    divan::main();
}

struct Numbered {
    number: usize,
    value: String,
}

impl Numbered {
    fn key(&self) -> String {
        format!("DSH_REGION_{}", self.number)
    }
}

impl Contributor for Numbered {
    fn declare(&self) -> Declaration {
        Declaration::new(format!("region-{}", self.number)).variable(self.key(), "A region.")
    }

    fn resolve(&self, _: &Execution, _: &Deadline) -> Result<Vec<Binding>, Failure> {
        Ok(vec![Binding::new(self.key(), self.value.clone())])
    }

    fn digest(&self) -> Option<&str> {
        Some("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08")
    }

    fn may_wait(&self) -> bool {
        false
    }
}

/// Watches and does nothing.
struct Idle;

impl Observer for Idle {
    fn collected(&self, _: &Collected<'_>) {}
}

fn registry(contributors: usize, length: usize) -> (Registry, Vec<Registration>) {
    let registry = Registry::new(&Home::resolve(Some("/".as_ref())).unwrap());
    let registered = (0..contributors)
        .map(|number| registry.register(Numbered { number, value: "x".repeat(length) }).unwrap())
        .collect();
    (registry, registered)
}

fn collect(bencher: Bencher, contributors: usize, length: usize, observers: Vec<Arc<dyn Observer>>) {
    let (registry, _registered) = registry(contributors, length);
    for observer in observers {
        registry.observe(observer);
    }
    let header = SessionHeader::new(SessionId::new("0190f3c2-7b1e-7a3c-9d4e-aaaaaaaaaaaa").unwrap());
    let execution = Execution::new("bash").owned_by(header).in_workdir("/srv/app");
    bencher.bench(|| registry.collect(&execution).unwrap());
}

/// One thread, and as many as a busy harness has.
const THREADS: [usize; 2] = [1, 8];

#[divan::bench(threads = THREADS)]
fn a_nobody(bencher: Bencher) {
    collect(bencher, 10, 12, Vec::new());
}

#[divan::bench(threads = THREADS)]
fn b_idle(bencher: Bencher) {
    collect(bencher, 10, 12, vec![Arc::new(Idle)]);
}

#[divan::bench(threads = THREADS)]
fn c_activity(bencher: Bencher) {
    collect(bencher, 10, 12, vec![Activity::new()]);
}

#[divan::bench(threads = THREADS)]
fn d_calls(bencher: Bencher) {
    collect(bencher, 10, 12, vec![CallLog::new(CallLogOptions::new())]);
}

#[divan::bench(threads = THREADS)]
fn e_both(bencher: Bencher) {
    collect(bencher, 10, 12, vec![CallLog::new(CallLogOptions::new()), Activity::new()]);
}

#[divan::bench]
fn f_nobody_32_kib(bencher: Bencher) {
    collect(bencher, 1, 32 * 1024, Vec::new());
}

#[divan::bench]
fn g_calls_32_kib(bencher: Bencher) {
    collect(bencher, 1, 32 * 1024, vec![CallLog::new(CallLogOptions::new())]);
}
