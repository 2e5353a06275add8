//! A model that says what it was told to say: the whole path, without a key or a network.

use std::collections::VecDeque;

use serde::Deserialize;
use serde_json::Value;

use super::model::{Answer, BoxFuture, Model, Request};
use crate::error::{Code, Error, Result};
use crate::text::shown;
use crate::tools::ToolCall;

/// Answers, in order: a JSON array of objects that each have `text`, `tool_calls` or both. Each tool call is
/// `{"name", "arguments"}`.
#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    answers: VecDeque<Answer>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    tool_calls: Vec<Call>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    name: String,
    #[serde(default)]
    arguments: Value,
    /// Models give their calls ids; the loop gives its own.
    #[serde(default, rename = "id")]
    _id: Option<String>,
}

impl Script {
    /// Reads a script.
    ///
    /// # Errors
    /// `invalid-configuration` for anything else than such an array, and for an answer that says nothing.
    pub fn parse(text: &str) -> Result<Self> {
        let lines: Vec<Line> = serde_json::from_str(text).map_err(|error| invalid(&error.to_string()))?;
        let mut answers = VecDeque::with_capacity(lines.len());
        for (at, Line { text, tool_calls }) in lines.into_iter().enumerate() {
            if text.is_none() && tool_calls.is_empty() {
                return Err(invalid(&format!("answer {} has neither \"text\" nor \"tool_calls\"", at + 1)));
            }
            let tool_calls =
                tool_calls.into_iter().map(|call| ToolCall { name: call.name, arguments: call.arguments }).collect();
            answers.push_back(Answer { text, tool_calls });
        }
        Ok(Self { answers })
    }

    /// How many turns the script has: each ends with an answer without tool calls, or with the script.
    #[must_use]
    pub fn turns(&self) -> usize {
        let ends = self.answers.iter().filter(|answer| answer.tool_calls.is_empty()).count();
        let open = self.answers.back().is_some_and(|last| !last.tool_calls.is_empty());
        ends + usize::from(open)
    }
}

/// Gives the answers of a script, one for each request.
#[derive(Debug)]
pub struct ScriptedModel {
    script: Script,
}

impl ScriptedModel {
    /// A model that follows `script`. Once that is at its end, it has nothing more to say, which ends a turn.
    #[must_use]
    pub fn new(script: Script) -> Self {
        Self { script }
    }
}

impl Model for ScriptedModel {
    fn name(&self) -> &'static str {
        "scripted"
    }

    fn answer<'a>(&'a mut self, _: &'a Request) -> BoxFuture<'a, Result<Answer>> {
        let answer = self.script.answers.pop_front().unwrap_or_default();
        Box::pin(std::future::ready(Ok(answer)))
    }
}

fn invalid(why: &str) -> Error {
    let message = format!(
        "the script cannot be used: {}; it is a JSON array of answers such as {{\"tool_calls\": [{{\"name\": \"bash\", \"arguments\": {{\"command\": \"pwd\"}}}}]}} or {{\"text\": \"done\"}}",
        shown(why)
    );
    Error::host(Code::InvalidConfiguration, message)
}
