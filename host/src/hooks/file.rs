//! A user's file of hooks, as text: events, groups that choose by a matcher, commands.
//!
//! ```json
//! {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "./check", "timeout": 5}]}]}}
//! ```
//!
//! A hook that was meant to guard something and never runs is worse than an error, so what neither product
//! has is an error with its place. What one of them has and nothing here uses is left out with a warning:
//! other events, other types of hooks, hooks that nobody waits for, conditions beyond the matcher.
//! Beside `hooks` a file may have anything: Claude Code's is the file of all its settings.

mod fields;

use std::path::Path;

use serde_json::{Map, Value};

use super::matcher::Matcher;
use super::set::Hook;
use super::{Dialect, EventName, HookSet, MAX_HOOKS};
use crate::error::{Code, Error, Result};
use crate::text::{shown, shown_within};

/// Events of the products that nothing here has: most are about what this harness does not do.
const OTHER_EVENTS: [&str; 27] = [
    "ConfigChange",
    "CwdChanged",
    "DirectoryAdded",
    "Elicitation",
    "ElicitationResult",
    "FileChanged",
    "InstructionsLoaded",
    "Interrupt",
    "MessageDisplay",
    "Notification",
    "PermissionDenied",
    "PermissionRequest",
    "PostCompact",
    "PostModelSwitch",
    "PostToolBatch",
    "PostToolUseFailure",
    "PreCompact",
    "PreModelSwitch",
    "Setup",
    "StopFailure",
    "SubagentStart",
    "TaskCompleted",
    "TaskCreated",
    "TeammateIdle",
    "UserPromptExpansion",
    "WorktreeCreate",
    "WorktreeRemove",
];

/// The most bytes of a name from the file in a message.
const MAX_NAME: usize = 128;

/// A file of hooks while it is read.
#[derive(Debug)]
pub struct HookFile<'a> {
    dialect: Dialect,
    path: &'a Path,
    hooks: Vec<Hook>,
    warnings: Vec<String>,
}

impl<'a> HookFile<'a> {
    /// Reads a file of hooks from its text; `path` is what messages call it.
    ///
    /// # Errors
    /// `invalid-configuration`, with the file and the place in it, for text that is not JSON, for what neither
    /// product has, for a matcher that is no regular expression, and for more than [`MAX_HOOKS`] hooks.
    pub fn parse(dialect: Dialect, path: &'a Path, text: &str) -> Result<HookSet> {
        let mut file = Self { dialect, path, hooks: Vec::new(), warnings: Vec::new() };
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let document: Value = serde_json::from_str(text).map_err(|error| file.fault("", &error.to_string()))?;
        file.document(&document)?;
        Ok(HookSet { dialect, hooks: file.hooks, warnings: file.warnings })
    }

    fn document(&mut self, document: &Value) -> Result<()> {
        let document = self.object("", document)?;
        if let Some(name) = document.keys().find(|name| is_event(name)) {
            return Err(self.fault(name, "events belong into \"hooks\": put them there"));
        }
        if document.get("disableAllHooks") == Some(&Value::Bool(true)) {
            self.warn("disableAllHooks", "all hooks of this file are turned off");
            return Ok(());
        }
        let Some(hooks) = document.get("hooks") else { return Ok(()) };
        for (name, groups) in self.object("hooks", hooks)? {
            self.event(name, groups)?;
        }
        Ok(())
    }

    fn event(&mut self, name: &str, groups: &Value) -> Result<()> {
        let place = format!("hooks.{}", shown_within(name, MAX_NAME));
        if !is_event(name) {
            let known: Vec<_> = EventName::ALL.iter().map(|event| event.as_str()).collect();
            let fault = format!("there is no such event; there are {}", known.join(", "));
            return Err(self.fault(&place, &fault));
        }
        let event = EventName::ALL.iter().copied().find(|event| event.as_str() == name);
        let Some(event) = event.filter(|event| event.exists_in(self.dialect)) else {
            self.warn(&place, "this event never happens here: its hooks are left out");
            return Ok(());
        };
        for (index, group) in self.list(&place, groups)?.iter().enumerate() {
            self.group(event, &format!("{place}[{index}]"), group)?;
        }
        Ok(())
    }

    fn group(&mut self, event: EventName, place: &str, group: &Value) -> Result<()> {
        let group = self.object(place, group)?;
        self.only(place, group, &["matcher", "hooks"])?;
        let matcher = self.matcher(event, &format!("{place}.matcher"), group.get("matcher"))?;
        let place = format!("{place}.hooks");
        let Some(hooks) = group.get("hooks") else { return Err(self.fault(&place, "it is missing: list the hooks")) };
        for (index, hook) in self.list(&place, hooks)?.iter().enumerate() {
            let place = format!("{place}[{index}]");
            let Some((command, limit)) = self.hook(&place, hook)? else { continue };
            if self.hooks.len() == MAX_HOOKS {
                return Err(self.fault(&place, &format!("a file may have {MAX_HOOKS} hooks: remove some")));
            }
            self.hooks.push(Hook { event, matcher: matcher.clone(), command, limit });
        }
        Ok(())
    }

    fn matcher(&mut self, event: EventName, place: &str, matcher: Option<&Value>) -> Result<Matcher> {
        let text = match matcher {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) => Some(text.as_str()),
            Some(_) => return Err(self.fault(place, "it is not a text: write a name or a regular expression")),
        };
        if !event.has_matcher() {
            if text.is_some_and(|text| !matches!(text, "" | "*")) {
                self.warn(place, &format!("{event} has nothing to match: its hooks run always"));
            }
            return Ok(Matcher::All);
        }
        Matcher::new(self.dialect, text).map_err(|error| {
            self.fault(
                place,
                &format!("it is not a regular expression that is understood ({}): correct it", shown(&error)),
            )
        })
    }

    fn object<'v>(&self, place: &str, value: &'v Value) -> Result<&'v Map<String, Value>> {
        value.as_object().ok_or_else(|| self.fault(place, "it is not an object: write {…}"))
    }

    fn list<'v>(&self, place: &str, value: &'v Value) -> Result<&'v Vec<Value>> {
        value.as_array().ok_or_else(|| self.fault(place, "it is not a list: write […]"))
    }

    fn only(&self, place: &str, object: &Map<String, Value>, fields: &[&str]) -> Result<()> {
        match object.keys().find(|field| !fields.contains(&field.as_str())) {
            None => Ok(()),
            Some(field) => {
                let place = format!("{place}.{}", shown_within(field, MAX_NAME));
                Err(self.fault(&place, &format!("there is no such field; there are {}", fields.join(", "))))
            }
        }
    }

    fn fault(&self, place: &str, fault: &str) -> Error {
        Error::host(Code::InvalidConfiguration, self.message(place, fault))
    }

    fn warn(&mut self, place: &str, warning: &str) {
        self.warnings.push(self.message(place, warning));
    }

    fn message(&self, place: &str, what: &str) -> String {
        let file = shown(&self.path.display().to_string());
        if place.is_empty() { format!("{file}: {what}") } else { format!("{file}: {place}: {what}") }
    }
}

/// Whether one of the products has an event of this name.
fn is_event(name: &str) -> bool {
    EventName::ALL.iter().any(|event| event.as_str() == name) || OTHER_EVENTS.contains(&name)
}
