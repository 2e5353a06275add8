//! The program that workers are.

use std::ffi::OsString;
use std::path::PathBuf;

/// The argument that makes `dsh-env` a worker.
pub const WORKER_ARGUMENT: &str = "worker";

/// A program that [serves](super::serve) as a worker, of the very version of this library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerProgram {
    /// The program's file.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
}

impl WorkerProgram {
    /// The `dsh-env` command at a path.
    #[must_use]
    pub fn dsh_env(program: impl Into<PathBuf>) -> Self {
        Self { program: program.into(), arguments: vec![WORKER_ARGUMENT.into()] }
    }

    /// This very process's program, also where its file was replaced since it started. For a program that
    /// calls [`serve`](super::serve) when its first argument is `worker`.
    #[must_use]
    pub fn this_program() -> Self {
        Self::dsh_env("/proc/self/exe")
    }
}
