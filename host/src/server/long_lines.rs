//! The memory that all long lines have together.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Room for long lines; every clone is the same.
#[derive(Clone, Debug)]
pub(super) struct LongLines {
    left: Arc<AtomicUsize>,
}

impl LongLines {
    /// Room for so many bytes.
    pub(super) fn new(bytes: usize) -> Self {
        Self { left: Arc::new(AtomicUsize::new(bytes)) }
    }

    /// A part of it that has nothing yet.
    pub(super) fn nothing(&self) -> Held {
        Held { of: self.clone(), bytes: 0 }
    }
}

/// A part of the room, until it is dropped.
#[derive(Debug)]
pub(super) struct Held {
    of: LongLines,
    bytes: usize,
}

impl Held {
    /// Takes more, so that it is as many bytes; nothing where there are no more.
    pub(super) fn grow_to(&mut self, bytes: usize) -> Result<(), ()> {
        let more = bytes.saturating_sub(self.bytes);
        let taken = self.of.left.fetch_update(Ordering::AcqRel, Ordering::Acquire, |left| left.checked_sub(more));
        taken.map_err(drop)?;
        self.bytes += more;
        Ok(())
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.of.left.fetch_add(self.bytes, Ordering::AcqRel);
    }
}
