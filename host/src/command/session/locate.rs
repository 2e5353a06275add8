//! `session locate`: where a session's log is.

use anyhow::Result;
use dsh_env::contract::{SessionHeader, SessionId};

use crate::command::arguments::LocateArguments;
use crate::command::output::Output;
use crate::command::{composition, failure};

/// Prints a location, or null. Always JSON: it is a question that programs ask.
pub(super) fn run(arguments: &LocateArguments, output: &Output) -> Result<()> {
    let header = header(arguments)?;
    output.json(&super::store(&arguments.store)?.locate(&header))
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
