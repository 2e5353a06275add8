//! Commands that are ended: late, unwanted, or stubborn.

use std::future::{pending, ready};
use std::time::{Duration, Instant};

use super::support::{Fixture, LONG, bash, is_running, pid_in, until_gone};
use crate::error::Code;
use crate::executor::{End, Finished, TERM_GRACE};

#[tokio::test]
async fn a_command_that_is_late_gets_sigterm() {
    for fixture in Fixture::both() {
        let limit = Duration::from_secs(1);
        let finished = fixture.executor.run(bash("sleep 600"), limit, pending()).await.unwrap();
        assert_eq!(finished.end, End::TimedOut { limit, signal: 15 });
        assert_eq!(finished.end.to_string(), "timed out after 1 s, ended by SIGTERM");
        assert!(finished.took >= limit);
    }
}

/// Runs a script, in which `FILE` is a file to write a process's number to, until it has done so.
async fn run_until_written(fixture: &Fixture, script: &str) -> (Finished, i32) {
    let file = fixture.path("pid");
    let cancelled = async {
        pid_in(&file).await;
    };
    let script = script.replace("FILE", file.to_str().unwrap());
    let finished = fixture.executor.run(bash(&script), LONG, cancelled).await.unwrap();
    (finished, pid_in(&file).await)
}

#[tokio::test]
async fn a_command_may_tidy_up_on_sigterm_and_its_output_is_kept() {
    for fixture in Fixture::both() {
        let script = "trap 'echo tidied; exit 9' TERM; echo begun; echo $$ > FILE; while :; do sleep 0.05; done";
        let (finished, _) = run_until_written(&fixture, script).await;
        assert_eq!(finished.end, End::Cancelled { signal: 15 });
        assert_eq!(finished.stdout.tail, b"begun\ntidied\n");
    }
}

#[tokio::test]
async fn a_group_that_ignores_sigterm_is_killed_after_the_grace() {
    for fixture in Fixture::both() {
        let script = "trap '' TERM; (echo $BASHPID > FILE; sleep 600; :); sleep 600";
        let (finished, pid) = run_until_written(&fixture, script).await;
        assert_eq!(finished.end, End::Cancelled { signal: 9 });
        assert!(finished.took >= TERM_GRACE);
        until_gone(pid).await;
    }
}

#[tokio::test]
async fn a_child_that_ignores_sigterm_is_killed_although_its_shell_went() {
    for fixture in Fixture::both() {
        let script = "(trap '' TERM; echo $BASHPID > FILE; exec sleep 600) & wait";
        let (finished, pid) = run_until_written(&fixture, script).await;
        assert_eq!(finished.end, End::Cancelled { signal: 15 });
        assert!(finished.took >= TERM_GRACE);
        until_gone(pid).await;
    }
}

#[tokio::test]
async fn a_stopped_command_is_ended_too() {
    for fixture in Fixture::both() {
        let finished = fixture.executor.run(bash("kill -STOP $$"), Duration::from_secs(1), pending()).await.unwrap();
        assert_eq!(finished.end, End::TimedOut { limit: Duration::from_secs(1), signal: 15 });
    }
}

#[tokio::test]
async fn a_cancelled_command_says_so() {
    for fixture in Fixture::both() {
        let finished = fixture.executor.run(bash("sleep 600"), LONG, ready(())).await.unwrap();
        assert_eq!(finished.end, End::Cancelled { signal: 15 });
        assert_eq!(finished.end.to_string(), "cancelled, ended by SIGTERM");
    }
}

#[tokio::test]
async fn a_command_that_nobody_waits_for_any_more_is_ended() {
    for fixture in Fixture::both() {
        let file = fixture.path("pid");
        let script = format!("trap '' TERM; echo $$ > {}; sleep 600; :", file.display());
        tokio::select! {
            _ = fixture.run(&script) => panic!("it does not end by itself"),
            _ = pid_in(&file) => {}
        }
        until_gone(pid_in(&file).await).await;
    }
}

#[tokio::test]
async fn a_command_that_nobody_waits_for_before_it_runs_is_ended() {
    for fixture in Fixture::both() {
        // The first starts the keeper; then the others are given up at every moment of their start.
        fixture.run("true").await.unwrap();
        let folder = fixture.path("pids");
        std::fs::create_dir(&folder).unwrap();
        for micros in (0..4000).step_by(200) {
            let script = format!("echo $$ > {}/{micros}; exec sleep 600", folder.display());
            let _ = tokio::time::timeout(Duration::from_micros(micros), fixture.run(&script)).await;
        }
        fixture.executor.shut_down().await;
        for file in std::fs::read_dir(folder).unwrap() {
            let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
            assert!(text.is_empty() || !is_running(text.trim().parse().unwrap()));
        }
    }
}

#[test]
fn a_runtime_that_is_dropped_takes_its_commands_with_it() {
    for fixture in Fixture::both() {
        let file = fixture.path("pid");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let pid = runtime.block_on(async {
            // What the shell has started is in its group.
            let script = format!("trap '' TERM; sleep 600 & echo $! > {}; wait", file.display());
            tokio::select! {
                _ = fixture.run(&script) => panic!("it does not end by itself"),
                pid = pid_in(&file) => pid,
            }
        });
        assert!(is_running(pid));
        drop(runtime);
        let another = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        another.block_on(async {
            until_gone(pid).await;
            // And the executor serves another one.
            assert_eq!(fixture.run("exit 4").await.unwrap().end, End::Exited(4));
        });
    }
}

#[test]
fn a_runtime_that_is_dropped_before_it_looks_after_a_command_kills_its_whole_group() {
    let fixture = Fixture::in_host();
    let file = fixture.path("pid");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let script = format!("trap '' TERM; sleep 600 & echo $! > {}; wait", file.display());
        tokio::select! {
            biased;
            _ = fixture.run(&script) => panic!("it does not end by itself"),
            // Without letting any task of this runtime begin.
            () = async {
                let begun = Instant::now();
                while !std::fs::read_to_string(&file).is_ok_and(|text| text.ends_with('\n')) {
                    assert!(begun.elapsed() < LONG, "the command does not begin");
                    std::thread::sleep(Duration::from_millis(5));
                }
            } => {}
        }
    });
    drop(runtime);
    let another = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    another.block_on(async { until_gone(pid_in(&file).await).await });
}

#[tokio::test]
async fn a_limit_of_zero_is_refused_and_a_huge_one_is_cut() {
    let fixture = Fixture::in_host();
    let error = fixture.executor.run(bash("true"), Duration::ZERO, pending()).await.unwrap_err();
    assert_eq!(error.code(), Code::InvalidArguments);
    let finished = fixture.executor.run(bash("exit 2"), Duration::MAX, pending()).await.unwrap();
    assert_eq!(finished.end, End::Exited(2));
}

#[tokio::test]
async fn an_executor_that_is_shut_down_ends_what_runs_and_starts_nothing() {
    for fixture in Fixture::both() {
        let file = fixture.path("pid");
        let script = format!("echo $$ > {}; sleep 600", file.display());
        let shut_down = async {
            pid_in(&file).await;
            fixture.executor.shut_down().await;
        };
        let (finished, ()) = tokio::join!(fixture.run(&script), shut_down);
        assert_eq!(finished.unwrap().end, End::Cancelled { signal: 15 });
        assert!(!is_running(pid_in(&file).await));
        let error = fixture.run("true").await.unwrap_err();
        assert_eq!(error.code(), Code::ShuttingDown);
        // Once more does no harm.
        fixture.executor.shut_down().await;
    }
}
