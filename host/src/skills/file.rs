//! Reading the text of a skill, whatever has been put in its place.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read as _};
use std::path::Path;

use super::MAX_BYTES;
use crate::error::{Code, Error, Result};
#[cfg(unix)]
use crate::home::permissions;
use crate::text::shown;

/// The text of a regular file that nobody else can write to.
///
/// # Errors
/// `unreadable` for what is not a regular file or cannot be read, `too-large` beyond [`MAX_BYTES`],
/// `unsafe-permissions` where others can write, `invalid-configuration` for what is not UTF-8.
pub(super) fn read(path: &Path) -> Result<String> {
    // Opening a device can do something, so it is looked at before; and again after, since what was looked at
    // may no longer be there.
    only_regular(path, &std::fs::metadata(path).map_err(|error| unreadable(path, &error))?)?;
    let file = open(path).map_err(|error| unreadable(path, &error))?;
    let metadata = file.metadata().map_err(|error| unreadable(path, &error))?;
    only_regular(path, &metadata)?;
    #[cfg(unix)]
    permissions::check_metadata(path, &metadata)?;
    let mut bytes = Vec::new();
    let bound = u64::try_from(MAX_BYTES).unwrap_or(u64::MAX).saturating_add(1);
    file.take(bound).read_to_end(&mut bytes).map_err(|error| unreadable(path, &error))?;
    if bytes.len() > MAX_BYTES {
        let message = format!("the skill has more than {MAX_BYTES} bytes: move what is long into files beside it");
        return Err(Error::host(Code::TooLarge, message).in_file(path));
    }
    String::from_utf8(bytes).map_err(|_| {
        let message = "the skill is not valid UTF-8: save the file as UTF-8";
        Error::host(Code::InvalidConfiguration, message).in_file(path)
    })
}

fn only_regular(path: &Path, metadata: &Metadata) -> Result<()> {
    if metadata.is_file() {
        return Ok(());
    }
    Err(Error::host(Code::Unreadable, "it is not a regular file: put the skill's text there").in_file(path))
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;

        // A FIFO that was put there in between is opened at once instead of when somebody writes to it.
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
        options.custom_flags(flags.bits().cast_signed());
    }
    options.open(path)
}

fn unreadable(path: &Path, error: &io::Error) -> Error {
    let message =
        format!("the skill cannot be read ({}): let this user read it, or remove it", shown(&error.to_string()));
    Error::host(Code::Unreadable, message).in_file(path)
}
