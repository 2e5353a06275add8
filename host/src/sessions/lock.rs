//! Who writes: one lock for each log, that the kernel lets go of when its process ends, however it ends.

use std::fs::{File, TryLockError};
use std::ops::Deref;
use std::path::Path;
use std::thread;
use std::time::Duration;

use super::failure::storage;
use crate::error::{Code, Error, Result};

/// How often, and how long after each time, a lock that is held for a moment only is tried again.
const PATIENCE: (u32, Duration) = (100, Duration::from_millis(20));

/// A file whose lock this process has until it is dropped.
#[derive(Debug)]
pub(super) struct Locked(File);

impl Locked {
    /// Takes the lock of `file`, which is at `path`.
    ///
    /// # Errors
    /// `session-in-use` where somebody has it.
    pub(super) fn new(file: File, path: &Path) -> Result<Self> {
        match file.try_lock() {
            Ok(()) => Ok(Self(file)),
            Err(TryLockError::WouldBlock) => Err(in_use(path)),
            Err(TryLockError::Error(error)) => Err(storage(path, "lock the log", &error)),
        }
    }

    /// The same for a lock that nobody holds for longer than a moment.
    pub(super) fn soon(file: File, path: &Path) -> Result<Self> {
        let (attempts, pause) = PATIENCE;
        for _ in 0..attempts {
            match file.try_lock() {
                Err(TryLockError::WouldBlock) => thread::sleep(pause),
                _ => break,
            }
        }
        Self::new(file, path)
    }
}

impl Deref for Locked {
    type Target = File;

    fn deref(&self) -> &File {
        &self.0
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        // Closing is not enough: a child that was just started may hold a copy of the descriptor for a moment.
        let _ = self.0.unlock();
    }
}

fn in_use(path: &Path) -> Error {
    Error::host(
        Code::SessionInUse,
        "another session of this host, or another process, is writing here: end that one first, or fork the session",
    )
    .in_file(path)
}
