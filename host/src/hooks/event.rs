//! What happens in a harness that hooks are told of.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;
use serde_json::Value;

use super::Dialect;
use crate::contract::SessionHeader;

/// Where an event happens.
#[derive(Clone, Debug)]
pub struct HookContext {
    /// The session, whose transcript hooks are told of.
    pub session: SessionHeader,
    /// The session's working directory, absolute: in the payload, and where hooks run.
    pub cwd: PathBuf,
    /// What the model is called.
    pub model: String,
    /// One of the products' words, such as `default` or `bypassPermissions`.
    pub permission_mode: String,
    /// Identifies the turn. Codex's hooks expect one within a turn; outside it is not told.
    pub turn_id: Option<String>,
}

/// Something that hooks are told of, and may have a say in.
///
/// Tools are called by the names that the model knows; hooks see [their own](Dialect::tool_name).
#[derive(Clone, Debug)]
pub enum HookEvent {
    /// A session begins or goes on.
    SessionStart {
        /// Why it does.
        source: SessionSource,
    },
    /// A person said something, and no model has seen it yet.
    UserPromptSubmit {
        /// What was said.
        prompt: String,
    },
    /// A model asked for a tool, and nothing has run yet.
    PreToolUse {
        /// The tool.
        tool_name: String,
        /// The arguments, as the model sent them.
        tool_input: Value,
        /// Identifies the call.
        tool_use_id: String,
    },
    /// A tool has run.
    PostToolUse {
        /// The tool.
        tool_name: String,
        /// The arguments that it ran with.
        tool_input: Value,
        /// What it answered.
        tool_response: Value,
        /// Identifies the call.
        tool_use_id: String,
    },
    /// The agent is about to end its turn.
    Stop {
        /// Whether it goes on only because a hook did not let it stop before.
        stop_hook_active: bool,
        /// The last that the model said; absent when it said nothing.
        last_assistant_message: Option<String>,
    },
    /// An agent that was started by this session's agent is about to end.
    SubagentStop {
        /// The session of the agent that ends.
        agent: SessionHeader,
        /// What kind of agent it is.
        agent_type: String,
        /// As in [`Stop`](Self::Stop).
        stop_hook_active: bool,
        /// As in [`Stop`](Self::Stop).
        last_assistant_message: Option<String>,
    },
    /// A session ends. Codex has no such event.
    SessionEnd {
        /// Why, such as `clear`, `logout` or `other`.
        reason: String,
    },
}

/// Why a session begins or goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SessionSource {
    /// It is new.
    Startup,
    /// It was ended before and goes on.
    Resume,
    /// It takes the place of one that was cleared.
    Clear,
    /// It goes on with a summary of itself.
    Compact,
}

impl SessionSource {
    /// The word for it, the same in both dialects.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Startup => "startup",
            Self::Resume => "resume",
            Self::Clear => "clear",
            Self::Compact => "compact",
        }
    }
}

/// The name of an event, the same in both dialects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum EventName {
    /// Of [`HookEvent::SessionStart`].
    SessionStart,
    /// Of [`HookEvent::UserPromptSubmit`].
    UserPromptSubmit,
    /// Of [`HookEvent::PreToolUse`].
    PreToolUse,
    /// Of [`HookEvent::PostToolUse`].
    PostToolUse,
    /// Of [`HookEvent::Stop`].
    Stop,
    /// Of [`HookEvent::SubagentStop`].
    SubagentStop,
    /// Of [`HookEvent::SessionEnd`].
    SessionEnd,
}

impl EventName {
    /// Every event that hooks are told of.
    pub const ALL: &'static [Self] = &[
        Self::SessionStart,
        Self::UserPromptSubmit,
        Self::PreToolUse,
        Self::PostToolUse,
        Self::Stop,
        Self::SubagentStop,
        Self::SessionEnd,
    ];

    /// The name in files and payloads.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SessionStart => "SessionStart",
            Self::UserPromptSubmit => "UserPromptSubmit",
            Self::PreToolUse => "PreToolUse",
            Self::PostToolUse => "PostToolUse",
            Self::Stop => "Stop",
            Self::SubagentStop => "SubagentStop",
            Self::SessionEnd => "SessionEnd",
        }
    }

    /// Whether the product has this event.
    #[must_use]
    pub fn exists_in(self, dialect: Dialect) -> bool {
        self != Self::SessionEnd || dialect == Dialect::ClaudeCode
    }

    /// Whether groups of hooks choose by a matcher among events of this name.
    #[must_use]
    pub fn has_matcher(self) -> bool {
        !matches!(self, Self::UserPromptSubmit | Self::Stop)
    }

    /// Whether a hook can block it: the prompt, the call, the end of the turn. After a tool has run there is
    /// nothing left to keep from happening, and a block is feedback for the model.
    #[must_use]
    pub fn can_be_blocked(self) -> bool {
        !matches!(self, Self::SessionStart | Self::SessionEnd)
    }

    /// Whether plain text on standard output is context for the model.
    pub(super) fn takes_plain_text(self) -> bool {
        matches!(self, Self::SessionStart | Self::UserPromptSubmit)
    }

    /// Whether it happens within a turn.
    pub(super) fn is_within_a_turn(self) -> bool {
        !matches!(self, Self::SessionStart | Self::SessionEnd)
    }
}

impl fmt::Display for EventName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl HookEvent {
    /// What it is called.
    #[must_use]
    pub fn name(&self) -> EventName {
        match self {
            Self::SessionStart { .. } => EventName::SessionStart,
            Self::UserPromptSubmit { .. } => EventName::UserPromptSubmit,
            Self::PreToolUse { .. } => EventName::PreToolUse,
            Self::PostToolUse { .. } => EventName::PostToolUse,
            Self::Stop { .. } => EventName::Stop,
            Self::SubagentStop { .. } => EventName::SubagentStop,
            Self::SessionEnd { .. } => EventName::SessionEnd,
        }
    }

    /// What matchers of a dialect are compared with; `None` for an event that has none.
    pub(super) fn matched(&self, dialect: Dialect) -> Option<&str> {
        match self {
            Self::SessionStart { source } => Some(source.as_str()),
            Self::PreToolUse { tool_name, .. } | Self::PostToolUse { tool_name, .. } => {
                Some(dialect.tool_name(tool_name))
            }
            Self::SubagentStop { agent_type, .. } => Some(agent_type),
            Self::SessionEnd { reason } => Some(reason),
            Self::UserPromptSubmit { .. } | Self::Stop { .. } => None,
        }
    }
}
