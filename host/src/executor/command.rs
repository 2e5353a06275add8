//! What is to be run.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::environment::ChildEnvironment;
use crate::error::{Code, Error, Result};
use crate::text::shown_within;

/// The most bytes of a path that a message repeats.
pub(super) const SHOWN_PATH_BYTES: usize = 256;

/// A command: a program, its surroundings and its input.
///
/// For a shell's script see [`strict_shell::script_arguments`](crate::environment::strict_shell::script_arguments).
#[derive(Clone, Debug)]
pub struct ShellCommand {
    /// The program: a path, or a name that is looked up in the `PATH` of `environment`. A relative path is one
    /// from `workdir`.
    pub program: OsString,
    /// Its arguments, without its own name.
    pub arguments: Vec<OsString>,
    /// Where it starts. A relative path is one from the host's current directory.
    pub workdir: PathBuf,
    /// Its whole environment.
    pub environment: ChildEnvironment,
    /// What it reads.
    pub input: Input,
}

/// Standard input of a command. It is never a socket, by which bash takes itself for a remote shell, and never
/// the host's own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Input {
    /// `/dev/null`.
    #[default]
    Null,
    /// A pipe with these bytes, fed while the command runs. A command need not read them.
    Bytes(Vec<u8>),
}

/// A command as the kernel takes it, without what is done with descriptors.
#[derive(PartialEq, Eq)]
pub(super) struct Spec {
    pub(super) program: OsString,
    pub(super) arguments: Vec<OsString>,
    pub(super) workdir: PathBuf,
    pub(super) environment: Vec<(OsString, OsString)>,
}

impl ShellCommand {
    /// What to hand to the kernel.
    ///
    /// # Errors
    /// `execution-failed` for what no kernel takes: a NUL byte, a relative directory where there is no current one.
    pub(super) fn spec(&self) -> Result<Spec> {
        let has_nul = |text: &OsStr| text.as_encoded_bytes().contains(&0);
        let workdir = std::path::absolute(&self.workdir).map_err(|error| {
            failed(format!(
                "the working directory {} cannot be made absolute ({error}): name it in full",
                shown_path(&self.workdir)
            ))
        })?;
        if has_nul(&self.program) || has_nul(workdir.as_os_str()) || self.arguments.iter().any(|text| has_nul(text)) {
            return Err(failed(
                "the command was not started: a NUL byte is in its program, arguments or working directory, which no system takes",
            ));
        }
        let environment = self.environment.iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
        Ok(Spec {
            program: self.program.clone(),
            arguments: self.arguments.clone(),
            workdir,
            environment: environment.collect(),
        })
    }
}

pub(super) fn failed(message: impl Into<String>) -> Error {
    Error::host(Code::ExecutionFailed, message)
}

pub(super) fn shown_path(path: &Path) -> String {
    shown_within(&path.display().to_string(), SHOWN_PATH_BYTES)
}
