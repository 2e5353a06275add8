//! One server for each state: a lock that the kernel lets go of when its process ends, however it ends.

use std::fs::{File, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};

use rustix::fs::{Mode, OFlags, openat};

use super::folder::RunFolder;
use crate::error::{Code, Error, Result};

/// The file that is locked, with the process id of whoever has the lock in it.
const LOCK_FILE: &str = "server.lock";

/// The most digits of a process id, and more.
const MAX_ID_BYTES: u64 = 20;

/// The lock of a state, until it is dropped.
#[derive(Debug)]
pub(super) struct Lock(File);

impl Lock {
    /// Takes the lock.
    ///
    /// # Errors
    /// `server-unavailable` where another process has it, by its id, or where there can be none.
    pub(super) fn take(folder: &RunFolder) -> Result<Self> {
        let path = folder.path_of(LOCK_FILE);
        let cannot = |error: std::io::Error| {
            let why = format!("the lock of the server cannot be used ({error}): remove it if no server runs");
            Error::host(Code::ServerUnavailable, why).in_file(&path)
        };
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let file = openat(folder, LOCK_FILE, flags, Mode::RUSR | Mode::WUSR).map_err(|error| cannot(error.into()))?;
        let mut file = File::from(file);
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(held(&mut file).in_file(&path)),
            Err(TryLockError::Error(error)) => return Err(cannot(error)),
        }
        let lock = Self(file);
        lock.write_id().map_err(cannot)?;
        Ok(lock)
    }

    fn write_id(&self) -> std::io::Result<()> {
        let mut file = &self.0;
        file.set_len(0)?;
        file.rewind()?;
        writeln!(file, "{}", std::process::id())
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // The file stays: who opened it already could otherwise lock one that has no name any more.
        let _ = self.0.set_len(0);
        // Closing is not enough: a child that was just started may hold a copy of the descriptor for a moment.
        let _ = self.0.unlock();
    }
}

fn held(file: &mut File) -> Error {
    let mut text = String::new();
    let read = file.take(MAX_ID_BYTES).read_to_string(&mut text);
    // It is empty for the moment in which another one just took the lock.
    let holder = match read.ok().and_then(|_| text.trim().parse::<u32>().ok()) {
        Some(id) => format!("process {id}"),
        None => "another process".to_owned(),
    };
    Error::host(
        Code::ServerUnavailable,
        format!("{holder} serves this state already: use that server, stop it first, or choose another state folder"),
    )
}
