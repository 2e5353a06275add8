//! `inspect`: what a file is, without running any of it.

use std::process::ExitCode;

use anyhow::Result;
use dsh_env::installation::read_component;
use dsh_env::sandbox;

use super::arguments::InspectArguments;
use super::output::{NAME, Output, styled};

/// Inspects one file.
pub(crate) fn run(arguments: &InspectArguments, output: &Output) -> Result<ExitCode> {
    let inspection = read_component(&arguments.file).and_then(sandbox::inspect);
    let inspection = inspection.map_err(|error| error.in_file(&arguments.file))?;
    if output.is_json() {
        output.json(&inspection)?;
        return Ok(ExitCode::SUCCESS);
    }
    let list = |names: Vec<String>| if names.is_empty() { "none".to_owned() } else { names.join("\n           ") };
    let exports = inspection.exports.clone();
    let imports = inspection.imports.iter().map(|import| format!("{} ({})", import.name, import.allows));
    let features: Vec<_> = inspection.features.iter().map(|&feature| feature.to_owned()).collect();
    let rows = [
        ("kind", inspection.kind.to_owned()),
        ("contract", inspection.contract.clone().unwrap_or_else(|| "none".to_owned())),
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
