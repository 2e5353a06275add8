//! Reading the lines of a log as they come: the header, then events without a gap.
//!
//! Only the end of a log can be torn: what its writer was writing when it was killed. Anything wrong
//! before that is damage, and damage is reported with its line and never mended.

use serde::de::IgnoredAny;
use serde_json::Value;

use super::failure::damaged;
use super::limits::{Limits, Size};
use super::{Event, LogHeader};
use crate::error::{Code, Error, Result};

/// A log, as far as it was read.
#[derive(Debug)]
pub(super) struct Scan {
    limits: Limits,
    pub(super) header: Option<LogHeader>,
    pub(super) events: Vec<Event>,
    /// The size of all lines that are good, newlines included; not compressed.
    pub(super) end: Size,
    /// Complete lines so far.
    lines: u64,
    /// All bytes so far.
    total: u64,
    /// The beginning of a line whose end did not come yet.
    partial: Vec<u8>,
    /// The last line is not JSON, which is damage as soon as anything follows.
    doubtful: Option<Error>,
}

impl Scan {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            limits,
            header: None,
            events: Vec::new(),
            end: Size::default(),
            lines: 0,
            total: 0,
            partial: Vec::new(),
            doubtful: None,
        }
    }

    /// Takes the next bytes of the log.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<()> {
        self.total = self.total.saturating_add(length(bytes));
        if self.total > self.limits.log {
            return Err(damaged(format!(
                "the log expands to more than {} bytes, which no log of this host does",
                self.limits.log
            )));
        }
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            if let Some(error) = self.doubtful.take() {
                return Err(error);
            }
            if length(&self.partial).saturating_add(length(piece)) > self.limits.line {
                return Err(self.at(self.lines + 1, format_args!("longer than {} bytes", self.limits.line)));
            }
            if !piece.ends_with(b"\n") {
                self.partial.extend_from_slice(piece);
            } else if self.partial.is_empty() {
                self.line(piece)?;
            } else {
                let mut line = std::mem::take(&mut self.partial);
                line.extend_from_slice(piece);
                self.line(&line)?;
            }
        }
        Ok(())
    }

    /// Whether everything so far is whole lines that are good, the header among them.
    pub(super) fn is_whole(&self) -> bool {
        self.partial.is_empty() && self.doubtful.is_none() && self.header.is_some()
    }

    /// The header and the events.
    pub(super) fn into_parts(self) -> Result<(LogHeader, Vec<Event>)> {
        let header = self.header.ok_or_else(|| damaged("the log has no complete header"))?;
        Ok((header, self.events))
    }

    /// The same for a log that has no end that could be torn.
    #[cfg(feature = "sqlite")]
    pub(super) fn into_whole(mut self) -> Result<(LogHeader, Vec<Event>)> {
        self.doubtful.take().map_or(Ok(()), Err)?;
        self.into_parts()
    }

    fn line(&mut self, line: &[u8]) -> Result<()> {
        self.lines += 1;
        let size = Size::of_line(line);
        let values = self.end.values.saturating_add(size.values);
        if size.values > self.limits.line_values {
            return Err(self.at(self.lines, format_args!("of more than {} values", self.limits.line_values)));
        }
        if values > self.limits.log_values {
            return Err(damaged(format!(
                "the log has more than {} values, which no log of this host has",
                self.limits.log_values
            )));
        }
        let value: Value = match serde_json::from_slice(line) {
            Ok(value) => value,
            // It is JSON, though not what can be held: too deep, or with a number that is too large.
            Err(_) if serde_json::from_slice::<IgnoredAny>(line).is_ok() => {
                return Err(self.at(self.lines, format_args!("more than can be read")));
            }
            Err(_) => {
                let error = self.at(self.lines, format_args!("not JSON"));
                // A log appears with its header or not at all: a header is never torn.
                if self.header.is_none() {
                    return Err(error);
                }
                self.doubtful = Some(error);
                return Ok(());
            }
        };
        let in_line = |error: Error| Error::host(error.code(), format!("line {}: {}", self.lines, error.message()));
        if self.header.is_none() {
            self.header = Some(LogHeader::from_json(value).map_err(in_line)?);
        } else {
            let event = Event::from_json(value).map_err(in_line)?;
            let expected = u64::try_from(self.events.len()).unwrap_or(u64::MAX);
            if event.seq != expected {
                let found = event.seq;
                return Err(self.at(self.lines, format_args!("event {found} where event {expected} has to be")));
            }
            self.events.push(event);
        }
        self.end += size;
        Ok(())
    }

    fn at(&self, line: u64, what: std::fmt::Arguments<'_>) -> Error {
        Error::host(
            Code::SessionDamaged,
            format!(
                "line {line} is {what}: the log is damaged; mend it by hand, or fork from a copy that is cut before that line"
            ),
        )
    }
}

fn length(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}
