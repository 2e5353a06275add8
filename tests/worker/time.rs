//! Guests that wait, spin or ask for too much, and what is left of them.

use std::path::Path;
use std::time::{Duration, Instant};

use dsh_env::Code;
use dsh_env::contract::{Contributor as _, Deadline};
use dsh_env::sandbox::{Grants, Limits};
use serde_json::json;

use super::{Probe, execution, sandbox};

/// Limits that a good call keeps on a busy machine and that waiting ones need not be waited for long.
fn short() -> Limits {
    Limits { wall: Duration::from_millis(200), ..Limits::RESOLVE }
}

#[test]
fn a_guest_that_sleeps_or_polls_is_ended_by_its_own_time_limit() {
    let probe = Probe::limited(short());
    for wait in ["sleep 60000", "poll-forever"] {
        let failure = probe.tell(wait).unwrap_err();
        assert_eq!(failure.code(), Code::Timeout, "{wait}: {failure:?}");
        assert!(failure.message().contains("wall clock") && failure.message().contains("`wall`"), "{failure:?}");
    }
    assert_eq!(probe.try_one("cwd").map(|_| ()), Ok(()));
}

#[test]
fn a_guest_that_spins_or_floods_is_ended_by_its_processor_time() {
    let probe = Probe::limited(Limits { wall: Duration::from_secs(5), ..Limits::RESOLVE });
    for work in ["spin", "flood-forever"] {
        let failure = probe.tell(work).unwrap_err();
        assert_eq!(failure.code(), Code::Timeout, "{work}: {failure:?}");
        assert!(failure.message().contains("processor time"), "{work}: {failure:?}");
    }
}

#[test]
fn a_short_sleep_is_no_failure() {
    assert_eq!(Probe::limited(Limits::RESOLVE).try_one("sleep 5").map(|_| ()), Ok(()));
}

#[test]
fn a_guest_cannot_make_its_host_large() {
    let probe = Probe::limited(Limits { wall: Duration::from_secs(5), ..Limits::RESOLVE });
    assert_eq!(probe.try_one("allocate 100000000"), Err("refused".to_owned()));
    // More random bytes than are made at once.
    assert!(probe.tell("random-bytes 4000000000").is_err() || probe.try_one("random-bytes 4000000000").is_err());
    assert!(probe.tell("many-pollables 5000").is_err() || probe.try_one("many-pollables 5000").is_err());
    assert_eq!(probe.try_one("preopens"), Ok(json!([])));
}

#[test]
fn many_waiting_calls_at_once_harm_neither_each_other_nor_good_ones() {
    let (waiting, good) = (Probe::limited(short()), Probe::limited(Limits::RESOLVE));
    std::thread::scope(|scope| {
        let waits: Vec<_> = (0..24).map(|_| scope.spawn(|| waiting.tell("sleep 60000").unwrap_err().code())).collect();
        for _ in 0..50 {
            assert_eq!(good.try_one("preopens"), Ok(json!([])));
        }
        for wait in waits {
            assert_eq!(wait.join().unwrap(), Code::Timeout);
        }
    });
}

#[test]
fn the_deadline_of_the_overlay_and_a_cancellation_end_a_waiting_call() {
    let probe = Probe::limited(Limits { wall: Duration::from_secs(5), ..Limits::RESOLVE });
    let mut waiting = execution();
    waiting.extensions.push(("probe".to_owned(), "sleep 60000".to_owned()));
    let deadline = Deadline::after(Duration::from_millis(100));
    let failure = probe.contributor.resolve(&waiting, &deadline).unwrap_err();
    assert_eq!(failure.code(), Code::OverlayTimeout);
    let deadline = Deadline::after(Duration::from_secs(60));
    let cancellation = deadline.cancellation().clone();
    std::thread::scope(|scope| {
        let call = scope.spawn(|| probe.contributor.resolve(&waiting, &deadline).unwrap_err());
        std::thread::sleep(Duration::from_millis(50));
        cancellation.cancel();
        assert_eq!(call.join().unwrap().code(), Code::Cancelled);
    });
}

#[test]
fn two_thousand_waiting_calls_leave_no_thread_process_or_descriptor_behind() {
    let sandbox = sandbox();
    let probe = Probe::of(&sandbox, Grants::default(), Limits { wall: Duration::from_millis(20), ..Limits::RESOLVE });
    probe.tell("sleep 60000").unwrap_err();
    let before = Held::now();
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                for _ in 0..125 {
                    assert_eq!(probe.tell("sleep 60000").unwrap_err().code(), Code::Timeout);
                }
            });
        }
    });
    Held::settle_at(&before);
    drop((probe, sandbox));
}

#[test]
fn a_host_that_is_killed_takes_its_waiting_workers_along() {
    let children = |of: u32| {
        let tasks = std::fs::read_dir(format!("/proc/{of}/task")).into_iter().flatten().flatten();
        let children = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
        children.flat_map(|pids| pids.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).collect::<Vec<_>>()
    };
    let home = tempfile::tempdir().unwrap();
    let record = home.path().join("execution.json");
    std::fs::write(&record, r#"{"extensions": [["probe", "sleep 60000"]]}"#).unwrap();
    let configuration = "[contributors.probe]\ngrants = { extensions = [\"probe\"] }\nlimits = { wall = \"5s\" }\n";
    std::fs::write(home.path().join("dsh-env.toml"), configuration).unwrap();
    std::fs::create_dir(home.path().join("contributors")).unwrap();
    let installed = home.path().join("contributors/probe.wasm");
    std::fs::copy(super::support::fixtures().join("guests/probe/probe.wasm"), installed).unwrap();
    let mut host = std::process::Command::new(env!("CARGO_BIN_EXE_dsh-env"))
        .arg("env")
        .arg("--home")
        .arg(home.path())
        .arg("--execution")
        .arg(&record)
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let until = Instant::now() + Duration::from_secs(20);
    let workers = loop {
        let found = children(host.id());
        if !found.is_empty() {
            break found;
        }
        assert!(Instant::now() < until, "no worker was started");
        std::thread::sleep(Duration::from_millis(2));
    };
    host.kill().unwrap();
    host.wait().unwrap();
    let until = Instant::now() + Duration::from_secs(20);
    while workers.iter().any(|pid| is_running(pid)) {
        assert!(Instant::now() < until, "a worker outlived its host: {workers:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Whether a process exists and has not ended; one that nobody waited for has.
fn is_running(pid: &str) -> bool {
    let stat = std::fs::read_to_string(Path::new("/proc").join(pid).join("stat")).unwrap_or_default();
    stat.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with('Z'))
}

/// What this process holds.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
struct Held {
    threads: usize,
    descriptors: usize,
    children: usize,
}

impl Held {
    fn now() -> Self {
        let count = |folder: &str| std::fs::read_dir(folder).unwrap().count();
        let children = std::fs::read_dir("/proc/self/task").unwrap().flatten().map(|task| {
            let children = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
            children.split_whitespace().count()
        });
        Self { threads: count("/proc/self/task"), descriptors: count("/proc/self/fd"), children: children.sum() }
    }

    /// Waits until nothing more is held than before. Other tests of this process come and go meanwhile, and keep
    /// a few workers of their own.
    fn settle_at(before: &Self) {
        let until = Instant::now() + Duration::from_secs(60);
        loop {
            let now = Self::now();
            let settled = now.threads <= before.threads + 8
                && now.descriptors <= before.descriptors + 48
                && now.children <= before.children + 20;
            if settled {
                return;
            }
            assert!(Instant::now() < until, "{before:?} became {now:?}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}
