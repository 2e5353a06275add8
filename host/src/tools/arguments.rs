//! What a model may ask of a shell.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Map, Value};

use super::MAX_TIMEOUT;
use crate::error::{Code, Error, Result};
use crate::text::is_blank;

/// The most bytes of a command: Linux takes 32 pages for one argument of a program, with the NUL at its end.
const MAX_COMMAND_BYTES: usize = 32 * 4096 - 1;

/// The arguments of `bash` and `pwsh`. Whatever else a model sends is not looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellArguments {
    /// The text that the shell runs.
    pub command: String,
    /// What it is for, in a few words, for people. Only a label, so a call without one is not refused for it.
    pub description: Option<String>,
    /// How long it may run in the foreground: at most ten minutes, which a longer wish becomes.
    pub timeout: Option<Duration>,
    /// Where it runs, if not where the session does.
    pub workdir: Option<PathBuf>,
    /// Whether nobody waits for it.
    pub run_in_background: bool,
}

impl ShellArguments {
    /// Reads what a model sent. `null` is as good as absent.
    ///
    /// # Errors
    /// `invalid-arguments` where there is no command, or one of them has another type or no sense.
    pub fn read(arguments: &Value) -> Result<Self> {
        let Value::Object(arguments) = arguments else {
            return Err(invalid("the arguments are not a JSON object: send {\"command\": …, \"description\": …}"));
        };
        let command = text(arguments, "command")?
            .filter(|command| !is_blank(command))
            .ok_or_else(|| invalid("\"command\" is missing or blank: send the text that the shell is to run"))?;
        if command.contains('\0') {
            return Err(invalid("\"command\" has a NUL character, which no command can have: leave it out"));
        }
        if command.len() > MAX_COMMAND_BYTES {
            return Err(invalid(format!(
                "\"command\" has {} bytes, and a shell takes at most {MAX_COMMAND_BYTES} as a command: send less at once, or write a script in parts and run that",
                command.len()
            )));
        }
        let workdir = text(arguments, "workdir")?.filter(|workdir| !is_blank(workdir));
        if workdir.is_some_and(|workdir| workdir.contains('\0')) {
            return Err(invalid("\"workdir\" has a NUL character, which no path can have: leave it out"));
        }
        Ok(Self {
            command: command.to_owned(),
            description: text(arguments, "description")?.map(str::to_owned),
            timeout: timeout(arguments)?,
            workdir: workdir.map(PathBuf::from),
            run_in_background: flag(arguments, "run_in_background")?,
        })
    }
}

/// The value of an argument, unless it is absent or null.
fn given<'a>(arguments: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    arguments.get(name).filter(|value| !value.is_null())
}

pub(super) fn text<'a>(arguments: &'a Map<String, Value>, name: &str) -> Result<Option<&'a str>> {
    match given(arguments, name) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(invalid(format!("\"{name}\" is not a string: send text"))),
    }
}

fn flag(arguments: &Map<String, Value>, name: &str) -> Result<bool> {
    match given(arguments, name) {
        None => Ok(false),
        Some(Value::Bool(flag)) => Ok(*flag),
        Some(_) => Err(invalid(format!("\"{name}\" is neither true nor false: send one of them"))),
    }
}

fn timeout(arguments: &Map<String, Value>) -> Result<Option<Duration>> {
    let Some(value) = given(arguments, "timeoutMs") else { return Ok(None) };
    // Some models write whole numbers with a point.
    let number = value.as_f64().filter(|number| number.fract() == 0.0 && *number >= 1.0);
    let number = number
        .ok_or_else(|| invalid("\"timeoutMs\" is no whole number of milliseconds from 1 on: send one, or none"))?;
    Ok(Some(Duration::try_from_secs_f64(number / 1000.0).map_or(MAX_TIMEOUT, |wish| wish.min(MAX_TIMEOUT))))
}

pub(super) fn invalid(message: impl Into<String>) -> Error {
    Error::host(Code::InvalidArguments, message)
}
