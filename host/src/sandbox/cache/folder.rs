//! What is in the folder of compiled code: how much, when it was used, and what has to go.
//!
//! Several processes may use a folder at once, and nothing is locked. What one removes while another reads it
//! stays whole for the other, and is compiled again when it is next needed. Only files that are named as this
//! host names them are counted and removed.

use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Serialize;

use crate::error::{Code, Error, Result};
use crate::home::permissions;
use crate::text::shown;

/// How entries end.
pub(super) const EXTENSION: &str = ".cwasm";

/// How files begin that are not published yet; they end as entries do.
pub(super) const UNFINISHED: &str = ".new-";

/// The digits of the digest that entries begin with.
const DIGEST_DIGITS: usize = 64;

/// A file that is not published after this time belongs to a process that is gone.
const STALE: Duration = Duration::from_secs(60 * 60);

/// A folder that compiled code is kept in, and how much of it.
#[derive(Clone, Debug)]
pub struct CacheFolder {
    path: PathBuf,
    bound: u64,
}

/// What is in a folder of compiled code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CacheInfo {
    /// The folder, whether or not there is one.
    pub folder: PathBuf,
    /// How many components are kept, also for other versions of this host.
    pub entries: usize,
    /// Bytes of all of them.
    pub bytes: u64,
    /// Bytes that may be kept; beyond, what was not used for longest goes.
    pub bound: u64,
    /// When the entry that was not used for longest was last used: milliseconds since the Unix epoch, an hour
    /// less at most.
    pub oldest_use: Option<u64>,
    /// When any entry was last used, likewise.
    pub newest_use: Option<u64>,
}

/// What was removed from a folder of compiled code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Cleared {
    /// How many entries.
    pub entries: usize,
    /// Bytes of all of them.
    pub bytes: u64,
}

/// A file in the folder.
struct Item {
    path: PathBuf,
    metadata: Metadata,
    unfinished: bool,
}

impl CacheFolder {
    /// A folder in which at most `bound` bytes are kept. It need not exist.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>, bound: u64) -> Self {
        Self { path: path.into(), bound }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The most bytes that are kept.
    #[must_use]
    pub fn bound(&self) -> u64 {
        self.bound
    }

    /// What is in it.
    ///
    /// # Errors
    /// `invalid-configuration` where it cannot be listed.
    pub fn info(&self) -> Result<CacheInfo> {
        let entries: Vec<_> = self.listed()?.into_iter().filter(|item| !item.unfinished).collect();
        let uses = || entries.iter().map(|entry| milliseconds(entry.used()));
        Ok(CacheInfo {
            folder: self.path.clone(),
            entries: entries.len(),
            bytes: entries.iter().map(Item::bytes).sum(),
            bound: self.bound,
            oldest_use: uses().min(),
            newest_use: uses().max(),
        })
    }

    /// Removes all that is kept. Processes that use it compile again what they need.
    ///
    /// # Errors
    /// `invalid-configuration` where it cannot be listed, or something cannot be removed.
    pub fn clear(&self) -> Result<Cleared> {
        let mut cleared = Cleared::default();
        for item in self.listed()? {
            item.remove().map_err(|error| refused(&item.path, "removed", &error))?;
            if !item.unfinished {
                cleared.entries += 1;
                cleared.bytes += item.bytes();
            }
        }
        Ok(cleared)
    }

    /// Removes what nobody can use, and what was not used for longest until the rest is within the bound.
    /// `published` goes last.
    pub(super) fn sweep(&self, published: &Path) -> io::Result<()> {
        let mut kept = Vec::new();
        for item in self.items()? {
            let useless = if item.unfinished { item.is_stale() } else { !item.is_trusted() };
            if useless {
                // It is of no use if it cannot be removed either.
                let _ = item.remove();
            } else if !item.unfinished {
                kept.push(item);
            }
        }
        kept.sort_by_key(|item| (item.path == published, item.used()));
        let mut total: u64 = kept.iter().map(Item::bytes).sum();
        for item in kept {
            if total <= self.bound {
                break;
            }
            if item.remove().is_ok() {
                total -= item.bytes();
            }
        }
        Ok(())
    }

    fn listed(&self) -> Result<Vec<Item>> {
        self.items().map_err(|error| refused(&self.path, "listed", &error))
    }

    /// The files that are entries or may become some. What goes away meanwhile is left out.
    fn items(&self) -> io::Result<Vec<Item>> {
        let folder = match fs::read_dir(&self.path) {
            Ok(folder) => folder,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut items = Vec::new();
        for file in folder {
            let path = file?.path();
            let Some(unfinished) = path.file_name().and_then(is_unfinished) else { continue };
            if let Ok(metadata) = path.symlink_metadata() {
                items.push(Item { path, metadata, unfinished });
            }
        }
        Ok(items)
    }
}

impl Item {
    fn bytes(&self) -> u64 {
        if self.metadata.is_file() { self.metadata.len() } else { 0 }
    }

    fn used(&self) -> SystemTime {
        self.metadata.modified().unwrap_or(UNIX_EPOCH)
    }

    fn is_stale(&self) -> bool {
        self.used().elapsed().is_ok_and(|age| age > STALE)
    }

    /// Whether it could be used at all, as far as can be told without reading it.
    fn is_trusted(&self) -> bool {
        #[cfg(unix)]
        let safe = permissions::check_metadata(&self.path, &self.metadata).is_ok();
        #[cfg(not(unix))]
        let safe = permissions::check(&self.path).is_ok();
        self.metadata.is_file() && safe
    }

    fn remove(&self) -> io::Result<()> {
        // Nobody puts anything into a directory of this name, so that only an empty one goes.
        let removed = if self.metadata.is_dir() { fs::remove_dir(&self.path) } else { fs::remove_file(&self.path) };
        match removed {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }
}

/// Whether a file of this name is still being written; none if it is not named as a file of a cache.
fn is_unfinished(name: &OsStr) -> Option<bool> {
    let stem = name.to_str()?.strip_suffix(EXTENSION)?;
    if stem.starts_with(UNFINISHED) {
        return Some(true);
    }
    let (digest, _) = stem.split_once('-')?;
    let is_digest = digest.len() == DIGEST_DIGITS && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_digest.then_some(false)
}

fn milliseconds(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

fn refused(path: &Path, what: &str, error: &io::Error) -> Error {
    let path = shown(&path.display().to_string());
    let message = format!("{path} cannot be {what} ({error}): let this user read and write the folder");
    Error::host(Code::InvalidConfiguration, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_that_are_named_as_this_host_names_them_are_its_own() {
        let digest = "0".repeat(DIGEST_DIGITS);
        for (name, expected) in [
            (format!("{digest}-settings-2.cwasm"), Some(false)),
            (".new-AbCdEf.cwasm".to_owned(), Some(true)),
            (format!("{digest}.cwasm"), None),
            (format!("{digest}-settings.wasm"), None),
            (format!("{}g-settings.cwasm", "0".repeat(63)), None),
            (".new-AbCdEf".to_owned(), None),
            ("notes.cwasm".to_owned(), None),
            (".cwasm".to_owned(), None),
        ] {
            assert_eq!(is_unfinished(OsStr::new(&name)), expected, "{name}");
        }
    }
}
