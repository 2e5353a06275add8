//! `env`: what a command would know.

use std::process::ExitCode;

use anyhow::Result;
use dsh_env::registry::Overlay;

use super::arguments::EnvArguments;
use super::composition;
use super::format::{self, Format, InheritedManaged};
use super::output::{Output, table};

/// Collects and prints the overlay.
pub(crate) fn run(arguments: &EnvArguments, output: &Output) -> Result<ExitCode> {
    let host = composition::host(&arguments.host)?;
    let execution = composition::execution(&arguments.execution)?;
    let overlay = host.registry().collect(&execution)?;
    let default = (output.is_json() || !output.is_terminal()).then_some(Format::Json);
    match arguments.format.or(default) {
        Some(format) => {
            let variables = overlay.iter().map(|entry| (&entry.key, entry.value.expose()));
            let inherited = InheritedManaged::among(std::env::vars_os().map(|(name, _)| name));
            output.bytes(format::render(format, variables, &inherited).as_bytes())?;
        }
        None => output.text(&for_people(&overlay))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// A table in which sensitive values are not shown: somebody may look over a shoulder.
fn for_people(overlay: &Overlay) -> String {
    let rows = overlay.iter().map(|entry| {
        let value = if entry.value.is_sensitive() { "[sensitive]" } else { entry.value.expose() };
        vec![entry.key.to_string(), value.to_owned(), entry.owner().to_owned()]
    });
    table(&["KEY", "VALUE", "CONTRIBUTOR"], rows)
}
