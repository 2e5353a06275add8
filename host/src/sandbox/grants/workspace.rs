//! The directory that a workspace grant shows, found anew for every call.

use std::fs::File;
use std::path::PathBuf;

use serde::Serialize;

use crate::contract::Execution;
use crate::sandbox::world::Preopen;

/// A directory that a contributor may read, and where it has to be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Workspace {
    /// Which directory.
    pub kind: WorkspaceKind,
    /// The directory that it must be, or be below; anywhere where none is given. Absolute.
    pub within: Option<PathBuf>,
}

/// Which directory a workspace grant shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum WorkspaceKind {
    /// The working directory of the command.
    #[default]
    Workdir,
    /// The directory that the session was started for.
    Session,
    /// The nearest enclosing Git work tree of the working directory, and its Git directories.
    Repository,
}

/// A directory that a guest sees.
#[derive(Debug)]
pub(in crate::sandbox) struct Shown {
    /// What the guest calls it.
    pub(in crate::sandbox) name: &'static str,
    /// Where it was when it was opened, for people and for telling two apart: absolute, without links.
    pub(in crate::sandbox) path: PathBuf,
    /// The directory itself, checked after it was opened.
    pub(in crate::sandbox) directory: File,
}

impl From<Shown> for Preopen {
    fn from(shown: Shown) -> Self {
        Self { name: shown.name.to_owned(), directory: shown.directory }
    }
}

impl Workspace {
    /// Opens what is shown for an execution.
    ///
    /// # Errors
    /// Why nothing is shown, in words for the contributor's log.
    pub(in crate::sandbox) fn open(&self, _execution: &Execution) -> Result<Vec<Shown>, String> {
        Err("not yet".to_owned())
    }
}
