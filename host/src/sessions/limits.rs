//! How long logs and their lines may be: what is read into memory has to end somewhere.
//!
//! Text alone does not say how much memory it takes: two bytes can be a value that takes sixty. So both are
//! bounded, the bytes and the values, and the values are counted before any is made.

use std::ops::AddAssign;

/// The most bytes of one line of a log, with its newline: 32 MiB, room for the largest answer of a model.
pub const MAX_LINE_BYTES: u64 = 32 * 1024 * 1024;

/// The most bytes of a log, not compressed: 256 MiB. A log that expands beyond is an attack or a mistake.
pub const MAX_LOG_BYTES: u64 = 256 * 1024 * 1024;

/// The most JSON values of one line, as [`Size::of_line`] counts them.
const MAX_LINE_VALUES: u64 = 1_000_000;

/// The most JSON values of a log.
const MAX_LOG_VALUES: u64 = 8_000_000;

/// How many values an object counts for: even one with a single field takes as much memory as these.
const OBJECT_VALUES: u64 = 10;

/// The limits of one store; smaller ones in tests.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) line: u64,
    pub(super) log: u64,
    pub(super) line_values: u64,
    pub(super) log_values: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { line: MAX_LINE_BYTES, log: MAX_LOG_BYTES, line_values: MAX_LINE_VALUES, log_values: MAX_LOG_VALUES }
    }
}

/// How much text is, and how much it becomes in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) bytes: u64,
    /// JSON values, each of them about 60 bytes in memory besides its text.
    pub(super) values: u64,
}

impl Size {
    /// That of a line, found without making anything of it. It is not too small for any JSON.
    pub(super) fn of_line(line: &[u8]) -> Self {
        let mut values = 1_u64;
        let mut within_text = false;
        let mut escaped = false;
        for byte in line {
            match byte {
                _ if escaped => escaped = false,
                b'\\' if within_text => escaped = true,
                b'"' => within_text = !within_text,
                _ if within_text => {}
                b',' | b':' | b'[' => values += 1,
                b'{' => values += OBJECT_VALUES,
                _ => {}
            }
        }
        Self { bytes: u64::try_from(line.len()).unwrap_or(u64::MAX), values }
    }
}

impl AddAssign for Size {
    fn add_assign(&mut self, other: Self) {
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.values = self.values.saturating_add(other.values);
    }
}

#[cfg(test)]
mod tests;
