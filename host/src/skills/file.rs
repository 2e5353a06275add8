//! Reading the text of a skill, whatever has been put in its place.

use std::path::Path;

use super::MAX_BYTES;
use crate::error::{Code, Error, Result};
use crate::file::{ReadFault, read_regular};
#[cfg(unix)]
use crate::home::permissions;

/// The text of a regular file that nobody else can write to.
///
/// # Errors
/// `unreadable` for what is not a regular file or cannot be read, `too-large` beyond [`MAX_BYTES`],
/// `unsafe-permissions` where others can write, `invalid-configuration` for what is not UTF-8.
pub(super) fn read(path: &Path) -> Result<String> {
    let read = read_regular(path, MAX_BYTES).map_err(|fault| refused(&fault).in_file(path))?;
    #[cfg(unix)]
    permissions::check_metadata(path, &read.metadata)?;
    String::from_utf8(read.bytes).map_err(|_| {
        let message = "the skill is not valid UTF-8: save the file as UTF-8";
        Error::host(Code::InvalidConfiguration, message).in_file(path)
    })
}

fn refused(fault: &ReadFault) -> Error {
    match fault {
        ReadFault::TooLarge(most) => {
            let message = format!("the skill has more than {most} bytes: move what is long into files beside it");
            Error::host(Code::TooLarge, message)
        }
        fault => {
            Error::host(Code::Unreadable, format!("the skill cannot be read, because {fault}: put its text there"))
        }
    }
}
