//! What answers.

use std::pin::Pin;

use serde::Serialize;

use super::conversation::Message;
use crate::error::Result;
use crate::tools::{ToolCall, ToolDescription};

/// A future that an object-safe trait can return.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Answers requests: a service, or a script.
pub trait Model: Send {
    /// The name of the model, as it is recorded.
    fn name(&self) -> &str;

    /// The next answer.
    ///
    /// # Errors
    /// `model-failed`, with what to do about it. The turn ends then.
    fn answer<'a>(&'a mut self, request: &'a Request) -> BoxFuture<'a, Result<Answer>>;
}

/// What is asked of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// What is the same in every request.
    pub header: RequestHeader,
    /// The conversation so far, oldest first.
    pub messages: Vec<Message>,
}

/// What a model is shown in every request. There is no prompt text beside it: what a model knows of the
/// harness it knows from the descriptions of its tools.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RequestHeader {
    /// The name of the model.
    pub model: String,
    /// The tools that it may call.
    pub tools: Vec<ToolDescription>,
}

/// What a model answers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// What it says.
    pub text: Option<String>,
    /// What it wants done. None: its turn is over.
    pub tool_calls: Vec<ToolCall>,
}
