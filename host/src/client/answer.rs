//! What comes back.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};

use super::connection::Trouble;
use crate::protocol::{ErrorObject, JSONRPC};

#[derive(Deserialize)]
#[serde(bound = "R: DeserializeOwned")]
struct Answer<R> {
    jsonrpc: String,
    /// `null` where the server could not read that of the question.
    id: Option<u64>,
    #[serde(default = "absent", deserialize_with = "present")]
    result: Option<R>,
    error: Option<ErrorObject>,
}

fn absent<R>() -> Option<R> {
    None
}

/// A result that is `null` is one all the same.
fn present<'de, R: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<R>, D::Error> {
    R::deserialize(deserializer).map(Some)
}

/// Reads the answer to the question of this id.
pub(super) fn read<R: DeserializeOwned>(line: &[u8], id: u64) -> Result<R, Trouble> {
    let answer: Answer<R> = serde_json::from_slice(line).map_err(|error| Trouble::Lost(unreadable(&error)))?;
    let lost = |why: &str| Err(Trouble::Lost(why.to_owned()));
    if answer.jsonrpc != JSONRPC {
        return lost("speaks another version of JSON-RPC");
    }
    match (answer.result, answer.error) {
        (_, Some(error)) if answer.id.is_none() => Err(Trouble::Said(error.into_error())),
        _ if answer.id != Some(id) => lost("answered another question"),
        (Some(result), None) => Ok(result),
        (None, Some(error)) => Err(Trouble::Said(error.into_error())),
        (Some(_), Some(_)) => lost("answered with a result and an error at once"),
        (None, None) => lost("answered with neither a result nor an error"),
    }
}

/// In words of our own: those of the parser may have a value in them.
fn unreadable(error: &serde_json::Error) -> String {
    let what = if error.is_data() { "not of the shape that the protocol has" } else { "no JSON" };
    format!("answered with what is {what}, at byte {}", error.column())
}
