//! Who writes a session in the database: a lock file for each that is open, beside the database.
//!
//! A row that says so would stay when its process is killed; the kernel's lock of a file does not.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::sessions::failure::storage;
use crate::sessions::files::{is_at, make_folders};
use crate::sessions::lock::Locked;

/// How often a lock file is made again that its last writer removed meanwhile.
const ATTEMPTS: usize = 100;

/// The right to write one session, until it is dropped.
#[derive(Debug)]
pub(super) struct Writer {
    path: PathBuf,
    _lock: Locked,
}

impl Writer {
    /// Becomes the writer of the session with this number.
    ///
    /// # Errors
    /// `session-in-use` where there is another.
    pub(super) fn new(database: &Path, number: i64) -> Result<Self> {
        let mut folder = database.as_os_str().to_owned();
        folder.push("-writers");
        let folder = PathBuf::from(folder);
        // Not to be synced: nothing in there outlives its process.
        make_folders(&folder, &mut Vec::new())?;
        let path = folder.join(number.to_string());
        let failed = |error: &io::Error| storage(&path, "lock the session", error);
        for _ in 0..ATTEMPTS {
            let file = open(&path).map_err(|error| failed(&error))?;
            let lock = Locked::new(file, &path)?;
            if is_at(&lock, &path).map_err(|error| failed(&error))? {
                return Ok(Self { path, _lock: lock });
            }
        }
        Err(failed(&io::Error::from(io::ErrorKind::ResourceBusy)))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // While the lock is held: whoever opened the file before finds it gone, and makes another.
        let _ = fs::remove_file(&self.path);
    }
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;

        use rustix::fs::OFlags;

        options.mode(0o600).custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed());
    }
    options.open(path)
}
