//! `inspect`: what a file is, without running any of it.

use std::process::ExitCode;

use anyhow::Result;
use dsh_env::installation::read_component;
use dsh_env::sandbox::{self, Grants, Import, Inspection};
use serde::Serialize;

use super::arguments::InspectArguments;
use super::output::{NAME, Output, styled, table};
use super::{composition, granted};

/// An inspection, with what is granted.
#[derive(Serialize)]
struct Report<'i> {
    kind: &'static str,
    size: usize,
    sha256: &'i str,
    contract: Option<&'i str>,
    exports: &'i [String],
    imports: Vec<Row<'i>>,
    features: &'i [&'static str],
}

#[derive(Serialize)]
struct Row<'i> {
    #[serde(flatten)]
    import: &'i Import,
    /// Whether the grants given here open it.
    granted: bool,
}

/// Inspects one file.
pub(crate) fn run(arguments: &InspectArguments, output: &Output) -> Result<ExitCode> {
    let grants = composition::grants(&arguments.grants)?;
    let inspection = read_component(&arguments.file).and_then(sandbox::inspect);
    let inspection = inspection.map_err(|error| error.in_file(&arguments.file))?;
    let report = report(&inspection, &grants);
    if output.is_json() {
        output.json(&report)?
    } else {
        output.text(&for_people(&report))?
    }
    Ok(ExitCode::SUCCESS)
}

fn report<'i>(inspection: &'i Inspection, grants: &Grants) -> Report<'i> {
    let Inspection { kind, size, sha256, contract, exports, imports, features } = inspection;
    let row =
        |import: &'i Import| Row { import, granted: import.grant.is_some_and(|grant| granted::opens(grants, grant)) };
    Report {
        kind,
        size: *size,
        sha256,
        contract: contract.as_deref(),
        exports,
        imports: imports.iter().map(row).collect(),
        features,
    }
}

fn for_people(report: &Report<'_>) -> String {
    let none = || "none".to_owned();
    let exports = if report.exports.is_empty() { none() } else { report.exports.join("\n           ") };
    let features = if report.features.is_empty() { none() } else { report.features.join("\n           ") };
    let rows = [
        ("kind", report.kind.to_owned()),
        ("contract", report.contract.map_or_else(none, str::to_owned)),
        ("size", format!("{} bytes", report.size)),
        ("sha256", report.sha256.to_owned()),
        ("exports", exports),
        ("features", features),
        ("imports", if report.imports.is_empty() { none() } else { report.imports.len().to_string() }),
    ];
    let lines = rows.iter().map(|(name, value)| format!("{} {value}", styled(NAME, &format!("{name:<10}"))));
    let mut text = lines.collect::<Vec<_>>().join("\n");
    if !report.imports.is_empty() {
        text.push_str("\n\n");
        text.push_str(&imports(&report.imports));
    }
    text
}

/// What is imported, what that allows, which grant opens it, and whether it is given.
fn imports(rows: &[Row<'_>]) -> String {
    let row = |row: &Row<'_>| {
        let granted = match (row.import.grant, row.granted) {
            (None, _) => "",
            (Some(_), true) => "yes",
            (Some(_), false) => "no",
        };
        let grant = row.import.grant.unwrap_or_default();
        vec![row.import.name.clone(), row.import.allows.to_owned(), grant.to_owned(), granted.to_owned()]
    };
    table(&["IMPORT", "ALLOWS", "GRANT", "GRANTED"], rows.iter().map(row))
}
