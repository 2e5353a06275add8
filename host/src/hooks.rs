//! Users' hooks, in the dialects of Claude Code and Codex.
//!
//! This program is the harness: a user has hooks that were configured for another one, and they are fed and
//! obeyed here as they were there. A [`HookFile`] is read into a [`HookSet`]; [`Hooks`] runs what matches an
//! event and merges the answers.
//!
//! A hook learns where the session's transcript is from the same service that tells a command: both have the
//! same path, or both have none. Nothing is made, written or flushed in order to tell. A hook has no overlay:
//! no managed variable reaches it, not even an inherited one.
//!
//! # How the dialects differ
//!
//! | | Claude Code | Codex |
//! | --- | --- | --- |
//! | payload | one JSON object and a newline | one JSON object without a newline |
//! | no transcript | `"transcript_path": ""` | `"transcript_path": null` |
//! | also in it | `permission_mode` within a turn, `model` at the start | always `model` and `permission_mode`, `turn_id` within a turn |
//! | shell | `bash -c` | `sh -c` |
//! | environment | `CLAUDE_PROJECT_DIR` | nothing of its own |
//! | a plain matcher | letters, digits, `_`, `-`, space, with <code>&#124;</code> or `,` between names | letters, digits, `_`, with <code>&#124;</code> between names |
//! | the same command twice | runs once for an event | runs twice |
//! | output that looks like JSON and is not | is plain text | is reported, and no context |
//!
//! Both run everything that matches at once, search with a matcher that is no plain name (without anchors it
//! matches anywhere), and end a hook after [`DEFAULT_LIMIT`] unless its file says less.
//!
//! # Answers
//!
//! | a hook | means |
//! | --- | --- |
//! | exits with 0, having written a JSON object | what the object says, read leniently: fields that are not known are ignored, and those of a wrong type are ignored and reported |
//! | exits with 0, having written other text | context for the model at the start of a session and for a prompt, else nothing |
//! | exits with 2 | it [blocks](Decision::Deny), with standard error as the reason |
//! | does anything else, or takes too long | nothing: it is [reported](HookReport), and blocks nothing |
//!
//! The object may have `continue`, `stopReason`, `systemMessage`, `decision` (`block`; `approve` is the old
//! `allow`), `reason`, and `hookSpecificOutput` with `hookEventName`, `additionalContext`, and for a call
//! `permissionDecision` (`allow`, `ask`, `deny`), `permissionDecisionReason` and `updatedInput`. Answers are read
//! alike in both dialects; Codex itself refuses `ask` and a bare `allow`, which count here.

mod answer;
mod dialect;
mod environment;
mod event;
mod file;
mod fire;
mod matcher;
mod merge;
mod outcome;
mod payload;
mod runner;
mod set;
mod transcripts;

pub use dialect::Dialect;
pub use event::{EventName, HookContext, HookEvent, SessionSource};
pub use file::HookFile;
pub use fire::{Hooks, HooksOptions};
pub use outcome::{Decision, HookEnd, HookOutcome, HookReport};
pub use payload::payload;
pub use runner::{HookCommand, HookRun, HookRunner, Running};
pub use set::{DEFAULT_LIMIT, HookSet, MAX_HOOKS, MAX_LIMIT};
pub use transcripts::Transcripts;

#[cfg(test)]
mod tests;
