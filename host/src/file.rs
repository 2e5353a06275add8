//! Reading a file that somebody may have prepared.
//!
//! A path in a folder of the user's may lead to anything: a FIFO that nobody writes to, a device, a file
//! without end. [`read_regular`] opens without waiting, looks at what it opened, and reads no more than
//! it was told to.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

/// What was read, and what the file was when it was read.
#[derive(Debug)]
pub struct ReadFile {
    /// All of the file.
    pub bytes: Vec<u8>,
    /// Of the descriptor that was read from, so that what is checked is what was read.
    pub metadata: Metadata,
}

/// Why a file was not read. As text it is the second half of a sentence about the file.
#[derive(Debug, thiserror::Error)]
pub enum ReadFault {
    /// There is no such file.
    #[error("it does not exist")]
    NotFound,
    /// This user may not read it, or not pass through a folder on the way.
    #[error("this user is not permitted to read it")]
    NotPermitted,
    /// The path leads to a directory.
    #[error("it is a directory and not a file")]
    Directory,
    /// The path leads to a FIFO, a socket or a device.
    #[error("it is a FIFO, a socket or a device and not a regular file")]
    Special,
    /// The path leads through links that lead to themselves.
    #[error("it is a link that leads to itself")]
    LinkLoop,
    /// The file has more bytes than are read; the number is the limit.
    #[error("it has more than {0} bytes")]
    TooLarge(usize),
    /// Somebody wrote to the file while it was being read.
    #[error("it was changed while it was being read")]
    Changed,
    /// The file is no UTF-8, where text is read.
    #[error("it is not UTF-8: {0}")]
    NotText(std::str::Utf8Error),
    /// What the operating system says of it.
    #[error("it cannot be read: {0}")]
    Other(io::Error),
}

/// Reads a regular file of at most `limit` bytes. Links are followed.
///
/// Never waits for anybody but the file system: what is no regular file is refused. A file that is too
/// large is refused unread, and one that is written to meanwhile is refused rather than half new.
///
/// # Errors
/// A [`ReadFault`], so that callers choose the code and the words.
pub fn read_regular(path: &Path, limit: usize) -> Result<ReadFile, ReadFault> {
    read_regular_file(&open_regular(path)?, limit)
}

/// Opens what [`read_regular_file`] is to read: it may turn out to be no regular file.
pub(crate) fn open_regular(path: &Path) -> Result<File, ReadFault> {
    open(path).map_err(fault)
}

/// As [`read_regular`], for what was opened already.
pub(crate) fn read_regular_file(file: &File, limit: usize) -> Result<ReadFile, ReadFault> {
    read_opened(file, || file.metadata(), limit)
}

/// Reads a text file of at most `limit` bytes, as [`read_regular`] reads it.
///
/// # Errors
/// A [`ReadFault`], also for what is not UTF-8.
pub fn read_text(path: &Path, limit: usize) -> Result<String, ReadFault> {
    String::from_utf8(read_regular(path, limit)?.bytes).map_err(|error| ReadFault::NotText(error.utf8_error()))
}

/// Opens for reading without waiting for a writer, and without making a terminal ours.
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;

        use rustix::fs::OFlags;

        // The standard library adds close-on-exec. The bits fit: they are what the kernel takes as an int.
        let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
        options.custom_flags(i32::try_from(flags.bits()).unwrap_or_default());
    }
    options.open(path)
}

/// Reads from `file` what `look` says it is, unless that changes on the way.
fn read_opened(file: impl Read, look: impl Fn() -> io::Result<Metadata>, limit: usize) -> Result<ReadFile, ReadFault> {
    let before = look().map_err(fault)?;
    if before.is_dir() {
        return Err(ReadFault::Directory);
    }
    if !before.is_file() {
        return Err(ReadFault::Special);
    }
    let size = usize::try_from(before.len()).ok().filter(|size| *size <= limit).ok_or(ReadFault::TooLarge(limit))?;
    let mut bytes = Vec::with_capacity(size);
    // One byte more than it should have shows a file that grows, or a pseudo-file that is larger than it says.
    let bound = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    file.take(bound).read_to_end(&mut bytes).map_err(fault)?;
    if bytes.len() > limit {
        return Err(ReadFault::TooLarge(limit));
    }
    let after = look().map_err(fault)?;
    if bytes.len() != size || identity(&before) != identity(&after) {
        return Err(ReadFault::Changed);
    }
    Ok(ReadFile { bytes, metadata: after })
}

/// What stays the same while nobody writes. Not the time of the last change of status: renaming another
/// file over this one changes that, and what is being read stays whole.
#[cfg(unix)]
fn identity(metadata: &Metadata) -> impl PartialEq + use<> {
    use std::os::unix::fs::MetadataExt as _;

    (metadata.dev(), metadata.ino(), metadata.size(), metadata.mtime(), metadata.mtime_nsec())
}

#[cfg(not(unix))]
fn identity(metadata: &Metadata) -> impl PartialEq + use<> {
    (metadata.len(), metadata.modified().ok())
}

fn fault(error: io::Error) -> ReadFault {
    match error.kind() {
        io::ErrorKind::NotFound => ReadFault::NotFound,
        io::ErrorKind::PermissionDenied => ReadFault::NotPermitted,
        io::ErrorKind::IsADirectory => ReadFault::Directory,
        _ => platform_fault(error),
    }
}

#[cfg(unix)]
fn platform_fault(error: io::Error) -> ReadFault {
    use rustix::io::Errno;

    match Errno::from_io_error(&error) {
        Some(Errno::LOOP) => ReadFault::LinkLoop,
        // A socket, and a device that is not there.
        Some(Errno::NXIO | Errno::NODEV) => ReadFault::Special,
        _ => ReadFault::Other(error),
    }
}

#[cfg(not(unix))]
fn platform_fault(error: io::Error) -> ReadFault {
    ReadFault::Other(error)
}

#[cfg(test)]
mod tests;
