//! The events of the loop: what a session's log says of them.

use serde_json::{Map, Value, json};

use super::model::{Answer, RequestHeader};
use crate::executor::JobCompleted;
use crate::hooks::HookOutcome;
use crate::tools::{ToolCall, ToolResult};

pub(super) const TURN_START: &str = "turn/start";
pub(super) const TURN_END: &str = "turn/end";
pub(super) const TURN_FAILED: &str = "turn/failed";
pub(super) const USER_MESSAGE: &str = "user/message";
pub(super) const ASSISTANT_MESSAGE: &str = "assistant/message";
pub(super) const REQUEST_HEADER: &str = "request/header";
pub(super) const TOOL_CALL: &str = "tool/call";
pub(super) const TOOL_RESULT: &str = "tool/result";
pub(super) const JOB_COMPLETED: &str = "job/completed";
pub(super) const HOOK_REPORT: &str = "hook/report";

/// What an event says beside its type.
pub(super) type Fields = Map<String, Value>;

/// The fields of a JSON object; there is nothing in any other value.
fn fields(value: Value) -> Fields {
    match value {
        Value::Object(fields) => fields,
        _ => Fields::new(),
    }
}

pub(super) fn turn(id: &str) -> Fields {
    fields(json!({ "turnId": id }))
}

pub(super) fn turn_end(id: &str, outcome: &str, reason: Option<&str>) -> Fields {
    let mut end = fields(json!({ "turnId": id, "outcome": outcome }));
    if let Some(reason) = reason {
        end.insert("reason".to_owned(), reason.into());
    }
    end
}

pub(super) fn turn_failed(id: &str, error: &crate::Error) -> Fields {
    fields(json!({ "turnId": id, "error": error }))
}

pub(super) fn user_message(text: &str) -> Fields {
    fields(json!({ "text": text }))
}

/// `calls` are the ids that the loop gave to the answer's calls.
pub(super) fn assistant_message(answer: &Answer, calls: &[String]) -> Fields {
    let calls: Vec<_> = answer
        .tool_calls
        .iter()
        .zip(calls)
        .map(|(call, id)| json!({ "callId": id, "name": call.name, "arguments": call.arguments }))
        .collect();
    let mut message = Fields::new();
    if let Some(text) = &answer.text {
        message.insert("text".to_owned(), text.as_str().into());
    }
    if !calls.is_empty() {
        message.insert("toolCalls".to_owned(), calls.into());
    }
    message
}

pub(super) fn request_header(header: &RequestHeader) -> Fields {
    serde_json::to_value(header).map(fields).unwrap_or_default()
}

/// `call` is what is done, which a hook may have changed.
pub(super) fn tool_call(id: &str, call: &ToolCall) -> Fields {
    fields(json!({ "callId": id, "name": call.name, "arguments": call.arguments }))
}

pub(super) fn tool_result(id: &str, name: &str, result: &ToolResult) -> Fields {
    let mut all = fields(json!({ "callId": id, "name": name }));
    all.extend(serde_json::to_value(result).map(fields).unwrap_or_default());
    all
}

pub(super) fn job_completed(JobCompleted { status }: &JobCompleted, text: &str) -> Fields {
    fields(json!({ "job": status.job.as_str(), "text": text }))
}

/// What the hooks of one event came to; nothing where none ran.
pub(super) fn hook_report(event: &str, outcome: &HookOutcome) -> Option<Fields> {
    (!outcome.reports.is_empty()).then(|| {
        fields(json!({
            "event": event,
            "decision": outcome.decision,
            "messages": outcome.system_messages,
            "hooks": outcome.reports,
        }))
    })
}
