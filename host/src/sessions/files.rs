//! Files and folders of logs: regular files only, private to the user, and there after a power failure.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::failure::{damaged, storage};
use crate::error::Result;

/// Opens a log that exists. A link, a device or a pipe in its place is damage, and nothing waits for it.
pub(super) fn open(path: &Path, write: bool) -> Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(write);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;

        use rustix::fs::OFlags;

        options.custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed());
    }
    let irregular = || damaged("this is not a regular file, so not a log: remove it").in_file(path);
    let file = options.open(path).map_err(|error| match fs::symlink_metadata(path) {
        Ok(metadata) if !metadata.is_file() => irregular(),
        _ => storage(path, "open the log", &error),
    })?;
    let metadata = file.metadata().map_err(|error| storage(path, "open the log", &error))?;
    if metadata.is_file() { Ok(file) } else { Err(irregular()) }
}

/// Whether anything at all is at `path`.
pub(super) fn exists(path: &Path) -> io::Result<bool> {
    match fs::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Whether `file` is still what its path leads to.
pub(super) fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;

        let locked = file.metadata()?;
        match fs::symlink_metadata(path) {
            Ok(there) => Ok((there.dev(), there.ino()) == (locked.dev(), locked.ino())),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        exists(path)
    }
}

/// Makes a folder and those above it, for this user only, and notes which have to be synced for them to
/// stay.
pub(super) fn make_folders(folder: &Path, to_sync: &mut Vec<PathBuf>) -> Result<()> {
    let missing: Vec<&Path> = folder.ancestors().take_while(|ancestor| !ancestor.is_dir()).collect();
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    for path in missing.into_iter().rev() {
        if let Err(error) = builder.create(path)
            // Another process may have been faster.
            && !path.is_dir()
        {
            return Err(storage(path, "make the folder", &error));
        }
        if let Some(parent) = path.parent() {
            note(parent, to_sync);
        }
    }
    note(folder, to_sync);
    Ok(())
}

/// Notes a folder that has to be synced, once.
fn note(folder: &Path, to_sync: &mut Vec<PathBuf>) {
    if !to_sync.iter().any(|noted| noted == folder) {
        to_sync.push(folder.to_path_buf());
    }
}

/// Makes the entries of folders durable, and forgets those that are.
pub(super) fn sync_folders(to_sync: &mut Vec<PathBuf>) -> Result<()> {
    while let Some(folder) = to_sync.last() {
        match File::open(folder).and_then(|folder| folder.sync_all()) {
            Ok(()) => {}
            // Some file systems cannot, and do not need it.
            Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => {}
            Err(error) => return Err(storage(folder, "sync the folder", &error)),
        }
        to_sync.pop();
    }
    Ok(())
}
