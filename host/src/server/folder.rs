//! The folder of sockets: this user's own, and nobody else's to enter.

use std::fs::DirBuilder;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat, fchmod, fstat, mkdirat, openat, statat};
use rustix::io::Errno;

use crate::error::{Code, Error, Result};
use crate::home::permissions;
use crate::protocol::RUN_FOLDER;
use crate::text::shown;

/// What others could do with a folder.
const OTHERS: Mode = Mode::RWXG.union(Mode::RWXO);

/// The folder, open: what is done in it is done there, whatever becomes of its path.
#[derive(Debug)]
pub(super) struct RunFolder {
    path: PathBuf,
    folder: OwnedFd,
}

impl RunFolder {
    /// Opens the folder in a state, both made where they are not there.
    ///
    /// # Errors
    /// `unsafe-permissions` where others own it, may enter it or could put another in its place;
    /// `server-unavailable` where it cannot be made.
    pub(super) fn open(state_dir: &Path) -> Result<Self> {
        let path = state_dir.join(RUN_FOLDER);
        let cannot = |what: &str, error: std::io::Error| {
            Error::host(Code::ServerUnavailable, format!("{what} ({error}): make it, or choose another state folder"))
        };
        let made = DirBuilder::new().recursive(true).mode(0o700).create(state_dir);
        made.map_err(|error| cannot("the folder cannot be made", error).in_file(state_dir))?;
        permissions::check(state_dir)?;
        let opened = |from: BorrowedFd<'_>, name: &Path, flags: OFlags| {
            openat(from, name, flags | OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
        };
        let state = opened(CWD, state_dir, OFlags::empty())
            .map_err(|error| cannot("the folder cannot be opened", error.into()).in_file(state_dir))?;
        let is_new = match mkdirat(&state, RUN_FOLDER, Mode::RWXU) {
            Ok(()) => true,
            Err(Errno::EXIST) => false,
            Err(error) => return Err(cannot("the folder cannot be made", error.into()).in_file(&path)),
        };
        let folder = match opened(state.as_fd(), RUN_FOLDER.as_ref(), OFlags::NOFOLLOW) {
            Ok(folder) => folder,
            Err(Errno::LOOP | Errno::NOTDIR) => return Err(not_a_folder(&path)),
            Err(error) => return Err(cannot("the folder cannot be opened", error.into()).in_file(&path)),
        };
        if is_new {
            // Whatever the umask left of it.
            fchmod(&folder, Mode::RWXU)
                .map_err(|error| cannot("its mode cannot be set", error.into()).in_file(&path))?;
        }
        let stat = fstat(&folder).map_err(|error| cannot("the folder cannot be read", error.into()).in_file(&path))?;
        check(&path, &stat)?;
        Ok(Self { path, folder })
    }

    /// Where something in it is.
    pub(super) fn path_of(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// What is in it under a name, links not followed.
    pub(super) fn stat(&self, name: &str) -> Result<Option<Stat>, Errno> {
        match statat(&self.folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl AsFd for RunFolder {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.folder.as_fd()
    }
}

/// Whether two looks saw the same file.
pub(super) fn is_same(one: &Stat, other: &Stat) -> bool {
    (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)
}

/// Whether it is a socket.
pub(super) fn is_socket(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::Socket
}

fn check(path: &Path, stat: &Stat) -> Result<()> {
    let user = rustix::process::geteuid().as_raw();
    let name = shown(&path.display().to_string());
    let refused = |why: String| Err(Error::host(Code::UnsafePermissions, why));
    if stat.st_uid != user {
        return refused(format!(
            "{name} belongs to user {}, and sockets of user {user} are only in a folder of their own: remove it, or choose another state folder",
            stat.st_uid
        ));
    }
    let mode = Mode::from_raw_mode(stat.st_mode);
    if mode.intersects(OTHERS) {
        return refused(format!(
            "{name} can be entered or changed by other users (mode {:04o}), who could talk to the host or pose as it: make it mode 0700 (chmod 700)",
            mode.bits()
        ));
    }
    Ok(())
}

fn not_a_folder(path: &Path) -> Error {
    Error::host(
        Code::UnsafePermissions,
        "it is a link or a file, and sockets are only in a folder of their own: remove it, the server makes the folder",
    )
    .in_file(path)
}
