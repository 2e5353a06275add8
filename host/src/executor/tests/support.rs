//! What the tests have in common.

use std::ffi::OsString;
use std::time::Duration;

use tempfile::TempDir;

use crate::environment::{ChildEnvironment, strict_shell};
use crate::executor::{Executor, ExecutorOptions, Input, Keeper, ShellCommand};

/// Longer than anything takes that does end, on a machine that is very busy.
pub(super) const LONG: Duration = Duration::from_secs(60);

/// An executor and its folder.
pub(super) struct Fixture {
    pub(super) executor: Executor,
    pub(super) folder: TempDir,
}

impl Fixture {
    pub(super) fn in_host() -> Self {
        Self::with(Keeper::InHost)
    }

    pub(super) fn with(keeper: Keeper) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options = ExecutorOptions { spill_folder: folder.path().join("spills"), keeper };
        Self { executor: Executor::new(options).unwrap(), folder }
    }
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
