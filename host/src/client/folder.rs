//! Who answers, and who could have put another one in its place.
//!
//! A server of this user or of root is trusted, and so is one of another user whom the socket's folder, or the socket in
//! a folder of this user's or root's, belongs to: it is how a server is shared with commands that are not trusted.
//! Nobody else may be able to write to the folder. Where the server is another user's, that goes for the folders above
//! it too, but for ones like `/tmp`, in which nobody can move what is another's.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixStream;
use std::path::Path;

use rustix::net::sockopt::socket_peercred;

use crate::text::shown;

const OTHERS_MAY_WRITE: u32 = 0o022;
const STICKY: u32 = 0o1000;
const ROOT: u32 = 0;

/// Whom a server may belong to, and who may write where it is.
#[derive(Clone, Copy, Debug)]
struct Users {
    own: u32,
    server: u32,
}

/// What counts of a folder or a socket.
#[derive(Clone, Copy, Debug)]
struct Owned {
    user: u32,
    mode: u32,
}

impl From<Metadata> for Owned {
    fn from(metadata: Metadata) -> Self {
        Self { user: metadata.uid(), mode: metadata.mode() }
    }
}

/// Checks who is at the other end of a connection to a socket; otherwise why it is not trusted, and what to do.
pub(super) fn check(stream: &UnixStream, socket: &Path) -> Result<(), String> {
    let unknown = |error: std::io::Error| format!("who it belongs to cannot be found out ({error})");
    let server = socket_peercred(stream).map_err(|error| unknown(error.into()))?.uid.as_raw();
    let users = Users { own: rustix::process::geteuid().as_raw(), server };
    let folder = match socket.parent() {
        None => Path::new("/"),
        Some(folder) if folder.as_os_str().is_empty() => Path::new("."),
        Some(folder) => folder,
    };
    let owned = fs::metadata(folder).map_err(unknown)?.into();
    users.may_have(folder, owned)?;
    if users.is_own() {
        return Ok(());
    }
    let socket = fs::symlink_metadata(socket).map_err(unknown)?.into();
    users.are_said_by(owned, socket)?;
    let folder = fs::canonicalize(folder).map_err(unknown)?;
    folder.ancestors().skip(1).try_for_each(|above| users.may_pass(above, fs::metadata(above).map_err(unknown)?.into()))
}

impl Users {
    /// Whether the server can be trusted whoever its socket belongs to.
    fn is_own(self) -> bool {
        self.server == self.own || self.server == ROOT
    }

    fn trust(self, user: u32) -> bool {
        user == self.own || user == ROOT || user == self.server
    }

    /// Whether nobody else can put a socket into the folder.
    fn may_have(self, folder: &Path, owned: Owned) -> Result<(), String> {
        let name = shown(&folder.display().to_string());
        if !self.trust(owned.user) {
            return Err(format!(
                "the folder {name} belongs to user {}, who could answer in its place: let the folder belong to whoever runs the server",
                owned.user
            ));
        }
        if owned.mode & OTHERS_MAY_WRITE != 0 {
            return Err(format!(
                "others may write to the folder {name} (mode {:04o}), and could answer in its place: chmod go-w {name}",
                owned.mode & 0o7777
            ));
        }
        Ok(())
    }

    /// Whether the folder or the socket says that the server is another user's.
    fn are_said_by(self, folder: Owned, socket: Owned) -> Result<(), String> {
        if folder.user == self.server || socket.user == self.server {
            return Ok(());
        }
        Err(format!(
            "user {} runs it, whom neither the socket nor its folder belongs to: start the server as user {}",
            self.server, folder.user
        ))
    }

    /// Whether nobody else can put another folder in the place of what is below.
    fn may_pass(self, folder: &Path, owned: Owned) -> Result<(), String> {
        if self.trust(owned.user) && owned.mode & OTHERS_MAY_WRITE != 0 && owned.mode & STICKY != 0 {
            return Ok(());
        }
        self.may_have(folder, owned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: u32 = 1000;
    const OTHER: u32 = 1001;
    const STRANGER: u32 = 1002;

    fn folder(user: u32, mode: u32) -> Owned {
        Owned { user, mode }
    }

    fn is_trusted(server: u32, folder: Owned, socket: Owned) -> bool {
        let users = Users { own: OWN, server };
        let path = Path::new("/run/it");
        users.may_have(path, folder).is_ok() && (users.is_own() || users.are_said_by(folder, socket).is_ok())
    }

    #[test]
    fn a_server_of_this_user_or_of_root_is_trusted_where_nobody_else_can_put_one() {
        for server in [OWN, ROOT] {
            for owner in [OWN, ROOT] {
                assert!(is_trusted(server, folder(owner, 0o700), folder(server, 0o600)));
                assert!(is_trusted(server, folder(owner, 0o755), folder(server, 0o600)));
                assert!(!is_trusted(server, folder(owner, 0o777), folder(server, 0o600)));
                assert!(!is_trusted(server, folder(owner, 0o1777), folder(server, 0o600)));
                assert!(!is_trusted(server, folder(owner, 0o770), folder(server, 0o600)));
            }
            // Who owns the folder could lead to another server of this user's.
            assert!(!is_trusted(server, folder(STRANGER, 0o700), folder(server, 0o600)));
        }
    }

    #[test]
    fn a_server_of_another_user_is_trusted_where_folder_or_socket_is_that_users() {
        assert!(is_trusted(OTHER, folder(OTHER, 0o711), folder(OTHER, 0o666)));
        assert!(is_trusted(OTHER, folder(ROOT, 0o755), folder(OTHER, 0o666)));
        assert!(is_trusted(OTHER, folder(OTHER, 0o711), folder(ROOT, 0o666)));
        assert!(!is_trusted(OTHER, folder(OTHER, 0o733), folder(OTHER, 0o666)));
        assert!(!is_trusted(OTHER, folder(OWN, 0o755), folder(OWN, 0o666)));
        assert!(!is_trusted(OTHER, folder(ROOT, 0o755), folder(STRANGER, 0o666)));
        assert!(!is_trusted(OTHER, folder(STRANGER, 0o755), folder(OTHER, 0o666)));
    }

    #[test]
    fn above_the_folder_only_who_is_trusted_may_move_things() {
        let users = Users { own: OWN, server: OTHER };
        let passes = |user, mode| users.may_pass(Path::new("/above"), folder(user, mode)).is_ok();
        assert!(passes(ROOT, 0o755) && passes(ROOT, 0o1777) && passes(OTHER, 0o700) && passes(OWN, 0o700));
        assert!(!passes(ROOT, 0o777) && !passes(STRANGER, 0o755) && !passes(STRANGER, 0o1777) && !passes(OTHER, 0o775));
    }
}
