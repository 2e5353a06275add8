use std::future::pending;

use super::support::{Fixture, LONG, bash};
use crate::environment::{ChildEnvironment, OrdinaryEnv};
use crate::executor::{End, Input, signal_name};

#[tokio::test]
async fn the_exit_code_and_both_streams_are_returned() {
    for fixture in Fixture::both() {
        let finished = fixture.run("echo out; echo err >&2; exit 7").await.unwrap();
        assert_eq!(finished.end, End::Exited(7));
        assert_eq!(finished.stdout.tail, b"out\n");
        assert_eq!(finished.stderr.tail, b"err\n");
        assert_eq!((finished.stdout.total, &finished.stdout.spill), (4, &None));
        assert!(finished.stdout.is_whole());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_runtime_with_several_threads_will_do_as_well() {
    for fixture in Fixture::both() {
        assert_eq!(fixture.run("exit 3").await.unwrap().end, End::Exited(3));
    }
}

#[tokio::test]
async fn a_signal_that_ended_the_command_is_told_by_number_and_name() {
    for fixture in Fixture::both() {
        let finished = fixture.run("kill -SEGV $$").await.unwrap();
        assert_eq!(finished.end, End::Signalled(11));
        assert_eq!(finished.end.to_string(), "killed by SIGSEGV");
    }
    assert_eq!(signal_name(34), "signal 34");
}

#[tokio::test]
async fn a_command_leads_a_group_of_its_own() {
    for fixture in Fixture::both() {
        let finished = fixture.run("read -r _ _ _ _ group _ < /proc/$$/stat; echo $(($$ == group))").await.unwrap();
        assert_eq!(finished.stdout.tail, b"1\n");
    }
}

#[tokio::test]
async fn the_environment_and_the_directory_are_what_was_asked_for() {
    for fixture in Fixture::both() {
        let mut ordinary = OrdinaryEnv::new();
        ordinary.set("GIVEN", "a\nb").unwrap();
        let mut command = bash("");
        command.environment = ChildEnvironment::builder([]).ordinary(ordinary).without_overlay();
        command.program = "/bin/bash".into();
        command.arguments = ["-c", "/usr/bin/env -0 | /usr/bin/sort -z; pwd"].map(Into::into).into();
        command.workdir = fixture.folder.path().canonicalize().unwrap();
        let expected_end = format!("{}\n", command.workdir.display());
        let finished = fixture.executor.run(command, LONG, pending()).await.unwrap();
        let text = String::from_utf8(finished.stdout.tail).unwrap();
        assert!(text.contains("GIVEN=a\nb\0"), "{text:?}");
        assert!(!text.contains("CARGO"), "{text:?}");
        assert!(text.ends_with(&expected_end), "{text:?}");
    }
}

#[tokio::test]
async fn standard_input_is_nothing_or_a_pipe_and_never_a_socket() {
    for fixture in Fixture::both() {
        let finished = fixture.run("readlink /proc/self/fd/0; cat").await.unwrap();
        assert_eq!(finished.stdout.tail, b"/dev/null\n");
        let mut command = bash("readlink /proc/self/fd/0; cat");
        command.input = Input::Bytes(b"given\xff".to_vec());
        let finished = fixture.executor.run(command, LONG, pending()).await.unwrap();
        assert!(finished.stdout.tail.starts_with(b"pipe:"));
        assert!(finished.stdout.tail.ends_with(b"\ngiven\xff"));
    }
}

#[tokio::test]
async fn input_that_is_not_read_holds_nothing_up() {
    for fixture in Fixture::both() {
        for script in ["exit 5", "exec <&-; sleep 0.1; exit 5", "sleep 2 & exit 5"] {
            let mut command = bash(script);
            command.input = Input::Bytes(vec![b'x'; 8 << 20]);
            let finished = fixture.executor.run(command, LONG, pending()).await.unwrap();
            assert_eq!(finished.end, End::Exited(5), "{script}");
        }
        fixture.executor.shut_down().await;
    }
}

#[tokio::test]
async fn input_is_read_and_output_written_at_the_same_time() {
    for fixture in Fixture::both() {
        let mut command = bash("cat");
        let bytes: Vec<u8> = (0..4 << 20).map(|n: u32| (n % 251) as u8).collect();
        command.input = Input::Bytes(bytes.clone());
        let finished = fixture.executor.run(command, LONG, pending()).await.unwrap();
        assert_eq!(finished.stdout.total, bytes.len() as u64);
        assert!(std::fs::read(finished.stdout.spill.unwrap().path).unwrap() == bytes);
    }
}

#[tokio::test]
async fn a_command_inherits_no_descriptor_of_its_host() {
    // One that is not closed when a program begins, as libraries in other languages open them.
    let file = std::fs::File::open("/dev/zero").unwrap();
    rustix::io::fcntl_setfd(&file, rustix::io::FdFlags::empty()).unwrap();
    for fixture in Fixture::both() {
        let script = "for n in {0..99}; do [ -e /proc/$$/fd/$n ] && printf '%s ' $n; done";
        assert_eq!(fixture.run(script).await.unwrap().stdout.tail, b"0 1 2 ");
    }
}
