//! What recent collections did, for somebody who asks afterwards why a command saw what it saw.
//!
//! A [`CallLog`] remembers of each execution who was asked, what became of each key and why; the oldest go when
//! there are too many or they take too much memory. No value is kept. In place of one there is its length, and a
//! hash under a key that this process made up and shows nobody: it tells whether two calls saw the same value,
//! and nothing to whoever would try values. Of a sensitive value there is neither.
//!
//! The hash is the standard library's (SipHash-1-3, 64 bits): SHA-256 would take 100 µs for the longest value
//! there can be, on the thread of the call, where this takes 7. Sixty-four bits suffice to compare some hundred
//! values, and the key is what keeps it from being reversed.

mod explanation;
mod record;

use std::collections::VecDeque;
use std::hash::RandomState;
use std::sync::{Arc, Mutex, PoisonError};

pub use explanation::{CallSummary, Explanation, KeyState, Participant};

use crate::contract::Key;
use crate::registry::{Collected, Observer};
use record::Record;

/// How many executions are remembered: some minutes of a busy harness. With ten contributors, one takes 3 KiB.
const DEFAULT_EXECUTIONS: usize = 512;

/// How much memory they may take: enough for the executions above, and little for a host.
const DEFAULT_BYTES: usize = 4 * 1024 * 1024;

/// How much is remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallLogOptions {
    executions: usize,
    bytes: usize,
}

impl Default for CallLogOptions {
    fn default() -> Self {
        Self { executions: DEFAULT_EXECUTIONS, bytes: DEFAULT_BYTES }
    }
}

impl CallLogOptions {
    /// 512 executions in 4 MiB.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Remembers at most this many executions.
    #[must_use]
    pub fn executions(self, executions: usize) -> Self {
        Self { executions, ..self }
    }

    /// Remembers no more than takes about this many bytes.
    #[must_use]
    pub fn bytes(self, bytes: usize) -> Self {
        Self { bytes, ..self }
    }
}

/// What recent collections did. It is told by the registry that it [observes](crate::registry::Registry::observe).
pub struct CallLog {
    options: CallLogOptions,
    /// Makes hashes that nobody outside of this process can.
    hashes: RandomState,
    kept: Mutex<Kept>,
}

/// The newest record last.
#[derive(Default)]
struct Kept {
    records: VecDeque<Arc<Record>>,
    bytes: usize,
}

impl CallLog {
    /// A log without a record.
    #[must_use]
    pub fn new(options: CallLogOptions) -> Arc<Self> {
        Arc::new(Self { options, hashes: RandomState::new(), kept: Mutex::default() })
    }

    /// What became of a key in the newest execution with this call id; nothing where it is not remembered.
    #[must_use]
    pub fn explain(&self, call: &str, key: &Key) -> Option<Explanation> {
        let record = self.kept().records.iter().rev().find(|record| record.is_of(call)).cloned()?;
        Some(record.explain(key))
    }

    /// The newest executions, at most `count`, the newest first.
    #[must_use]
    pub fn recent(&self, count: usize) -> Vec<CallSummary> {
        let records: Vec<_> = self.kept().records.iter().rev().take(count).cloned().collect();
        records.iter().map(|record| record.summary().clone()).collect()
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, Kept> {
        // Whoever panicked with it has at worst miscounted the bytes.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for CallLog {
    fn collected(&self, collection: &Collected<'_>) {
        let record = Arc::new(Record::of(collection, &self.hashes));
        // One that is larger than all may be would only push the others out.
        if record.bytes() > self.options.bytes || self.options.executions == 0 {
            return;
        }
        // Freed after the lock is.
        let mut forgotten = Vec::new();
        let mut kept = self.kept();
        kept.bytes += record.bytes();
        kept.records.push_back(record);
        while kept.records.len() > self.options.executions || kept.bytes > self.options.bytes {
            let Some(oldest) = kept.records.pop_front() else { break };
            kept.bytes = kept.bytes.saturating_sub(oldest.bytes());
            forgotten.push(oldest);
        }
        drop(kept);
        drop(forgotten);
    }
}

impl std::fmt::Debug for CallLog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CallLog").field("options", &self.options).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
