//! Lines of a client, without making room for more than agreed.
//!
//! A line that is too long is told of as soon as it is, and its rest is skipped to the line end as it comes.

use std::io;
use std::mem::take;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};
use tokio::time::{Instant, sleep_until};

use super::limit::Limit;
use super::long_lines::{Held, LongLines};
use crate::protocol::LONG_LINE_BYTES;

/// How much is read at once, and what an idle connection has in memory.
const READ_BYTES: usize = 8 * 1024;

/// What came.
#[derive(Debug)]
pub(super) enum Read {
    /// A line, without its end; never a blank one.
    Line(Line),
    /// A line that this limit forbids; the rest of it is skipped.
    TooLong(Limit),
    /// A line did not end in time. What comes after it cannot be told from it.
    Unfinished,
    /// Nothing more comes.
    End,
}

/// A line, and its part in the memory of long ones.
#[derive(Debug, Default)]
pub(super) struct Line {
    pub(super) bytes: Vec<u8>,
    pub(super) held: Option<Held>,
}

/// Reads lines. A future of [`next`](Self::next) that is dropped loses nothing.
#[derive(Debug)]
pub(super) struct Lines<R> {
    input: BufReader<R>,
    /// The line as far as it came.
    line: Line,
    /// When it began, if it did.
    began: Option<Instant>,
    /// Whether it is skipped.
    skipping: bool,
    most: usize,
    long_lines: LongLines,
    patience: Duration,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    /// Lines of at most so many bytes, which end within so much time.
    pub(super) fn new(input: R, most: usize, patience: Duration, long_lines: LongLines) -> Self {
        let input = BufReader::with_capacity(READ_BYTES, input);
        Self { input, line: Line::default(), began: None, skipping: false, most, long_lines, patience }
    }

    /// What comes next. After the end of the input a line without an end counts as one.
    pub(super) async fn next(&mut self) -> io::Result<Read> {
        loop {
            let until = self.began.map(|began| began + self.patience);
            let chunk = tokio::select! {
                biased;
                chunk = self.input.fill_buf() => chunk?,
                () = sleep_until(until.unwrap_or_else(Instant::now)), if until.is_some() => return Ok(Read::Unfinished),
            };
            let end = chunk.iter().position(|&byte| byte == b'\n');
            let is_end = chunk.is_empty();
            let part = chunk.get(..end.unwrap_or(chunk.len())).unwrap_or_default();
            let added = if self.skipping { Ok(()) } else { self.line.add(part, self.most, &self.long_lines) };
            let consumed = part.len() + usize::from(end.is_some());
            self.input.consume(consumed);
            if is_end || end.is_some() {
                self.began = None;
            } else {
                self.began.get_or_insert_with(Instant::now);
            }
            if let Err(limit) = added {
                self.line = Line::default();
                self.skipping = end.is_none();
                return Ok(Read::TooLong(limit));
            }
            if is_end || end.is_some() {
                let (line, skipped) = (take(&mut self.line), take(&mut self.skipping));
                if !skipped && !line.is_blank() {
                    return Ok(Read::Line(line));
                }
            }
            if is_end {
                return Ok(Read::End);
            }
        }
    }
}

impl Line {
    fn is_blank(&self) -> bool {
        self.bytes.iter().all(u8::is_ascii_whitespace)
    }

    /// Adds a part, if the line does not become longer than it may.
    fn add(&mut self, part: &[u8], most: usize, long_lines: &LongLines) -> Result<(), Limit> {
        let length = self.bytes.len() + part.len();
        if length > most {
            return Err(Limit::LineBytes);
        }
        if length > self.bytes.capacity() {
            // Twice as much each time, so that what is there is copied a few times only.
            let wanted = self.bytes.capacity().saturating_mul(2).min(most).max(length);
            if wanted > LONG_LINE_BYTES {
                let held = self.held.get_or_insert_with(|| long_lines.nothing());
                held.grow_to(wanted).map_err(|()| Limit::LongLinesBytes)?;
            }
            self.bytes.reserve_exact(wanted - self.bytes.len());
        }
        self.bytes.extend_from_slice(part);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
