//! What runs the command of a hook.

use std::ffi::OsString;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::time::Duration;

use super::HookEnd;
use crate::environment::ChildEnvironment;
use crate::error::Result;
use crate::executor::{End, Executor, Input, Output, ShellCommand};

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
    pub payload: Vec<u8>,
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

/// What a [`HookRunner`] is at.
pub type Running<'a> = Pin<Box<dyn Future<Output = Result<HookRun>> + Send + 'a>>;

/// Runs the commands of hooks: an [`Executor`], or something of an embedder's own.
pub trait HookRunner: Send + Sync {
    /// Runs one command to its end. Dropping the future ends the command.
    ///
    /// # Errors
    /// When it could not be started.
    fn run(&self, command: HookCommand) -> Running<'_>;
}

impl HookRunner for Executor {
    fn run(&self, command: HookCommand) -> Running<'_> {
        Box::pin(async move {
            let HookCommand { program, arguments, workdir, environment, payload, limit } = command;
            let input = Input::Bytes(payload);
            let command = ShellCommand { program, arguments, workdir, environment, input };
            // Whoever gives up drops the future.
            let finished = Executor::run(self, command, limit, std::future::pending()).await?;
            Ok(HookRun { end: finished.end.into(), stdout: whole(finished.stdout), stderr: end_of(finished.stderr) })
        })
    }
}

/// All of an output, if all of it was kept in memory.
fn whole(output: Output) -> Option<Vec<u8>> {
    let total = output.total;
    let tail = end_of(output);
    (u64::try_from(tail.len()) == Ok(total)).then_some(tail)
}

/// The end of an output. The file with the rest, which nobody is told of, goes.
fn end_of(output: Output) -> Vec<u8> {
    if let Some(spill) = output.spill {
        // What stays goes with the executor.
        let _ = std::fs::remove_file(spill.path);
    }
    output.tail
}

impl From<End> for HookEnd {
    fn from(end: End) -> Self {
        match end {
            End::Exited(status) => Self::Exited(status),
            End::Signalled(signal) => Self::Signalled(signal),
            End::TimedOut { .. } => Self::TimedOut,
            End::Cancelled { .. } => Self::Cancelled,
        }
    }
}
