//! One stream of a command: written by whoever reads the pipe, read by whoever asks.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::spill::{SpillFolder, SpillName, SpillWriter, read_at};
use super::tail::Tail;
use super::{Chunk, Output, Spill};
use crate::executor::limits::{READ_BYTES, SPILL_BYTES, TAIL_BYTES};

/// What is known of one stream.
#[derive(Debug)]
pub(in crate::executor) struct Stream {
    state: Mutex<State>,
    tail_bytes: usize,
    spill_bytes: u64,
}

#[derive(Debug)]
struct State {
    tail: Tail,
    total: u64,
    spilled: Option<Spilled>,
}

/// The first `length` bytes are in the file.
#[derive(Debug)]
struct Spilled {
    name: SpillName,
    length: u64,
}

impl Stream {
    pub(in crate::executor) fn new() -> Arc<Self> {
        Self::bounded(TAIL_BYTES, SPILL_BYTES)
    }

    /// A stream with bounds of its own, so that tests reach them.
    pub(super) fn bounded(tail_bytes: usize, spill_bytes: u64) -> Arc<Self> {
        let state = State { tail: Tail::new(tail_bytes), total: 0, spilled: None };
        Arc::new(Self { state: Mutex::new(state), tail_bytes, spill_bytes })
    }

    /// What is known by now.
    pub(in crate::executor) fn output(&self) -> Output {
        let state = self.lock();
        let spill = state
            .spilled
            .as_ref()
            .map(|spilled| Spill { path: spilled.name.path.clone(), complete: spilled.length == state.total });
        Output { tail: state.tail.to_vec(), total: state.total, spill }
    }

    /// What came after the first `from` bytes: from the spill file as far as that goes, else from the tail.
    pub(in crate::executor) fn after(&self, from: u64) -> Chunk {
        let (path, most) = {
            let state = self.lock();
            match &state.spilled {
                Some(spilled) if from < spilled.length => {
                    let most = usize::try_from(spilled.length - from).unwrap_or(READ_BYTES).min(READ_BYTES);
                    (spilled.name.path.clone(), most)
                }
                _ => return state.tail_after(from),
            }
        };
        match read_at(&path, from, most) {
            Ok(bytes) if !bytes.is_empty() => {
                let pending = self.lock().total.saturating_sub(from + bytes.len() as u64);
                Chunk { bytes, skipped: 0, pending }
            }
            // The file is gone, or the disk fails: what is in memory is still there.
            _ => self.lock().tail_after(from),
        }
    }

    /// Removes the spill file, when nobody is told of it any more.
    pub(in crate::executor) fn forget(&self) {
        if let Some(spilled) = &self.lock().spilled {
            spilled.name.remove();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn tail_after(&self, from: u64) -> Chunk {
        let tail_from = self.total - self.tail.len() as u64;
        let start = from.max(tail_from);
        let skip = usize::try_from(start - tail_from).unwrap_or(usize::MAX);
        let bytes = self.tail.range(skip, READ_BYTES);
        let pending = self.total.saturating_sub(start + bytes.len() as u64);
        Chunk { bytes, skipped: start - from, pending }
    }
}

/// Who writes to a stream: one for each.
pub(super) struct Recorder {
    stream: Arc<Stream>,
    folder: Arc<SpillFolder>,
    file: SpillFile,
}

enum SpillFile {
    /// All fits into the tail so far.
    NotNeeded,
    Open(Arc<SpillWriter>),
    /// It is full, or failed.
    Closed,
}

impl Recorder {
    pub(super) fn new(stream: Arc<Stream>, folder: Arc<SpillFolder>) -> Self {
        Self { stream, folder, file: SpillFile::NotNeeded }
    }

    /// Takes the first `length` bytes of a buffer and gives the buffer back. A file that cannot be written never
    /// fails the command: its output is incomplete, which the result says.
    pub(super) async fn record(&mut self, mut buffer: Vec<u8>, length: usize) -> Vec<u8> {
        if self.needs_file(length) {
            self.open();
        }
        let mut written = 0;
        if let SpillFile::Open(file) = &self.file {
            let file = Arc::clone(file);
            let room = self.room();
            let part = usize::try_from(room).unwrap_or(usize::MAX).min(length);
            // Not on the runtime's own threads: a disk may take its time.
            let (back, outcome) = blocking::unblock(move || {
                let outcome = file.write_all(buffer.get(..part).unwrap_or_default());
                (buffer, outcome)
            })
            .await;
            buffer = back;
            match outcome {
                Ok(()) => written = part as u64,
                Err(error) => self.give_up(&error),
            }
            if part < length {
                self.file = SpillFile::Closed;
            }
        }
        let mut state = self.stream.lock();
        state.tail.push(buffer.get(..length).unwrap_or_default());
        state.total += length as u64;
        if let Some(spilled) = &mut state.spilled {
            spilled.length += written;
        }
        drop(state);
        buffer
    }

    fn needs_file(&self, length: usize) -> bool {
        let more = || self.stream.lock().total + length as u64 > self.stream.tail_bytes as u64;
        matches!(self.file, SpillFile::NotNeeded) && more()
    }

    fn room(&self) -> u64 {
        let length = self.stream.lock().spilled.as_ref().map_or(0, |spilled| spilled.length);
        self.stream.spill_bytes.saturating_sub(length)
    }

    /// Makes the file and writes to it what the tail holds, which is all that came so far.
    fn open(&mut self) {
        let opened = self.folder.create_file().and_then(|file| {
            let before = self.stream.lock().tail.to_vec();
            let length = before.len() as u64;
            self.stream.lock().spilled = Some(Spilled { name: file.name(), length: 0 });
            file.write_all(&before)?;
            if let Some(spilled) = &mut self.stream.lock().spilled {
                spilled.length = length;
            }
            Ok(file)
        });
        match opened {
            Ok(file) => self.file = SpillFile::Open(Arc::new(file)),
            Err(error) => self.give_up(&error),
        }
    }

    fn give_up(&mut self, error: &io::Error) {
        tracing::debug!(%error, "long output is not kept whole");
        self.file = SpillFile::Closed;
    }
}

#[cfg(test)]
mod tests;
