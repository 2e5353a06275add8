//! The conversation, as the events of a session tell it.
//!
//! It is made of the events alone, so that a session that was resumed or forked goes on where it was.

use std::collections::BTreeMap;

use serde_json::Value;

use super::record;
use crate::sessions::Event;

/// One message to or from a model.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// From the user, or from the harness on nobody's behalf.
    User(String),
    /// From the model.
    Assistant {
        /// What it said.
        text: Option<String>,
        /// What it wanted done.
        calls: Vec<RecordedCall>,
    },
    /// What a call came to.
    Tool {
        /// The call.
        call_id: String,
        /// What the model is told.
        output: String,
    },
}

/// A tool call of a message.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedCall {
    /// The id that the loop gave it.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments, as the model sent them.
    pub arguments: Value,
}

/// Told of a call whose result was never recorded, since every call must have one.
const INTERRUPTED: &str = "[interrupted: the result of this call is not known]";

/// The messages of a session, oldest first. Events of other kinds say nothing to a model.
pub(super) fn messages(events: &[Event]) -> Vec<Message> {
    let mut messages = Vec::new();
    let mut pending = Pending::default();
    for event in events {
        let text = || event.fields.get("text").and_then(Value::as_str).map(str::to_owned);
        match event.kind.as_str() {
            record::USER_MESSAGE | record::JOB_COMPLETED => {
                pending.flush(&mut messages);
                messages.extend(text().map(Message::User));
            }
            record::ASSISTANT_MESSAGE => {
                pending.flush(&mut messages);
                let calls = calls(event);
                pending.ids = calls.iter().map(|call| call.id.clone()).collect();
                messages.push(Message::Assistant { text: text(), calls });
            }
            record::TOOL_RESULT => pending.take(event),
            _ => {}
        }
    }
    pending.flush(&mut messages);
    messages
}

/// The results of the calls of one message. They are recorded as they come and told in the calls' order.
#[derive(Default)]
struct Pending {
    ids: Vec<String>,
    results: BTreeMap<String, String>,
}

impl Pending {
    fn take(&mut self, event: &Event) {
        let field = |name: &str| event.fields.get(name).and_then(Value::as_str);
        if let (Some(id), Some(output)) = (field("callId"), field("output")) {
            self.results.insert(id.to_owned(), output.to_owned());
        }
    }

    fn flush(&mut self, messages: &mut Vec<Message>) {
        let mut results = std::mem::take(&mut self.results);
        messages.extend(std::mem::take(&mut self.ids).into_iter().map(|call_id| {
            let output = results.remove(&call_id).unwrap_or_else(|| INTERRUPTED.to_owned());
            Message::Tool { call_id, output }
        }));
    }
}

fn calls(event: &Event) -> Vec<RecordedCall> {
    let recorded = event.fields.get("toolCalls").and_then(Value::as_array);
    let text = |call: &Value, name: &str| Some(call.get(name)?.as_str()?.to_owned());
    recorded
        .into_iter()
        .flatten()
        .filter_map(|call| {
            let arguments = call.get("arguments").cloned().unwrap_or_default();
            Some(RecordedCall { id: text(call, "callId")?, name: text(call, "name")?, arguments })
        })
        .collect()
}
