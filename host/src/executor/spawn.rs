//! Starting one process: the same in the host and in a keeper.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::Stdio;

use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop, ProcessGroup};
use rustix::fs::{Access, access};
use rustix::io::Errno;
use tokio::process::Command;

use super::child_setup::{self, Parent};
use super::command::{SHOWN_PATH_BYTES, ShellCommand, Spec, failed, shown_path};
use crate::environment::explain_too_large;
use crate::error::Error;
use crate::text::shown_within;

/// The three standard streams of a child.
pub(super) struct Streams {
    pub(super) stdin: OwnedFd,
    pub(super) stdout: OwnedFd,
    pub(super) stderr: OwnedFd,
}

/// Starts a process that leads a group of its own and has the three streams and nothing else of this process.
///
/// # Errors
/// What the system says; see [`explain`].
pub(super) fn spawn(spec: &Spec, streams: Streams, parent: Parent) -> io::Result<Box<dyn ChildWrapper>> {
    let mut command = Command::new(&spec.program);
    command
        .args(&spec.arguments)
        .current_dir(&spec.workdir)
        .env_clear()
        .envs(spec.environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::from(streams.stdin))
        .stdout(Stdio::from(streams.stdout))
        .stderr(Stdio::from(streams.stderr));
    child_setup::add(command.as_std_mut(), parent);
    CommandWrap::from(command).wrap(KillOnDrop).wrap(ProcessGroup::leader()).spawn()
}

/// Why nothing was started, in words for people.
///
/// The system says only what was wrong, not with what: so what may be wrong is looked at again.
pub(super) fn explain(error: &io::Error, command: &ShellCommand, spec: &Spec) -> Error {
    if let Some(too_large) = explain_too_large(error, &command.environment, &command.arguments) {
        return too_large;
    }
    if let Some(error) = workdir_fault(&spec.workdir) {
        return error;
    }
    let program = shown_within(&spec.program.to_string_lossy(), SHOWN_PATH_BYTES);
    let is_path = spec.program.as_encoded_bytes().contains(&b'/');
    failed(match Errno::from_io_error(error) {
        Some(Errno::NOENT | Errno::NOTDIR) if is_path => {
            let exists = spec.workdir.join(&spec.program).exists();
            if exists {
                format!("{program} was not started: what its first line names as its interpreter does not exist")
            } else {
                format!("{program} was not found: install it, or name another program")
            }
        }
        // A folder of PATH that may not be searched has the system say that access is denied, whatever is there.
        Some(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS) if !is_path && !is_in_path(spec) => {
            format!("{program} was not found in PATH: install it, or name it by its path")
        }
        Some(Errno::ACCESS | Errno::PERM | Errno::ISDIR) => {
            format!("{program} cannot be executed ({error}): see to its permissions, or name another program")
        }
        Some(Errno::MFILE | Errno::NFILE) => {
            format!(
                "{program} was not started: too many files are open (`ulimit -n`). Try again when others have ended"
            )
        }
        Some(Errno::AGAIN | Errno::NOMEM) => {
            format!(
                "{program} was not started: no more processes or memory ({error}). Try again when others have ended"
            )
        }
        _ => format!("{program} was not started ({error})"),
    })
}

/// Whether any folder of the command's own `PATH` has something of the program's name.
fn is_in_path(spec: &Spec) -> bool {
    let path = spec.environment.iter().find(|(name, _)| name == "PATH").map(|(_, path)| path.as_os_str());
    let mut folders = std::env::split_paths(path.unwrap_or_default());
    folders.any(|folder| spec.workdir.join(folder).join(&spec.program).exists())
}

fn workdir_fault(workdir: &Path) -> Option<Error> {
    let shown = shown_path(workdir);
    match std::fs::metadata(workdir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Some(failed(format!("the working directory {shown} does not exist: make it, or name another")))
        }
        Err(error) => Some(failed(format!("the working directory {shown} cannot be reached ({error}): name another"))),
        Ok(metadata) if !metadata.is_dir() => {
            Some(failed(format!("the working directory {shown} is no directory: name another")))
        }
        Ok(_) => access(workdir, Access::EXEC_OK).is_err().then(|| {
            failed(format!("the working directory {shown} may not be entered: see to its permissions, or name another"))
        }),
    }
}
