//! One shell tool call, and who makes it.

use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::Key;
use crate::error::{Code, Error, Result};

/// The most bytes of one text in an execution. Paths end at 4 KiB on Linux; ids and extensions are
/// shorter still. The record is copied into every contributor, so it has to end somewhere.
const MAX_TEXT_BYTES: usize = 32 * 1024;

/// The most extensions of one execution.
const MAX_EXTENSIONS: usize = 128;

/// Begins the names of extensions that only the host gives.
const RESERVED_EXTENSIONS: &str = "dsh.";

/// A session's id: any text but the empty one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SessionId(String);

impl SessionId {
    /// Takes any text but the empty one.
    ///
    /// # Errors
    /// `invalid-execution` for the empty text.
    pub fn new(text: impl Into<String>) -> Result<Self> {
        let text = text.into();
        if text.is_empty() {
            return Err(invalid("a session id may not be empty: leave the session out where there is none"));
        }
        Ok(Self(text))
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for SessionId {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        Self::new(text)
    }
}

impl From<SessionId> for String {
    fn from(id: SessionId) -> Self {
        id.0
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The durable identity of the session that owns an agent. What the caller does not know is absent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionHeader {
    /// The session's id.
    pub id: SessionId,
    /// Milliseconds since the Unix epoch.
    #[serde(default)]
    pub created_at: Option<u64>,
    /// The directory the session was started for, verbatim.
    #[serde(default)]
    pub cwd: Option<String>,
    /// The id of the session that this one was forked from or started by.
    #[serde(default)]
    pub parent_session: Option<String>,
    /// `subagent` for a session that an agent started.
    #[serde(default)]
    pub origin: Option<String>,
    /// 0 for a session that a person started, one more for each delegation.
    #[serde(default)]
    pub delegation_depth: Option<u32>,
}

impl SessionHeader {
    /// A header of which nothing but the id is known.
    #[must_use]
    pub fn new(id: SessionId) -> Self {
        Self { id, created_at: None, cwd: None, parent_session: None, origin: None, delegation_depth: None }
    }

    /// The same with the directory that the session was started for, verbatim.
    #[must_use]
    pub fn with_cwd(mut self, cwd: impl Into<String>) -> Self {
        self.cwd = Some(cwd.into());
        self
    }
}

/// The agent that owns an execution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Agent {
    /// Its session.
    pub session: SessionHeader,
}

/// One shell tool call: who is calling, never what is run.
///
/// As JSON it is the record of the contract in `snake_case`, with pairs as arrays of two; what is left
/// out is absent or empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Execution {
    /// Identifies the call.
    pub call_id: String,
    /// The call that started this one; equal to `call_id` at the root.
    pub root_call_id: String,
    /// The shell tool, such as `bash`, `pwsh` or `exec`.
    pub tool: String,
    /// Absolute working directory of the command; absent when it is not valid UTF-8.
    pub workdir: Option<String>,
    /// Whether the call's caller does not wait for it.
    pub background: bool,
    /// Absent when no agent owns the call.
    pub agent: Option<Agent>,
    /// Facts of the embedding harness, by name. Sandboxed contributors see those that the operator
    /// granted them.
    pub extensions: Vec<(String, String)>,
}

impl Execution {
    /// A root call without an agent, with a call id of its own (a version 7 UUID).
    #[must_use]
    pub fn new(tool: impl Into<String>) -> Self {
        let call_id = uuid::Uuid::now_v7().to_string();
        Self { root_call_id: call_id.clone(), call_id, tool: tool.into(), ..Self::default() }
    }

    /// The same call, owned by the agent of a session.
    #[must_use]
    pub fn owned_by(mut self, session: SessionHeader) -> Self {
        self.agent = Some(Agent { session });
        self
    }

    /// The same call with a working directory: absolute, valid UTF-8.
    #[must_use]
    pub fn in_workdir(mut self, workdir: impl Into<String>) -> Self {
        self.workdir = Some(workdir.into());
        self
    }

    /// The header of the session that owns the call.
    #[must_use]
    pub fn session(&self) -> Option<&SessionHeader> {
        self.agent.as_ref().map(|agent| &agent.session)
    }

    /// Checks what the types leave open.
    ///
    /// # Errors
    /// `invalid-execution` when a text is over 32 KiB, the working directory is not absolute, there
    /// are more than 128 extensions, two of one name, or one whose name only the host gives.
    pub fn check(&self) -> Result<()> {
        for (what, text) in self.texts() {
            if text.len() > MAX_TEXT_BYTES {
                return Err(invalid(format!(
                    "its {what} has {} bytes; at most {MAX_TEXT_BYTES} are taken",
                    text.len()
                )));
            }
        }
        if self.workdir.as_deref().is_some_and(|workdir| !Path::new(workdir).is_absolute()) {
            return Err(invalid("its workdir is not an absolute path: give the directory in which the command runs"));
        }
        self.check_extensions()
    }

    fn check_extensions(&self) -> Result<()> {
        if self.extensions.len() > MAX_EXTENSIONS {
            return Err(invalid(format!(
                "it has {} extensions; at most {MAX_EXTENSIONS} are taken",
                self.extensions.len()
            )));
        }
        let mut names = std::collections::HashSet::new();
        for (name, _) in &self.extensions {
            let shown = crate::text::shown_within(name, Key::MAX_BYTES);
            if name.starts_with(RESERVED_EXTENSIONS) {
                return Err(invalid(format!(
                    "its extension \"{shown}\" has a name that only the host gives: choose one that does not begin with {RESERVED_EXTENSIONS}"
                )));
            }
            if !names.insert(name.as_str()) {
                return Err(invalid(format!("it has two extensions named \"{shown}\": give each a name of its own")));
            }
        }
        Ok(())
    }

    fn texts(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let session = self.session();
        let own = [
            ("call_id", Some(self.call_id.as_str())),
            ("root_call_id", Some(self.root_call_id.as_str())),
            ("tool", Some(self.tool.as_str())),
            ("workdir", self.workdir.as_deref()),
            ("session id", session.map(|header| header.id.as_str())),
            ("session cwd", session.and_then(|header| header.cwd.as_deref())),
            ("parent_session", session.and_then(|header| header.parent_session.as_deref())),
            ("origin", session.and_then(|header| header.origin.as_deref())),
        ];
        let extensions = self
            .extensions
            .iter()
            .flat_map(|(name, value)| [("extension name", Some(name.as_str())), ("extension", Some(value.as_str()))]);
        own.into_iter().chain(extensions).filter_map(|(what, text)| text.map(|text| (what, text)))
    }
}

fn invalid(message: impl Into<String>) -> Error {
    Error::host(Code::InvalidExecution, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_record_leaves_out_is_absent_or_empty() {
        let execution: Execution = serde_json::from_str(r#"{"call_id":"c","agent":{"session":{"id":"s"}}}"#).unwrap();
        assert_eq!(execution.session().unwrap().id.as_str(), "s");
        assert_eq!((execution.tool.as_str(), execution.workdir.as_deref(), execution.background), ("", None, false));
    }

    #[test]
    fn a_misspelt_field_is_an_error_and_not_a_lost_fact() {
        assert!(serde_json::from_str::<Execution>(r#"{"agnet":{}}"#).is_err());
        assert!(serde_json::from_str::<Execution>(r#"{"agent":{"session":{"id":""}}}"#).is_err());
    }

    #[test]
    fn records_that_no_contributor_should_see_are_refused() {
        let valid = Execution::new("bash").in_workdir("/srv");
        assert!(valid.check().is_ok());
        let with = |change: fn(&mut Execution)| {
            let mut execution = valid.clone();
            change(&mut execution);
            execution.check().unwrap_err().code()
        };
        assert_eq!(with(|e| e.workdir = Some("srv".into())), Code::InvalidExecution);
        assert_eq!(with(|e| e.tool = "x".repeat(40_000)), Code::InvalidExecution);
        assert_eq!(with(|e| e.extensions = vec![("dsh.x".into(), String::new())]), Code::InvalidExecution);
        assert_eq!(
            with(|e| e.extensions = vec![("a".into(), String::new()), ("a".into(), String::new())]),
            Code::InvalidExecution
        );
        assert_eq!(
            with(|e| e.extensions = (0..129).map(|n| (n.to_string(), String::new())).collect()),
            Code::InvalidExecution
        );
    }
}
