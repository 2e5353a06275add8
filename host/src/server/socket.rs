//! A socket in the folder of sockets.

use std::io;
use std::os::unix::net::UnixListener;
use std::sync::Arc;

use rustix::fs::{AtFlags, Mode, Stat, chmodat, unlinkat};
use rustix::io::Errno;

use super::folder::{RunFolder, is_same, is_socket};
use super::role::Role;
use crate::error::{Code, Error, Result};
use crate::protocol::Address;

/// The name of a socket, which is removed when this is dropped, unless another has taken its place.
#[derive(Debug)]
pub(super) struct OwnSocket {
    folder: Arc<RunFolder>,
    name: &'static str,
    stat: Stat,
}

impl OwnSocket {
    /// Makes the socket of a role, in place of one that a dead server left. The caller has the lock of the folder.
    ///
    /// # Errors
    /// `server-unavailable` where it cannot be made, or where something else has its name.
    pub(super) fn bind(folder: &Arc<RunFolder>, role: Role) -> Result<(Self, UnixListener)> {
        let name = role.socket();
        let path = folder.path_of(name);
        let cannot = |error: io::Error| {
            let why = format!("the socket cannot be made ({error}): see to it that the folder can be written");
            Error::host(Code::ServerUnavailable, why).in_file(&path)
        };
        match folder.stat(name).map_err(|error| cannot(error.into()))? {
            Some(stat) if is_socket(&stat) => {
                unlinkat(folder, name, AtFlags::empty()).map_err(|error| cannot(error.into()))?;
            }
            Some(_) => return Err(in_the_way().in_file(&path)),
            None => {}
        }
        // Nobody else can enter the folder, so that it does not matter which mode the socket has at first.
        let address = Address::of(&path).map_err(cannot)?;
        let listener = UnixListener::bind(address.path()).map_err(cannot)?;
        listener.set_nonblocking(true).map_err(cannot)?;
        let stat = folder.stat(name).map_err(|error| cannot(error.into()))?;
        let stat = stat.filter(is_socket).ok_or_else(|| cannot(Errno::NOENT.into()))?;
        let own = Self { folder: Arc::clone(folder), name, stat };
        chmodat(folder, name, Mode::RUSR | Mode::WUSR, AtFlags::empty()).map_err(|error| cannot(error.into()))?;
        Ok((own, listener))
    }
}

impl Drop for OwnSocket {
    fn drop(&mut self) {
        if let Ok(Some(stat)) = self.folder.stat(self.name)
            && is_same(&stat, &self.stat)
        {
            let _ = unlinkat(&*self.folder, self.name, AtFlags::empty());
        }
    }
}

fn in_the_way() -> Error {
    Error::host(Code::ServerUnavailable, "something that is no socket has this name: look at it, and move it away")
}
