//! What is left in the host when commands have ended: nothing.

use std::time::Duration;

use super::support::{Fixture, bash, has_role, in_role, until};
use crate::executor::{End, Owner};

/// Whether this process is there for the test alone. If not, one that is does the test.
fn alone(test: &str) -> bool {
    if has_role("alone") {
        return true;
    }
    let folder = tempfile::tempdir().unwrap();
    let output = in_role("alone", &format!("executor::tests::leaks::{test}"), folder.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    false
}

/// The descriptors of this process and of the keeper, which is its only child if there is one, and the children of
/// both.
fn holdings() -> (usize, usize, Vec<i32>, Vec<i32>) {
    let own = children(std::process::id().cast_signed());
    let (descriptors_below, below) =
        own.first().map_or((0, Vec::new()), |&keeper| (descriptors(keeper), children(keeper)));
    (descriptors(std::process::id().cast_signed()), descriptors_below, own, below)
}

fn descriptors(pid: i32) -> usize {
    std::fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, Iterator::count)
}

fn children(pid: i32) -> Vec<i32> {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let lists = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
    lists.flat_map(|list| list.split_whitespace().map(|pid| pid.parse().unwrap()).collect::<Vec<_>>()).collect()
}

#[tokio::test]
async fn two_hundred_commands_at_once_leave_nothing() {
    if !alone("two_hundred_commands_at_once_leave_nothing") {
        return;
    }
    for fixture in Fixture::both() {
        fixture.run("true").await.unwrap();
        until("the first is gone", || holdings().3.is_empty()).await;
        let before = holdings();
        let tasks = tokio::runtime::Handle::current().metrics();
        let tasks_before = tasks.num_alive_tasks();
        let runs: Vec<_> = (0..200)
            .map(|number| {
                let executor = fixture.executor.clone();
                tokio::spawn(async move {
                    let command = bash(&format!("sleep 0.5; echo {number}; exit {}", number % 256));
                    executor.run(command, super::support::LONG, std::future::pending()).await
                })
            })
            .collect();
        for (number, run) in runs.into_iter().enumerate() {
            let finished = run.await.unwrap().unwrap();
            assert_eq!(finished.end, End::Exited(i32::try_from(number).unwrap()));
            assert_eq!(finished.stdout.tail, format!("{number}\n").as_bytes());
        }
        until("nothing is left", || (holdings(), tasks.num_alive_tasks()) == (before.clone(), tasks_before)).await;
    }
}

#[tokio::test]
async fn commands_of_every_fate_leave_nothing() {
    if !alone("commands_of_every_fate_leave_nothing") {
        return;
    }
    let before = holdings();
    for fixture in Fixture::both() {
        let executor = &fixture.executor;
        let owner = Owner::new("o");
        for _ in 0..3 {
            let cancelled = tokio::time::sleep(Duration::from_millis(50));
            executor.run(bash("sleep 600"), super::support::LONG, cancelled).await.unwrap();
            let _ = tokio::time::timeout(Duration::from_millis(50), fixture.run("sleep 600")).await;
            fixture.run("kill -KILL $$").await.unwrap();
            fixture.run("seq 1 100000").await.unwrap();
            let mut command = bash("true");
            command.program = "/no/such/program".into();
            executor.run(command, super::support::LONG, std::future::pending()).await.unwrap_err();
            let job = executor.start(&owner, "bash", bash("sleep 600")).await.unwrap();
            executor.kill(&owner, &job).await.unwrap();
        }
        executor.shut_down().await;
    }
    until("nothing is left", || holdings() == before).await;
}
