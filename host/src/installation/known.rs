//! Which digest a file had when it was last read, so that it is not read again for every command.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::file::read_regular;
use crate::home::permissions;

/// The file in the state.
const FILE_NAME: &str = "files.json";

/// The most bytes of it that are read.
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// A file that changed so shortly before it was read may have changed again without looking different: clocks of file
/// systems have ticks, of two seconds in the coarsest.
const TICK: Duration = Duration::from_secs(2);

/// What a file looks like from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint {
    device: u64,
    inode: u64,
    size: u64,
    /// Nanoseconds since 1970 of the last change of content, and of status.
    modified: i128,
    changed: i128,
}

impl Fingerprint {
    /// That of a file's metadata.
    #[must_use]
    pub fn of(metadata: &Metadata) -> Self {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt as _;
            let nanoseconds = |seconds: i64, rest: i64| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
            Self {
                device: metadata.dev(),
                inode: metadata.ino(),
                size: metadata.size(),
                modified: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
                changed: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
            }
        }
        #[cfg(not(unix))]
        {
            let modified = metadata.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
            let modified = modified.map_or(0, |since| i128::try_from(since.as_nanos()).unwrap_or_default());
            Self { device: 0, inode: 0, size: metadata.len(), modified, changed: modified }
        }
    }

    /// Whether a file that looks like this, and was read at `read`, is the same as long as it looks the same.
    #[must_use]
    pub fn tells(&self, read: SystemTime) -> bool {
        let read = read.duration_since(UNIX_EPOCH).ok().and_then(|since| i128::try_from(since.as_nanos()).ok());
        let tick = i128::try_from(TICK.as_nanos()).unwrap_or_default();
        read.is_some_and(|read| self.modified.max(self.changed) + tick < read)
    }
}

/// The digests of files.
#[derive(Debug, Default)]
pub struct KnownFiles {
    path: PathBuf,
    files: BTreeMap<PathBuf, (Fingerprint, String)>,
    changed: bool,
}

impl KnownFiles {
    /// Those that a state remembers. What cannot be read, or was written by somebody else, is not remembered.
    #[must_use]
    pub fn of(state: &Path) -> Self {
        let path = state.join(FILE_NAME);
        let files = read(&path).unwrap_or_default();
        Self { path, files, changed: false }
    }

    /// The digest of a file that looks like this.
    #[must_use]
    pub fn get(&self, file: &Path, fingerprint: &Fingerprint) -> Option<&str> {
        self.files.get(file).filter(|(known, _)| known == fingerprint).map(|(_, digest)| digest.as_str())
    }

    /// Remembers a file that was read at a time, if it can be told by its looks from then on.
    pub fn put(&mut self, file: &Path, fingerprint: Fingerprint, digest: &str, read: SystemTime) {
        // A name that is no text cannot be kept, and none of the others either with it.
        if file.to_str().is_some() && fingerprint.tells(read) && self.get(file, &fingerprint) != Some(digest) {
            self.files.insert(file.to_owned(), (fingerprint, digest.to_owned()));
            self.changed = true;
        }
    }

    /// Keeps what was remembered since, of files that are still `there`. Where that cannot be written, files are read
    /// again.
    pub fn save(&mut self, there: impl Fn(&Path) -> bool) {
        let before = self.files.len();
        self.files.retain(|file, _| there(file));
        if !self.changed && self.files.len() == before {
            return;
        }
        self.changed = false;
        if let Err(error) = self.write() {
            tracing::debug!(file = %self.path.display(), %error, "the digests of files were not kept");
        }
    }

    fn write(&self) -> std::io::Result<()> {
        let Some(folder) = self.path.parent() else { return Ok(()) };
        let mut file = tempfile::Builder::new().prefix(".files-").tempfile_in(folder)?;
        file.write_all(&serde_json::to_vec(&self.files.iter().collect::<Vec<_>>())?)?;
        file.persist(&self.path).map_err(|error| error.error)?;
        Ok(())
    }
}

fn read(path: &Path) -> Option<BTreeMap<PathBuf, (Fingerprint, String)>> {
    let read = read_regular(path, MAX_BYTES).ok()?;
    #[cfg(unix)]
    permissions::check_metadata(path, &read.metadata).ok()?;
    let files: Vec<(PathBuf, (Fingerprint, String))> = serde_json::from_slice(&read.bytes).ok()?;
    Some(files.into_iter().filter(|(_, (_, digest))| super::store::is_digest(digest)).collect())
}

/// What a path leads to looks like now.
#[must_use]
pub fn fingerprint(file: &Path) -> Option<Fingerprint> {
    fs::metadata(file).ok().as_ref().map(Fingerprint::of)
}

#[cfg(test)]
mod tests;
