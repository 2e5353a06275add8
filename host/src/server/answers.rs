//! Answers on their way to a client.
//!
//! They are written in the order in which they are ready. How many there are is bounded by the requests that a
//! connection may have, and how many bytes they have by a limit: an answer that has no room becomes an error.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde::Serialize;
use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::time::timeout;

use super::counts::Counter;
use super::gauge::Inside;
use super::limit::Limit;
use super::request::{Id, Refusal};
use crate::error::Error;
use crate::protocol::{ErrorObject, JSONRPC};

/// A result as JSON, or why there is none.
pub(super) type Outcome = Result<Vec<u8>, Refusal>;

/// What a request keeps until its answer is written.
#[derive(Debug)]
pub(super) struct Kept {
    _place: OwnedSemaphorePermit,
    _in_flight: Option<Inside>,
}

impl Kept {
    /// A place among the requests of a connection, and that the request is under way unless it was refused at once.
    pub(super) fn new(place: OwnedSemaphorePermit, in_flight: Option<Inside>) -> Self {
        Self { _place: place, _in_flight: in_flight }
    }
}

#[derive(Debug)]
struct Answer {
    line: Vec<u8>,
    _kept: Kept,
}

/// Where answers of one connection go; every clone is the same.
#[derive(Clone, Debug)]
pub(super) struct Answers {
    sender: mpsc::UnboundedSender<Answer>,
    waiting: Arc<AtomicUsize>,
    most: usize,
    counter: Counter,
}

/// Answers that wait to be written.
#[derive(Debug)]
pub(super) struct Queue {
    receiver: mpsc::UnboundedReceiver<Answer>,
    waiting: Arc<AtomicUsize>,
}

/// Answers, of which at most so many bytes wait.
pub(super) fn answers(most: usize, counter: Counter) -> (Answers, Queue) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let waiting = Arc::<AtomicUsize>::default();
    (Answers { sender, waiting: Arc::clone(&waiting), most, counter }, Queue { receiver, waiting })
}

impl Answers {
    /// Answers a request. One for which nobody waits is forgotten here, with what it kept.
    pub(super) fn send(&self, id: Option<&Id>, outcome: Outcome, kept: Kept) {
        let mut line = self.line(id, outcome);
        if !self.take_room(line.len()) {
            line = self.line(id, Err(Refusal::over(Limit::WaitingAnswerBytes, self.most)));
            self.waiting.fetch_add(line.len(), Ordering::AcqRel);
        }
        // An error means that the client is gone.
        let _ = self.sender.send(Answer { line, _kept: kept });
    }

    /// Waits until nobody writes answers any more.
    pub(super) async fn closed(&self) {
        self.sender.closed().await;
    }

    /// Takes room for an answer. One that is alone always has it, or it could never be given.
    fn take_room(&self, bytes: usize) -> bool {
        let taken = self.waiting.fetch_update(Ordering::AcqRel, Ordering::Acquire, |waiting| {
            let after = waiting + bytes;
            (waiting == 0 || after <= self.most).then_some(after)
        });
        taken.is_ok()
    }

    fn line(&self, id: Option<&Id>, outcome: Outcome) -> Vec<u8> {
        if let Err(refusal) = &outcome {
            self.counter.failed();
            if let Some(limit) = refusal.limit {
                self.counter.refused(limit);
            }
        }
        line(id, outcome)
    }
}

impl Queue {
    /// Writes answers until there are no more.
    ///
    /// # Errors
    /// What the output says; `TimedOut` where the client took nothing for so long.
    pub(super) async fn write_to(mut self, mut output: impl AsyncWrite + Unpin, silence: Duration) -> io::Result<()> {
        while let Some(answer) = self.receiver.recv().await {
            let mut rest = answer.line.as_slice();
            while !rest.is_empty() {
                let written = timeout(silence, output.write(rest)).await??;
                rest = rest.get(written..).filter(|_| written > 0).ok_or(io::ErrorKind::WriteZero)?;
            }
            timeout(silence, output.flush()).await??;
            self.waiting.fetch_sub(answer.line.len(), Ordering::AcqRel);
        }
        timeout(silence, output.shutdown()).await?
    }
}

/// An answer as it is written.
pub(super) fn line(id: Option<&Id>, outcome: Outcome) -> Vec<u8> {
    #[derive(Serialize)]
    struct Failed<'a> {
        jsonrpc: &'static str,
        id: Option<&'a Id>,
        error: ErrorObject<Error>,
    }

    let mut line = match outcome {
        Ok(result) => {
            let id = serde_json::to_string(&id).unwrap_or_default();
            let mut line = format!("{{\"jsonrpc\":\"{JSONRPC}\",\"id\":{id},\"result\":").into_bytes();
            line.extend_from_slice(&result);
            line.push(b'}');
            line
        }
        Err(Refusal { code, error, .. }) => {
            let error = ErrorObject { code: code.number(), message: error.to_string(), data: Some(error) };
            serde_json::to_vec(&Failed { jsonrpc: JSONRPC, id, error }).unwrap_or_default()
        }
    };
    line.push(b'\n');
    line
}
