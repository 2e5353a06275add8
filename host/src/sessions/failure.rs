//! The failures of storage, in words that say what to do.

use std::io::{self, ErrorKind};
use std::path::Path;

use crate::error::{Code, Error};

/// What was being done to `path` when the system refused, such as "write the log".
pub(super) fn storage(path: &Path, doing: &str, error: &io::Error) -> Error {
    let advice = match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            "free some space and try again, nothing that was kept before is lost"
        }
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            "let this user write there, or choose another root for sessions"
        }
        ErrorKind::NotADirectory | ErrorKind::AlreadyExists => {
            "a file is where a folder has to be; remove it, or choose another root for sessions"
        }
        ErrorKind::InvalidFilename => "the name is too long for the file system; choose a shorter id or root",
        _ => "see that the file system is in order and try again",
    };
    Error::host(Code::SessionStorage, format!("cannot {doing}: {error}; {advice}")).in_file(path)
}

/// A log is not what this host writes.
pub(super) fn damaged(message: impl Into<String>) -> Error {
    Error::host(Code::SessionDamaged, message)
}
