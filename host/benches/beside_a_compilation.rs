//! What collecting costs while a component is compiled for seconds: `cargo bench --all-features --bench
//! beside_a_compilation`. The aim is a 99th percentile of at most twice the one of an idle host, in the same run.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a benchmark that cannot go on fails"
)]

#[path = "../../tests/support/mod.rs"]
mod support;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use dsh_env::contract::Execution;
use dsh_env::home::Home;
use dsh_env::registry::Registry;
use dsh_env::sandbox::{Allocation, Isolation, Sandbox, SandboxOptions, WorkerProgram};
use support::guest::Guest;
use support::large::{BLOCK, with_functions};

/// How often collections begin: a harness that is busy.
const PACE: Duration = Duration::from_millis(1);

fn main() {
    let workers = Isolation::Workers(WorkerProgram::dsh_env(env!("CARGO_BIN_EXE_dsh-env")));
    let sandbox = Sandbox::new(&SandboxOptions::new().allocation(Allocation::Pooled).isolation(workers)).unwrap();
    let registry = Registry::new(&Home::resolve(Some("/".as_ref())).unwrap());
    let good = sandbox.load(Guest::good().component()).unwrap().contributor().unwrap();
    let _registration = registry.register(good).unwrap();

    let until = Instant::now() + Duration::from_secs(5);
    let idle = collect_while(&registry, || Instant::now() < until);

    let compiled = AtomicBool::new(false);
    let large = with_functions(60_000, &BLOCK.repeat(4));
    let (beside, took) = std::thread::scope(|scope| {
        let compiling = scope.spawn(|| {
            let started = Instant::now();
            sandbox.load(large).unwrap();
            compiled.store(true, Ordering::SeqCst);
            started.elapsed()
        });
        let beside = collect_while(&registry, || !compiled.load(Ordering::SeqCst));
        (beside, compiling.join().unwrap())
    });
    println!("compiling 60,000 functions took {:.1} s", took.as_secs_f64());
    println!("{:<12} {:>8} {:>10} {:>10}", "", "calls", "p50 µs", "p99 µs");
    for (name, times) in [("idle", &idle), ("compiling", &beside)] {
        println!("{name:<12} {:>8} {:>10.1} {:>10.1}", times.len(), quantile(times, 50), quantile(times, 99));
    }
    println!("p99 beside the compilation / idle: {:.2}", quantile(&beside, 99) / quantile(&idle, 99));
}

/// How long collections took, shortest first.
fn collect_while(registry: &Registry, go_on: impl Fn() -> bool) -> Vec<Duration> {
    let execution = Execution::new("bash").in_workdir("/srv/app");
    let mut times = Vec::new();
    while go_on() {
        let started = Instant::now();
        registry.collect(&execution).unwrap();
        times.push(started.elapsed());
        std::thread::sleep(PACE);
    }
    times.sort();
    times
}

fn quantile(sorted: &[Duration], percent: usize) -> f64 {
    sorted[(sorted.len() - 1) * percent / 100].as_secs_f64() * 1e6
}
