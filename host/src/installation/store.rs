//! The builds that contributors run from: `store/<sha256>.wasm` in the state.
//!
//! A build is put here whole before anything is done with it, and never changed: a file that is changed or removed
//! under a running host changes nothing.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use sha2::{Digest as _, Sha256};

use super::components::read_installed;
use crate::error::{Code, Error, Result};
use crate::home::permissions;
use crate::text::shown;

/// The folder of the state.
const FOLDER: &str = "store";

/// How builds end.
const EXTENSION: &str = "wasm";

/// How files begin that are not whole yet.
const UNFINISHED: &str = ".new-";

/// What nobody remembers stays for this long: another process may be about to. Compiling and asking what it declares
/// takes no longer.
const KEPT: Duration = Duration::from_secs(2 * 60);

/// The most builds that nobody remembers: a file that is written again and again does not fill the disk.
const MAX_FORGOTTEN: usize = 32;

/// The SHA-256 of a build, as 64 lower-case hexadecimal digits.
#[must_use]
pub fn digest_of(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

/// Whether a text is a digest as [`digest_of`] makes them.
#[must_use]
pub fn is_digest(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// The builds that are kept in a state.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
}

impl Store {
    /// The store of a state, which need not exist yet.
    #[must_use]
    pub fn new(state: &Path) -> Self {
        Self { folder: state.join(FOLDER) }
    }

    /// Whether there is a build of this digest.
    #[must_use]
    pub fn has(&self, digest: &str) -> bool {
        self.path(digest).is_file()
    }

    /// Keeps a build under its digest; on disk when this returns.
    ///
    /// # Errors
    /// `unsafe-permissions`; `unreadable` where the store cannot be written.
    pub fn put(&self, digest: &str, bytes: &[u8]) -> Result<()> {
        permissions::check(&self.folder)?;
        let path = self.path(digest);
        // One that is something else was damaged, or cut short by a file system that lost its end.
        if read_installed(&path).is_ok_and(|there| there == bytes) && is_own_file(&path) {
            // Nobody may remember it yet, and nobody else is to take it for a leftover meanwhile.
            let _ = File::open(&path).and_then(|file| file.set_modified(SystemTime::now()));
            return Ok(());
        }
        self.write(&path, bytes).map_err(|error| {
            let (folder, why) = (shown(&self.folder.display().to_string()), shown(&error.to_string()));
            let message = format!("the build cannot be kept in {folder}: {why}. Let this user write there");
            Error::load(Code::Unreadable, message)
        })
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        make_private(&self.folder)?;
        let mut file = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(&self.folder)?;
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        file.persist(path).map_err(|error| error.error)?;
        File::open(&self.folder)?.sync_all()
    }

    /// Reads a build that was kept.
    ///
    /// # Errors
    /// `unreadable` where it is not there, or is not what its name says; `unsafe-permissions`.
    pub fn read(&self, digest: &str) -> Result<Vec<u8>> {
        permissions::check(&self.folder)?;
        let bytes = read_installed(&self.path(digest)).map_err(|error| error.in_file(&self.path(digest)))?;
        if digest_of(&bytes) == digest {
            return Ok(bytes);
        }
        let message = format!(
            "{} is not the build of its name any more: remove it, and install the contributor again",
            shown(&self.path(digest).display().to_string())
        );
        Err(Error::load(Code::Unreadable, message))
    }

    /// Removes builds that are not among `remembered`, but for the latest of the last minutes. What cannot be removed
    /// stays.
    pub fn sweep(&self, remembered: &BTreeSet<String>) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        let mut forgotten = Vec::new();
        for path in entries.flatten().map(|entry| entry.path()) {
            let name = path.file_stem().and_then(OsStr::to_str).unwrap_or_default();
            let is_build = path.extension().is_some_and(|extension| extension == EXTENSION) && is_digest(name);
            let is_unfinished =
                path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(UNFINISHED.as_bytes()));
            if (is_unfinished || (is_build && !remembered.contains(name)))
                && is_own_file(&path)
                && let Ok(written) = path.metadata().and_then(|metadata| metadata.modified())
            {
                forgotten.push((written, path));
            }
        }
        forgotten.sort();
        let too_many = forgotten.len().saturating_sub(MAX_FORGOTTEN);
        for (at, (written, path)) in forgotten.iter().enumerate() {
            let old = written.elapsed().is_ok_and(|age| age > KEPT);
            if (old || at < too_many)
                && let Err(error) = fs::remove_file(path)
            {
                tracing::debug!(file = %path.display(), %error, "a build that nobody remembers was not removed");
            }
        }
    }

    fn path(&self, digest: &str) -> PathBuf {
        self.folder.join(format!("{digest}.{EXTENSION}"))
    }
}

/// Whether a path is a file itself, as builds are, and no link: somebody else put that there.
fn is_own_file(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|metadata| metadata.is_file())
}

/// Makes a folder that only this user can enter, and those above it that are missing.
fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

#[cfg(test)]
mod tests;
