//! What the tests have in common.

use std::ffi::OsString;
use std::future::pending;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::environment::{ChildEnvironment, strict_shell};
use crate::error::Result;
use crate::executor::{Executor, ExecutorOptions, Finished, Input, Keeper, KeeperProgram, ShellCommand};

/// Longer than anything takes that does end, on a machine that is very busy.
pub(super) const LONG: Duration = Duration::from_secs(60);

/// What tells this very program, which tests, to be something else.
const ROLE: &str = "EXECUTOR_TEST_ROLE";

/// An executor and its folder.
pub(super) struct Fixture {
    pub(super) executor: Executor,
    pub(super) folder: TempDir,
}

impl Fixture {
    pub(super) fn in_host() -> Self {
        Self::with(Keeper::InHost)
    }

    pub(super) fn with_keeper() -> Self {
        Self::with(Keeper::Program(keeper_program()))
    }

    /// One of each kind: most behaviour is the same.
    pub(super) fn both() -> [Self; 2] {
        [Self::in_host(), Self::with_keeper()]
    }

    pub(super) fn with(keeper: Keeper) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options = ExecutorOptions { spill_folder: folder.path().join("spills"), keeper };
        Self { executor: Executor::new(options).unwrap(), folder }
    }

    pub(super) async fn run(&self, script: &str) -> Result<Finished> {
        self.executor.run(bash(script), LONG, pending()).await
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

/// This program as a keeper.
pub(super) fn keeper_program() -> KeeperProgram {
    let mut arguments: Vec<OsString> = vec![format!("{ROLE}=keeper").into()];
    arguments.extend(this_program("executor::tests::keeper::this_program_can_be_a_keeper"));
    KeeperProgram { program: "/usr/bin/env".into(), arguments }
}

/// The command line that runs one test of this program.
fn this_program(test: &str) -> Vec<OsString> {
    let program = std::env::current_exe().unwrap();
    let rest = ["--exact", test, "--nocapture", "--test-threads=1"];
    std::iter::once(program.into()).chain(rest.map(OsString::from)).collect()
}

/// What this process is to be, if not one that tests, and for whom.
pub(super) fn has_role(role: &str) -> bool {
    std::env::var(ROLE).is_ok_and(|given| given == role)
}

/// A command that runs one test of this program in another role, with the folder that belongs to it.
pub(super) fn in_role(role: &str, test: &str, folder: &Path) -> Command {
    let line = this_program(test);
    let mut command = Command::new(&line[0]);
    command.args(&line[1..]).env(ROLE, role).current_dir(folder);
    command
}

/// A script for bash, in `/`, with what a search for programs needs.
pub(super) fn bash(script: &str) -> ShellCommand {
    let path = std::env::var_os("PATH").map(|path| (OsString::from("PATH"), path));
    ShellCommand {
        program: "bash".into(),
        arguments: strict_shell::script_arguments("bash".as_ref(), script.as_ref()),
        workdir: "/".into(),
        environment: ChildEnvironment::builder(path).without_overlay(),
        input: Input::Null,
    }
}

/// Waits until something holds.
pub(super) async fn until(what: &str, holds: impl Fn() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < LONG, "not in time: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// The number that a command wrote to a file, once it has.
pub(super) async fn pid_in(file: &Path) -> i32 {
    until("a process writes its number", || read_pid(file).is_some()).await;
    read_pid(file).unwrap()
}

fn read_pid(file: &Path) -> Option<i32> {
    let text = std::fs::read_to_string(file).ok()?;
    text.strip_suffix('\n')?.parse().ok()
}

/// Whether a process runs: one that has exited and was not buried does not.
pub(super) fn is_running(pid: i32) -> bool {
    state_of(pid).is_some_and(|state| !"ZX".contains(state))
}

/// The letter that the system has for what a process does; nothing for one that is gone.
pub(super) fn state_of(pid: i32) -> Option<char> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.chars().next()
}

pub(super) async fn until_gone(pid: i32) {
    until("a process is gone", || !is_running(pid)).await;
}
