//! What host and worker say to each other: one JSON object a frame, in turn.
//!
//! The host believes nothing that a worker says beyond its meaning: the parts of an answer are checked like
//! those of any contributor.

use serde::{Deserialize, Serialize};

use crate::contract::{Binding, Declaration, Execution, Failure};
use crate::error::{Code, Error, Stage};
use crate::sandbox::limits::Limits;
use crate::sandbox::world::Granted;
use crate::text::shown_within;

/// What a worker is for, from its first request to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Role {
    /// Compiles components.
    Compiler,
    /// Calls components that have imports.
    Caller,
}

/// What a host asks.
#[derive(Serialize, Deserialize)]
#[expect(clippy::large_enum_variant, reason = "one at a time, on its way through a socket")]
pub(super) enum Request {
    /// The first request. With the directories that calls may be granted, whose names in guests these are.
    Begin { role: Role, directories: Vec<String>, data_bytes: u64 },
    /// To compile what is in the first descriptor, so many bytes, into the second.
    Compile { bytes: u64 },
    /// To keep the compiled code in the descriptor under a key.
    Keep { key: String },
    /// To call a component that was kept.
    Call { key: String, call: Call, granted: Granted },
}

/// Which function of the contract.
#[derive(Serialize, Deserialize)]
#[expect(clippy::large_enum_variant, reason = "one at a time, on its way through a socket")]
pub(super) enum Call {
    Declare,
    Resolve { limits: Limits, execution: Execution },
}

/// What a worker answers.
#[derive(Serialize, Deserialize)]
pub(super) enum Reply {
    /// To `Begin`: what the worker is, and what holds it.
    Ready { version: String, engine: String, confinement: Confinement },
    /// To `Compile`.
    Compiled { bytes: u64, imports: Vec<String> },
    /// To `Keep`.
    Kept,
    /// To `Call`, where nothing is kept under the key.
    Unknown,
    /// To `Call`, with what the guest printed.
    Called { said: Result<Said, Refusal>, log: String },
    /// To `Compile` and `Keep`.
    Refused(Refusal),
}

/// What a function of the contract returned.
#[derive(Serialize, Deserialize)]
pub(super) enum Said {
    Declared(Declaration),
    Resolved(Vec<(String, String)>),
}

/// What holds a worker beside the limits of its calls.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confinement {
    /// How far Landlock keeps it from files, the network and other processes.
    pub landlock: Landlock,
    /// Whether seccomp keeps it from system calls that it does not need.
    pub seccomp: bool,
}

/// How far Landlock holds a worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Landlock {
    /// In all that is asked of it.
    Full,
    /// In part: the kernel has an older version of it.
    Partial,
    /// Not at all: the kernel has none.
    #[default]
    None,
}

impl Landlock {
    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Partial => "partial",
            Self::None => "none",
        }
    }
}

/// The most bytes of a worker's words that are believed to be the host's own.
const MAX_MESSAGE_BYTES: usize = 4096;

/// A failure or an error on its way.
#[derive(Serialize, Deserialize)]
pub(super) struct Refusal {
    code: Code,
    message: String,
    guest_text: Option<String>,
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        Self {
            code: failure.code(),
            message: failure.message().to_owned(),
            guest_text: failure.guest_text().map(str::to_owned),
        }
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self { code: error.code(), message: error.message().to_owned(), guest_text: None }
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        let failure = Failure::new(refusal.code(), refusal.message());
        match refusal.guest_text {
            Some(text) => failure.with_guest_text(text),
            None => failure,
        }
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Error::load(refusal.code(), refusal.message())
    }
}

impl Refusal {
    /// The code, unless it is one of the host's own, in which a worker has no part; but for its own faults.
    pub(super) fn code(&self) -> Code {
        let is_hosts = self.code.stage(Stage::Resolve) == Stage::Host && self.code != Code::Internal;
        if is_hosts { Code::Trap } else { self.code }
    }

    fn message(&self) -> String {
        shown_within(&self.message, MAX_MESSAGE_BYTES)
    }
}

impl Said {
    pub(super) fn resolved(bindings: Vec<Binding>) -> Self {
        Self::Resolved(bindings.into_iter().map(|binding| (binding.key, binding.value)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(code: Code, message: &str) -> Refusal {
        Refusal { code, message: message.to_owned(), guest_text: None }
    }

    #[test]
    fn what_a_worker_says_of_a_failure_steers_nothing_and_is_short() {
        let steering = || refusal(Code::Malformed, "red \u{1b}[31m\n");
        assert_eq!(Error::from(steering()).message(), "red \\u{1b}[31m\\u{a}");
        assert_eq!(Failure::from(steering()).into_load_error().message(), "red \\u{1b}[31m\\u{a}");
        assert!(Error::from(refusal(Code::Malformed, &"x".repeat(1_000_000))).message().len() <= MAX_MESSAGE_BYTES);
    }

    #[test]
    fn what_was_made_safe_by_a_worker_stays_as_it_is() {
        let message = "it imports a\\u{1b}b, which this host does not offer…";
        let error = Error::load(Code::ForbiddenImport, message);
        assert_eq!(Error::from(Refusal::from(error.clone())), error);
    }

    #[test]
    fn a_worker_cannot_speak_for_the_host() {
        assert_eq!(Failure::from(refusal(Code::Cancelled, "x")).code(), Code::Trap);
        assert_eq!(Failure::from(refusal(Code::Internal, "x")).code(), Code::Internal);
    }
}
