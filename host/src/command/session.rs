//! `session`: one file a subcommand. What they share is here: where sessions are kept, and which is meant.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Result;
use dsh_env::contract::SessionId;
use dsh_env::sessions::{Backend, Compression, Project, SessionStore};
use dsh_env::{Host, HostOptions};

use super::arguments::{BackendFlag, CompressionFlag, SessionArguments, SessionCommand, StoreFlags, WhichSession};
use super::composition;
use super::output::Output;

mod fork;
mod list;
mod locate;
mod new;
mod resume;
mod show;
mod summary;

/// Runs a command about sessions.
pub(crate) fn run(arguments: &SessionArguments, output: &Output) -> Result<ExitCode> {
    match &arguments.command {
        SessionCommand::New(arguments) => new::run(arguments, output),
        SessionCommand::Resume(arguments) => resume::run(arguments, output),
        SessionCommand::Fork(arguments) => fork::run(arguments, output),
        SessionCommand::List(arguments) => list::run(arguments, output),
        SessionCommand::Show(arguments) => show::run(arguments, output),
        SessionCommand::Locate(arguments) => locate::run(arguments, output),
    }?;
    Ok(ExitCode::SUCCESS)
}

/// The service that the flags and the configuration name.
fn store(flags: &StoreFlags) -> Result<Arc<dyn SessionStore>> {
    let StoreFlags { root, backend, compression, home } = flags;
    let options = home.as_ref().map_or_else(HostOptions::new, |home| HostOptions::new().home(home));
    Ok(Host::session_store(&composition::sessions(options, root.as_deref(), *backend, *compression))?)
}

impl WhichSession {
    /// The id, and where to look for it.
    fn key(&self) -> Result<(SessionId, Project<'_>)> {
        let project = match &self.cwd {
            None if self.no_cwd => Project::Of(None),
            None => Project::Any,
            Some(cwd) => Project::Of(Some(cwd)),
        };
        Ok((SessionId::new(&*self.id)?, project))
    }
}

impl From<BackendFlag> for Backend {
    fn from(flag: BackendFlag) -> Self {
        match flag {
            BackendFlag::Jsonl => Self::Jsonl,
            BackendFlag::Sqlite => Self::Sqlite,
        }
    }
}

impl From<CompressionFlag> for Compression {
    fn from(flag: CompressionFlag) -> Self {
        match flag {
            CompressionFlag::None => Self::None,
            CompressionFlag::Zstd => Self::Zstd,
        }
    }
}
