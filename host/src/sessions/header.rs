//! The first line of a log: which session it is, and how it came to be.

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::json::{integer, object, optional_text};
use crate::contract::{SessionHeader, SessionId};
use crate::error::{Code, Error, Result};
use crate::text::shown_within;

/// The version of the format that is written and read.
pub const LOG_VERSION: u64 = 0;

/// What `type` says in a header.
const TYPE: &str = "session";

/// The most bytes of a foreign version that a message shows.
const SHOWN_VERSION: usize = 64;

/// What a log says of its session before the first event.
///
/// As JSON it is the first line of a log: `{"type":"session","version":0,"id","createdAt","cwd"?,
/// "parentSession"?,"seedLength"?,"origin"?,"delegationDepth","agentPreset"?}`, in this order. What is not
/// known is left out, but for the time and the depth, which are 0 then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogHeader {
    /// The session's identity, as executions carry it.
    pub session: SessionHeader,
    /// How many of the first events were copied from the parent; for a fork only.
    pub seed_length: Option<u64>,
    /// The name of the preset that the session's agent was made from.
    pub agent_preset: Option<String>,
}

impl LogHeader {
    /// The header of a session that was neither forked nor made from a preset.
    #[must_use]
    pub fn new(session: SessionHeader) -> Self {
        Self { session, seed_length: None, agent_preset: None }
    }

    /// Reads a header. Fields that it does not know are ignored.
    ///
    /// # Errors
    /// `session-version` for a header of another version of the format, `session-damaged` for what is
    /// no header.
    pub fn from_json(value: Value) -> Result<Self> {
        let mut fields = object(value, "the header")?;
        if fields.get("type").and_then(Value::as_str) != Some(TYPE) {
            return Err(damaged("its first line is not the header of a session"));
        }
        check_version(fields.get("version"))?;
        let id = optional_text(&mut fields, "id")?.ok_or_else(|| damaged("the header has no id"))?;
        let session = SessionHeader {
            id: SessionId::new(id).map_err(|_| damaged("the header's id is empty"))?,
            created_at: Some(required(&fields, "createdAt")?),
            cwd: optional_text(&mut fields, "cwd")?,
            parent_session: optional_text(&mut fields, "parentSession")?,
            origin: optional_text(&mut fields, "origin")?,
            delegation_depth: Some(
                u32::try_from(required(&fields, "delegationDepth")?)
                    .map_err(|_| damaged("the header's delegationDepth is too large"))?,
            ),
        };
        let seed_length = match fields.get("seedLength") {
            None | Some(Value::Null) => None,
            Some(_) => Some(required(&fields, "seedLength")?),
        };
        Ok(Self { session, seed_length, agent_preset: optional_text(&mut fields, "agentPreset")? })
    }

    /// The same with a time and a depth: now and 0 where there was none.
    #[cfg(feature = "sessions")]
    pub(super) fn completed(mut self) -> Self {
        self.session.created_at.get_or_insert_with(super::event::now);
        self.session.delegation_depth.get_or_insert(0);
        self
    }
}

fn check_version(version: Option<&Value>) -> Result<()> {
    match version {
        Some(Value::Number(version)) if version.as_u64() == Some(LOG_VERSION) => Ok(()),
        Some(Value::Number(other)) => Err(Error::host(
            Code::SessionVersion,
            format!(
                "the log is of version {}, and this dsh-env reads version {LOG_VERSION}: upgrade dsh-env, the log is not damaged",
                shown_within(&other.to_string(), SHOWN_VERSION)
            ),
        )),
        _ => Err(damaged("the header has no version")),
    }
}

fn required(fields: &Map<String, Value>, name: &str) -> Result<u64> {
    integer(fields.get(name)).ok_or_else(|| damaged(format!("the header has no valid {name}")))
}

fn damaged(message: impl Into<String>) -> Error {
    Error::host(Code::SessionDamaged, message)
}

impl Serialize for LogHeader {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Line<'a> {
            r#type: &'static str,
            version: u64,
            id: &'a SessionId,
            created_at: u64,
            #[serde(skip_serializing_if = "Option::is_none")]
            cwd: Option<&'a str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            parent_session: Option<&'a str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            seed_length: Option<u64>,
            #[serde(skip_serializing_if = "Option::is_none")]
            origin: Option<&'a str>,
            delegation_depth: u32,
            #[serde(skip_serializing_if = "Option::is_none")]
            agent_preset: Option<&'a str>,
        }
        Line {
            r#type: TYPE,
            version: LOG_VERSION,
            id: &self.session.id,
            created_at: self.session.created_at.unwrap_or_default(),
            cwd: self.session.cwd.as_deref(),
            parent_session: self.session.parent_session.as_deref(),
            seed_length: self.seed_length,
            origin: self.session.origin.as_deref(),
            delegation_depth: self.session.delegation_depth.unwrap_or_default(),
            agent_preset: self.agent_preset.as_deref(),
        }
        .serialize(serializer)
    }
}

#[cfg(test)]
mod tests;
