//! `inspect`: what a file is, without running any of it.

use std::process::ExitCode;

use anyhow::Result;
use dsh_env::installation::read_component;
use dsh_env::sandbox;
use dsh_env::text::shown_within;

use super::arguments::InspectArguments;
use super::output::{NAME, Output, styled};

/// The most bytes of one name in the listing.
const MAX_NAME_BYTES: usize = 200;

/// Inspects one file.
pub(crate) fn run(arguments: &InspectArguments, output: &Output) -> Result<ExitCode> {
    let inspection = sandbox::inspect(&read_component(&arguments.file)?)?;
    if output.is_json() {
        output.json(&inspection)?;
        return Ok(ExitCode::SUCCESS);
    }
    let list = |names: Vec<String>| if names.is_empty() { "none".to_owned() } else { names.join("\n           ") };
    let exports = inspection.exports.iter().map(|name| shown_within(name, MAX_NAME_BYTES)).collect();
    let imports = inspection
        .imports
        .iter()
        .map(|import| format!("{} ({})", shown_within(&import.name, MAX_NAME_BYTES), import.allows));
    let features: Vec<_> = inspection.features.iter().map(|&feature| feature.to_owned()).collect();
    let rows = [
        ("kind", inspection.kind.to_owned()),
        (
            "contract",
            inspection.contract.as_deref().map_or("none".to_owned(), |version| shown_within(version, MAX_NAME_BYTES)),
        ),
        ("size", format!("{} bytes", inspection.size)),
        ("sha256", inspection.sha256.clone()),
        ("exports", list(exports)),
        ("imports", list(imports.collect())),
        ("features", list(features)),
    ];
    let lines: Vec<_> =
        rows.iter().map(|(name, value)| format!("{} {value}", styled(NAME, &format!("{name:<10}")))).collect();
    output.text(&lines.join("\n"))?;
    Ok(ExitCode::SUCCESS)
}
