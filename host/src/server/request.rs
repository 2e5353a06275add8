//! What is in a line: one request, or why it is none.

use serde::Serialize;
use serde_json::{Map, Number, Value};

use super::limit::Limit;
use super::role::Role;
use crate::error::{Code, Error};
use crate::protocol::{JSONRPC, MAX_ID_BYTES, MAX_VALUES, Method, RpcCode};
use crate::text::shown_within;

/// The most bytes of a client's own words in an error.
const MAX_WORDS_BYTES: usize = 256;

/// What a client calls a request, so that it knows the answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(super) enum Id {
    Text(String),
    Number(Number),
}

/// A request that can be answered. Without an id nobody waits for the answer.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) id: Option<Id>,
    pub(super) method: Method,
    pub(super) parameters: Map<String, Value>,
}

/// Why there is no result.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) code: RpcCode,
    pub(super) error: Error,
    /// The limit that is the reason, if one is.
    pub(super) limit: Option<Limit>,
}

impl Refusal {
    pub(super) fn new(code: RpcCode, why: impl Into<String>) -> Self {
        Self { code, error: Error::host(Code::InvalidRequest, why), limit: None }
    }

    /// For going over a limit of this value.
    pub(super) fn over(limit: Limit, value: impl std::fmt::Display) -> Self {
        let error = limit.exceeded(value);
        let code = if error.code() == Code::Overloaded { RpcCode::Host } else { RpcCode::NotARequest };
        Self { code, error, limit: Some(limit) }
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self { code: RpcCode::Host, error, limit: None }
    }
}

/// A line without a request in it that could be answered.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) id: Option<Id>,
    /// Whether somebody waits for an answer: not who sent a proper request without an id.
    pub(super) is_answered: bool,
    pub(super) refusal: Refusal,
}

impl Refused {
    fn line(refusal: Refusal) -> Self {
        Self { id: None, is_answered: true, refusal }
    }
}

/// Reads the request of somebody with this role.
pub(super) fn read(line: &[u8], role: Role) -> Result<Request, Refused> {
    if has_more_values_than(line, MAX_VALUES) {
        return Err(Refused::line(Refusal::over(Limit::Values, MAX_VALUES)));
    }
    let value: Value = serde_json::from_slice(line).map_err(|error| {
        let why = format!("the line is not JSON: {}", shown_within(&error.to_string(), MAX_WORDS_BYTES));
        Refused::line(Refusal::new(RpcCode::NotJson, why))
    })?;
    let not_a_request = |why: String| Refusal::new(RpcCode::NotARequest, why);
    let Value::Object(mut message) = value else {
        let why = if value.is_array() {
            "batches are not taken: send each request in a line of its own"
        } else {
            "a request is a JSON object"
        };
        return Err(Refused::line(not_a_request(why.to_owned())));
    };
    let id = read_id(message.remove("id")).map_err(Refused::line)?;
    let refuse = |refusal| Refused { id: id.clone(), is_answered: true, refusal };
    if message.get("jsonrpc").and_then(Value::as_str) != Some(JSONRPC) {
        return Err(refuse(not_a_request(format!("a request has \"jsonrpc\": \"{JSONRPC}\", and this one has not"))));
    }
    let Some(Value::String(name)) = message.remove("method") else {
        return Err(refuse(not_a_request("a request has a \"method\", which is a text".to_owned())));
    };
    // From here on it is a request, and nobody waits for an answer to one without an id.
    let refuse = |refusal| Refused { id: id.clone(), is_answered: id.is_some(), refusal };
    let method = find(&name, role).map_err(refuse)?;
    let parameters = match message.remove("params") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(parameters)) => parameters,
        Some(_) => {
            let why = format!("the parameters of {} are a JSON object, by name", method.as_str());
            return Err(refuse(Refusal::new(RpcCode::WrongParameters, why)));
        }
    };
    Ok(Request { id, method, parameters })
}

fn read_id(id: Option<Value>) -> Result<Option<Id>, Refusal> {
    match id {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.len() > MAX_ID_BYTES => Err(Refusal::over(Limit::IdBytes, MAX_ID_BYTES)),
        Some(Value::String(text)) => Ok(Some(Id::Text(text))),
        Some(Value::Number(number)) if number.is_i64() || number.is_u64() => Ok(Some(Id::Number(number))),
        Some(_) => Err(Refusal::new(RpcCode::NotARequest, "an id is a text or a whole number of at most 64 bits")),
    }
}

fn find(name: &str, role: Role) -> Result<Method, Refusal> {
    let why = match Method::named(name) {
        Some(method) if role.may(method) => return Ok(method),
        Some(method) => format!(
            "{} is the operator's: ask for it on the admin socket ({}), not here",
            method.as_str(),
            Role::Admin.socket()
        ),
        None => {
            let known = Method::ALL.iter().filter(|&&method| role.may(method)).map(|method| method.as_str());
            format!(
                "there is no method \"{}\" here: there are {}",
                shown_within(name, MAX_WORDS_BYTES),
                known.collect::<Vec<_>>().join(", ")
            )
        }
    };
    Err(Refusal::new(RpcCode::NoSuchMethod, why))
}

/// Whether JSON has more values than so many, the names in objects included; of what is not JSON it is a guess.
fn has_more_values_than(line: &[u8], most: usize) -> bool {
    let (mut in_text, mut is_escaped, mut values) = (false, false, 1_usize);
    for &byte in line {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_text => is_escaped = true,
            b'"' => in_text = !in_text,
            b',' | b':' | b'[' | b'{' if !in_text => values += 1,
            _ => {}
        }
    }
    values > most
}

#[cfg(test)]
mod tests;
