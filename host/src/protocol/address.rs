//! Paths of sockets that are longer than the address of a socket can be.

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, openat};

/// The most bytes of a path in a socket's address on Linux, without the NUL at its end.
const MAX_PATH_BYTES: usize = 107;

/// How a folder is opened that a path leads through: whoever may pass it need not be able to list it.
#[cfg(target_os = "linux")]
const THROUGH: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const THROUGH: OFlags = OFlags::RDONLY;

/// A path that fits the address of a socket, as long as this lives.
#[derive(Debug)]
pub(crate) struct Address {
    path: PathBuf,
    /// The folder that a short path leads through.
    _folder: Option<OwnedFd>,
}

impl Address {
    /// Where the socket of this path is. A path that is too long leads through a descriptor of its folder, so that
    /// nobody's current directory is changed.
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        if path.as_os_str().as_bytes().len() <= MAX_PATH_BYTES {
            return Ok(Self { path: path.to_owned(), _folder: None });
        }
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let folder = openat(CWD, folder, THROUGH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        let path = Path::new("/proc/self/fd").join(folder.as_raw_fd().to_string()).join(name);
        Ok(Self { path, _folder: Some(folder) })
    }

    /// The path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}
