//! Real directories and repositories, made by Git, and those of somebody who is up to no good.

mod directories;
mod hostile;
mod repositories;

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use super::*;
use crate::contract::{SessionHeader, SessionId};

/// A folder of its own, without links on the way.
struct Place {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { path: folder.path().canonicalize().unwrap(), _folder: folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    fn folder(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(&path).unwrap();
        path
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// Runs Git in the place, without anybody's configuration.
    fn git(&self, arguments: &[&str]) {
        let mut git = Command::new("git");
        git.args(["-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always"]);
        git.args(["-c", "user.name=a", "-c", "user.email=a@b.example"]);
        let ran = git.args(arguments).current_dir(&self.path).env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap();
        assert!(ran.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&ran.stderr));
    }

    /// A repository with one commit.
    fn repository(&self, name: &str) -> PathBuf {
        self.git(&["init", "--quiet", name]);
        self.git(&["-C", name, "commit", "--quiet", "--allow-empty", "--message=first"]);
        self.path(name)
    }
}

fn workspace(kind: WorkspaceKind) -> Workspace {
    Workspace { kind, within: None }
}

/// What is shown: names and places, in order.
fn shown(workspace: &Workspace, execution: &Execution) -> Result<Vec<(&'static str, PathBuf)>, String> {
    let shown = workspace.open(execution)?;
    for directory in &shown {
        use std::os::unix::fs::MetadataExt as _;
        let (open, there) = (directory.directory.metadata().unwrap(), directory.path.metadata().unwrap());
        assert_eq!((open.dev(), open.ino()), (there.dev(), there.ino()), "{directory:?}");
    }
    Ok(shown.into_iter().map(|directory| (directory.name, directory.path)).collect())
}

fn in_workdir(path: &Path) -> Execution {
    Execution::new("bash").in_workdir(path.to_str().unwrap())
}

fn of_workdir(path: &Path) -> Result<Vec<(&'static str, PathBuf)>, String> {
    shown(&workspace(WorkspaceKind::Workdir), &in_workdir(path))
}

/// What the grant of a repository shows of a working directory.
fn repository_of(path: &Path) -> Result<Vec<(&'static str, PathBuf)>, String> {
    shown(&workspace(WorkspaceKind::Repository), &in_workdir(path))
}

fn of_session(cwd: Option<&str>) -> Result<Vec<(&'static str, PathBuf)>, String> {
    let mut header = SessionHeader::new(SessionId::new("s1").unwrap());
    header.cwd = cwd.map(str::to_owned);
    let execution = in_workdir(Path::new("/")).owned_by(header);
    shown(&workspace(WorkspaceKind::Session), &execution)
}
