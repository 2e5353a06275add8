//! A directory that may be shown: opened first, and then checked on what was opened.
//!
//! A path is only a way to ask. Whoever can write to a folder on the way can make it lead elsewhere between
//! two looks, so that every question but the first is put to the descriptor.

use std::fs::File;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat, fstat, openat, statat};
use rustix::io::Errno;
use rustix::process::geteuid;

use super::Shown;
use crate::sandbox::grants::filesystems;
use crate::text::shown;

/// The most bytes of a file that is read to find a directory. Git's own are a hundred times smaller.
const MAX_FILE_BYTES: u64 = 64 * 1024;

/// How a directory is opened: it is read through the descriptor. Nothing waits, whatever is there.
const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC).union(OFlags::NONBLOCK);

/// How a file in it is opened.
const FILE: OFlags =
    OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC).union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

/// An open directory of this user's.
#[derive(Debug)]
pub(super) struct Directory {
    file: File,
    path: PathBuf,
    identity: Identity,
}

/// Which file it is, whatever path leads to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    fn of(stat: &Stat) -> Self {
        // As wide as either is on any platform.
        #[allow(clippy::unnecessary_cast, reason = "they are narrower on some platforms")]
        Self { device: stat.st_dev as u64, inode: stat.st_ino as u64 }
    }

    /// What a path leads to, links followed.
    pub(super) fn at(path: &Path) -> Option<Self> {
        statat(CWD, path, AtFlags::empty()).ok().map(|stat| Self::of(&stat))
    }
}

impl Directory {
    /// Opens a directory, which has to be this user's and below `within`.
    ///
    /// # Errors
    /// Why it may not be shown, in words.
    pub(super) fn open(path: &Path, within: Option<&Path>) -> Result<Self, String> {
        let name = shown_path(path);
        let file = openat(CWD, path, DIRECTORY, Mode::empty()).map_err(|errno| match errno {
            Errno::NOENT => format!("{name} does not exist"),
            Errno::NOTDIR => format!("{name} is no directory"),
            errno => format!("{name} cannot be opened ({errno})"),
        })?;
        let file = File::from(file);
        let stat = fstat(&file).map_err(|errno| format!("{name} cannot be looked at ({errno})"))?;
        let identity = Identity::of(&stat);
        if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
            return Err(format!("{name} is no directory"));
        }
        // Before who owns it, since nobody may show these, root neither.
        if is_never_shown(&file, identity) {
            return Err(format!("{name} is the root directory, or of a filesystem that holds no files of people"));
        }
        if stat.st_uid != geteuid().as_raw() {
            return Err(format!("{name} belongs to user {}, and not to the one that the host runs as", stat.st_uid));
        }
        let path = real_path(&file, path).filter(|real| Identity::at(real) == Some(identity));
        let path = path.ok_or_else(|| format!("{name} was moved while it was looked at, or is out of reach"))?;
        if let Some(within) = within
            && !path.starts_with(within)
        {
            return Err(format!("{} is not within {}", shown_path(&path), shown_path(within)));
        }
        Ok(Self { file, path, identity })
    }

    /// Where it is: absolute, without links.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn identity(&self) -> Identity {
        self.identity
    }

    /// What of a name in it is there, links not followed.
    pub(super) fn type_of(&self, name: &str) -> Option<FileType> {
        let stat = statat(&self.file, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        Some(FileType::from_raw_mode(stat.st_mode))
    }

    /// Whether a name in it leads to a directory.
    pub(super) fn has_directory(&self, name: &str) -> bool {
        statat(&self.file, name, AtFlags::empty())
            .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory)
    }

    /// Reads a small regular file in it, which is no link; nothing if there is none of this name.
    ///
    /// # Errors
    /// Why it cannot be read, in words.
    pub(super) fn read(&self, name: &str) -> Result<Option<Vec<u8>>, String> {
        let place = || shown_path(&self.path.join(name));
        let file = match openat(&self.file, name, FILE, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP) => return Err(format!("{} is a link", place())),
            Err(errno) => return Err(format!("{} cannot be read ({errno})", place())),
        };
        let stat = fstat(&file).map_err(|errno| format!("{} cannot be looked at ({errno})", place()))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(format!("{} is no regular file", place()));
        }
        let mut bytes = Vec::new();
        let read = file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes);
        read.map_err(|error| format!("{} cannot be read ({error})", place()))?;
        if bytes.len() as u64 > MAX_FILE_BYTES {
            return Err(format!("{} has more than {MAX_FILE_BYTES} bytes", place()));
        }
        Ok(Some(bytes))
    }

    /// A path that is written in one of its files: relative to it unless absolute.
    pub(super) fn join(&self, path: &[u8]) -> PathBuf {
        self.path.join(std::ffi::OsStr::from_bytes(path))
    }

    /// As [`join`](Self::join), for a path that has a line of its own.
    pub(super) fn join_line(&self, line: &[u8]) -> PathBuf {
        let end = line.iter().rposition(|byte| !matches!(byte, b'\n' | b'\r')).map_or(0, |last| last + 1);
        self.join(line.get(..end).unwrap_or(line))
    }

    /// Itself, under the name that the guest knows it by.
    pub(super) fn shown_as(self, name: &'static str) -> Shown {
        Shown { name, path: self.path, directory: self.file }
    }
}

/// The directory that `within` names: absolute, without links.
///
/// # Errors
/// That it cannot be found, in words.
pub(super) fn resolve_bound(within: &Path) -> Result<PathBuf, String> {
    let canonical = std::fs::canonicalize(within);
    canonical.map_err(|error| format!("{}, in which it has to be, cannot be found ({error})", shown_path(within)))
}

pub(super) fn shown_path(path: &Path) -> String {
    shown(&path.display().to_string())
}

/// Whether it is the root directory, or of a filesystem of the kernel's own making: procfs, sysfs and their
/// like, and whatever is mounted at `/dev`.
fn is_never_shown(file: &File, identity: Identity) -> bool {
    let root = Identity::at(Path::new("/"));
    let devices = Identity::at(Path::new("/dev"));
    // Where /dev is a folder of the root's own filesystem, it is told by itself.
    let of_devices = devices.is_some_and(|devices| {
        devices == identity
            || (devices.device == identity.device && root.is_some_and(|root| root.device != devices.device))
    });
    root == Some(identity) || of_devices || !filesystems::holds_files(file)
}

/// Where an open directory is now, as the kernel has it.
#[cfg(target_os = "linux")]
fn real_path(file: &File, _asked: &Path) -> Option<PathBuf> {
    use std::os::fd::AsRawFd as _;
    let path = std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).ok()?;
    path.is_absolute().then_some(path)
}

/// Where the path leads that it was opened by. Whoever may change folders on the way can deceive this for a
/// moment; no platform but the first is held to more.
#[cfg(not(target_os = "linux"))]
fn real_path(_file: &File, asked: &Path) -> Option<PathBuf> {
    std::fs::canonicalize(asked).ok()
}
