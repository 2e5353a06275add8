//! One hook of a file.

use std::time::Duration;

use serde_json::{Map, Value};

use super::{HookFile, MAX_NAME};
use crate::error::Result;
use crate::hooks::{DEFAULT_LIMIT, MAX_LIMIT};
use crate::text::shown_within;

/// Types of hooks of the products that nothing here runs.
const OTHER_TYPES: [&str; 5] = ["agent", "callback", "http", "mcp_tool", "prompt"];

/// Fields that say under which condition, by what or for whom a hook runs. One that has any of them is left
/// out: running it regardless would be another hook than the one that was configured.
const NOT_SUPPORTED: [&str; 6] = ["args", "async", "asyncRewake", "if", "once", "onFailure"];

/// Fields that do not change what a hook does here.
const IGNORED: [&str; 4] = ["commandWindows", "command_windows", "description", "statusMessage"];

/// Fields that are read; the last is an older name of the one before it.
const READ: [&str; 5] = ["type", "command", "shell", "timeout", "timeoutSec"];

impl HookFile<'_> {
    /// The command of a hook and its limit; nothing for one that is left out.
    pub(super) fn hook(&mut self, place: &str, hook: &Value) -> Result<Option<(String, Duration)>> {
        let hook = self.object(place, hook)?;
        if !self.is_command(place, hook)? {
            return Ok(None);
        }
        self.only(place, hook, &[&READ[..], &IGNORED, &NOT_SUPPORTED].concat())?;
        let command = self.command(&format!("{place}.command"), hook.get("command"))?;
        let limit = self.limit(place, hook)?;
        if let Some(field) = NOT_SUPPORTED.iter().find(|field| hook.get(**field).is_some_and(is_set)) {
            self.warn(&format!("{place}.{field}"), "this is not supported: the hook is left out");
            return Ok(None);
        }
        if hook.get("shell").is_some_and(|shell| is_set(shell) && shell != "bash") {
            self.warn(&format!("{place}.shell"), "only bash is supported: the hook is left out");
            return Ok(None);
        }
        Ok(Some((command, limit)))
    }

    fn is_command(&mut self, place: &str, hook: &Map<String, Value>) -> Result<bool> {
        let place = format!("{place}.type");
        match hook.get("type").and_then(Value::as_str) {
            Some("command") => Ok(true),
            Some(other) if OTHER_TYPES.contains(&other) => {
                self.warn(&place, &format!("only commands are run: the hook of type {other} is left out"));
                Ok(false)
            }
            Some(other) => {
                let fault = format!("there is no type \"{}\": write \"command\"", shown_within(other, MAX_NAME));
                Err(self.fault(&place, &fault))
            }
            None => Err(self.fault(&place, "it is missing or not a text: write \"command\"")),
        }
    }

    fn command(&self, place: &str, command: Option<&Value>) -> Result<String> {
        match command.and_then(Value::as_str) {
            Some(command) if command.contains('\0') => {
                Err(self.fault(place, "it has a NUL in it, which no command can have: remove it"))
            }
            Some(command) if !command.trim().is_empty() => Ok(command.to_owned()),
            _ => Err(self.fault(place, "it is missing, blank or not a text: write a command")),
        }
    }

    fn limit(&mut self, place: &str, hook: &Map<String, Value>) -> Result<Duration> {
        let given =
            ["timeout", "timeoutSec"].into_iter().find(|field| hook.get(*field).is_some_and(|value| !value.is_null()));
        let Some(field) = given else { return Ok(DEFAULT_LIMIT) };
        let place = format!("{place}.{field}");
        let seconds = hook.get(field).and_then(Value::as_f64).filter(|seconds| *seconds > 0.0);
        let Some(seconds) = seconds else {
            return Err(self.fault(&place, "it is not a number of seconds above 0: correct it"));
        };
        if seconds > MAX_LIMIT.as_secs_f64() {
            self.warn(&place, &format!("a hook may take {} seconds at most: it gets as many", MAX_LIMIT.as_secs()));
            return Ok(MAX_LIMIT);
        }
        // Less than any process takes, but not nothing, which is no limit that can be set.
        Ok(Duration::try_from_secs_f64(seconds).unwrap_or(MAX_LIMIT).max(Duration::from_millis(1)))
    }
}

/// Whether a field says something: `"async": false` is as if it were not there.
fn is_set(value: &Value) -> bool {
    !matches!(value, Value::Null | Value::Bool(false))
}
