//! The tool calls of one answer: the hooks are asked about each, then those that may run do, all at the same time.

use serde_json::Value;
use tokio::task::JoinSet;

use super::turn::{Turn, TurnEnd};
use super::{Agent, record};
use crate::error::{Code, Error, Result};
use crate::hooks::{Decision, HookEvent, HookOutcome};
use crate::tools::{ToolCall, ToolResult};

impl Agent {
    /// Does what the model wants done, and says whether a hook stopped the turn. Each call has the id that it is
    /// recorded under.
    pub(super) async fn call_tools(&mut self, turn: &Turn, calls: Vec<(String, ToolCall)>) -> Result<Option<TurnEnd>> {
        let mut running = JoinSet::new();
        let mut end = None;
        for (id, mut call) in calls {
            let outcome = self.fire(Some(turn), before(&id, &call)).await;
            if let Some(input) = &outcome.updated_input {
                call.arguments = input.clone();
            }
            self.record(record::TOOL_CALL, record::tool_call(&id, &call))?;
            let stopped = self.heed(&outcome);
            let refused = refusal(&outcome).or_else(|| stopped.as_ref().map(|_| "the turn was stopped".to_owned()));
            end = end.or(stopped);
            if let Some(why) = refused {
                let result = ToolResult::failed(format!("not called: {why}"));
                self.record(record::TOOL_RESULT, record::tool_result(&id, &call.name, &result))?;
                continue;
            }
            let (tools, caller) = (self.tools.clone(), self.caller());
            running.spawn(async move {
                let result = tools.call(&caller, &call, std::future::pending()).await;
                (id, call, result)
            });
        }
        while let Some(done) = running.join_next().await {
            let (id, call, mut result) =
                done.map_err(|error| Error::host(Code::Internal, format!("a tool call broke off: {error}")))?;
            let outcome = self.fire(Some(turn), after(&id, &call, &result)).await;
            end = end.or(self.heed(&outcome));
            if let (Decision::Deny, Some(reason)) = (outcome.decision, &outcome.reason) {
                result.output = format!("{}\n[a hook says: {reason}]", result.output);
            }
            self.record(record::TOOL_RESULT, record::tool_result(&id, &call.name, &result))?;
        }
        self.tell_context()?;
        Ok(end)
    }
}

fn before(id: &str, call: &ToolCall) -> HookEvent {
    HookEvent::PreToolUse {
        tool_name: call.name.clone(),
        tool_input: call.arguments.clone(),
        tool_use_id: id.to_owned(),
    }
}

fn after(id: &str, call: &ToolCall, result: &ToolResult) -> HookEvent {
    HookEvent::PostToolUse {
        tool_name: call.name.clone(),
        tool_input: call.arguments.clone(),
        tool_response: serde_json::to_value(result).unwrap_or(Value::Null),
        tool_use_id: id.to_owned(),
    }
}

/// Why a call is not made, if the hooks do not let it through. Nobody is there to be asked, so what needs a
/// person's word is not done.
fn refusal(outcome: &HookOutcome) -> Option<String> {
    let reason = outcome.reason.as_deref().unwrap_or("it does not say why");
    match outcome.decision {
        Decision::Deny => Some(reason.to_owned()),
        Decision::Ask => Some(format!("a hook wants a person to be asked, and nobody is there: {reason}")),
        Decision::Allow | Decision::None => None,
    }
}
