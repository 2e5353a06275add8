mod answers;
mod files;
mod matchers;
mod merging;
mod payloads;
#[cfg(unix)]
mod processes;
mod transcripts;

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use super::*;
use crate::contract::{SessionHeader, SessionId};
use crate::sessions::{ActivePersistence, Compression, JsonlPersistence, SessionsRoot};

/// A session that was started for `/srv`.
fn session(id: &str) -> SessionHeader {
    SessionHeader::new(SessionId::new(id).unwrap()).with_cwd("/srv")
}

/// Within a turn of the session `s1`.
fn context() -> HookContext {
    HookContext {
        session: session("s1"),
        cwd: "/srv".into(),
        model: "scripted".to_owned(),
        permission_mode: "default".to_owned(),
        turn_id: Some("t1".to_owned()),
    }
}

/// A service that keeps logs below `root`.
fn jsonl(root: &Path, compression: Compression) -> ActivePersistence {
    ActivePersistence::new(Arc::new(JsonlPersistence::new(SessionsRoot::new(root).unwrap(), compression)))
}

fn start() -> HookEvent {
    HookEvent::SessionStart { source: SessionSource::Startup }
}

fn prompt() -> HookEvent {
    HookEvent::UserPromptSubmit { prompt: "do it".to_owned() }
}

fn before(tool: &str) -> HookEvent {
    HookEvent::PreToolUse { tool_name: tool.to_owned(), tool_input: input(), tool_use_id: "call-1".to_owned() }
}

fn after(tool: &str) -> HookEvent {
    HookEvent::PostToolUse {
        tool_name: tool.to_owned(),
        tool_input: input(),
        tool_response: json!({"exitCode": 0, "stdout": "ä\n"}),
        tool_use_id: "call-1".to_owned(),
    }
}

fn input() -> Value {
    json!({"command": "git status", "timeoutMs": 5})
}

fn stop() -> HookEvent {
    HookEvent::Stop { stop_hook_active: false, last_assistant_message: Some("Done.".to_owned()) }
}

fn subagent_stop() -> HookEvent {
    HookEvent::SubagentStop {
        agent: session("s2"),
        agent_type: "explorer".to_owned(),
        stop_hook_active: true,
        last_assistant_message: None,
    }
}

fn end() -> HookEvent {
    HookEvent::SessionEnd { reason: "other".to_owned() }
}

/// One event of each name.
fn every_event() -> [HookEvent; 7] {
    [start(), prompt(), before("bash"), after("bash"), stop(), subagent_stop(), end()]
}
