//! Foreground commands that wait for others.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{sleep, timeout};

use super::support::{Fixture, LONG, bash};
use crate::error::Code;
use crate::executor::{End, JobState, MAX_RUNNING, Owner};

/// Takes the place of so many commands that run.
fn take(fixture: &Fixture, turns: usize) -> OwnedSemaphorePermit {
    let all = Arc::clone(&fixture.executor.inner.launcher.turns);
    all.try_acquire_many_owned(u32::try_from(turns).unwrap()).unwrap()
}

#[tokio::test]
async fn a_command_waits_for_its_turn_outside_its_limit() {
    for fixture in Fixture::both() {
        let taken = take(&fixture, MAX_RUNNING);
        let limit = Duration::from_secs(2);
        let run = fixture.executor.run(bash("exit 5"), limit, pending());
        let release = async {
            sleep(limit + Duration::from_millis(100)).await;
            drop(taken);
        };
        let (finished, ()) = tokio::join!(run, release);
        assert_eq!(finished.unwrap().end, End::Exited(5));
        // And its turn is over with it.
        drop(take(&fixture, MAX_RUNNING));
    }
}

#[tokio::test]
async fn a_command_that_runs_has_a_turn_and_a_job_needs_none() {
    let fixture = Fixture::in_host();
    let taken = take(&fixture, MAX_RUNNING - 1);
    let (one, two) = (fixture.path("one"), fixture.path("two"));
    let script = |own: &std::path::Path| {
        let (own, folder) = (own.display(), fixture.folder.path().display());
        // Neither ends while both are there.
        format!(
            "touch {own}
            for n in 1 2 3 4 5; do sleep 0.1; [[ ! -e {folder}/one || ! -e {folder}/two ]] || exit 1; done
            rm {own}"
        )
    };
    let (one, two) = (script(&one), script(&two));
    let (one, two) = tokio::join!(fixture.run(&one), fixture.run(&two));
    assert_eq!((one.unwrap().end, two.unwrap().end), (End::Exited(0), End::Exited(0)));
    let last = take(&fixture, 1);
    let owner = Owner::new("o");
    fixture.executor.start(&owner, "bash", bash("exit 6")).await.unwrap();
    let completed = timeout(LONG, fixture.executor.next_completion(&owner)).await.unwrap();
    assert_eq!(completed.status.state, JobState::Ended(End::Exited(6)));
    drop((taken, last));
}

#[tokio::test]
async fn a_command_that_waits_can_be_cancelled_given_up_and_shut_down() {
    let fixture = Fixture::in_host();
    let taken = take(&fixture, MAX_RUNNING);
    let run = || fixture.executor.run(bash("true"), LONG, sleep(Duration::from_millis(50)));
    let error = timeout(LONG, run()).await.unwrap().unwrap_err();
    assert_eq!(error.code(), Code::Cancelled);
    assert!(timeout(Duration::from_millis(1), fixture.run("true")).await.is_err());
    let shut_down = async {
        tokio::task::yield_now().await;
        timeout(LONG, fixture.executor.shut_down()).await.unwrap();
    };
    let (finished, ()) = tokio::join!(fixture.run("true"), shut_down);
    assert_eq!(finished.unwrap_err().code(), Code::ShuttingDown);
    drop(taken);
    drop(take(&fixture, MAX_RUNNING));
}
