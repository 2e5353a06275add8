//! The tools that a model is shown, and what it is told of a result.
//!
//! `bash` and `pwsh` run a command; `job_output` and `job_kill` look after what runs in the background. A
//! model chooses a command and little else: what it sends beside the arguments of the schema, such as an
//! environment or standard input, is ignored.
//!
//! Every start of a shell, in the foreground or the background, collects an overlay of its own, exactly once
//! and before anything is spawned. Where that fails the call fails, with the error's sentence as its result.
//! What a command prints of a sensitive value, of its own overlay or of an earlier one of the same session, is
//! withheld from the model and from what is recorded; a value that it changes before it prints it is not found.

mod arguments;
mod jobs;
mod render;
mod secrets;
mod shell;
mod withheld;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use tokio::sync::Semaphore;

pub use arguments::ShellArguments;
pub use jobs::completion_notice;

use crate::contract::{Execution, SessionHeader};
use crate::environment::{ChildEnvironment, OrdinaryEnv, Shell};
use crate::error::{Code, Error, Result};
use crate::executor::{Executor, Input, Owner, ShellCommand};
use crate::registry::{CollectOptions, Registry};
use crate::text::shown_within;
use secrets::Secrets;
use withheld::Withheld;

/// How many calls collect at once: fewer than a registry takes of asynchronous collections, so that sessions that
/// call by the hundreds have to wait a little and are not refused.
const MAX_COLLECTING: usize = 200;

/// The most bytes of a tool's name that a message repeats.
const MAX_SHOWN_NAME_BYTES: usize = 64;

/// A tool as a model is shown it: part of the header of every request.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ToolDescription {
    /// What the model calls it by.
    pub name: String,
    /// What it does and how it is to be used.
    pub description: String,
    /// Its arguments, as JSON Schema.
    pub parameters: Value,
}

/// What a model wants done.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// The tool.
    pub name: String,
    /// Its arguments, as the model sent them.
    pub arguments: Value,
}

/// Who calls a tool.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The session of the agent that calls; none where no agent does.
    pub session: Option<SessionHeader>,
    /// The directory in which commands run that name none, and below which they name theirs.
    pub workdir: PathBuf,
}

impl Caller {
    /// Whose jobs the caller starts, reads and kills.
    #[must_use]
    pub fn owner(&self) -> Owner {
        // Ids are unique among the sessions for one directory. What no agent owns is apart from what any does.
        let session = self.session.as_ref().map(|session| (&session.cwd, session.id.as_str()));
        Owner::new(serde_json::json!(session).to_string())
    }
}

/// What a tool call came to.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    /// What the model is told.
    pub output: String,
    /// Whether the call itself failed: it was refused, or nothing could be started. A command that ends with
    /// another status than 0 is no such failure.
    pub is_error: bool,
    /// How the command ended, where one was started and has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<Ended>,
    /// The job that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job: Option<String>,
}

/// How a command ended, for programs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Ended {
    /// Its exit code, unless a signal ended it.
    pub exit_code: Option<i32>,
    /// The number of the signal that ended it.
    pub signal: Option<i32>,
    /// Whether its time was up.
    pub timed_out: bool,
    /// Whether its caller gave up.
    pub cancelled: bool,
}

impl ToolResult {
    fn told(output: impl Into<String>) -> Self {
        Self { output: output.into(), is_error: false, ended: None, job: None }
    }

    /// A call that failed, or was not let through.
    #[must_use]
    pub fn failed(why: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::told(why) }
    }
}

/// The tools of one host; cheap to clone, and every clone is the same.
#[derive(Clone)]
pub struct Tools {
    shared: Arc<Shared>,
}

struct Shared {
    registry: Registry,
    executor: Executor,
    shells: Vec<Shell>,
    ordinary: OrdinaryEnv,
    /// Places for calls that collect: those beyond wait, where the registry would refuse them.
    collecting: Semaphore,
    secrets: Secrets,
}

impl Tools {
    /// Tools that offer `shells`, set `ordinary` in every command's environment, and get their overlays
    /// from `registry`.
    #[must_use]
    pub fn new(registry: Registry, executor: Executor, shells: Vec<Shell>, ordinary: OrdinaryEnv) -> Self {
        let collecting = Semaphore::new(MAX_COLLECTING);
        Self {
            shared: Arc::new(Shared { registry, executor, shells, ordinary, collecting, secrets: Secrets::default() }),
        }
    }

    /// What a model is shown, always in the same order.
    #[must_use]
    pub fn describe(&self) -> Vec<ToolDescription> {
        let shells = self.shared.shells.iter().map(|shell| shell::describe(*shell));
        shells.chain([jobs::describe_output(), jobs::describe_kill()]).collect()
    }

    /// What runs the commands.
    #[must_use]
    pub fn executor(&self) -> &Executor {
        &self.shared.executor
    }

    /// Does what a model wants done. A failure is told to the model like any other result.
    ///
    /// `cancelled` resolves when the caller gives up; dropping the future ends the command too.
    pub async fn call(&self, caller: &Caller, call: &ToolCall, cancelled: impl Future<Output = ()>) -> ToolResult {
        let done = match call.name.as_str() {
            jobs::OUTPUT => self.job_output(caller, &call.arguments),
            jobs::KILL => self.job_kill(caller, &call.arguments).await,
            name => match self.shared.shells.iter().find(|shell| shell.name() == name) {
                Some(shell) => self.run(*shell, caller, &call.arguments, cancelled).await,
                None => Err(self.unknown(name)),
            },
        };
        done.unwrap_or_else(|error| ToolResult::failed(error.to_string()))
    }

    fn unknown(&self, name: &str) -> Error {
        let offered: Vec<_> = self.describe().into_iter().map(|tool| tool.name).collect();
        let message = format!(
            "there is no tool \"{}\": call one of {}",
            shown_within(name, MAX_SHOWN_NAME_BYTES),
            offered.join(", ")
        );
        Error::host(Code::InvalidArguments, message)
    }

    async fn run(
        &self,
        shell: Shell,
        caller: &Caller,
        arguments: &Value,
        cancelled: impl Future<Output = ()>,
    ) -> Result<ToolResult> {
        let arguments = ShellArguments::read(arguments)?;
        let workdir = arguments.workdir.as_ref().map_or_else(|| caller.workdir.clone(), |dir| caller.workdir.join(dir));
        let (command, withheld) = self.prepare(shell, caller, &arguments, workdir).await?;
        let executor = &self.shared.executor;
        if arguments.run_in_background {
            let owner = caller.owner();
            let job = executor.start(&owner, shell.name(), command).await?;
            self.shared.secrets.keep(owner.clone(), job.clone(), withheld, &executor.jobs(&owner));
            return Ok(jobs::started(&job));
        }
        let limit = arguments.timeout.unwrap_or(crate::executor::DEFAULT_LIMIT);
        let finished = executor.run(command, limit, cancelled).await?;
        Ok(render::finished(&finished, &withheld))
    }

    /// The command with the environment of this very call.
    async fn prepare(
        &self,
        shell: Shell,
        caller: &Caller,
        arguments: &ShellArguments,
        workdir: PathBuf,
    ) -> Result<(ShellCommand, Withheld)> {
        let mut execution = Execution::new(shell.name());
        execution.background = arguments.run_in_background;
        execution.workdir = workdir.to_str().map(str::to_owned);
        if let Some(session) = &caller.session {
            execution = execution.owned_by(session.clone());
        }
        let overlay = {
            // It is never closed, so there is always a place.
            let _place = self.shared.collecting.acquire().await;
            self.shared.registry.collect_async(execution, CollectOptions::new()).await?
        };
        let environment = ChildEnvironment::builder(std::env::vars_os())
            .terminal(shell.terminal())
            .ordinary(self.shared.ordinary.clone())
            .with_overlay(&overlay);
        let command = ShellCommand {
            program: shell.name().into(),
            arguments: shell.script_arguments(&arguments.command),
            workdir,
            environment,
            input: Input::Null,
        };
        Ok((command, self.shared.secrets.of_call(&caller.owner(), &overlay)))
    }

    /// Ends an owner's jobs and forgets all of them.
    pub async fn end_owner(&self, owner: &Owner) {
        let Shared { executor, secrets, .. } = &*self.shared;
        executor.end_owner(owner).await;
        secrets.forget(owner, &executor.jobs(owner));
    }
}

/// The longest that a model may let a command run in the foreground.
const MAX_TIMEOUT: Duration = crate::executor::MAX_LIMIT;

#[cfg(test)]
mod tests;
