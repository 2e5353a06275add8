//! Requests and answers as chat endpoints write them.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::agent::conversation::{Message, RecordedCall};
use crate::agent::model::{Answer, Request};
use crate::text::shown_within;
use crate::tools::{ToolCall, ToolDescription};

/// The most bytes of an endpoint's text that a message repeats.
const MAX_SHOWN_BYTES: usize = 200;

/// The body of a request.
pub(super) fn request(request: &Request) -> Value {
    let messages: Vec<_> = request.messages.iter().map(message).collect();
    let tools: Vec<_> = request.header.tools.iter().map(tool).collect();
    json!({ "model": request.header.model, "messages": messages, "tools": tools })
}

fn tool(ToolDescription { name, description, parameters }: &ToolDescription) -> Value {
    json!({ "type": "function", "function": { "name": name, "description": description, "parameters": parameters } })
}

fn message(message: &Message) -> Value {
    match message {
        Message::User(text) => json!({ "role": "user", "content": text }),
        Message::Assistant { text, calls } if calls.is_empty() => {
            json!({ "role": "assistant", "content": text.as_deref().unwrap_or_default() })
        }
        Message::Assistant { text, calls } => {
            let calls: Vec<_> = calls.iter().map(call).collect();
            json!({ "role": "assistant", "content": text, "tool_calls": calls })
        }
        Message::Tool { call_id, output } => {
            json!({ "role": "tool", "tool_call_id": call_id, "content": output })
        }
    }
}

/// Arguments are text in this dialect. Text that the model sent and that was no JSON goes back as it came.
fn call(RecordedCall { id, name, arguments }: &RecordedCall) -> Value {
    let arguments = match arguments {
        Value::String(text) => text.clone(),
        arguments => arguments.to_string(),
    };
    json!({ "id": id, "type": "function", "function": { "name": name, "arguments": arguments } })
}

#[derive(Deserialize)]
struct Body {
    choices: Vec<Choice>,
}

#[derive(Deserialize)]
struct Choice {
    message: Spoken,
    #[serde(default)]
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Spoken {
    #[serde(default)]
    content: Option<String>,
    #[serde(default)]
    refusal: Option<String>,
    #[serde(default)]
    tool_calls: Option<Vec<Wanted>>,
}

#[derive(Deserialize)]
struct Wanted {
    function: Function,
}

#[derive(Deserialize)]
struct Function {
    name: String,
    #[serde(default)]
    arguments: Value,
}

/// Reads an answer. `without_key` is applied to what is repeated of one that is none.
///
/// # Errors
/// What is wrong with it, in words.
pub(super) fn answer(body: &[u8], without_key: impl Fn(&str) -> String) -> Result<Answer, String> {
    let Body { choices } = serde_json::from_slice(body).map_err(|error| {
        let start = without_key(&String::from_utf8_lossy(body));
        format!("what it answered is no chat completion ({error}): {}", shown_within(&start, MAX_SHOWN_BYTES))
    })?;
    let Some(Choice { message, finish_reason }) = choices.into_iter().next() else {
        return Err("its answer has no choice in it".to_owned());
    };
    let text = message.content.or(message.refusal).filter(|text| !text.is_empty());
    let tool_calls: Vec<_> = message
        .tool_calls
        .unwrap_or_default()
        .into_iter()
        .map(|Wanted { function: Function { name, arguments } }| ToolCall { name, arguments: read(arguments) })
        .collect();
    // Cut off in the middle of a call, an answer may well look like a whole one.
    if finish_reason.as_deref() == Some("length") && !tool_calls.is_empty() {
        return Err("its answer was cut off in the middle of a tool call: allow the model longer answers".to_owned());
    }
    Ok(Answer { text, tool_calls })
}

/// Arguments are JSON in a string, or, from some endpoints, JSON itself. Text that is no JSON stays what it is:
/// the tool tells the model that it is not what it wants.
fn read(arguments: Value) -> Value {
    match arguments {
        Value::String(text) if text.trim().is_empty() => json!({}),
        Value::String(text) => serde_json::from_str(&text).unwrap_or(Value::String(text)),
        arguments => arguments,
    }
}

/// What an endpoint says went wrong: `error.message` where it follows the custom, else the body.
pub(super) fn complaint(body: &[u8]) -> String {
    let told = serde_json::from_slice::<Value>(body).ok().and_then(|body| {
        let error = body.get("error")?;
        Some(error.get("message").unwrap_or(error).as_str()?.to_owned())
    });
    told.unwrap_or_else(|| String::from_utf8_lossy(body).trim().to_owned())
}
