//! The answers of a log of calls, as they are shown and sent.

use std::sync::Arc;

use serde::Serialize;

use crate::contract::{ContributorName, Key};
use crate::error::Error;

/// One execution.
#[derive(Clone, Debug, Serialize)]
pub struct CallSummary {
    /// Identifies the call.
    pub call_id: String,
    /// The call that started it; equal to `call_id` at the root.
    pub root_call_id: String,
    /// The shell tool.
    pub tool: String,
    /// The session that owns the call, if one does.
    pub session_id: Option<String>,
    /// When the collection began, in milliseconds since the Unix epoch.
    pub began_ms: u64,
    /// How long it took, in microseconds.
    pub micros: u64,
    /// The keys that are absent or stand in for the real value because of a failure, sorted.
    pub degraded: Vec<Key>,
    /// Why there was no overlay, and so no command; none where there was one.
    pub error: Option<Error>,
}

/// How one contributor took part in an execution.
#[derive(Clone, Debug, Serialize)]
pub struct Participant {
    /// Its name.
    pub name: ContributorName,
    /// The build that answered, where it has a digest.
    pub digest: Option<Arc<str>>,
    /// How long it took, in microseconds.
    pub micros: u64,
    /// The operator's policy for it as a whole.
    pub policy: &'static str,
    /// Why it had no answer at all.
    pub error: Option<Error>,
}

/// What became of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeyState {
    /// The command had the value that its owner gave.
    Present,
    /// The owner had nothing to say; without an owner: nobody who was asked owns the key.
    Absent,
    /// The command did not have it, since its owner failed and a policy said to leave it out.
    Omitted,
    /// The command had a value that a policy gave, since its owner failed.
    StoodIn,
    /// The command did not have it, since an installed contributor that would own it was missing.
    Missing,
    /// There was no overlay, and so no command.
    NoOverlay,
}

/// What became of one key in one execution. There is no value in it.
#[derive(Clone, Debug, Serialize)]
pub struct Explanation {
    /// The execution.
    pub call: CallSummary,
    /// The key.
    pub key: Key,
    /// What became of it.
    pub state: KeyState,
    /// Who owned it: a contributor's name, or `host`; none where nobody did, or the owner was not asked.
    pub owner: Option<String>,
    /// Whether its value is kept out of logs, diagnostics and recordings.
    pub sensitive: bool,
    /// The policy that took effect, such as `omit` or `value`; none where none had to.
    pub policy: Option<&'static str>,
    /// The failure that made it take effect, or that there was no overlay for.
    pub error: Option<Error>,
    /// Bytes of the value that the command had; none for a sensitive one.
    pub length: Option<usize>,
    /// Sixteen hexadecimal digits that are the same for the same value of the same key while this process runs, and
    /// mean nothing outside of it; none for a sensitive value.
    pub hash: Option<String>,
    /// Who was asked, in that order; not all where one failed the collection.
    pub contributors: Vec<Participant>,
}
