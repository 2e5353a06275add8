//! Installing and operating contributors: by the server that runs for the home, else on the home itself.

mod operator;
mod rows;

use std::process::ExitCode;

use anyhow::Result;
use dsh_env::{Code, Error};
use serde_json::{Value, json};

use super::arguments::{
    AddArguments, ApproveArguments, ForgetArguments, LogsArguments, ReloadArguments, RemoveArguments,
    RollbackArguments, StatusArguments,
};
use super::output::Output;
use operator::Operator;
use rows::{sentence, sentences};

/// Installs a component.
pub(crate) fn add(arguments: &AddArguments, output: &Output) -> Result<ExitCode> {
    let status = operator::host(&arguments.operator)?.add(&arguments.file)?;
    let status = operator::nudge(&arguments.operator, &status)?;
    tell(output, &status)
}

/// Removes a contributor's file.
pub(crate) fn remove(arguments: &RemoveArguments, output: &Output) -> Result<ExitCode> {
    let status = operator::host(&arguments.of.operator)?.remove(&arguments.of.name)?;
    let status = operator::nudge(&arguments.of.operator, &status)?;
    tell(output, &status)
}

/// Says what became of each contributor.
pub(crate) fn status(arguments: &StatusArguments, output: &Output) -> Result<ExitCode> {
    let mut statuses = Operator::of(&arguments.operator)?.statuses()?;
    if let Some(name) = &arguments.name {
        statuses.retain(|status| status.get("name").and_then(Value::as_str) == Some(name));
        if statuses.is_empty() {
            let message = "there is no contributor of that name: dsh-env status lists those that there are";
            return Err(Error::host(Code::ContributorNotFound, message).into());
        }
    }
    if output.is_json() {
        output.json(&statuses)?
    } else {
        output.text(&sentences(&statuses))?
    }
    Ok(ExitCode::SUCCESS)
}

/// Makes a build live.
pub(crate) fn approve(arguments: &ApproveArguments, output: &Output) -> Result<ExitCode> {
    let mut operator = Operator::of(&arguments.operator)?;
    let digest = operator.whole_digest(&arguments.name, &arguments.digest)?;
    tell(output, &operator.approve(&arguments.name, &digest)?)
}

/// Brings a build back.
pub(crate) fn rollback(arguments: &RollbackArguments, output: &Output) -> Result<ExitCode> {
    let mut operator = Operator::of(&arguments.operator)?;
    let to = arguments.to.as_deref().map(|to| operator.whole_digest(&arguments.name, to)).transpose()?;
    tell(output, &operator.rollback(&arguments.name, to.as_deref())?)
}

/// Frees a name.
pub(crate) fn forget(arguments: &ForgetArguments, output: &Output) -> Result<ExitCode> {
    tell(output, &Operator::of(&arguments.of.operator)?.forget(&arguments.of.name)?)
}

/// Reads a file again.
pub(crate) fn reload(arguments: &ReloadArguments, output: &Output) -> Result<ExitCode> {
    tell(output, &Operator::of(&arguments.of.operator)?.reload(&arguments.of.name)?)
}

/// Prints what a contributor wrote lately.
pub(crate) fn logs(arguments: &LogsArguments, output: &Output) -> Result<ExitCode> {
    let text = operator::log(&arguments.of.operator, &arguments.of.name)?;
    if output.is_json() {
        output.json(&json!({ "text": text }))?
    } else {
        output.text(&text)?
    }
    Ok(ExitCode::SUCCESS)
}

fn tell(output: &Output, status: &Value) -> Result<ExitCode> {
    if output.is_json() {
        output.json(status)?
    } else {
        output.text(&sentence(status))?
    }
    Ok(ExitCode::SUCCESS)
}
