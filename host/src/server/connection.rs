//! One client: its lines are read one after the other, its requests run at once, its answers are written as they
//! are ready.
//!
//! A line is read only when there is a place for its answer. A client that stops sending is answered all the same;
//! one that stops reading, or is gone, ends only what it asked for itself.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::Shared;
use super::answers::{Answers, Kept, Outcome, answers};
use super::gauge::Inside;
use super::limit::Limit;
use super::lines::{Line, Lines, Read};
use super::request::{self, Refusal, Request};
use super::role::Role;
use super::stopper::Phase;
use crate::error::{Code, Error};
use crate::protocol::Method;

/// How long a client has, at the very end, to take what was said.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// A client, from the server's side.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) shared: Arc<Shared>,
    /// The number of the connection, in events.
    pub(super) number: u64,
    pub(super) role: Role,
    /// Whether the server ends with it.
    pub(super) is_only_one: bool,
}

impl Connection {
    /// Answers a client until it is gone or the server ends.
    pub(super) async fn serve(self, input: impl AsyncRead + Unpin, output: impl AsyncWrite + Unpin) {
        let Shared { options, counter, long_lines, stopper, .. } = &*self.shared;
        let (answers, queue) = answers(options.waiting_answer_bytes, counter.clone());
        let lines = Lines::new(input, options.line_bytes, options.half_message, long_lines.clone());
        let writing = async {
            let over = async {
                stopper.reached(Phase::Ending).await;
                sleep(LAST_WORDS).await;
            };
            let written = tokio::select! {
                written = queue.write_to(output, options.silent_reader) => written,
                () = over => Ok(()),
            };
            if let Err(error) = written {
                self.gone(&error);
            }
        };
        tokio::join!(self.read(lines, answers), writing);
        if self.is_only_one {
            stopper.advance(Phase::Draining);
        }
    }

    /// Takes requests as long as there are any, then waits until the last is answered.
    async fn read(&self, lines: Lines<impl AsyncRead + Unpin>, answers: Answers) {
        let mut requests = JoinSet::new();
        tokio::select! {
            biased;
            // Dropping the requests ends them.
            () = answers.closed() => return,
            () = self.shared.stopper.reached(Phase::Ending) => {}
            () = self.take_all(lines, &answers, &mut requests) => {}
        }
        if self.is_only_one {
            self.shared.stopper.advance(Phase::Draining);
        }
        let all_answered = async { while requests.join_next().await.is_some() {} };
        tokio::select! {
            biased;
            () = answers.closed() => {}
            () = all_answered => {}
        }
    }

    async fn take_all(&self, mut lines: Lines<impl AsyncRead + Unpin>, answers: &Answers, requests: &mut JoinSet<()>) {
        let options = &self.shared.options;
        let places = Arc::new(Semaphore::new(options.requests.max(1)));
        while let Ok(place) = Arc::clone(&places).acquire_owned().await {
            while requests.try_join_next().is_some() {}
            match lines.next().await {
                Ok(Read::Line(line)) => {
                    self.shared.counter.requested();
                    self.take(line, place, answers, requests);
                }
                Ok(Read::TooLong(limit)) => {
                    self.shared.counter.requested();
                    let shared = limit == Limit::LongLinesBytes;
                    let value = if shared { options.long_lines_bytes } else { options.line_bytes };
                    self.refuse(Refusal::over(limit, value), place, answers);
                }
                Ok(Read::Unfinished) => {
                    let milliseconds = options.half_message.as_millis();
                    return self.refuse(Refusal::over(Limit::HalfMessage, milliseconds), place, answers);
                }
                Ok(Read::End) => return,
                Err(error) => return tracing::debug!(connection = self.number, %error, "could not be read any more"),
            }
        }
    }

    /// Says of a line that it is not read.
    fn refuse(&self, refusal: Refusal, place: OwnedSemaphorePermit, answers: &Answers) {
        let limit = refusal.limit.map(Limit::as_str);
        tracing::debug!(connection = self.number, limit, "refused a line");
        answers.send(None, Err(refusal), Kept::new(place, self.under_way()));
    }

    /// That something is under way, unless the server is to end.
    fn under_way(&self) -> Option<Inside> {
        // First this, then the look: a server that is to end waits for whatever it does not refuse.
        let inside = self.shared.counter.in_flight.enter();
        (self.shared.stopper.phase() == Phase::Serving).then_some(inside)
    }

    /// Begins with a request, or says why not.
    fn take(&self, line: Line, place: OwnedSemaphorePermit, answers: &Answers, requests: &mut JoinSet<()>) {
        let began = Instant::now();
        let request = match request::read(&line.bytes, self.role) {
            Ok(request) => request,
            Err(refused) => {
                let outcome = Err(refused.refusal);
                self.tell(None, began, &outcome);
                if refused.is_answered {
                    answers.send(refused.id.as_ref(), outcome, Kept::new(place, self.under_way()));
                }
                return;
            }
        };
        let Some(in_flight) = self.under_way() else {
            let outcome = Err(stopping());
            self.tell(Some(request.method), began, &outcome);
            if request.id.is_some() {
                answers.send(request.id.as_ref(), outcome, Kept::new(place, None));
            }
            return;
        };
        let Line { bytes, held } = line;
        drop(bytes);
        let this = Self { shared: Arc::clone(&self.shared), ..*self };
        let answers = answers.clone();
        requests.spawn(async move {
            let _held = held;
            this.answer(request, Kept::new(place, Some(in_flight)), began, &answers).await;
        });
    }

    async fn answer(&self, request: Request, kept: Kept, began: Instant, answers: &Answers) {
        let (id, method) = (request.id.clone(), request.method);
        let outcome = tokio::select! {
            biased;
            outcome = self.shared.methods.answer(request) => outcome,
            () = self.shared.stopper.reached(Phase::Ending) => Err(stopping()),
        };
        self.tell(Some(method), began, &outcome);
        if id.is_some() {
            answers.send(id.as_ref(), outcome, kept);
        }
        if method == Method::Shutdown {
            self.shared.stopper.advance(Phase::Draining);
        }
    }

    fn tell(&self, method: Option<Method>, began: Instant, outcome: &Outcome) {
        let outcome = outcome.as_ref().map_or_else(|refusal| refusal.error.code().as_str(), |_| "ok");
        let method = method.map(Method::as_str);
        tracing::debug!(connection = self.number, method, took = ?began.elapsed(), outcome, "answered");
    }

    fn gone(&self, error: &io::Error) {
        if error.kind() == io::ErrorKind::TimedOut {
            self.shared.counter.refused(Limit::SilentReader);
            tracing::warn!(connection = self.number, limit = Limit::SilentReader.as_str(), "closed");
        } else {
            tracing::debug!(connection = self.number, %error, "the client is gone");
        }
    }
}

fn stopping() -> Refusal {
    let why = "this server is stopping: collect without it, or try again when another one runs";
    Error::host(Code::ServerUnavailable, why).into()
}
