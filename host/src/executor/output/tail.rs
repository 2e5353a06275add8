//! The last bytes of a stream.

use std::collections::VecDeque;

/// The last bytes of what was pushed, at most so many as it was made for.
#[derive(Debug)]
pub(super) struct Tail {
    bytes: VecDeque<u8>,
    most: usize,
}

impl Tail {
    pub(super) fn new(most: usize) -> Self {
        Self { bytes: VecDeque::new(), most }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        let fitting = bytes.split_at_checked(bytes.len().saturating_sub(self.most)).map_or(bytes, |(_, last)| last);
        let surplus = (self.bytes.len() + fitting.len()).saturating_sub(self.most);
        self.bytes.drain(..surplus.min(self.bytes.len()));
        self.bytes.extend(fitting);
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn to_vec(&self) -> Vec<u8> {
        self.range(0, self.bytes.len())
    }

    /// At most `most` bytes from the one at `start` on.
    pub(super) fn range(&self, start: usize, most: usize) -> Vec<u8> {
        self.bytes.iter().skip(start).take(most).copied().collect()
    }
}
