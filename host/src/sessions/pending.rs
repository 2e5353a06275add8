//! What was appended to a log and is not kept yet, as the lines that will be.

use serde::Serialize;
use serde_json::Value;

use super::limits::{Limits, Size};
use super::{Event, LogHeader};
use crate::error::{Code, Error, Result};

/// Whole lines in memory, each of them one that can be read again.
#[derive(Debug)]
pub(super) struct Pending {
    limits: Limits,
    /// The number of the next event.
    next: u64,
    /// The size of the log with everything that is pending, not compressed.
    total: Size,
    lines: String,
}

impl Pending {
    /// Nothing, after `events` events in a log of this size.
    pub(super) fn after(limits: Limits, events: usize, total: Size) -> Self {
        Self { limits, next: u64::try_from(events).unwrap_or(u64::MAX), total, lines: String::new() }
    }

    /// The header of a new log.
    pub(super) fn push_header(&mut self, header: &LogHeader) -> Result<()> {
        let line = line(header)?;
        let total = self.total_with(&line)?;
        self.push_line(&line, total);
        Ok(())
    }

    /// The next event.
    pub(super) fn push(&mut self, event: &Event) -> Result<()> {
        if event.seq != self.next {
            return Err(Error::host(
                Code::Internal,
                format!("event {} was appended where event {} is next", event.seq, self.next),
            ));
        }
        if let Some(name) = event.collision() {
            return Err(refused(format!("an event cannot have a field of its own that is called {name}: rename it")));
        }
        let line = line(event)?;
        let total = self.total_with(&line)?;
        // Values can be built that no reader takes, such as very deep ones: such an event would take the log with it.
        if serde_json::from_str::<Value>(&line).is_err() {
            return Err(refused("the event is nested too deeply to be read again: flatten its fields"));
        }
        self.push_line(&line, total);
        self.next += 1;
        Ok(())
    }

    /// The lines, each with its newline.
    pub(super) fn lines(&self) -> &str {
        &self.lines
    }

    /// The number of the event that comes after all of these.
    #[cfg(feature = "sqlite")]
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// Everything is kept.
    pub(super) fn clear(&mut self) {
        // Not `clear`: one large turn should not hold its memory for the rest of the session.
        self.lines = String::new();
    }

    /// The size of the log with one more line, if whoever reads it takes that.
    fn total_with(&self, line: &str) -> Result<Size> {
        let mut size = Size::of_line(line.as_bytes());
        size.bytes = size.bytes.saturating_add(1);
        let mut total = self.total;
        total += size;
        let Size { bytes, values } = size;
        let limits = self.limits;
        if bytes > limits.line {
            return Err(refused(format!(
                "a line of {bytes} bytes is more than the {} that a line of a log may have: keep large content in a file of its own",
                limits.line
            )));
        }
        if values > limits.line_values {
            return Err(refused(format!(
                "a line of {values} JSON values is more than the {} that a line of a log may have: keep them as text",
                limits.line_values
            )));
        }
        if total.bytes > limits.log {
            return Err(refused(format!("the log would be longer than {} bytes: go on in a new session", limits.log)));
        }
        if total.values > limits.log_values {
            return Err(refused(format!(
                "the log would have more than {} JSON values: go on in a new session",
                limits.log_values
            )));
        }
        Ok(total)
    }

    fn push_line(&mut self, line: &str, total: Size) {
        self.total = total;
        self.lines.push_str(line);
        self.lines.push('\n');
    }
}

fn line(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|error| refused(format!("the line cannot be written as JSON: {error}")))
}

fn refused(message: impl Into<String>) -> Error {
    Error::host(Code::SessionStorage, message)
}
