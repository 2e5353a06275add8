//! Much output, odd output, late output.

use std::os::unix::fs::PermissionsExt as _;

use super::support::{Fixture, bash};
use crate::error::Code;
use crate::executor::{End, Executor, ExecutorOptions, Keeper, SPILL_BYTES, TAIL_BYTES};

#[tokio::test]
async fn output_that_is_longer_than_the_tail_is_whole_in_a_private_file() {
    for fixture in Fixture::both() {
        let finished = fixture.run("seq 1 100000; seq 1 7 >&2").await.unwrap();
        let expected: String = (1..=100_000).map(|n| format!("{n}\n")).collect();
        let spill = finished.stdout.spill.clone().unwrap();
        assert!(spill.complete && finished.stdout.is_whole());
        assert!(std::fs::read(&spill.path).unwrap() == expected.as_bytes());
        assert!(expected.as_bytes().ends_with(&finished.stdout.tail));
        assert_eq!((finished.stdout.tail.len(), finished.stdout.total), (TAIL_BYTES, expected.len() as u64));
        assert_eq!(finished.stderr.spill, None);
        let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&spill.path), 0o600);
        assert_eq!(mode(spill.path.parent().unwrap()), 0o700);
        assert_eq!(mode(&fixture.path("spills")), 0o700);
    }
}

#[tokio::test]
async fn output_beyond_the_bound_is_read_and_let_go() {
    let fixture = Fixture::in_host();
    let finished = fixture.run("head -c 200000000 /dev/zero; printf end; exit 1").await.unwrap();
    assert_eq!((finished.end, finished.stdout.total), (End::Exited(1), 200_000_003));
    assert_eq!(finished.stdout.tail.len(), TAIL_BYTES);
    assert!(finished.stdout.tail.ends_with(b"\0end"));
    let spill = finished.stdout.spill.clone().unwrap();
    assert!(!spill.complete && !finished.stdout.is_whole());
    assert_eq!(std::fs::metadata(spill.path).unwrap().len(), SPILL_BYTES);
}

#[tokio::test]
async fn bytes_of_every_kind_are_kept_as_they_are() {
    for fixture in Fixture::both() {
        let finished = fixture.run(r"printf '\x00\xff\xfe\r\n\x1b[31m'").await.unwrap();
        assert_eq!(finished.stdout.tail, b"\x00\xff\xfe\r\n\x1b[31m");
    }
}

#[tokio::test]
async fn what_is_written_just_before_the_exit_is_there() {
    for fixture in Fixture::both() {
        for _ in 0..20 {
            // Something holds the pipe, so its end does not tell.
            let finished = fixture.run("sleep 5 & head -c 3000000 /dev/zero; printf last").await.unwrap();
            assert_eq!(finished.stdout.total, 3_000_004);
            assert!(finished.stdout.tail.ends_with(b"\0last"));
        }
        fixture.executor.shut_down().await;
    }
}

#[tokio::test]
async fn a_spill_file_that_cannot_be_made_fails_no_command() {
    let fixture = Fixture::in_host();
    std::fs::remove_dir_all(fixture.path("spills")).unwrap();
    let finished = fixture.run("head -c 100000 /dev/zero; exit 4").await.unwrap();
    assert_eq!((finished.end, finished.stdout.total), (End::Exited(4), 100_000));
    assert_eq!((finished.stdout.tail.len(), &finished.stdout.spill), (TAIL_BYTES, &None));
    assert!(!finished.stdout.is_whole());
}

fn open(spill_folder: impl Into<std::path::PathBuf>) -> crate::error::Result<Executor> {
    Executor::new(ExecutorOptions { spill_folder: spill_folder.into(), keeper: Keeper::InHost })
}

#[test]
fn a_folder_that_is_not_ones_own_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name| folder.path().join(name);
    std::fs::write(path("file"), "").unwrap();
    std::fs::create_dir(path("real")).unwrap();
    std::os::unix::fs::symlink(path("real"), path("link")).unwrap();
    std::fs::create_dir(path("open")).unwrap();
    std::fs::set_permissions(path("open"), std::fs::Permissions::from_mode(0o777)).unwrap();
    for name in ["file", "link", "open"] {
        assert_eq!(open(path(name)).unwrap_err().code(), Code::UnsafePermissions, "{name}");
    }
    assert_eq!(open(path("file/below")).unwrap_err().code(), Code::ExecutionFailed);
    open(path("real")).unwrap();
    open(path("some/folders/below")).unwrap();
}

#[tokio::test]
async fn spill_files_go_with_their_executor_and_what_dead_ones_left_with_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let entries = || std::fs::read_dir(folder.path()).unwrap().count();
    let one = open(folder.path()).unwrap();
    let another = open(folder.path()).unwrap();
    assert_eq!(entries(), 2);
    let spill = one.run(bash("seq 1 100000"), super::support::LONG, std::future::pending()).await.unwrap().stdout.spill;
    let abandoned = folder.path().join("executor-of-a-host-that-was-killed");
    std::fs::create_dir(&abandoned).unwrap();
    std::fs::write(abandoned.join("output"), "x").unwrap();
    std::fs::create_dir(folder.path().join("somebody-elses")).unwrap();
    let third = open(folder.path()).unwrap();
    assert!(!abandoned.exists());
    assert!(spill.unwrap().path.exists());
    assert_eq!(entries(), 4);
    drop((one, third));
    another.shut_down().await;
    assert_eq!(entries(), 1);
}
