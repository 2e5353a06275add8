//! Reading a job bit by bit.

use super::support::{Fixture, bash, until};
use crate::executor::{Chunk, JobState, Owner, READ_BYTES};

fn owner() -> Owner {
    Owner::new("session-1")
}

#[tokio::test]
async fn each_read_returns_what_came_since_the_last() {
    for fixture in Fixture::both() {
        let file = fixture.path("go");
        let script = format!(
            "echo one; echo err >&2; until [ -e {0} ]; do sleep 0.01; done; echo two; until [ -e {0}2 ]; do sleep 0.01; done",
            file.display()
        );
        let job = fixture.executor.start(&owner(), "bash", bash(&script)).await.unwrap();
        let read = async |expected: &[u8]| {
            let mut all = Vec::new();
            while all.len() < expected.len() {
                let output = fixture.executor.read(&owner(), &job).unwrap();
                assert_eq!(output.status.state, JobState::Running);
                all.extend(output.stdout.bytes);
                tokio::task::yield_now().await;
            }
            assert_eq!(all, expected);
        };
        read(b"one\n").await;
        std::fs::write(&file, "").unwrap();
        read(b"two\n").await;
        std::fs::write(fixture.path("go2"), "").unwrap();
        fixture.executor.next_completion(&owner()).await;
        let last = fixture.executor.read(&owner(), &job).unwrap();
        assert_eq!(last.stdout, Chunk::default());
    }
}

#[tokio::test]
async fn a_job_is_read_whole_across_spill_file_and_tail() {
    for fixture in Fixture::both() {
        let job = fixture.executor.start(&owner(), "bash", bash("seq 1 200000; seq 1 9 >&2")).await.unwrap();
        let expected: String = (1..=200_000).map(|n| format!("{n}\n")).collect();
        let (mut out, mut err) = (Vec::new(), Vec::new());
        loop {
            let output = fixture.executor.read(&owner(), &job).unwrap();
            assert!(output.stdout.bytes.len() <= READ_BYTES);
            assert_eq!((output.stdout.skipped, output.stderr.skipped), (0, 0));
            let is_last = output.status.state != JobState::Running && output.stdout.pending == 0;
            out.extend(output.stdout.bytes);
            err.extend(output.stderr.bytes);
            if is_last {
                break;
            }
            tokio::task::yield_now().await;
        }
        assert!(out == expected.as_bytes());
        assert_eq!(err, b"1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    }
}

#[tokio::test]
async fn bytes_that_are_nowhere_any_more_are_counted() {
    let fixture = Fixture::in_host();
    // Without its folder nothing can be kept but the tail.
    std::fs::remove_dir_all(fixture.path("spills")).unwrap();
    let job = fixture.executor.start(&owner(), "bash", bash("seq 1 100000")).await.unwrap();
    until("it ends", || fixture.executor.jobs(&owner())[0].state != JobState::Running).await;
    let expected: String = (1..=100_000).map(|n| format!("{n}\n")).collect();
    let output = fixture.executor.read(&owner(), &job).unwrap().stdout;
    assert_eq!(output.skipped, (expected.len() - output.bytes.len()) as u64);
    assert!(expected.as_bytes().ends_with(&output.bytes));
    assert_eq!(fixture.executor.read(&owner(), &job).unwrap().stdout, Chunk::default());
}
