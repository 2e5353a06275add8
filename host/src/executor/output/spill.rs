//! Files for output that does not fit into memory: private, named so that nobody guesses them, gone with the
//! executor.
//!
//! Below the folder that is configured each executor has one of its own, which it holds by a lock on it. The lock
//! goes with the process, however that ends; whoever comes next removes what nobody holds.

use std::fs::{DirBuilder, File};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use rustix::fs::{CWD, FlockOperation, Mode, OFlags, flock, openat};
use uuid::Uuid;

use super::ledger::Ledger;
use crate::error::{Code, Error, Result};
use crate::executor::command::shown_path;
use crate::executor::limits::MAX_SPILLED_BYTES;
use crate::home::permissions;

/// How the names of executors' own folders begin: nothing else is ever removed.
const PREFIX: &str = "executor-";

const OPEN_FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// An executor's own folder. It is removed with the last that holds this.
#[derive(Debug)]
pub(in crate::executor) struct SpillFolder {
    path: PathBuf,
    /// Open and locked as long as the executor lives.
    folder: File,
    ledger: Mutex<Ledger>,
}

/// A file that is written to. It may be removed to make room for others once this is dropped.
#[derive(Debug)]
pub(super) struct SpillWriter {
    pub(super) file: File,
    path: PathBuf,
    number: u64,
    folder: Arc<SpillFolder>,
}

/// A file that was made, which may be gone.
#[derive(Debug)]
pub(super) struct SpillName {
    pub(super) path: PathBuf,
    number: u64,
    folder: Weak<SpillFolder>,
}

impl SpillFolder {
    /// Makes a folder below `parent`, which is made too, and removes those that dead executors left there.
    ///
    /// # Errors
    /// `unsafe-permissions` when `parent` is no real directory, not the user's own or writable by others;
    /// `execution-failed` when nothing can be made there.
    pub(in crate::executor) fn create_below(parent: &Path) -> Result<Self> {
        Self::bounded(parent, MAX_SPILLED_BYTES)
    }

    /// One whose files have a bound of their own, so that tests reach it.
    fn bounded(parent: &Path, most: u64) -> Result<Self> {
        let failed = |error: io::Error| {
            let parent = shown_path(parent);
            Error::host(
                Code::ExecutionFailed,
                format!("no folder for long output can be made in {parent} ({error}): name another, or make room"),
            )
        };
        let parent = std::path::absolute(parent).map_err(failed)?;
        match DirBuilder::new().recursive(true).mode(0o700).create(&parent) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(failed(error)),
            _ => check(&parent)?,
        }
        remove_abandoned(&parent);
        loop {
            let path = parent.join(format!("{PREFIX}{}", Uuid::now_v7()));
            DirBuilder::new().mode(0o700).create(&path).map_err(failed)?;
            if let Some(folder) = hold(&path).map_err(failed)? {
                return Ok(Self { path, folder, ledger: Mutex::new(Ledger::new(most)) });
            }
            // Somebody took it for abandoned before it was locked.
        }
    }

    /// Makes a file, 0600.
    pub(super) fn create_file(self: &Arc<Self>) -> io::Result<SpillWriter> {
        let name = format!("output-{}", Uuid::now_v7());
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(&self.folder, &name, flags, Mode::RUSR | Mode::WUSR)?;
        let path = self.path.join(name);
        let number = self.ledger().add(path.clone());
        Ok(SpillWriter { file: file.into(), path, number, folder: Arc::clone(self) })
    }

    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes all that is in it, and it.
    pub(in crate::executor) fn remove(&self) {
        if let Err(error) = std::fs::remove_dir_all(&self.path)
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::debug!(%error, "a folder of long output was not removed");
        }
    }
}

impl Drop for SpillFolder {
    fn drop(&mut self) {
        self.remove();
    }
}

impl SpillWriter {
    /// The file's name, which is good for longer than this.
    pub(super) fn name(&self) -> SpillName {
        SpillName { path: self.path.clone(), number: self.number, folder: Arc::downgrade(&self.folder) }
    }

    /// Writes all of it, for which others may have to go.
    ///
    /// # Errors
    /// What the system says, or that there is no room because others are being written.
    pub(super) fn write_all(&self, bytes: &[u8]) -> io::Result<()> {
        let going = self.folder.ledger().grow(self.number, bytes.len() as u64);
        for path in going.ok_or_else(|| io::Error::other("the output of commands that run takes all the room"))? {
            let _ = std::fs::remove_file(path);
        }
        (&self.file).write_all(bytes)
    }
}

impl Drop for SpillWriter {
    fn drop(&mut self) {
        // Less than was counted, if writing failed.
        if let Ok(metadata) = self.file.metadata() {
            self.folder.ledger().finish(self.number, metadata.len());
        }
    }
}

impl SpillName {
    /// Removes the file.
    pub(super) fn remove(&self) {
        if let Some(folder) = self.folder.upgrade() {
            folder.ledger().forget(self.number);
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Reads up to `most` bytes of a spill file from `offset` on; what can be had if not all can.
pub(super) fn read_at(path: &Path, offset: u64, most: usize) -> io::Result<Vec<u8>> {
    let file = openat(CWD, path, OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
    let file = File::from(file);
    let mut bytes = vec![0; most];
    let mut filled = 0;
    while let Some(room) = bytes.get_mut(filled..).filter(|room| !room.is_empty()) {
        match file.read_at(room, offset + filled as u64) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}

fn check(parent: &Path) -> Result<()> {
    let unsafe_because = |why: &str| {
        let parent = shown_path(parent);
        Err(Error::host(
            Code::UnsafePermissions,
            format!("{parent} is not for the output of commands: {why}. Name a folder of your own"),
        ))
    };
    let Ok(metadata) = std::fs::symlink_metadata(parent) else { return unsafe_because("it cannot be looked at") };
    if !metadata.is_dir() {
        return unsafe_because("it is no real directory");
    }
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return unsafe_because("it belongs to another user");
    }
    permissions::check_metadata(parent, &metadata)
}

/// Opens and locks a folder; nothing if somebody else holds it or has removed it.
fn hold(path: &Path) -> io::Result<Option<File>> {
    let folder = match openat(CWD, path, OPEN_FOLDER, Mode::empty()) {
        Err(rustix::io::Errno::NOENT) => return Ok(None),
        opened => File::from(opened?),
    };
    match flock(&folder, FlockOperation::NonBlockingLockExclusive) {
        Err(rustix::io::Errno::WOULDBLOCK) => return Ok(None),
        locked => locked?,
    }
    let (ours, there) = (folder.metadata()?, std::fs::symlink_metadata(path));
    Ok(there.is_ok_and(|there| (there.dev(), there.ino()) == (ours.dev(), ours.ino())).then_some(folder))
}

fn remove_abandoned(parent: &Path) {
    let Ok(entries) = std::fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let is_ours = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        if !is_ours {
            continue;
        }
        // Locked while it is removed, so that it is not taken into use meanwhile.
        if let Ok(Some(_held)) = hold(&entry.path()) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests;
