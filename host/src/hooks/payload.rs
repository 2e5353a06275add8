//! What a hook reads from its standard input.
//!
//! The fields have the products' names and a fixed order. What comes from a model, arguments and answers of
//! tools, goes in as it is.

use serde::Serialize;
use serde_json::Value;

use super::{Dialect, EventName, HookContext, HookEvent, Transcripts};

/// The payload of one event: one JSON object, for Claude Code with a newline after it.
///
/// `cwd` is shown with replacement characters where it is not valid UTF-8.
#[must_use]
pub fn payload(dialect: Dialect, context: &HookContext, event: &HookEvent, transcripts: &Transcripts) -> Vec<u8> {
    let object = match dialect {
        Dialect::ClaudeCode => serde_json::to_vec(&claude_code(context, event, transcripts)),
        Dialect::Codex => serde_json::to_vec(&codex(context, event, transcripts)),
    };
    // Text and JSON values always serialise: no map in them has keys that are not text.
    let mut bytes = object.unwrap_or_default();
    if dialect == Dialect::ClaudeCode {
        bytes.push(b'\n');
    }
    bytes
}

#[derive(Serialize)]
struct ClaudeCode<'a> {
    session_id: &'a str,
    transcript_path: &'a str,
    cwd: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_mode: Option<&'a str>,
    hook_event_name: EventName,
    #[serde(flatten)]
    own: Own<'a>,
}

fn claude_code<'a>(context: &'a HookContext, event: &'a HookEvent, transcripts: &'a Transcripts) -> ClaudeCode<'a> {
    let name = event.name();
    ClaudeCode {
        session_id: context.session.id.as_str(),
        transcript_path: transcripts.session.as_deref().unwrap_or_default(),
        cwd: context.cwd.to_string_lossy().into_owned(),
        permission_mode: name.is_within_a_turn().then_some(&*context.permission_mode),
        hook_event_name: name,
        own: own(Dialect::ClaudeCode, context, event, transcripts),
    }
}

#[derive(Serialize)]
struct Codex<'a> {
    session_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    turn_id: Option<&'a str>,
    transcript_path: Option<&'a str>,
    cwd: String,
    hook_event_name: EventName,
    model: &'a str,
    permission_mode: &'a str,
    #[serde(flatten)]
    own: Own<'a>,
}

fn codex<'a>(context: &'a HookContext, event: &'a HookEvent, transcripts: &'a Transcripts) -> Codex<'a> {
    let name = event.name();
    Codex {
        session_id: context.session.id.as_str(),
        turn_id: context.turn_id.as_deref().filter(|_| name.is_within_a_turn()),
        transcript_path: transcripts.session.as_deref(),
        cwd: context.cwd.to_string_lossy().into_owned(),
        hook_event_name: name,
        model: &context.model,
        permission_mode: &context.permission_mode,
        own: own(Dialect::Codex, context, event, transcripts),
    }
}

/// The fields that only some events have.
#[derive(Serialize)]
#[serde(untagged)]
enum Own<'a> {
    Start {
        source: &'static str,
        /// Codex has it among the common fields.
        #[serde(skip_serializing_if = "Option::is_none")]
        model: Option<&'a str>,
    },
    Prompt {
        prompt: &'a str,
    },
    Tool {
        tool_name: &'a str,
        tool_input: &'a Value,
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_response: Option<&'a Value>,
        tool_use_id: &'a str,
    },
    Stop {
        stop_hook_active: bool,
        #[serde(skip_serializing_if = "Nullable::is_left_out")]
        last_assistant_message: Nullable<'a>,
    },
    Subagent {
        agent_id: &'a str,
        agent_type: &'a str,
        agent_transcript_path: Nullable<'a>,
        stop_hook_active: bool,
        #[serde(skip_serializing_if = "Nullable::is_left_out")]
        last_assistant_message: Nullable<'a>,
    },
    End {
        reason: &'a str,
    },
}

/// Text, `null`, or no field at all.
#[derive(Serialize)]
#[serde(untagged)]
enum Nullable<'a> {
    Text(&'a str),
    Null,
    LeftOut,
}

impl Nullable<'_> {
    fn is_left_out(&self) -> bool {
        matches!(self, Self::LeftOut)
    }
}

fn own<'a>(dialect: Dialect, context: &'a HookContext, event: &'a HookEvent, transcripts: &'a Transcripts) -> Own<'a> {
    let message = |text: &'a Option<String>| match (text, dialect) {
        (Some(text), _) => Nullable::Text(text),
        (None, Dialect::Codex) => Nullable::Null,
        (None, Dialect::ClaudeCode) => Nullable::LeftOut,
    };
    match event {
        HookEvent::SessionStart { source } => {
            Own::Start { source: source.as_str(), model: (dialect == Dialect::ClaudeCode).then_some(&*context.model) }
        }
        HookEvent::UserPromptSubmit { prompt } => Own::Prompt { prompt },
        HookEvent::PreToolUse { tool_name, tool_input, tool_use_id } => {
            Own::Tool { tool_name: dialect.tool_name(tool_name), tool_input, tool_response: None, tool_use_id }
        }
        HookEvent::PostToolUse { tool_name, tool_input, tool_response, tool_use_id } => Own::Tool {
            tool_name: dialect.tool_name(tool_name),
            tool_input,
            tool_response: Some(tool_response),
            tool_use_id,
        },
        HookEvent::Stop { stop_hook_active, last_assistant_message } => {
            Own::Stop { stop_hook_active: *stop_hook_active, last_assistant_message: message(last_assistant_message) }
        }
        HookEvent::SubagentStop { agent, agent_type, stop_hook_active, last_assistant_message } => Own::Subagent {
            agent_id: agent.id.as_str(),
            agent_type,
            agent_transcript_path: match (&transcripts.subagent, dialect) {
                (Some(path), _) => Nullable::Text(path),
                (None, Dialect::Codex) => Nullable::Null,
                (None, Dialect::ClaudeCode) => Nullable::Text(""),
            },
            stop_hook_active: *stop_hook_active,
            last_assistant_message: message(last_assistant_message),
        },
        HookEvent::SessionEnd { reason } => Own::End { reason },
    }
}
