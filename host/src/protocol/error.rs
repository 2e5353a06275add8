//! Errors on the way from a server to a client, and back into errors of this library.

use serde::{Deserialize, Serialize};

use crate::contract::ContributorName;
use crate::error::{Code, Error, Stage};
use crate::text::shown_within;

/// The most bytes of a message from a server that a client shows: those of the host's own part of a message, and of
/// a contributor's words in it.
const MAX_MESSAGE_BYTES: usize = 8 * 1024;

/// The most bytes of a word that is not known here.
const MAX_WORD_BYTES: usize = 64;

/// The number of an error, as JSON-RPC defines it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RpcCode {
    /// The line is not JSON.
    NotJson,
    /// It is not one request.
    NotARequest,
    /// There is no such method on this socket.
    NoSuchMethod,
    /// The parameters are not those of the method.
    WrongParameters,
    /// The request was understood, and the host failed or refused.
    Host,
}

impl RpcCode {
    /// The number.
    #[must_use]
    pub fn number(self) -> i64 {
        match self {
            Self::NotJson => -32700,
            Self::NotARequest => -32600,
            Self::NoSuchMethod => -32601,
            Self::WrongParameters => -32602,
            Self::Host => -32000,
        }
    }
}

/// The error in an answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ErrorObject<D = ErrorData> {
    /// The number of the error as JSON-RPC defines it.
    pub code: i64,
    /// What happened and what to do.
    pub message: String,
    /// The failure as this library tells it.
    pub data: Option<D>,
}

/// An error of this library as it is read from an answer. A newer server may have words that are not known here.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ErrorData {
    stage: String,
    code: String,
    contributor: Option<String>,
    key: Option<String>,
    message: String,
}

impl ErrorObject {
    /// The error that the server had, with its text made safe to show.
    #[must_use]
    pub fn into_error(self) -> Error {
        let Some(data) = self.data else {
            let message = shown_within(&self.message, MAX_MESSAGE_BYTES);
            return Error::host(Code::Internal, format!("the server says: {message} ({})", self.code));
        };
        let mut message = shown_within(&data.message, MAX_MESSAGE_BYTES);
        let code = Code::ALL.iter().copied().find(|code| code.as_str() == data.code).unwrap_or_else(|| {
            message = format!("{message} ({})", shown_within(&data.code, MAX_WORD_BYTES));
            Code::Internal
        });
        let name = data.contributor.map(|name| ContributorName::new(&name).map_err(|_| name));
        if let Some(Err(name)) = &name {
            message = format!("{}: {message}", shown_within(name, MAX_WORD_BYTES));
        }
        let stages = [Stage::Load, Stage::Resolve];
        let mut error = match stages.into_iter().find(|stage| stage.as_str() == data.stage) {
            Some(Stage::Load) => Error::load(code, message),
            Some(Stage::Resolve) => Error::resolve(code, message),
            _ => Error::host(code, message),
        };
        if let Some(Ok(name)) = &name {
            error = error.by(name);
        }
        match data.key {
            Some(key) => error.about_text(&key),
            None => error,
        }
    }
}
