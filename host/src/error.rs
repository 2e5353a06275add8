//! The failures of the library: a stage, a stable code, whose it is, and what to do.
//!
//! Codes are part of the public interface: a code that exists keeps its name and its meaning.

use std::fmt;

use serde::Serialize;
use serde::ser::SerializeStruct;

use crate::contract::{ContributorName, Key};

/// When a failure happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// While a contributor was being read, compiled, asked to declare, or registered.
    Load,
    /// While a contributor resolved one execution, or its answer was checked.
    Resolve,
    /// In the host itself, or in what it was asked to do.
    Host,
}

impl Stage {
    /// The word for the stage in JSON and messages.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Stage::Load => "load",
            Stage::Resolve => "resolve",
            Stage::Host => "host",
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $variant:ident = $text:literal,)+) => {
        /// What went wrong, as a stable word.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Code { $($(#[doc = $doc])+ $variant,)+ }

        impl Code {
            /// Every code, in the order of the documentation.
            pub const ALL: &'static [Code] = &[$(Code::$variant,)+];

            /// The word for the code in JSON and messages.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Code::$variant => $text,)+ }
            }
        }
    };
}

codes! {
    /// The file could not be read.
    Unreadable = "unreadable",
    /// The file is larger than the host reads.
    TooLarge = "too-large",
    /// The file is not a WebAssembly component, nor a module that can become one.
    NotAComponent = "not-a-component",
    /// The file is not valid WebAssembly.
    Malformed = "malformed",
    /// The component lacks an export of the contract.
    MissingExport = "missing-export",
    /// The component exports the contract's name with another type.
    WrongType = "wrong-type",
    /// The component was built for another version of the contract.
    UnsupportedVersion = "unsupported-version",
    /// The component imports what the host does not offer.
    ForbiddenImport = "forbidden-import",
    /// Compiling took too long or too much memory.
    CompileLimit = "compile-limit",
    /// The build waits for the operator's approval.
    ApprovalPending = "approval-pending",
    /// The contributor's name is not allowed.
    InvalidName = "invalid-name",
    /// Another contributor has that name.
    DuplicateName = "duplicate-name",
    /// A declared key does not follow the grammar.
    InvalidKey = "invalid-key",
    /// A declared key belongs to the host.
    ReservedKey = "reserved-key",
    /// A description is too long or has control characters.
    InvalidDescription = "invalid-description",
    /// A description is blank.
    MissingDescription = "missing-description",
    /// A declaration names one key twice.
    DuplicateKey = "duplicate-key",
    /// Another contributor owns that key.
    KeyConflict = "key-conflict",
    /// A declaration has more variables than a contributor may have.
    TooManyVariables = "too-many-variables",
    /// The answer has a key that was not declared.
    UndeclaredKey = "undeclared-key",
    /// The answer has one key twice.
    RepeatedKey = "repeated-key",
    /// A value cannot be in an environment.
    InvalidValue = "invalid-value",
    /// A value does not have the shape that the operator asked for.
    ValueRefused = "value-refused",
    /// A value is longer than a value may be.
    ValueTooLarge = "value-too-large",
    /// The answer has more values than an answer may have.
    TooManyValues = "too-many-values",
    /// The overlay as a whole is longer than an overlay may be.
    OverlayTooLarge = "overlay-too-large",
    /// The contributor said that it failed.
    GuestError = "guest-error",
    /// The call used up its processor time or its wall clock.
    Timeout = "timeout",
    /// The contributor crashed.
    Trap = "trap",
    /// The contributor ran out of stack.
    StackLimit = "stack-limit",
    /// The contributor ran out of memory.
    MemoryLimit = "memory-limit",
    /// The contributor ran out of table elements.
    TableLimit = "table-limit",
    /// The component has more instances than a call may make.
    InstanceLimit = "instance-limit",
    /// The answer is larger than the host copies out of a sandbox.
    OutputLimit = "output-limit",
    /// The answer is not what the contract's types allow.
    InvalidOutput = "invalid-output",
    /// The configuration or the command line is wrong.
    InvalidConfiguration = "invalid-configuration",
    /// A file or folder that chooses code or grants can be written by others.
    UnsafePermissions = "unsafe-permissions",
    /// Two parts of one composition were given different homes.
    ContradictoryHomes = "contradictory-homes",
    /// The execution record is not valid.
    InvalidExecution = "invalid-execution",
    /// The scope or registration was closed before.
    ScopeClosed = "scope-closed",
    /// The overlay as a whole took too long.
    OverlayTimeout = "overlay-timeout",
    /// The caller cancelled.
    Cancelled = "cancelled",
    /// Too many collections are waiting.
    Overloaded = "overloaded",
    /// The environment is too large for the kernel.
    EnvironmentTooLarge = "environment-too-large",
    /// The host is ending, and takes no more.
    ShuttingDown = "shutting-down",
    /// There is no such session.
    SessionNotFound = "session-not-found",
    /// More than one session has that id.
    SessionAmbiguous = "session-ambiguous",
    /// There is a session of that id already.
    SessionExists = "session-exists",
    /// Another process writes the session's log.
    SessionInUse = "session-in-use",
    /// The session's log was written by another version of the format.
    SessionVersion = "session-version",
    /// The session's log is not what this host writes.
    SessionDamaged = "session-damaged",
    /// The session's log could not be read or written.
    SessionStorage = "session-storage",
    /// A command could not be started, or its output not kept.
    ExecutionFailed = "execution-failed",
    /// There is no such job of this owner.
    JobNotFound = "job-not-found",
    /// The owner has as many jobs as an owner may have.
    TooManyJobs = "too-many-jobs",
    /// What a model sent for a tool does not fit the tool's arguments.
    InvalidArguments = "invalid-arguments",
    /// The model gave no answer that can be used.
    ModelFailed = "model-failed",
    /// There is no such contributor, or no such build of it.
    ContributorNotFound = "contributor-not-found",
    /// Another server holds the home, or none does where one is needed.
    ServerUnavailable = "server-unavailable",
    /// A message to a server does not follow the protocol or its limits.
    InvalidRequest = "invalid-request",
    /// The host failed in a way that it should not.
    Internal = "internal",
}

impl Code {
    /// The stage of a failure with this code that happened while a contributor was in `during`.
    pub(crate) fn stage(self, during: Stage) -> Stage {
        match self {
            Code::OverlayTimeout | Code::Cancelled | Code::Overloaded | Code::Internal => Stage::Host,
            _ => during,
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl<'de> serde::Deserialize<'de> for Code {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        let code = Self::ALL.iter().find(|code| code.as_str() == word).copied();
        code.ok_or_else(|| serde::de::Error::custom("unknown code"))
    }
}

impl Serialize for Code {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// A failure of the host or of one contributor.
///
/// Serialises as `{"stage", "code", "contributor", "key", "message"}`; `contributor` and `key` are
/// `null` where there is none. Nothing in it has control characters or the value of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    stage: Stage,
    code: Code,
    contributor: Option<String>,
    key: Option<String>,
    message: String,
}

/// A result of this library.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// A failure of the host itself. `message` says what to do.
    pub fn host(code: Code, message: impl Into<String>) -> Self {
        Self { stage: Stage::Host, code, contributor: None, key: None, message: message.into() }
    }

    /// A failure while a contributor was being loaded or registered.
    pub fn load(code: Code, message: impl Into<String>) -> Self {
        Self { stage: code.stage(Stage::Load), ..Self::host(code, message) }
    }

    /// A failure while a contributor resolved.
    pub fn resolve(code: Code, message: impl Into<String>) -> Self {
        Self { stage: code.stage(Stage::Resolve), ..Self::host(code, message) }
    }

    /// Names the contributor that failed.
    #[must_use]
    pub fn by(mut self, contributor: &ContributorName) -> Self {
        self.contributor = Some(contributor.as_str().to_owned());
        self
    }

    /// Names the key that the failure is about.
    #[must_use]
    pub fn about(mut self, key: &Key) -> Self {
        self.key = Some(key.as_str().to_owned());
        self
    }

    /// Names a key that may not be a valid one.
    #[must_use]
    pub(crate) fn about_text(mut self, key: &str) -> Self {
        self.key = Some(crate::text::shown_within(key, 2 * Key::MAX_BYTES));
        self
    }

    /// Puts the file that it is about in front of the message.
    #[must_use]
    pub fn in_file(mut self, file: &std::path::Path) -> Self {
        self.message = format!("{}: {}", crate::text::shown(&file.display().to_string()), self.message);
        self
    }

    /// When it happened.
    #[must_use]
    pub fn stage(&self) -> Stage {
        self.stage
    }

    /// What went wrong.
    #[must_use]
    pub fn code(&self) -> Code {
        self.code
    }

    /// The contributor that failed, if one did.
    #[must_use]
    pub fn contributor(&self) -> Option<&str> {
        self.contributor.as_deref()
    }

    /// The key that it is about, if it is about one; escaped where it is not a valid key.
    #[must_use]
    pub fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// What happened and what to do, in a sentence or two, without the code.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(contributor) = &self.contributor {
            write!(f, "{contributor}: ")?;
        }
        write!(f, "{} ({})", self.message, self.code)
    }
}

impl std::error::Error for Error {}

impl Serialize for Error {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("Error", 5)?;
        object.serialize_field("stage", &self.stage)?;
        object.serialize_field("code", &self.code)?;
        object.serialize_field("contributor", &self.contributor)?;
        object.serialize_field("key", &self.key)?;
        object.serialize_field("message", &self.message)?;
        object.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_code_has_a_word_of_its_own() {
        let words: BTreeSet<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(words.len(), Code::ALL.len());
        assert!(words.iter().all(|word| word.bytes().all(|b| b.is_ascii_lowercase() || b == b'-')));
    }

    #[test]
    fn a_failure_of_the_whole_overlay_is_the_hosts_whoever_was_running() {
        assert_eq!(Error::resolve(Code::Cancelled, "x").stage(), Stage::Host);
        assert_eq!(Error::resolve(Code::Trap, "x").stage(), Stage::Resolve);
    }
}
