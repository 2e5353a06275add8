use std::sync::Arc;
use std::time::Duration;

use super::support::{Fixture, LONG, bash, is_running, pid_in, until, until_gone};
use crate::error::Code;
use crate::executor::{End, JobId, JobState, MAX_ACTIVE_JOBS, MAX_ENDED_JOBS, Owner};

fn owner() -> Owner {
    Owner::new("session-1")
}

#[tokio::test]
async fn jobs_are_numbered_by_owner_and_tool() {
    for fixture in Fixture::both() {
        let start = async |owner: &str, tool| {
            let id = fixture.executor.start(&Owner::new(owner), tool, bash("true")).await.unwrap();
            id.as_str().to_owned()
        };
        assert_eq!(start("a", "bash").await, "bash-1");
        assert_eq!(start("a", "bash").await, "bash-2");
        assert_eq!(start("a", "pwsh").await, "pwsh-1");
        assert_eq!(start("b", "bash").await, "bash-1");
        assert_eq!(fixture.executor.jobs(&Owner::new("a")).len(), 3);
        assert!(fixture.executor.jobs(&Owner::new("c")).is_empty());
    }
}

#[tokio::test]
async fn a_job_that_does_not_start_takes_no_place_and_no_number() {
    for fixture in Fixture::both() {
        for _ in 0..=MAX_ACTIVE_JOBS {
            let mut command = bash("true");
            command.program = "/no/such/program".into();
            assert_eq!(
                fixture.executor.start(&owner(), "bash", command).await.unwrap_err().code(),
                Code::ExecutionFailed
            );
        }
        assert_eq!(fixture.executor.start(&owner(), "bash", bash("true")).await.unwrap().as_str(), "bash-1");
    }
}

#[tokio::test]
async fn so_many_jobs_of_an_owner_run_and_no_more() {
    for fixture in Fixture::both() {
        let executor = &fixture.executor;
        let starts = (0..MAX_ACTIVE_JOBS + 5).map(|_| {
            let executor = executor.clone();
            tokio::spawn(async move { executor.start(&owner(), "bash", bash("sleep 600")).await })
        });
        let mut refused = 0;
        for start in starts.collect::<Vec<_>>() {
            if let Err(error) = start.await.unwrap() {
                assert_eq!(error.code(), Code::TooManyJobs);
                refused += 1;
            }
        }
        assert_eq!(refused, 5);
        executor.start(&Owner::new("another"), "bash", bash("true")).await.unwrap();
        let status = executor.kill(&owner(), &JobId::new("bash-4")).await.unwrap();
        assert_eq!(status.state, JobState::Ended(End::Cancelled { signal: 15 }));
        assert_eq!(executor.start(&owner(), "bash", bash("true")).await.unwrap().as_str(), "bash-11");
        executor.shut_down().await;
        assert!(executor.jobs(&owner()).iter().all(|status| status.state != JobState::Running));
    }
}

#[tokio::test]
async fn another_owners_job_is_no_job() {
    for fixture in Fixture::both() {
        let executor = &fixture.executor;
        let job = executor.start(&owner(), "bash", bash("sleep 600")).await.unwrap();
        let stranger = Owner::new("session-2");
        let read = executor.read(&stranger, &job).unwrap_err();
        assert_eq!(read.code(), Code::JobNotFound);
        assert_eq!(executor.kill(&stranger, &job).await.unwrap_err(), read);
        assert!(executor.completions(&stranger).is_empty());
        executor.end_owner(&stranger).await;
        assert_eq!(executor.read(&owner(), &job).unwrap().status.state, JobState::Running);
        // The same words for one that never was.
        executor.kill(&owner(), &job).await.unwrap();
        executor.end_owner(&owner()).await;
        assert_eq!(executor.read(&owner(), &job).unwrap_err(), read);
    }
}

#[tokio::test]
async fn a_job_that_ignores_sigterm_is_killed() {
    for fixture in Fixture::both() {
        let file = fixture.path("pid");
        let script = format!("trap '' TERM; echo $$ > {}; sleep 600; :", file.display());
        let job = fixture.executor.start(&owner(), "bash", bash(&script)).await.unwrap();
        let pid = pid_in(&file).await;
        let status = fixture.executor.kill(&owner(), &job).await.unwrap();
        assert_eq!(status.state, JobState::Ended(End::Cancelled { signal: 9 }));
        assert!(!is_running(pid));
        // Once more does no harm, and nothing is left to be told.
        assert_eq!(fixture.executor.kill(&owner(), &job).await.unwrap(), status);
        assert!(fixture.executor.completions(&owner()).is_empty());
    }
}

#[tokio::test]
async fn each_end_is_told_once() {
    for fixture in Fixture::both() {
        let executor = &fixture.executor;
        for code in 1..=5 {
            executor.start(&owner(), "bash", bash(&format!("exit {code}"))).await.unwrap();
        }
        let mut told = vec![executor.next_completion(&owner()).await];
        until("all have ended", || {
            told.len() + executor.jobs(&owner()).iter().filter(|job| job.state != JobState::Running).count() == 6
        })
        .await;
        told.extend(executor.completions(&owner()));
        assert!(executor.completions(&owner()).is_empty());
        told.sort_by(|a, b| a.status.job.cmp(&b.status.job));
        for (at, completed) in told.iter().enumerate() {
            let number = i32::try_from(at).unwrap() + 1;
            assert_eq!(completed.status.job.as_str(), format!("bash-{number}"));
            assert_eq!(completed.status.state, JobState::Ended(End::Exited(number)));
        }
        assert_eq!(told.len(), 5);
        let none = tokio::time::timeout(Duration::from_millis(50), executor.next_completion(&owner())).await;
        assert!(none.is_err());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_who_wait_are_told_of_different_ends() {
    let fixture = Arc::new(Fixture::in_host());
    let waiting: Vec<_> = (0..8)
        .map(|_| {
            let fixture = Arc::clone(&fixture);
            tokio::spawn(async move { fixture.executor.next_completion(&owner()).await.status.job })
        })
        .collect();
    for _ in 0..8 {
        fixture.executor.start(&owner(), "bash", bash("true")).await.unwrap();
    }
    let mut jobs = Vec::new();
    for waiting in waiting {
        jobs.push(tokio::time::timeout(LONG, waiting).await.unwrap().unwrap());
    }
    jobs.sort();
    jobs.dedup();
    assert_eq!(jobs.len(), 8);
}

#[tokio::test]
async fn an_owner_that_is_ended_has_no_jobs() {
    for fixture in Fixture::both() {
        let file = fixture.path("pid");
        let script = format!("echo $$ > {}; seq 1 100000; sleep 600", file.display());
        fixture.executor.start(&owner(), "bash", bash(&script)).await.unwrap();
        let pid = pid_in(&file).await;
        fixture.executor.end_owner(&owner()).await;
        assert!(!is_running(pid));
        assert!(fixture.executor.jobs(&owner()).is_empty());
        let folder = std::fs::read_dir(fixture.path("spills")).unwrap().next().unwrap().unwrap().path();
        assert_eq!(std::fs::read_dir(folder).unwrap().count(), 0);
    }
}

#[tokio::test]
async fn jobs_end_with_the_executor() {
    for fixture in Fixture::both() {
        let file = fixture.path("pid");
        let script = format!("echo $$ > {}; sleep 600", file.display());
        fixture.executor.start(&owner(), "bash", bash(&script)).await.unwrap();
        let pid = pid_in(&file).await;
        let Fixture { executor, folder: _folder } = fixture;
        drop(executor);
        until_gone(pid).await;
    }
}

#[test]
fn a_job_whose_runtime_is_gone_is_lost_and_not_waited_for() {
    for fixture in Fixture::both() {
        let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let job = runtime().block_on(fixture.executor.start(&owner(), "bash", bash("sleep 600"))).unwrap();
        runtime().block_on(async {
            let status = fixture.executor.kill(&owner(), &job).await.unwrap();
            assert!(matches!(status.state, JobState::Lost(_)), "{status:?}");
            fixture.executor.shut_down().await;
        });
    }
}

#[tokio::test]
async fn the_oldest_jobs_that_ended_are_forgotten() {
    let fixture = Fixture::in_host();
    let running = fixture.executor.start(&owner(), "bash", bash("sleep 600")).await.unwrap();
    for _ in 0..MAX_ENDED_JOBS + 3 {
        fixture.executor.start(&owner(), "bash", bash("true")).await.unwrap();
        fixture.executor.next_completion(&owner()).await;
    }
    let jobs = fixture.executor.jobs(&owner());
    assert_eq!(jobs.len(), MAX_ENDED_JOBS + 1);
    assert_eq!((&jobs[0].job, jobs[1].job.as_str()), (&running, "bash-5"));
    fixture.executor.shut_down().await;
}
