//! The facts that the host itself adds to every overlay.

use super::overlay::{OverlayEntry, Value};
use crate::contract::{Execution, Key};
use crate::error::{Code, Error, Result};
use crate::home::Home;

/// The host's own variables. What does not change is made once.
pub(super) struct HostFacts {
    home: Fact,
    shell: Fact,
    session_id: Fact,
    degraded: Fact,
    home_value: Value,
    shell_value: Value,
}

struct Fact {
    key: Key,
    description: &'static str,
}

impl Fact {
    fn new(name: &str, description: &'static str) -> Self {
        Self { key: Key::of_host(name), description }
    }

    fn with(&self, value: Value) -> OverlayEntry {
        OverlayEntry { key: self.key.clone(), value, contributor: None }
    }
}

/// In [`DSH_DEGRADED`](HostFacts::degraded): a contributor is missing whose keys nobody knows. It is no
/// key, and means nothing to a shell that expands it unquoted.
const UNKNOWN_KEYS: &str = "unknown";

impl HostFacts {
    pub(super) fn new(home: &Home) -> Self {
        Self {
            home: Fact::new(
                "HOME",
                "Absolute path of the home of the host that started this command: its configuration, contributors and sessions. A hint of where, not of whether anything is there.",
            ),
            shell: Fact::new(
                "SHELL",
                "Always 1: this command was started in a managed environment, whose variables were rebuilt for it.",
            ),
            session_id: Fact::new(
                "SESSION_ID",
                "Id of the session whose agent owns this command; absent when no agent does. It names the session and is no credential.",
            ),
            degraded: Fact::new(
                "DEGRADED",
                "Keys, separated by spaces, that are absent or stand in for the real value because their contributor failed or is missing; the word unknown stands for keys that nobody knows. Absent when all is well.",
            ),
            home_value: Value::new(home.as_str(), false),
            shell_value: Value::new("1", false),
        }
    }

    /// The keys and what they mean.
    pub(super) fn declared(&self) -> impl Iterator<Item = (&Key, &'static str)> {
        [&self.home, &self.shell, &self.session_id, &self.degraded]
            .into_iter()
            .map(|fact| (&fact.key, fact.description))
    }

    /// What is true of an execution whatever its contributors say.
    ///
    /// # Errors
    /// `invalid-execution` for a session id that no environment variable can hold.
    pub(super) fn of(&self, execution: &Execution) -> Result<Vec<OverlayEntry>> {
        let mut facts = vec![self.home.with(self.home_value.clone()), self.shell.with(self.shell_value.clone())];
        if let Some(session) = execution.session() {
            let id = session.id.as_str();
            if id.contains('\0') {
                return Err(Error::host(
                    Code::InvalidExecution,
                    "the session id has a NUL byte, which no environment variable can hold",
                )
                .about(&self.session_id.key));
            }
            facts.push(self.session_id.with(Value::new(id, false)));
        }
        Ok(facts)
    }

    /// The variable that names what is amiss: the keys, sorted, and whether there are others.
    pub(super) fn degraded(&self, keys: &[Key], and_unknown: bool) -> Option<OverlayEntry> {
        let mut words: Vec<&str> = keys.iter().map(Key::as_str).collect();
        words.extend(and_unknown.then_some(UNKNOWN_KEYS));
        (!words.is_empty()).then(|| self.degraded.with(Value::new(words.join(" "), false)))
    }
}
