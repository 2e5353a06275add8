//! The files of contributors.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use super::settled::has_writer;
use crate::error::{Code, Error, Result};
use crate::file::{ReadFault, ReadFile, open_regular, read_regular, read_regular_file};
use crate::home::{Home, permissions};
use crate::sandbox::MAX_COMPONENT_BYTES;
use crate::text::shown;

/// The folder of the home that installed contributors are in.
pub const CONTRIBUTORS_FOLDER: &str = "contributors";

/// The end of their names.
const EXTENSION: &str = "wasm";

/// The files of the installed contributors, `contributors/*.wasm` in the home, in byte order. Nothing of
/// them is read. Hidden files are left out, as by a shell: they are what installers write to first.
///
/// # Errors
/// `unsafe-permissions` where others can write to the folder; `invalid-configuration` where it cannot be
/// listed. A folder that does not exist has no files.
pub fn installed(home: &Home) -> Result<Vec<PathBuf>> {
    let folder = home.path().join(CONTRIBUTORS_FOLDER);
    permissions::check(&folder)?;
    match list(&folder) {
        Ok(files) => Ok(files),
        // A link that leads nowhere is there, and what it led to is not.
        Err(error) if error.kind() == io::ErrorKind::NotFound && folder.symlink_metadata().is_err() => Ok(Vec::new()),
        Err(error) => {
            let (folder, why) = (shown(&folder.display().to_string()), shown(&error.to_string()));
            let message = format!(
                "the installed contributors in {folder} cannot be listed: {why}. Let this user read the folder"
            );
            Err(Error::host(Code::InvalidConfiguration, message))
        }
    }
}

fn list(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let file = entry?.path();
        let hidden = file.file_name().is_none_or(|name| name.as_encoded_bytes().starts_with(b"."));
        if !hidden && file.extension().is_some_and(|extension| extension == EXTENSION) {
            files.push(file);
        }
    }
    files.sort();
    Ok(files)
}

/// Reads a component file that the caller chose.
///
/// # Errors
/// `too-large` for one over 64 MiB, which is not read; `unreadable` for what cannot be read or is no
/// regular file. The message does not name the file.
pub fn read_component(file: &Path) -> Result<Vec<u8>> {
    read(file).map(|read| read.bytes)
}

/// Reads the file of an installed contributor, which nobody else may be able to write to.
///
/// # Errors
/// As [`read_component`]; `unsafe-permissions`.
pub fn read_installed(file: &Path) -> Result<Vec<u8>> {
    let read = read(file)?;
    #[cfg(unix)]
    permissions::check_metadata(file, &read.metadata)?;
    Ok(read.bytes)
}

/// As [`read_installed`], for a file that nobody is writing: one that is not complete yet is not read. Answers also
/// with what the file looked like.
///
/// # Errors
/// As [`read_installed`]; `unreadable` while somebody has the file open for writing.
pub fn read_settled(path: &Path) -> Result<(Vec<u8>, Metadata)> {
    let file = open_regular(path).map_err(refusal)?;
    // Before: somebody may open, write and close it again meanwhile, which changes how it looks. After: somebody may
    // have opened it meanwhile and not written yet.
    let before = has_writer(&file);
    let read = read_regular_file(&file, MAX_COMPONENT_BYTES).map_err(refusal)?;
    #[cfg(unix)]
    permissions::check_metadata(path, &read.metadata)?;
    if before == Some(true) || has_writer(&file) == Some(true) {
        let message = "somebody is still writing it: it is loaded when they close it";
        return Err(Error::load(Code::Unreadable, message));
    }
    Ok((read.bytes, read.metadata))
}

fn read(file: &Path) -> Result<ReadFile> {
    read_regular(file, MAX_COMPONENT_BYTES).map_err(refusal)
}

fn refusal(fault: ReadFault) -> Error {
    let (code, remedy) = match &fault {
        ReadFault::TooLarge(_) => (Code::TooLarge, "build it smaller, without debugging information for instance"),
        ReadFault::Changed => (Code::Unreadable, "try again when it is complete"),
        ReadFault::NotPermitted => (Code::Unreadable, "let this user read it"),
        _ => (Code::Unreadable, "name the file of a component"),
    };
    Error::load(code, format!("{}: {remedy}", shown(&fault.to_string())))
}

#[cfg(test)]
mod tests;
