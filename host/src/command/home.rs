//! `home`: where this host lives.

use std::process::ExitCode;

use anyhow::Result;
use dsh_env::home::Home;
use dsh_env::text::shown;
use serde_json::json;

use super::arguments::HomeArguments;
use super::output::Output;

/// Prints the resolved home.
pub(crate) fn run(arguments: &HomeArguments, output: &Output) -> Result<ExitCode> {
    let home = Home::resolve(arguments.home.as_deref())?;
    if output.is_json() {
        output.json(&json!({ "home": home.as_str(), "rule": home.rule() }))?;
    } else if output.is_terminal() {
        output.text(&shown(home.as_str()))?;
    } else {
        output.bytes(format!("{}\n", home.as_str()).as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}
