//! `session locate`: where a session's log is.

use std::process::ExitCode;

use anyhow::Result;
use dsh_env::contract::{SessionHeader, SessionId};
use dsh_env::home::{Home, Surroundings};
use dsh_env::installation::Configuration;
use dsh_env::sessions::{Backend, Compression, SessionsRoot};

use super::arguments::{BackendFlag, CompressionFlag, LocateArguments, SessionArguments, SessionCommand};
use super::output::Output;
use super::{composition, failure};

/// Runs a command about sessions.
pub(crate) fn run(arguments: &SessionArguments, output: &Output) -> Result<ExitCode> {
    match &arguments.command {
        SessionCommand::Locate(arguments) => locate(arguments, output),
    }
}

/// Prints a location, or null. Always JSON: it is a question that programs ask.
fn locate(arguments: &LocateArguments, output: &Output) -> Result<ExitCode> {
    let header = header(arguments)?;
    let home = Home::resolve(arguments.home.as_deref())?;
    let configured = Configuration::read(&home)?.sessions;
    let backend = arguments.backend.map_or(configured.backend, Backend::from);
    let compression = arguments.compression.map_or(configured.compression, Compression::from);
    let root = arguments.root.as_deref().or(configured.root.as_deref());
    let root = SessionsRoot::resolve(root, &home, &Surroundings::of_process())?;
    output.json(&backend.service(root, compression).locate(&header))?;
    Ok(ExitCode::SUCCESS)
}

fn header(arguments: &LocateArguments) -> Result<SessionHeader> {
    let of_execution = match &arguments.execution {
        Some(source) => composition::read_execution(source)?.agent.map(|agent| agent.session),
        None => None,
    };
    let mut header = match (&arguments.id, of_execution) {
        (Some(id), Some(header)) => SessionHeader { id: SessionId::new(id)?, ..header },
        (Some(id), None) => SessionHeader::new(SessionId::new(id)?),
        (None, Some(header)) => header,
        (None, None) => {
            return Err(failure::usage("no session is named: give --id, or an execution that has an agent"));
        }
    };
    if let Some(cwd) = &arguments.cwd {
        header.cwd = Some(cwd.clone());
    }
    Ok(header)
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
