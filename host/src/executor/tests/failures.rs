//! Commands that do not start.

use std::future::pending;
use std::os::unix::fs::PermissionsExt as _;

use super::support::{Fixture, LONG, bash};
use crate::environment::{ChildEnvironment, OrdinaryEnv};
use crate::error::{Code, Error};
use crate::executor::{End, ShellCommand};

async fn error_of(fixture: &Fixture, command: ShellCommand) -> Error {
    fixture.executor.run(command, LONG, pending()).await.unwrap_err()
}

async fn message(fixture: &Fixture, command: ShellCommand) -> String {
    let error = error_of(fixture, command).await;
    assert_eq!(error.code(), Code::ExecutionFailed);
    error.message().to_owned()
}

#[tokio::test]
async fn it_is_told_what_was_not_found() {
    for fixture in Fixture::both() {
        let mut command = bash("true");
        command.program = "no-such-shell".into();
        assert!(message(&fixture, command.clone()).await.contains("no-such-shell was not found in PATH"));
        command.program = "/no/such/shell".into();
        assert!(message(&fixture, command.clone()).await.contains("/no/such/shell was not found: install"));
        command.workdir = "/no/such/folder".into();
        assert!(message(&fixture, command.clone()).await.contains("directory /no/such/folder does not exist"));
        command.workdir = "/dev/null".into();
        assert!(message(&fixture, command).await.contains("directory /dev/null is no directory"));
    }
}

#[tokio::test]
async fn it_is_told_what_cannot_be_executed() {
    for fixture in Fixture::both() {
        let file = fixture.path("program");
        std::fs::write(&file, "text").unwrap();
        let mut command = bash("true");
        command.program = file.clone().into();
        assert!(message(&fixture, command.clone()).await.contains("cannot be executed"));
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o700)).unwrap();
        std::fs::write(&file, "#!/no/such/interpreter\n").unwrap();
        assert!(message(&fixture, command.clone()).await.contains("interpreter does not exist"));
        command.program = fixture.folder.path().into();
        assert!(message(&fixture, command).await.contains("cannot be executed"));
    }
}

#[tokio::test]
async fn a_name_that_is_in_path_and_cannot_be_executed_is_not_called_missing() {
    for fixture in Fixture::both() {
        std::fs::write(fixture.path("tool"), "").unwrap();
        let mut ordinary = OrdinaryEnv::new();
        ordinary.set("PATH", fixture.folder.path()).unwrap();
        let mut command = bash("true");
        command.environment = ChildEnvironment::builder([]).ordinary(ordinary).without_overlay();
        command.program = "tool".into();
        assert!(message(&fixture, command).await.contains("tool cannot be executed"));
    }
}

#[tokio::test]
async fn what_no_system_takes_is_refused() {
    let fixture = Fixture::in_host();
    let mut command = bash("true");
    command.arguments.push("a\0b".into());
    assert!(message(&fixture, command).await.contains("NUL"));
    let mut command = bash("true");
    command.workdir = "".into();
    assert!(message(&fixture, command).await.contains("working directory"));
}

#[tokio::test]
async fn the_largest_variables_of_an_environment_that_is_too_large_are_named() {
    for fixture in Fixture::both() {
        let mut command = bash("true");
        let mut ordinary = OrdinaryEnv::new();
        ordinary.set("HUGE", "v4lue".repeat(1 << 20)).unwrap();
        ordinary.set("SMALL", "x").unwrap();
        command.environment = ChildEnvironment::builder([]).ordinary(ordinary).without_overlay();
        command.program = "/bin/bash".into();
        let error = error_of(&fixture, command).await;
        assert_eq!(error.code(), Code::EnvironmentTooLarge);
        assert!(error.message().contains("HUGE (5242886 bytes)"), "{error}");
        assert!(!error.message().contains("v4lue"));
        assert_eq!(fixture.run("exit 6").await.unwrap().end, End::Exited(6));
    }
}
