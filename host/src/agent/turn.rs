//! One turn: from what the user says to what the model says last.

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;
use uuid::Uuid;

use super::model::{Answer, Request, RequestHeader};
use super::record::{self, Fields};
use super::{Agent, conversation};
use crate::error::{Code, Error, Result};
use crate::hooks::{HookEvent, SessionSource};

/// The most requests of one turn: a model that asks for more goes round in circles.
const MAX_REQUESTS: usize = 500;

/// The most calls of one answer that are made: far more than a model has sense for, and each is a process.
const MAX_CALLS: usize = 128;

/// How often the hooks may send a model back to work that thinks it is done.
const MAX_SENT_BACK: usize = 5;

/// How a turn ended that did not fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TurnEnd {
    /// The model had nothing more to do.
    Done {
        /// What it said last.
        text: Option<String>,
    },
    /// A hook did not let the prompt through.
    Blocked {
        /// Why, in the hook's words.
        reason: String,
    },
    /// A hook stopped the turn.
    Stopped {
        /// Why, in the hook's words.
        reason: String,
    },
}

impl TurnEnd {
    fn outcome(&self) -> (&'static str, Option<&str>) {
        match self {
            Self::Done { .. } => ("done", None),
            Self::Blocked { reason } => ("blocked", Some(reason)),
            Self::Stopped { reason } => ("stopped", Some(reason)),
        }
    }
}

/// Where a turn is.
pub(super) struct Turn {
    pub(super) id: String,
    /// How often the hooks have sent the model back to work.
    sent_back: usize,
}

impl Agent {
    /// One turn. When it has ended, all of it is on disk, unless it was blocked: then it is with the next.
    ///
    /// # Errors
    /// `model-failed` and those of the session's log. Nothing of the turn is on disk then, and a `turn/failed`
    /// is recorded for the next.
    pub async fn turn(&mut self, prompt: &str) -> Result<TurnEnd> {
        let turn = Turn { id: Uuid::now_v7().to_string(), sent_back: 0 };
        let id = turn.id.clone();
        match self.run(turn, prompt).await {
            Ok(end) => Ok(end),
            Err(error) => {
                // What failed is what counts, also where this cannot be recorded for the same reason.
                let _ = self.record(record::TURN_FAILED, record::turn_failed(&id, &error));
                Err(error)
            }
        }
    }

    async fn run(&mut self, mut turn: Turn, prompt: &str) -> Result<TurnEnd> {
        self.record(record::TURN_START, record::turn(&turn.id))?;
        let mut end = None;
        if !self.greeted {
            self.greeted = true;
            let source = if self.resumed { SessionSource::Resume } else { SessionSource::Startup };
            let outcome = self.fire(Some(&turn), HookEvent::SessionStart { source }).await;
            end = self.heed(&outcome);
        }
        if end.is_none() {
            let outcome = self.fire(Some(&turn), HookEvent::UserPromptSubmit { prompt: prompt.to_owned() }).await;
            end = self.heed(&outcome);
            if end.is_none() && outcome.is_denied() {
                end = Some(TurnEnd::Blocked { reason: outcome.reason.unwrap_or_default() });
            }
        }
        let end = match end {
            Some(end) => end,
            None => {
                self.record(record::USER_MESSAGE, record::user_message(prompt))?;
                self.tell_context()?;
                self.converse(&mut turn).await?
            }
        };
        let (outcome, reason) = end.outcome();
        self.record(record::TURN_END, record::turn_end(&turn.id, outcome, reason))?;
        // Of a prompt that did not get through nothing came, so a log that is not there yet does not begin with it.
        if !matches!(end, TurnEnd::Blocked { .. }) {
            off_the_runtime(|| self.session.checkpoint())?;
        }
        Ok(end)
    }

    /// Requests and tool calls, until the model has nothing more to do.
    async fn converse(&mut self, turn: &mut Turn) -> Result<TurnEnd> {
        for _ in 0..MAX_REQUESTS {
            self.tell_of_completed_jobs()?;
            let request = self.request()?;
            let mut answer = self.model.answer(&request).await?;
            let left_out = answer.tool_calls.len().saturating_sub(MAX_CALLS);
            answer.tool_calls.truncate(MAX_CALLS);
            let ids: Vec<_> = answer.tool_calls.iter().map(|_| Uuid::now_v7().to_string()).collect();
            self.record(record::ASSISTANT_MESSAGE, record::assistant_message(&answer, &ids))?;
            let Answer { text, tool_calls } = answer;
            let end = if tool_calls.is_empty() {
                self.stop(turn, text).await?
            } else {
                self.call_tools(turn, ids.into_iter().zip(tool_calls).collect()).await?
            };
            if let Some(end) = end {
                return Ok(end);
            }
            if left_out > 0 {
                self.tell(format!("[{left_out} more calls were not made: at most {MAX_CALLS} are in one answer]"))?;
            }
        }
        let message = format!(
            "the model has asked for tools in {MAX_REQUESTS} requests of one turn and is not done: the turn ends here; ask for less in one turn"
        );
        Err(Error::host(Code::ModelFailed, message))
    }

    /// The model is done, unless a hook sends it back to work.
    async fn stop(&mut self, turn: &mut Turn, text: Option<String>) -> Result<Option<TurnEnd>> {
        let event = self.ending(turn.sent_back > 0, text.clone());
        let outcome = self.fire(Some(turn), event).await;
        if let Some(end) = self.heed(&outcome) {
            return Ok(Some(end));
        }
        if outcome.is_denied() && turn.sent_back < MAX_SENT_BACK {
            turn.sent_back += 1;
            self.tell(outcome.reason.unwrap_or_default())?;
            self.tell_context()?;
            return Ok(None);
        }
        Ok(Some(TurnEnd::Done { text }))
    }

    /// What the model is asked next. Its header is recorded when it is another than before.
    fn request(&mut self) -> Result<Request> {
        let header = RequestHeader { model: self.model.name().to_owned(), tools: self.tools.describe() };
        if self.recorded_header.as_ref() != Some(&header) {
            self.record(record::REQUEST_HEADER, record::request_header(&header))?;
            self.recorded_header = Some(header.clone());
        }
        Ok(Request { header, messages: conversation::messages(self.session.events()) })
    }

    /// Tells the model of background jobs that have ended, of each once.
    fn tell_of_completed_jobs(&mut self) -> Result<()> {
        for job in self.tools.executor().completions(&self.caller().owner()) {
            let text = crate::tools::completion_notice(&job);
            self.record(record::JOB_COMPLETED, record::job_completed(&job, &text))?;
        }
        Ok(())
    }

    pub(super) fn tell(&mut self, text: String) -> Result<()> {
        self.record(record::USER_MESSAGE, record::user_message(&text))
    }

    pub(super) fn record(&mut self, kind: &str, fields: Fields) -> Result<()> {
        let event = self.session.append(kind, fields)?;
        (self.observer)(event);
        Ok(())
    }
}

/// Does what waits for the disk. Other tasks go on meanwhile where there are threads for them.
fn off_the_runtime<T>(work: impl FnOnce() -> T) -> T {
    match Handle::try_current().map(|runtime| runtime.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => block_in_place(work),
        _ => work(),
    }
}
