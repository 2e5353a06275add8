//! `list`: every variable that a command may get.

use std::process::ExitCode;

use anyhow::Result;

use super::arguments::ListArguments;
use super::composition;
use super::output::{Output, table};

/// Lists declarations; no contributor resolves anything.
pub(crate) fn run(arguments: &ListArguments, output: &Output) -> Result<ExitCode> {
    let host = composition::host(&arguments.host)?;
    let variables = host.registry().list();
    if output.is_json() {
        output.json(&variables)?;
    } else {
        let rows = variables.into_iter().map(|variable| {
            let sensitive = if variable.sensitive { "yes" } else { "" };
            vec![variable.key, variable.contributor, sensitive.to_owned(), variable.description]
        });
        output.text(&table(&["KEY", "CONTRIBUTOR", "SENSITIVE", "DESCRIPTION"], rows))?;
    }
    Ok(ExitCode::SUCCESS)
}
