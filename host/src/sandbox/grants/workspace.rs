//! The directory that a workspace grant shows, found anew for every call.

mod directory;
mod git_config;
mod repository;

use std::fs::File;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::contract::Execution;
use crate::sandbox::world::Preopen;
use directory::Directory;

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

impl WorkspaceKind {
    /// Every kind.
    pub const ALL: &[Self] = &[Self::Workdir, Self::Session, Self::Repository];

    /// The word for it in configurations.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Workdir => "workdir",
            Self::Session => "session",
            Self::Repository => "repository",
        }
    }
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
    pub(in crate::sandbox) fn open(&self, execution: &Execution) -> Result<Vec<Shown>, String> {
        let within = self.within.as_deref().map(directory::resolve_bound).transpose()?;
        let within = within.as_deref();
        match self.kind {
            WorkspaceKind::Workdir => open_one(workdir(execution)?, within),
            WorkspaceKind::Session => open_one(session_cwd(execution)?, within),
            WorkspaceKind::Repository => repository::open(workdir(execution)?, within),
        }
    }
}

fn open_one(path: &Path, within: Option<&Path>) -> Result<Vec<Shown>, String> {
    Ok(vec![Directory::open(path, within)?.shown_as("/workspace")])
}

fn workdir(execution: &Execution) -> Result<&Path, String> {
    let workdir = execution.workdir.as_deref().ok_or("the call has no working directory")?;
    absolute(workdir, "working directory")
}

fn session_cwd(execution: &Execution) -> Result<&Path, String> {
    let session = execution.session().ok_or("no session owns the call")?;
    let cwd = session.cwd.as_deref().ok_or("the session was started for no directory")?;
    absolute(cwd, "session's directory")
}

fn absolute<'p>(path: &'p str, what: &str) -> Result<&'p Path, String> {
    let path = Path::new(path);
    if path.is_absolute() { Ok(path) } else { Err(format!("the {what} is not an absolute path")) }
}

#[cfg(test)]
mod tests;
