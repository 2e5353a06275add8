//! Facts of the moment: what a host finds out outside of any call, so that no contributor needs a network.
//!
//! A fact has a name, a value, and a time after which nobody believes it any more. Contributors read those that they
//! are granted.

mod board;
#[cfg(feature = "harness")]
mod scheduler;
#[cfg(test)]
mod support;

use std::time::Duration;

pub use board::FactsBoard;
#[cfg(feature = "harness")]
pub use scheduler::Scheduler;

use crate::error::{Code, Error, Result};
use crate::text::shown_within;

/// The most bytes of a fact's name.
pub(crate) const MAX_NAME_BYTES: usize = 63;

/// The most bytes of a fact's value: as many as a variable may have.
pub const MAX_VALUE_BYTES: usize = 32 * 1024;

/// The most facts that were pushed and hold at once: each of them is in memory, and none of them may be short.
const MAX_PUSHED: usize = 256;

/// How a fact is found out: by a command that the host runs every so often.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactSettings {
    /// The program and its arguments; without a program there is nothing to run.
    pub command: Vec<String>,
    /// From the beginning of one run to that of the next.
    pub every: Duration,
    /// How long a run may take.
    pub timeout: Duration,
    /// How long a value holds after the run that made it.
    pub time_to_live: Duration,
    /// The most bytes of output, the newline at its end included.
    pub size: usize,
}

impl FactSettings {
    /// How long a run may take, unless somebody says otherwise.
    pub const TIMEOUT: Duration = Duration::from_secs(5);

    /// The most bytes of output, unless somebody says otherwise.
    pub const SIZE: usize = 4 * 1024;

    /// A command that is run every so often, with the defaults beside.
    #[must_use]
    pub fn new(command: Vec<String>, every: Duration) -> Self {
        let timeout = Self::TIMEOUT;
        Self { command, every, timeout, time_to_live: Self::time_to_live(every, timeout), size: Self::SIZE }
    }

    /// How long a value holds, unless somebody says otherwise: so that one run may fail and the next be slow.
    pub(crate) fn time_to_live(every: Duration, timeout: Duration) -> Duration {
        2 * every + timeout
    }
}

/// Whether a fact may have this name: a lower-case letter or digit, then those and `.`, `_`, `-`; at most 63 bytes.
///
/// # Errors
/// `invalid-request`, with what a name looks like.
pub fn check_name(name: &str) -> Result<()> {
    let ordinary = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let begins = name.bytes().next().is_some_and(ordinary);
    let goes_on = name.bytes().all(|byte| ordinary(byte) || matches!(byte, b'.' | b'_' | b'-'));
    if begins && goes_on && name.len() <= MAX_NAME_BYTES {
        return Ok(());
    }
    let message = format!(
        "\"{}\" is no fact's name: a name begins with a lower-case letter or digit, goes on with those and . _ -, and has at most {MAX_NAME_BYTES} bytes",
        shown_within(name, 2 * MAX_NAME_BYTES)
    );
    Err(Error::host(Code::InvalidRequest, message))
}
