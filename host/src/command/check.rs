//! `check`: is this file a contributor, and what does it say?

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Result;
use dsh_env::contract::{Contributor as _, ContributorName, DeclaredVariable, Execution};
use dsh_env::home::Home;
use dsh_env::installation::read_component;
use dsh_env::registry::Registry;
use dsh_env::sandbox::{self, Grants, Isolation, Sandbox, SandboxOptions, SandboxedContributor};
use dsh_env::session_persistence::SessionPersistence;
use dsh_env::sessions::ActivePersistence;
use dsh_env::{Error, text};
use serde::Serialize;

use super::arguments::CheckArguments;
use super::composition;
use super::output::{BAD, GOOD, NAME, Output, styled, table};
use super::progress::Progress;

/// What was found out about one file.
#[derive(Default, Serialize)]
struct Report {
    file: String,
    ok: bool,
    name: Option<String>,
    variables: Vec<DeclaredVariable>,
    imports: Vec<String>,
    env: BTreeMap<String, String>,
    /// What it saw beyond the execution.
    grants: Grants,
    /// What it printed, a line each.
    log: Vec<String>,
    error: Option<Error>,
}

/// Checks every file and goes on after a failure.
pub(crate) fn run(arguments: &CheckArguments, output: &Output) -> Result<ExitCode> {
    let execution = composition::sample_execution(&arguments.execution)?;
    let grants = composition::grants(&arguments.grants)?;
    let sandbox = Sandbox::new(&SandboxOptions::new().isolation(Isolation::of_this_program()))?;
    let mut all_good = true;
    for file in &arguments.files {
        let progress = Progress::new(&format!("checking {}", text::shown(&file.display().to_string())));
        let report = check(&sandbox, file, &execution, &grants);
        drop(progress);
        all_good &= report.ok;
        if output.is_json() { output.json(&report)? } else { output.text(&sentence(&report))? }
    }
    Ok(if all_good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn check(sandbox: &Sandbox, file: &Path, execution: &Execution, grants: &Grants) -> Report {
    let mut report = Report { file: file.display().to_string(), grants: grants.clone(), ..Report::default() };
    match fill(&mut report, sandbox, file, execution) {
        Ok(()) => report.ok = true,
        Err(error) => report.error = Some(error),
    }
    report
}

fn fill(report: &mut Report, sandbox: &Sandbox, file: &Path, execution: &Execution) -> dsh_env::Result<()> {
    let bytes: Arc<[u8]> = read_component(file)?.into();
    let component = sandbox.load(Arc::clone(&bytes)).inspect_err(|_| {
        // It may have been refused because of them.
        report.imports = sandbox::imports(bytes).unwrap_or_default();
    })?;
    report.imports = component.imports().to_vec();
    let contributor = component.contributor()?.with_grants(report.grants.clone());
    let log = contributor.log();
    let said = ask(report, contributor, execution);
    report.log = log.lines();
    said
}

/// Asks a contributor about an execution, in a registry of its own, so that nothing that is installed plays a
/// part.
fn ask(report: &mut Report, contributor: SandboxedContributor, execution: &Execution) -> dsh_env::Result<()> {
    let name = contributor.declare().name;
    report.name = ContributorName::new(&name).ok().map(|name| name.to_string());
    let registry = Registry::new(&Home::resolve(Some("/".as_ref()))?);
    // But for the built-in one, which every home has.
    let _built_in = registry.register(SessionPersistence::new(ActivePersistence::default()))?;
    let registration = registry.register(contributor)?;
    let declared = registration.declared();
    report.variables = declared.variables().to_vec();
    let overlay = registry.collect(execution)?;
    let own = overlay.iter().filter(|entry| entry.contributor.as_ref() == Some(declared.name()));
    report.env = own
        .map(|entry| {
            let sensitive = entry.value.is_sensitive();
            let value = if sensitive { declared.name().withheld() } else { entry.value.expose().to_owned() };
            (entry.key.to_string(), value)
        })
        .collect();
    Ok(())
}

fn sentence(report: &Report) -> String {
    let file = styled(NAME, &text::shown(&report.file));
    let mut lines = match (&report.error, report.name.as_deref().unwrap_or_default()) {
        (Some(error), _) => format!("{} {file}: {} stage: {error}", styled(BAD, "failed"), error.stage()),
        (None, name) => format!("{} {file}: contributor {}", styled(GOOD, "ok"), styled(NAME, name)),
    };
    if report.error.is_none() {
        lines.push_str(&variables(report));
    }
    for line in &report.log {
        lines.push_str(&format!("\n{} {line}", styled(NAME, "log:")));
    }
    lines
}

/// What it declares, with the values in the sample.
fn variables(report: &Report) -> String {
    if report.variables.is_empty() {
        return ", which declares no variables".to_owned();
    }
    let rows = report.variables.iter().map(|variable| {
        let value = report.env.get(variable.key.as_str()).map_or("(absent)", String::as_str);
        vec![variable.key.to_string(), value.to_owned(), variable.description.to_string()]
    });
    format!("\n{}", table(&["KEY", "VALUE IN THE SAMPLE", "DESCRIPTION"], rows))
}
