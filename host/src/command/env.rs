//! `env`: what a command would know.

use std::process::ExitCode;

use anyhow::Result;
use dsh_env::contract::Key;
use dsh_env::environment::Managed;
use dsh_env::registry::Overlay;

use super::arguments::EnvArguments;
use super::format::{self, Format, InheritedManaged};
use super::output::{Output, table};
use super::{composition, server};

/// Collects and prints the overlay.
pub(crate) fn run(arguments: &EnvArguments, output: &Output) -> Result<ExitCode> {
    let execution = composition::execution(&arguments.execution)?;
    if let Some(managed) = server::collect(&arguments.host, &arguments.server, &execution)? {
        let variables = managed.iter().map(|(key, value)| (key, value.expose()));
        return print(arguments, output, variables, || by_server(&managed));
    }
    let host = composition::host(&arguments.host)?;
    let overlay = host.registry().collect(&execution)?;
    let variables = overlay.iter().map(|entry| (&entry.key, entry.value.expose()));
    print(arguments, output, variables, || for_people(&overlay))
}

fn print<'v>(
    arguments: &EnvArguments,
    output: &Output,
    variables: impl Iterator<Item = (&'v Key, &'v str)>,
    for_people: impl FnOnce() -> String,
) -> Result<ExitCode> {
    let default = (output.is_json() || !output.is_terminal()).then_some(Format::Json);
    match arguments.format.or(default) {
        Some(format) => {
            let inherited = InheritedManaged::among(std::env::vars_os().map(|(name, _)| name));
            output.bytes(format::render(format, variables, &inherited).as_bytes())?;
        }
        None => output.text(&for_people())?,
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

/// The same of what a server answered, which does not say who gave what.
fn by_server(managed: &Managed) -> String {
    let rows = managed.iter().map(|(key, value)| {
        let value = if value.is_sensitive() { "[sensitive]" } else { value.expose() };
        vec![key.to_string(), value.to_owned()]
    });
    table(&["KEY", "VALUE"], rows)
}
