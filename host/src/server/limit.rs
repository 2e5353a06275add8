//! What bounds a conversation, by the names that answers and counts have for it.

use std::fmt;

use serde::Serialize;

use crate::error::{Code, Error};

/// Something that a client may not have too much of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Limit {
    /// Connections of one socket.
    Connections,
    /// Bytes of one line.
    LineBytes,
    /// Bytes of all long lines together.
    LongLinesBytes,
    /// Values in one line.
    Values,
    /// Bytes of a request's id.
    IdBytes,
    /// Bytes of answers that wait for the reader of one connection.
    WaitingAnswerBytes,
    /// Milliseconds in which a client takes nothing of the answers that wait for it.
    SilentReader,
    /// Milliseconds from the first byte of a line to its end.
    HalfMessage,
    /// Collections that run at once.
    Collections,
}

impl Limit {
    /// Every limit, in the order of the documentation.
    pub const ALL: &'static [Self] = &[
        Self::Connections,
        Self::LineBytes,
        Self::LongLinesBytes,
        Self::Values,
        Self::IdBytes,
        Self::WaitingAnswerBytes,
        Self::SilentReader,
        Self::HalfMessage,
        Self::Collections,
    ];

    /// The name in answers and counts.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Connections => "connections",
            Self::LineBytes => "line-bytes",
            Self::LongLinesBytes => "long-lines-bytes",
            Self::Values => "values",
            Self::IdBytes => "id-bytes",
            Self::WaitingAnswerBytes => "waiting-answer-bytes",
            Self::SilentReader => "silent-reader",
            Self::HalfMessage => "half-message",
            Self::Collections => "collections",
        }
    }

    /// Whether it is of what all clients have together, so that the same request may be fine a little later.
    fn is_shared(self) -> bool {
        matches!(self, Self::Connections | Self::LongLinesBytes | Self::WaitingAnswerBytes | Self::Collections)
    }

    /// What to do about it.
    fn advice(self) -> &'static str {
        match self {
            Self::Connections => "use one connection for many requests, close those that are idle, then try again",
            Self::LineBytes => "send less at once, or collect without the server",
            Self::LongLinesBytes => "wait for other clients' long lines to be answered, then try again",
            Self::Values => "send fewer fields and extensions",
            Self::IdBytes => "choose shorter ids",
            Self::WaitingAnswerBytes => "read the answers that wait, then ask again",
            Self::SilentReader => "read the answers as they come",
            Self::HalfMessage => "send each message whole, with a line end",
            Self::Collections => "try again later, or allow more time",
        }
    }

    /// The error of an answer that this limit is the reason of, with its value.
    pub(super) fn exceeded(self, value: impl fmt::Display) -> Error {
        let code = if self.is_shared() { Code::Overloaded } else { Code::InvalidRequest };
        Error::host(code, format!("this is over the server's limit {self} of {value}: {}", self.advice()))
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
