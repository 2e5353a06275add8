//! What runs the command of a hook.

use std::ffi::OsString;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use super::HookEnd;
use crate::environment::ChildEnvironment;
use crate::error::Result;

/// One command, ready to be run.
#[derive(Clone, Debug)]
pub struct HookCommand {
    /// The shell.
    pub program: OsString,
    /// The shell's arguments.
    pub arguments: Vec<OsString>,
    /// Where it runs.
    pub workdir: PathBuf,
    /// The whole environment.
    pub environment: ChildEnvironment,
    /// What it reads from standard input.
    pub payload: Arc<[u8]>,
    /// After this it is ended.
    pub limit: Duration,
}

/// What a command did.
#[derive(Clone, Debug)]
pub struct HookRun {
    /// How it ended.
    pub end: HookEnd,
    /// What it wrote to standard output; `None` if that was more than is kept.
    pub stdout: Option<Vec<u8>>,
    /// The end of what it wrote to standard error.
    pub stderr: Vec<u8>,
}

/// Runs the commands of hooks.
///
/// Dropping the future ends the command.
pub trait HookRunner: Send + Sync {
    /// Runs one command to its end.
    ///
    /// # Errors
    /// When it could not be started.
    fn run(&self, command: HookCommand) -> Pin<Box<dyn Future<Output = Result<HookRun>> + Send + '_>>;
}
