//! One log, open for writing.

use std::fs::File;
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use super::Compression;
use super::frames;
use super::opened::Opened;
use super::publish::publish;
use crate::error::{Code, Error, Result};
use crate::sessions::failure::storage;
use crate::sessions::files;
use crate::sessions::lock::Locked;
use crate::sessions::pending::Pending;
use crate::sessions::{Event, Location, SessionLog};

/// A log that is, or will be, a file.
#[derive(Debug)]
pub(super) struct JsonlLog {
    pub(super) location: Location,
    /// What the log would be called if it were compressed otherwise.
    pub(super) rival: PathBuf,
    pub(super) compression: Compression,
    pub(super) pending: Pending,
    /// That the log is where it is, for those who ask the service. It is dropped before the lock of the file:
    /// else it could take with it what the next writer says.
    pub(super) _opened: Opened,
    /// The file, once there is one.
    pub(super) file: Option<Locked>,
    /// How many bytes of the file are kept for good.
    pub(super) length: u64,
    /// A flush failed and what it left could not be removed: there may be more in the file than `length`.
    pub(super) unclean: bool,
    /// Folders whose entries are not durable yet.
    pub(super) to_sync: Vec<PathBuf>,
}

impl JsonlLog {
    fn encoded(&self) -> Result<Vec<u8>> {
        match self.compression {
            Compression::None => Ok(self.pending.lines().as_bytes().to_vec()),
            Compression::Zstd => frames::encode(self.pending.lines())
                .map_err(|error| storage(&self.location.path, "compress the log", &error)),
        }
    }

    fn append_to_file(&mut self, bytes: &[u8]) -> Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let path = &self.location.path;
        check_unchanged(file, path, self.length, self.unclean).map_err(|error| error.in_file(path))?;
        // From the kept end on, whatever an earlier attempt left there. The size is made durable with the data.
        let written = write_at(file, self.length, bytes).and_then(|()| file.sync_data());
        if let Err(error) = written {
            self.unclean = file.set_len(self.length).is_err();
            return Err(storage(path, "write the log", &error));
        }
        self.unclean = false;
        self.length += length(bytes);
        Ok(())
    }
}

impl SessionLog for JsonlLog {
    fn append(&mut self, event: &Event) -> Result<()> {
        self.pending.push(event)
    }

    fn flush(&mut self) -> Result<()> {
        if !self.pending.lines().is_empty() {
            let bytes = self.encoded()?;
            if self.file.is_some() {
                self.append_to_file(&bytes)?;
            } else {
                let file = publish(&self.location.path, &self.rival, &bytes, &mut self.to_sync)?;
                self.file = Some(file);
                self.length = length(&bytes);
            }
            self.pending.clear();
        }
        files::sync_folders(&mut self.to_sync)
    }

    fn location(&self) -> Option<&Location> {
        Some(&self.location)
    }
}

fn write_at(mut file: &File, offset: u64, bytes: &[u8]) -> io::Result<()> {
    // Where an earlier attempt left more than this one will write, the rest must not stay behind it.
    if file.metadata()?.len() != offset {
        file.set_len(offset)?;
    }
    file.seek(SeekFrom::Start(offset))?;
    file.write_all(bytes)
}

/// What is kept would be lost if it were appended to a file that was removed or that others write too.
fn check_unchanged(file: &File, path: &Path, length: u64, unclean: bool) -> Result<()> {
    let unseen = |error| Error::host(Code::SessionStorage, format!("cannot look at the log: {error}; try again"));
    let metadata = file.metadata().map_err(unseen)?;
    #[cfg(unix)]
    if std::os::unix::fs::MetadataExt::nlink(&metadata) == 0 {
        return Err(Error::host(
            Code::SessionStorage,
            "the log was removed while its session was open: put it back from a copy and resume, or fork the session",
        ));
    }
    if !files::is_at(file, path).map_err(unseen)? {
        return Err(Error::host(
            Code::SessionStorage,
            "the log was moved while its session was open, and what is at its place now is not it: move it back, then resume the session",
        ));
    }
    if metadata.len() < length || (metadata.len() > length && !unclean) {
        return Err(Error::host(
            Code::SessionInUse,
            "the log was changed by another program while its session was open: end that one, then resume the session",
        ));
    }
    Ok(())
}

fn length(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}
