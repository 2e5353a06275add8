//! A log's first appearance: whole, durable, and never over another one.

use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::{Code, Error, Result};
use crate::sessions::failure::storage;
use crate::sessions::files::{exists, is_at, make_folders};
use crate::sessions::lock::Locked;

/// How files are called before they are logs. Nothing that looks for sessions takes them for one.
const TEMPORARY: (&str, &str) = (".session-", ".tmp");

/// How often a folder is made again that another publisher removed meanwhile.
const ATTEMPTS: usize = 100;

/// Publishes `content` as `path`, a file of its own in a folder of its own, and keeps its lock.
///
/// `rival` is the name that the same log would have if it were compressed otherwise. The folders that have to
/// be synced for the file to stay are added to `to_sync`.
pub(super) fn publish(path: &Path, rival: &Path, content: &[u8], to_sync: &mut Vec<PathBuf>) -> Result<Locked> {
    let Some(folder) = path.parent() else {
        return Err(Error::host(Code::SessionStorage, "a log has to be in a folder").in_file(path));
    };
    let made = !folder.is_dir();
    let published = lock_folder(folder, to_sync).and_then(|lock| publish_in(folder, &lock, path, rival, content));
    if made && published.is_err() {
        // Only if it is empty; others may have published there.
        let _ = fs::remove_dir(folder);
    }
    published
}

/// Makes the folder, and takes its lock: while it is held nobody else publishes there.
fn lock_folder(folder: &Path, to_sync: &mut Vec<PathBuf>) -> Result<Locked> {
    for _ in 0..ATTEMPTS {
        make_folders(folder, to_sync)?;
        let handle = match File::open(folder) {
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            opened => opened.map_err(|error| storage(folder, "open the folder", &error))?,
        };
        let lock = Locked::soon(handle, folder)?;
        // Who failed to publish removes the folder, and another may have made it again.
        if is_at(&lock, folder).map_err(|error| storage(folder, "lock the folder", &error))? {
            return Ok(lock);
        }
    }
    Err(storage(folder, "lock the folder", &ErrorKind::ResourceBusy.into()))
}

/// Publishes in a folder of which the lock is held, so what is temporary was left by the dead.
fn publish_in(folder: &Path, lock: &Locked, path: &Path, rival: &Path, content: &[u8]) -> Result<Locked> {
    let failed = |error: &std::io::Error| storage(path, "write the log", error);
    for taken in [path, rival] {
        if exists(taken).map_err(|error| failed(&error))? {
            return Err(already_exists(taken));
        }
    }
    remove_leftovers(folder);
    let (prefix, suffix) = TEMPORARY;
    // Mode 0600.
    let mut file =
        tempfile::Builder::new().prefix(prefix).suffix(suffix).tempfile_in(folder).map_err(|error| failed(&error))?;
    file.write_all(content).and_then(|()| file.as_file().sync_all()).map_err(|error| failed(&error))?;
    // The lock is on the file, not on its name: whoever finds the log finds it locked.
    let handle = file.as_file().try_clone().map_err(|error| failed(&error))?;
    let locked = Locked::new(handle, path)?;
    persist(file, path, lock)?;
    Ok(locked)
}

fn persist(file: NamedTempFile, path: &Path, lock: &Locked) -> Result<()> {
    let Err(failure) = file.persist_noclobber(path) else { return Ok(()) };
    match failure.error.kind() {
        ErrorKind::AlreadyExists => Err(already_exists(path)),
        // A file system that can neither rename without replacing nor link.
        ErrorKind::PermissionDenied | ErrorKind::Unsupported | ErrorKind::InvalidInput => {
            persist_over_nothing(failure.file, path, lock)
        }
        _ => Err(storage(path, "publish the log", &failure.error)),
    }
}

/// Gives the file a name that is free, by what would replace another one: as long as the folder that is locked
/// is the one with that name, nobody else of this library takes it in between.
fn persist_over_nothing(file: NamedTempFile, path: &Path, lock: &Locked) -> Result<()> {
    let failed = |error: &std::io::Error| storage(path, "publish the log", error);
    let folder = path.parent().unwrap_or(path);
    if !is_at(lock, folder).map_err(|error| failed(&error))? {
        return Err(failed(&ErrorKind::ResourceBusy.into()));
    }
    if exists(path).map_err(|error| failed(&error))? {
        return Err(already_exists(path));
    }
    file.persist(path).map(drop).map_err(|failure| failed(&failure.error))
}

/// Removes what publishers that were killed have left.
fn remove_leftovers(folder: &Path) {
    let (prefix, suffix) = TEMPORARY;
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if name.to_str().is_some_and(|name| name.starts_with(prefix) && name.ends_with(suffix)) {
            // Left there it would do no harm but take room.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// There is a session of that id already.
pub(super) fn already_exists(path: &Path) -> Error {
    Error::host(Code::SessionExists, "there is a session of that id already: resume it, or choose another id")
        .in_file(path)
}

#[cfg(test)]
mod tests;
