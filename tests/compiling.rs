//! Components that are hard to compile, and workers that others end, with the real command. In a process of its own,
//! one test at a time: what they may take is limited, and what they hold is looked at.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails"
)]

mod support;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dsh_env::Code;
use dsh_env::contract::{Contributor as _, Deadline, Execution};
use dsh_env::sandbox::{Extensions, Grants, Isolation, Sandbox, SandboxOptions, SandboxedContributor, WorkerProgram};
use support::guest::Guest;
use support::large::{BLOCK, LARGEST_FUNCTION, with_functions};

fn one_at_a_time() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn sandbox() -> Sandbox {
    let workers = Isolation::Workers(WorkerProgram::dsh_env(env!("CARGO_BIN_EXE_dsh-env")));
    Sandbox::new(&SandboxOptions::new().isolation(workers)).unwrap()
}

/// Loads, while another contributor of the same sandbox is asked all the time and answers.
fn load_beside_a_good_one(component: Vec<u8>) -> Result<SandboxedContributor, dsh_env::Error> {
    let sandbox = sandbox();
    let good = sandbox.load(Guest::good().component()).unwrap().contributor().unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let asking = scope.spawn(|| {
            let mut answers = 0;
            while !done.load(Ordering::SeqCst) {
                let answer = good.resolve(&Execution::new("bash"), &Deadline::after(Duration::from_secs(5)));
                assert_eq!(answer.unwrap().len(), 1);
                answers += 1;
            }
            answers
        });
        let loaded = sandbox.load(component).and_then(|loaded| loaded.contributor());
        done.store(true, Ordering::SeqCst);
        assert!(asking.join().unwrap() > 0);
        loaded
    })
}

#[test]
fn a_component_of_sixty_thousand_functions_loads_within_the_limits() {
    let _one = one_at_a_time();
    let loaded = sandbox().load(with_functions(60_000, &BLOCK.repeat(4))).and_then(|loaded| loaded.contributor());
    assert_eq!(loaded.unwrap().declare().variables.len(), 1);
}

#[test]
fn functions_of_enormous_control_flow_end_one_way_or_the_other() {
    let _one = one_at_a_time();
    let blocks = LARGEST_FUNCTION / BLOCK.len() - 1;
    if let Err(error) = load_beside_a_good_one(with_functions(2, &BLOCK.repeat(blocks))) {
        assert_eq!(error.code(), Code::CompileLimit, "{error}");
    }
    let nested = [[0x02, 0x40].repeat(20_000), [0x41, 0x00, 0x0d, 0x00].repeat(20_000), vec![0x0b; 20_000]].concat();
    if let Err(error) = load_beside_a_good_one(with_functions(100, &nested)) {
        assert_eq!(error.code(), Code::CompileLimit, "{error}");
    }
}

#[test]
fn a_component_of_sixty_mebibytes_of_code_ends_one_way_or_the_other_and_others_go_on() {
    let _one = one_at_a_time();
    let component = with_functions(60 * 1024 * 1024 / 7_000, &BLOCK.repeat(999));
    assert!(component.len() > 59 * 1024 * 1024 && component.len() < 64 * 1024 * 1024);
    if let Err(error) = load_beside_a_good_one(component) {
        assert_eq!(error.code(), Code::CompileLimit, "{error}");
    }
}

#[test]
fn after_a_component_that_could_not_be_compiled_the_next_one_is() {
    let _one = one_at_a_time();
    let sandbox = sandbox();
    for _ in 0..3 {
        let mut broken = Guest::good().component();
        broken.truncate(broken.len() - 3);
        assert_eq!(sandbox.load(broken).unwrap_err().code(), Code::Malformed);
        assert!(sandbox.load(Guest::good().component()).is_ok());
    }
}

/// The guest that does what it is told, told to say what arguments it has.
fn probe(sandbox: &Sandbox) -> (SandboxedContributor, Execution) {
    let probe = std::fs::read(support::fixtures().join("guests/probe/probe.wasm")).unwrap();
    let contributor = sandbox.load(probe).unwrap().contributor().unwrap();
    let mut execution = Execution::new("bash");
    execution.extensions.push(("probe".to_owned(), "arguments".to_owned()));
    let grants = Grants { extensions: Extensions::All, ..Grants::default() };
    (contributor.with_grants(grants), execution)
}

#[test]
fn a_worker_that_was_killed_while_it_was_idle_is_replaced_and_nobody_notices() {
    let _one = one_at_a_time();
    let sandbox = sandbox();
    let (contributor, execution) = probe(&sandbox);
    for _ in 0..5 {
        assert_eq!(contributor.resolve(&execution, &Deadline::after(Duration::from_secs(20))).unwrap().len(), 1);
        let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
        for children in tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok()) {
            for pid in children.split_whitespace() {
                let pid = rustix::process::Pid::from_raw(pid.parse().unwrap()).unwrap();
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            }
        }
    }
}

#[test]
fn components_with_imports_are_called_inside_a_runtime_of_one_thread() {
    let _one = one_at_a_time();
    let sandbox = sandbox();
    let (contributor, execution) = probe(&sandbox);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let said = runtime.block_on(async { contributor.resolve(&execution, &Deadline::after(Duration::from_secs(20))) });
    assert_eq!(said.unwrap().len(), 1);
}
