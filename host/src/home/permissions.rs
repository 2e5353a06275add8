//! Whether anybody else can write to what chooses code and grants.

use std::path::Path;

use crate::error::Result;

/// Checks that a file or folder belongs to this user or root and that no other user can write to it.
/// A link is followed: what counts is what is read. What does not exist is safe.
///
/// Only Unix permissions are looked at; elsewhere everything passes.
///
/// # Errors
/// `unsafe-permissions`, with the command that mends it.
pub fn check(path: &Path) -> Result<()> {
    #[cfg(unix)]
    if let Ok(metadata) = std::fs::metadata(path) {
        return check_metadata(path, &metadata);
    }
    let _ = path;
    Ok(())
}

/// As [`check`], for metadata that was read already, from a descriptor for instance.
///
/// # Errors
/// As [`check`].
#[cfg(unix)]
pub fn check_metadata(path: &Path, metadata: &std::fs::Metadata) -> Result<()> {
    use std::os::unix::fs::MetadataExt as _;

    use crate::error::{Code, Error};
    use crate::text::shown;

    const OTHERS_MAY_WRITE: u32 = 0o022;
    let user = rustix::process::geteuid().as_raw();
    let name = shown(&path.display().to_string());
    let quoted = shown(&quote_for_shell(path));
    let unsafe_because = |why: String| Err(Error::host(Code::UnsafePermissions, why));
    if metadata.uid() != user && metadata.uid() != 0 {
        return unsafe_because(format!(
            "{name} belongs to user {}, who could change what runs here. If it is to be trusted: sudo chown {user} {quoted}",
            metadata.uid()
        ));
    }
    if metadata.mode() & OTHERS_MAY_WRITE != 0 {
        return unsafe_because(format!(
            "{name} can be written by other users (mode {:04o}), who could change what runs here. To mend it: chmod go-w {quoted}",
            metadata.mode() & 0o7777
        ));
    }
    Ok(())
}

/// A path as a word that every POSIX shell reads as that path.
#[cfg(unix)]
fn quote_for_shell(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%,".contains(c);
    if !text.is_empty() && text.chars().all(plain) { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}
