//! `session new`: a fresh id.

use anyhow::Result;
use dsh_env::sessions::{NewSession, Session};
use serde_json::json;

use super::summary::{lines, path};
use crate::command::arguments::NewArguments;
use crate::command::output::Output;

/// Prints the id and the location of a session that does not exist yet.
pub(super) fn run(arguments: &NewArguments, output: &Output) -> Result<()> {
    let new = NewSession { id: None, cwd: arguments.cwd.clone(), agent_preset: arguments.agent_preset.clone() };
    let session = Session::create(super::store(&arguments.store)?, new)?;
    let id = &session.header().session.id;
    if output.is_json() {
        return output.json(&json!({ "id": id, "location": session.location(), "header": session.header() }));
    }
    output.text(&lines(&[("id", Some(id.to_string())), ("location", Some(path(session.location())))]))
}
