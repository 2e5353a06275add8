//! `top`: what a server does, as it does it.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use dsh_env::activity::{ActivitySnapshot, Row, Table, table as rows_of};
use dsh_env::client::Client;
use dsh_env::protocol::Method;

use super::arguments::TopArguments;
use super::output::{Output, table};
use super::server;

/// Puts the cursor at the top and clears what is under it.
const CLEAR: &str = "\x1b[H\x1b[2J";

/// Shows the server's activity: again and again on a terminal, once elsewhere.
pub(crate) fn run(arguments: &TopArguments, output: &Output) -> Result<ExitCode> {
    let mut client = server::required(&arguments.operator.place, &arguments.operator.server)?;
    let once = arguments.once || !output.is_terminal();
    loop {
        let answer = client.call(Method::Activity, None::<&()>)?;
        if output.is_json() {
            output.json(&answer)?;
        } else {
            let snapshot: ActivitySnapshot = serde_json::from_value(answer)?;
            let text = for_people(&snapshot, &mut client)?;
            output.text(&if once { text } else { format!("{CLEAR}{text}") })?;
        }
        if once {
            return Ok(ExitCode::SUCCESS);
        }
        std::thread::sleep(Duration::from_secs(1));
    }
}

fn for_people(snapshot: &ActivitySnapshot, client: &mut Client) -> Result<String> {
    let statuses = client.call(Method::Status, None::<&()>)?;
    let state_of = |name: &str| {
        let mut all = statuses.as_array().into_iter().flatten();
        let status = all.find(|status| status.get("name").and_then(|name| name.as_str()) == Some(name))?;
        Some(status.get("state")?.as_str()?.to_owned())
    };
    let Table { collections, contributors } = rows_of(snapshot);
    let row = |row: Row, state: String| vec![row.name, state, row.per_second, row.p50, row.p99, row.total, row.failed];
    let rows = std::iter::once(row(collections, String::new())).chain(contributors.into_iter().map(|contributor| {
        let state = state_of(&contributor.name).unwrap_or_default();
        row(contributor, state)
    }));
    Ok(table(&["", "STATE", "PER SECOND", "HALF BELOW", "99 % BELOW", "CALLS", "FAILED"], rows))
}
