//! One line of a log after the header: what happened in a session.

use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::json::{integer, object};
use crate::error::{Code, Error, Result};

/// The names of fields that every event has, and so none of its own may have.
const OWN_FIELDS: [&str; 3] = ["seq", "type", "at"];

/// Something that happened in a session. Kinds that this library does not know are kept as they are.
///
/// As JSON it is one object, `{"seq":0,"type":"tool/call","at":1700000000000, …}`: these three first, then
/// the fields in byte order.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// The event's place in its session: 0 for the first, one more for each.
    pub seq: u64,
    /// What kind of event it is, such as `tool/call`; `type` in JSON.
    pub kind: String,
    /// Milliseconds since the Unix epoch.
    pub at: u64,
    /// Everything else. None of them may be called `seq`, `type` or `at`.
    pub fields: Map<String, Value>,
}

impl Event {
    /// Reads an event.
    ///
    /// # Errors
    /// `session-damaged` for what is no event.
    pub fn from_json(value: Value) -> Result<Self> {
        let mut fields = object(value, "the event")?;
        if fields.get("type").and_then(Value::as_str) == Some("session") && !fields.contains_key("seq") {
            return Err(damaged("there is a second header"));
        }
        let seq = integer(fields.remove("seq").as_ref()).ok_or_else(|| damaged("the event has no valid seq"))?;
        let at = integer(fields.remove("at").as_ref()).ok_or_else(|| damaged("the event has no valid at"))?;
        let Some(Value::String(kind)) = fields.remove("type") else {
            return Err(damaged("the event has no type"));
        };
        Ok(Self { seq, kind, at, fields })
    }

    /// The name of a field that collides with what every event has.
    #[cfg(feature = "sessions")]
    pub(super) fn collision(&self) -> Option<&'static str> {
        OWN_FIELDS.into_iter().find(|name| self.fields.contains_key(*name))
    }
}

impl Serialize for Event {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut line = serializer.serialize_map(Some(OWN_FIELDS.len() + self.fields.len()))?;
        line.serialize_entry("seq", &self.seq)?;
        line.serialize_entry("type", &self.kind)?;
        line.serialize_entry("at", &self.at)?;
        for (name, value) in &self.fields {
            line.serialize_entry(name, value)?;
        }
        line.end()
    }
}

/// Milliseconds since the Unix epoch; 0 on a clock that is before it.
#[cfg(feature = "sessions")]
pub(super) fn now() -> u64 {
    use std::time::SystemTime;

    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

fn damaged(message: &str) -> Error {
    Error::host(Code::SessionDamaged, message)
}

#[cfg(test)]
mod tests;
