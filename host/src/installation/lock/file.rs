//! Reading and changing the lock's file.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{Lock, VERSION};
use crate::error::{Code, Error, Result};
use crate::file::{ReadFault, read_regular};
use crate::home::{Home, permissions};
use crate::text::shown;

/// The file in the home.
const FILE_NAME: &str = "dsh-env.lock";

/// How files begin that are not whole yet.
const UNFINISHED: &str = ".dsh-env.lock-";

/// The most bytes that are read: thousands of contributors with all their builds.
const MAX_BYTES: usize = 64 * 1024 * 1024;

/// What the file begins with.
const HEADER: &str = "# What was accepted, as dsh-env wrote it: change it by add, approve, rollback and forget.\n";

/// What to do where the file is not what this host wrote.
const PUT_BACK: &str = "Put the file back as it was";

/// What every version of the format has.
#[derive(Deserialize)]
struct Format {
    version: i64,
}

/// The lock's file of a home.
#[derive(Clone, Debug)]
pub struct LockFile {
    home: PathBuf,
    path: PathBuf,
}

impl LockFile {
    /// The file of a home, which need not exist.
    #[must_use]
    pub fn of(home: &Home) -> Self {
        Self { home: home.path().to_owned(), path: home.path().join(FILE_NAME) }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads it; without a file nothing was accepted.
    ///
    /// # Errors
    /// `unsafe-permissions`; `invalid-configuration` for a file that cannot be read, or that this version did not
    /// write.
    pub fn read(&self) -> Result<Lock> {
        if self.path.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink()) {
            let remedy = "Put the file itself there";
            return Err(self.unusable("it is a link, which the next change would replace", remedy));
        }
        let read = match read_regular(&self.path, MAX_BYTES) {
            Ok(read) => read,
            Err(ReadFault::NotFound) => return Ok(Lock::default()),
            Err(fault) => return Err(self.unusable(&fault.to_string(), PUT_BACK)),
        };
        #[cfg(unix)]
        permissions::check_metadata(&self.path, &read.metadata)?;
        let text = String::from_utf8(read.bytes).map_err(|_| self.unusable("it is not UTF-8", PUT_BACK))?;
        // Before the rest, of which another version may have more than this one knows.
        let Format { version } = toml::from_str(&text).map_err(|error| self.unusable(error.message(), PUT_BACK))?;
        if version != VERSION {
            let why = format!("it has version {version} of the format, and this host reads {VERSION}");
            return Err(self.unusable(&why, "Use a host of the version that wrote it"));
        }
        let lock: Lock = toml::from_str(&text).map_err(|error| self.unusable(error.message(), PUT_BACK))?;
        match lock.fault() {
            Some(fault) => Err(self.unusable(&fault, PUT_BACK)),
            None => Ok(lock),
        }
    }

    /// Changes it, as it is at that moment: nobody else changes it meanwhile. On disk when this returns.
    ///
    /// # Errors
    /// As [`read`](Self::read), and that of `change`, which then has changed nothing; `invalid-configuration` where it
    /// cannot be written.
    pub fn edit<T>(&self, change: impl FnOnce(&mut Lock) -> Result<T>) -> Result<T> {
        let home = File::open(&self.home).map_err(|error| self.unwritable(&error))?;
        home.lock().map_err(|error| self.unwritable(&error))?;
        let before = self.read()?;
        let mut after = before.clone();
        let answer = change(&mut after)?;
        if after != before {
            self.write(&after, &home).map_err(|error| self.unwritable(&error))?;
        }
        Ok(answer)
    }

    fn write(&self, lock: &Lock, home: &File) -> std::io::Result<()> {
        let text = toml::to_string(lock).map_err(std::io::Error::other)?;
        self.remove_unfinished();
        let mut file = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(&self.home)?;
        file.write_all(HEADER.as_bytes())?;
        file.write_all(text.as_bytes())?;
        file.as_file().sync_all()?;
        file.persist(&self.path).map_err(|error| error.error)?;
        home.sync_all()
    }

    /// Removes what writers left that were killed. Whoever has the lock on the folder is the only writer.
    fn remove_unfinished(&self) {
        let Ok(entries) = std::fs::read_dir(&self.home) else { return };
        let unfinished =
            entries.flatten().filter(|entry| entry.file_name().as_encoded_bytes().starts_with(UNFINISHED.as_bytes()));
        for entry in unfinished {
            let _ = std::fs::remove_file(entry.path());
        }
    }

    fn unusable(&self, why: &str, remedy: &str) -> Error {
        let (path, why) = (shown(&self.path.display().to_string()), shown(why));
        let message = format!(
            "{path}: what was accepted is not known, because {why}. {remedy}, or remove it and approve what is installed anew"
        );
        Error::host(Code::InvalidConfiguration, message)
    }

    fn unwritable(&self, error: &std::io::Error) -> Error {
        let (path, why) = (shown(&self.path.display().to_string()), shown(&error.to_string()));
        let message =
            format!("{path} cannot be written, so nothing was changed: {why}. Let this user write in its folder");
        Error::host(Code::InvalidConfiguration, message)
    }
}
