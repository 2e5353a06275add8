//! The program that keepers are.

use std::ffi::OsString;
use std::path::PathBuf;

/// The argument that makes `dsh-env` a keeper.
pub const KEEPER_ARGUMENT: &str = "keeper";

/// A program that [serves](super::serve_keeper) as a keeper, of the very version of this library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeeperProgram {
    /// The program's file, absolute.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
}

impl KeeperProgram {
    /// The `dsh-env` command at a path.
    #[must_use]
    pub fn dsh_env(program: impl Into<PathBuf>) -> Self {
        Self { program: program.into(), arguments: vec![KEEPER_ARGUMENT.into()] }
    }

    /// This very process's program, also where its file was replaced since it started. For a program that calls
    /// [`serve_keeper`](super::serve_keeper) when its first argument is [`KEEPER_ARGUMENT`].
    #[must_use]
    pub fn this_program() -> Self {
        Self::dsh_env("/proc/self/exe")
    }
}
