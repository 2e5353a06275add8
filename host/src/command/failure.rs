//! Errors as sentences and exit statuses.

use std::io::{self, Write as _};
use std::process::ExitCode;

use dsh_env::text::shown;
use dsh_env::{Code, Error};
use serde_json::json;

use super::json;
use super::output::{self, Output};

/// A contributor or the overlay failed.
const FAILED: u8 = 1;
/// The command line or the configuration is wrong.
const WRONG: u8 = 2;
/// `exec` itself failed, whatever the reason; as in `env`, `nohup` and `timeout`.
const EXEC_FAILED: u8 = 125;

/// Reports a command line that makes no sense, or prints the help or version that was asked for.
pub(crate) fn report_command_line(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        // Nothing is left to tell it to where standard output is closed.
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    // The definitions did not get far enough to say so themselves.
    let words: Vec<_> = std::env::args_os().skip(1).take_while(|word| word != "--").collect();
    let is_exec =
        words.iter().find(|word| !word.as_encoded_bytes().starts_with(b"-")).is_some_and(|word| word == "exec");
    if words.iter().any(|word| word == "--json") {
        let told = error.to_string();
        let told = told.strip_prefix("error: ").unwrap_or(&told).lines().find(|line| !line.is_empty());
        let message = format!("{}: see --help", shown(told.unwrap_or("the command line makes no sense")));
        let error = usage(message);
        let output = Output::new(true);
        return if is_exec { report_of_exec(&error, &output) } else { report(&error, &output) };
    }
    let _ = error.print();
    ExitCode::from(if is_exec { EXEC_FAILED } else { WRONG })
}

/// A mistake in the command line that the definitions cannot tell.
pub(crate) fn usage(message: impl Into<String>) -> anyhow::Error {
    Error::host(Code::InvalidConfiguration, message).into()
}

/// Reports an error where the caller looks for it, and says with which status to end.
pub(crate) fn report(error: &anyhow::Error, output: &Output) -> ExitCode {
    // A reader that has seen enough is no failure.
    if error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe) {
        return ExitCode::SUCCESS;
    }
    let error = as_library_error(error);
    // Where standard output cannot be written either, the status has to be enough.
    if output.is_json() {
        let _ = output.json(&json!({ "error": error }));
    } else {
        output::note(&error.to_string());
    }
    ExitCode::from(status(error.code()))
}

/// Reports an error of `exec`, whose standard output is the command's.
pub(crate) fn report_of_exec(error: &anyhow::Error, output: &Output) -> ExitCode {
    let error = as_library_error(error);
    if output.is_json() {
        // Nobody is left to tell it to where standard error is closed.
        let _ = json::line(&json!({ "error": error })).map(|line| io::stderr().write_all(line.as_bytes()));
    } else {
        output::note(&error.to_string());
    }
    ExitCode::from(EXEC_FAILED)
}

fn as_library_error(error: &anyhow::Error) -> Error {
    match error.downcast_ref::<Error>() {
        Some(error) => error.clone(),
        None => Error::host(Code::Internal, shown(&format!("{error:#}"))),
    }
}

fn status(code: Code) -> u8 {
    match code {
        Code::InvalidConfiguration | Code::UnsafePermissions | Code::ContradictoryHomes | Code::InvalidExecution => {
            WRONG
        }
        _ => FAILED,
    }
}
