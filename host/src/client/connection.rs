//! One line there, one line back.

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{SHORTEST, answer, question};
use crate::error::{Code, Error};
use crate::protocol::{MAX_LINE_BYTES, MAX_REPLY_BYTES, Method};

/// What is read at once: the answer to nearly every question.
const CHUNK_BYTES: usize = 16 * 1024;

/// Why a question has no answer.
#[derive(Debug)]
pub(super) enum Trouble {
    /// The server says that it failed or refuses.
    Said(Error),
    /// It says nothing, or not all of it, in time.
    Late,
    /// What comes back is no answer; in words that go on from "the server".
    Lost(String),
}

/// A connection on which one question at a time is asked.
#[derive(Debug)]
pub(super) struct Connection {
    stream: UnixStream,
    questions: u64,
}

impl Connection {
    pub(super) fn new(stream: UnixStream) -> Self {
        Self { stream, questions: 0 }
    }

    /// Asks, and waits `time` for the answer.
    pub(super) fn exchange<R: DeserializeOwned>(
        &mut self,
        method: Method,
        parameters: Option<&impl Serialize>,
        time: Duration,
    ) -> Result<R, Trouble> {
        let until = Instant::now() + time;
        self.questions += 1;
        let id = self.questions;
        let line = question::line(id, method, parameters)
            .map_err(|error| Trouble::Said(Error::host(Code::InvalidRequest, format!("it cannot be sent: {error}"))))?;
        if line.len() > MAX_LINE_BYTES {
            let message =
                format!("{} has {} bytes; a server takes {MAX_LINE_BYTES}: send less", method.as_str(), line.len());
            return Err(Trouble::Said(Error::host(Code::InvalidRequest, message)));
        }
        match self.write(&line, until) {
            // It may have said why it reads no more.
            Err(error) if is_end(&error) => {}
            written => written.map_err(|error| trouble(&error))?,
        }
        answer::read(&self.read_line(until)?, id)
    }

    fn write(&mut self, mut line: &[u8], until: Instant) -> io::Result<()> {
        while !line.is_empty() {
            self.stream.set_write_timeout(Some(left(until)?))?;
            match self.stream.write(line) {
                Ok(written) => line = line.get(written..).unwrap_or_default(),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn read_line(&mut self, until: Instant) -> Result<Vec<u8>, Trouble> {
        let mut line = Vec::new();
        let mut chunk = [0; CHUNK_BYTES];
        loop {
            let read = self.read(&mut chunk, until).map_err(|error| trouble(&error))?;
            let read = chunk.get(..read).unwrap_or_default();
            if read.is_empty() {
                let why = if line.is_empty() { "ended the connection" } else { "ended in the middle of its answer" };
                return Err(Trouble::Lost(why.to_owned()));
            }
            let end = read.iter().position(|byte| *byte == b'\n');
            let (part, rest) = read.split_at(end.unwrap_or(read.len()));
            if line.len() + part.len() > MAX_REPLY_BYTES {
                return Err(Trouble::Lost(format!("answered with over {MAX_REPLY_BYTES} bytes")));
            }
            line.extend_from_slice(part);
            match rest {
                [] => {}
                [_newline] => return Ok(line),
                _ => return Err(Trouble::Lost("said more than it was asked".to_owned())),
            }
        }
    }

    fn read(&mut self, chunk: &mut [u8], until: Instant) -> io::Result<usize> {
        loop {
            self.stream.set_read_timeout(Some(left(until)?))?;
            match self.stream.read(chunk) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                read => return read,
            }
        }
    }
}

/// How long there is still to wait.
fn left(until: Instant) -> io::Result<Duration> {
    let left = until.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(ErrorKind::TimedOut.into()) } else { Ok(left.max(SHORTEST)) }
}

fn is_end(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset)
}

fn trouble(error: &io::Error) -> Trouble {
    match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => Trouble::Late,
        _ => Trouble::Lost(format!("broke the connection ({error})")),
    }
}
