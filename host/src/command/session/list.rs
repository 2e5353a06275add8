//! `session list`: every session.

use anyhow::Result;
use dsh_env::sessions::{ListedSession, LogHeader};
use serde_json::{Value, json};

use super::summary::time;
use crate::command::arguments::ListSessionsArguments;
use crate::command::cache::size;
use crate::command::output::{Output, note, table};

/// Lists sessions, the newest first. Those that cannot be read are data for programs, and notes for people.
pub(super) fn run(arguments: &ListSessionsArguments, output: &Output) -> Result<()> {
    let sessions = super::store(&arguments.store)?.list()?;
    if output.is_json() {
        return output.json(&sessions.iter().map(object).collect::<Vec<_>>());
    }
    let rows = sessions.iter().filter_map(|listed| Some(row(listed.header.as_ref().ok()?, listed.bytes)));
    output.text(&table(&["ID", "CREATED", "CWD", "SIZE", "PARENT"], rows))?;
    for error in sessions.iter().filter_map(|listed| listed.header.as_ref().err()) {
        note(&error.to_string());
    }
    Ok(())
}

fn object(listed: &ListedSession) -> Value {
    let header = listed.header.as_ref().ok();
    json!({
        "id": header.map(|header| &header.session.id),
        "header": header,
        "location": listed.location,
        "bytes": listed.bytes,
        "error": listed.header.as_ref().err(),
    })
}

fn row(header: &LogHeader, bytes: u64) -> Vec<String> {
    let session = &header.session;
    vec![
        session.id.to_string(),
        time(session.created_at.unwrap_or_default()),
        session.cwd.clone().unwrap_or_default(),
        size(bytes),
        session.parent_session.clone().unwrap_or_default(),
    ]
}
