//! The loop of an agent: a model, its tools, a session.
//!
//! A small one, for reference: everything that the lower layers promise meets here. A [`Model`] answers
//! requests with text or with tool calls; [`Agent::turn`] goes on until it answers with text alone. What
//! happens is an event of the session, in this order: `turn/start`, `user/message`, then for every request
//! `job/completed` for each background job that has ended, `request/header` when what the model is shown
//! has changed, `assistant/message`, and a `tool/call` and a `tool/result` for each call; at last `turn/end`,
//! and only then is the log written to disk. What a turn recorded that failed is written with the next that
//! does not; a `turn/failed` after the `turn/end` of the same turn says that it could not be written at first.
//!
//! Calls of one answer run at the same time. Users' hooks are asked before and after each.

mod calls;
mod conversation;
mod hooked;
mod model;
#[cfg(feature = "openai")]
mod openai;
mod record;
mod scripted;
mod turn;

use std::path::PathBuf;

pub use conversation::{Message, RecordedCall};
pub use model::{Answer, BoxFuture, Model, Request, RequestHeader};
#[cfg(feature = "openai")]
pub use openai::{OpenAi, OpenAiOptions};
pub use scripted::{Script, ScriptedModel};
pub use turn::TurnEnd;

use crate::error::Result;
use crate::hooks::Hooks;
use crate::sessions::{Event, Session};
use crate::tools::{Caller, Tools};

/// Is shown every event as it is recorded.
pub type Observer = Box<dyn FnMut(&Event) + Send>;

/// What an agent is made of.
pub struct AgentParts {
    /// The session, new or resumed.
    pub session: Session,
    /// What answers.
    pub model: Box<dyn Model>,
    /// What the model may call.
    pub tools: Tools,
    /// What users have hooked in.
    pub hooks: Hooks,
    /// Where commands run that do not say where.
    pub workdir: PathBuf,
    /// Whether the session was there before.
    pub resumed: bool,
}

/// An agent: one session and the model that speaks in it.
pub struct Agent {
    session: Session,
    model: Box<dyn Model>,
    tools: Tools,
    hooks: Hooks,
    workdir: PathBuf,
    resumed: bool,
    greeted: bool,
    recorded_header: Option<RequestHeader>,
    /// What hooks want the model to know and it was not told yet.
    context: Vec<String>,
    observer: Observer,
}

impl Agent {
    /// An agent of these parts, which nobody observes yet.
    #[must_use]
    pub fn new(parts: AgentParts) -> Self {
        let AgentParts { session, model, tools, hooks, workdir, resumed } = parts;
        Self {
            session,
            model,
            tools,
            hooks,
            workdir,
            resumed,
            greeted: false,
            recorded_header: None,
            context: Vec::new(),
            observer: Box::new(|_| {}),
        }
    }

    /// The same, whose events are shown to `observer` as they are recorded.
    #[must_use]
    pub fn observed_by(self, observer: impl FnMut(&Event) + Send + 'static) -> Self {
        Self { observer: Box::new(observer), ..self }
    }

    /// The session.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Who the agent is to its tools.
    #[must_use]
    pub fn caller(&self) -> Caller {
        Caller { session: Some(self.session.header().session.clone()), workdir: self.workdir.clone() }
    }

    /// A subagent of this one: a session of its own that names this one as its parent, the same tools and
    /// hooks, another model.
    ///
    /// # Errors
    /// Those of [`Session::spawn`].
    pub fn spawn(&self, model: Box<dyn Model>, agent_preset: Option<String>) -> Result<Self> {
        Ok(self.beside(self.session.spawn(agent_preset)?, model))
    }

    /// An agent that goes on from here in a session of its own, beside this one.
    ///
    /// # Errors
    /// Those of [`Session::fork`].
    pub fn fork(&self, model: Box<dyn Model>) -> Result<Self> {
        Ok(self.beside(self.session.fork(None)?, model))
    }

    fn beside(&self, session: Session, model: Box<dyn Model>) -> Self {
        Self::new(AgentParts {
            session,
            model,
            tools: self.tools.clone(),
            hooks: self.hooks.clone(),
            workdir: self.workdir.clone(),
            resumed: false,
        })
    }

    /// Ends the jobs that the session has in the background and tells the hooks that it is over. What was
    /// not written to disk is not written now either.
    pub async fn end(&mut self, reason: &str) {
        self.tools.end_owner(&self.caller().owner()).await;
        if self.greeted {
            self.fire(None, crate::hooks::HookEvent::SessionEnd { reason: reason.to_owned() }).await;
        }
    }
}

#[cfg(test)]
mod tests;
