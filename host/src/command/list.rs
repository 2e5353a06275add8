//! `list`: every variable that a command may get, and what its owners see.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Result;
use dsh_env::HostedContributor;
use dsh_env::registry::ListedVariable;
use dsh_env::sandbox::Grants;
use serde::Serialize;

use super::arguments::ListArguments;
use super::output::{Output, table};
use super::{composition, granted};

/// A variable, with what its contributor imports and is granted: nothing where that is no component.
#[derive(Serialize)]
struct Listed<'h> {
    #[serde(flatten)]
    variable: ListedVariable,
    imports: &'h [String],
    grants: &'h Grants,
}

/// Lists declarations; no contributor resolves anything.
pub(crate) fn run(arguments: &ListArguments, output: &Output) -> Result<ExitCode> {
    let host = composition::host(&arguments.host)?;
    let variables = host.registry().list();
    if output.is_json() {
        output.json(&with_contributors(variables, &host.contributors(), &Grants::default()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let rows = variables.into_iter().map(|variable| {
        let sensitive = if variable.sensitive { "yes" } else { "" };
        vec![variable.key, variable.contributor, sensitive.to_owned(), variable.description]
    });
    let mut text = table(&["KEY", "CONTRIBUTOR", "SENSITIVE", "DESCRIPTION"], rows);
    let contributors = host.contributors();
    if !contributors.is_empty() {
        text.push_str("\n\n");
        text.push_str(&table(&["CONTRIBUTOR", "IMPORTS", "GRANTED"], contributors.iter().map(row)));
    }
    output.text(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn with_contributors<'h>(
    variables: Vec<ListedVariable>,
    contributors: &'h [Arc<HostedContributor>],
    nothing: &'h Grants,
) -> Vec<Listed<'h>> {
    let listed = |variable: ListedVariable| {
        let hosted = contributors.iter().find(|hosted| hosted.name().as_str() == variable.contributor);
        let (imports, grants) = hosted.map_or((&[][..], nothing), |hosted| (hosted.imports(), hosted.grants()));
        Listed { variable, imports, grants }
    };
    variables.into_iter().map(listed).collect()
}

fn row(hosted: &Arc<HostedContributor>) -> Vec<String> {
    vec![hosted.name().to_string(), granted::summary(hosted.imports()), granted::words(hosted.grants())]
}
