//! What a command writes: the end of it in memory, the beginning in a file, neither without bound.

mod ledger;
mod pump;
mod spill;
mod stream;
mod tail;

use std::path::PathBuf;

pub(super) use pump::pump;
pub(super) use spill::SpillFolder;
pub(super) use stream::Stream;

/// What a command wrote to one stream, as far as it was read when the result was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// The last bytes: all of them, or [`TAIL_BYTES`](super::TAIL_BYTES).
    pub tail: Vec<u8>,
    /// How many bytes there were.
    pub total: u64,
    /// The file with the first bytes, if there were more than the tail holds.
    pub spill: Option<Spill>,
}

/// A file with the output of one stream from its first byte on. Only the user can read it. It stays until its
/// executor is shut down or dropped; a job's also goes when the job is forgotten. The file of an older result may be
/// gone before: the oldest go when there is more than [`MAX_SPILLED_BYTES`](super::MAX_SPILLED_BYTES) of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spill {
    /// Absolute.
    pub path: PathBuf,
    /// Whether the whole stream is in it: not beyond [`SPILL_BYTES`](super::SPILL_BYTES), and not after writing
    /// failed, on a full disk for instance, or where the files that are being written leave no room.
    pub complete: bool,
}

impl Output {
    /// Whether every byte can still be had, from the tail or the spill file.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.total == self.tail.len() as u64 || self.spill.as_ref().is_some_and(|spill| spill.complete)
    }
}

/// What came on one stream of a job since it was last read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chunk {
    /// The bytes, at most [`READ_BYTES`](super::READ_BYTES).
    pub bytes: Vec<u8>,
    /// How many bytes before them are lost: they were neither in the spill file nor in the tail any more.
    pub skipped: u64,
    /// How many bytes after them are there already, for the next read.
    pub pending: u64,
}
