//! Keepers that are stopped, or answer nothing for another reason.

use std::future::pending;
use std::time::Duration;

use tokio::time::timeout;

use super::support::{Fixture, LONG, bash, pid_in, until_gone};
use crate::error::Code;
use crate::executor::{End, JobState, Keeper, KeeperProgram, Owner};

/// Long enough for a command to stop its keeper, and short.
const LIMIT: Duration = Duration::from_secs(1);

#[tokio::test]
async fn a_command_that_stops_its_keeper_delays_nobody() {
    let fixture = Fixture::with_keeper();
    let executor = &fixture.executor;
    let run = |script: &'static str| timeout(LONG, executor.run(bash(script), LIMIT, pending()));
    let finished = run("kill -STOP $PPID; sleep 600").await.unwrap().unwrap();
    assert_eq!(finished.end, End::TimedOut { limit: LIMIT, signal: 15 });
    let owner = Owner::new("o");
    executor.start(&owner, "bash", bash("kill -STOP $PPID; exit 3")).await.unwrap();
    let completed = timeout(LONG, executor.next_completion(&owner)).await.unwrap();
    assert_eq!(completed.status.state, JobState::Ended(End::Exited(3)));
    // Whether it is ended by its keeper or with it is a matter of luck.
    match run("while kill -STOP $PPID; do :; done").await.unwrap() {
        Ok(finished) => assert!(matches!(finished.end, End::TimedOut { limit: LIMIT, .. }), "{finished:?}"),
        Err(error) => assert!(error.message().contains("did not answer"), "{error}"),
    }
    assert_eq!(fixture.run("exit 4").await.unwrap().end, End::Exited(4));
    executor.start(&owner, "bash", bash("kill -STOP $PPID; sleep 600")).await.unwrap();
    timeout(LONG, executor.end_owner(&owner)).await.unwrap();
    executor.start(&owner, "bash", bash("kill -STOP $PPID; sleep 600")).await.unwrap();
    timeout(LONG, executor.shut_down()).await.unwrap();
}

/// A program that says that it is a keeper and goes on with a script, with its socket as standard input.
fn fake_keeper(fixture: &Fixture, script: &str) -> KeeperProgram {
    let ready = format!(r#"printf '{{"Ready":{{"version":"{}"}}}}' >&0"#, env!("CARGO_PKG_VERSION"));
    let folder = fixture.folder.path().display();
    let script = format!("PATH=/usr/bin:/bin; cd '{folder}'; echo $$ > keeper; {ready}; {script}");
    KeeperProgram { program: "/bin/bash".into(), arguments: vec!["-c".into(), script.into()] }
}

#[tokio::test]
async fn a_keeper_that_starts_nothing_is_killed_and_said_to_be() {
    let files = Fixture::in_host();
    let fixture = Fixture::with(Keeper::Program(fake_keeper(&files, "exec sleep 600")));
    let error = timeout(LONG, fixture.run("true")).await.unwrap().unwrap_err();
    assert_eq!(error.code(), Code::ExecutionFailed);
    assert!(error.message().contains("keeper did not answer for 10 s"), "{error}");
    until_gone(pid_in(&files.path("keeper")).await).await;
    timeout(LONG, fixture.executor.shut_down()).await.unwrap();
}

#[tokio::test]
async fn a_keeper_that_ends_nothing_is_killed_and_its_commands_with_it() {
    let files = Fixture::in_host();
    // It takes what it is asked for first, and says that a process runs that leads a group of its own.
    let script = r#"set -m; dd bs=4096 count=1 of=asked 2> dd; bash -c 'sleep 600; :' & echo $! > command;
        printf '{"Started":{"id":1,"pid":%d}}' $! >&0; exec sleep 600"#;
    let fixture = Fixture::with(Keeper::Program(fake_keeper(&files, script)));
    let running = timeout(LONG, fixture.executor.run(bash("true"), LIMIT, pending()));
    let error = running.await.unwrap().unwrap_err();
    assert_eq!(error.code(), Code::ExecutionFailed);
    assert!(error.message().contains("did not answer, as one that was stopped, and was killed"), "{error}");
    until_gone(pid_in(&files.path("command")).await).await;
    until_gone(pid_in(&files.path("keeper")).await).await;
    timeout(LONG, fixture.executor.shut_down()).await.unwrap();
}
