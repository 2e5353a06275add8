//! Errors as sentences and exit statuses.

use std::io;
use std::process::ExitCode;

use dsh_env::{Code, Error};
use serde_json::json;

use super::json;
use super::output::{self, Output};

/// A contributor or the overlay failed.
const FAILED: u8 = 1;
/// The command line or the configuration is wrong.
const WRONG: u8 = 2;
/// `exec` itself failed, whatever the reason; as in `env`, `nohup` and `timeout`.
pub(crate) const EXEC_FAILED: u8 = 125;

/// The exit status for a command line that makes no sense.
pub(crate) fn usage_status(is_exec: bool) -> ExitCode {
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
pub(crate) fn report_to_stderr(error: &anyhow::Error, as_json: bool) {
    let error = as_library_error(error);
    if as_json {
        // Nobody is left to tell it to where standard error is closed.
        let _ = json::line(&json!({ "error": error })).map(|line| eprint!("{line}"));
    } else {
        output::note(&error.to_string());
    }
}

fn as_library_error(error: &anyhow::Error) -> Error {
    match error.downcast_ref::<Error>() {
        Some(error) => error.clone(),
        None => Error::host(Code::Internal, dsh_env::text::shown(&format!("{error:#}"))),
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
