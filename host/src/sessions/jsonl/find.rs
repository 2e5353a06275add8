//! Finding logs: by id, and all of them.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::{Compression, JsonlPersistence};
use crate::contract::SessionId;
use crate::error::Result;
use crate::sessions::failure::{damaged, storage};
use crate::sessions::files;
use crate::sessions::store::{not_found, several_found};
use crate::sessions::{Project, layout};

/// A log that exists.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// The folder that the session has for itself.
    pub(super) folder: PathBuf,
    pub(super) compression: Compression,
}

impl Found {
    pub(super) fn path(&self) -> PathBuf {
        self.folder.join(self.compression.file_name())
    }
}

impl JsonlPersistence {
    /// The one log of a session.
    pub(super) fn find(&self, id: &SessionId, project: Project<'_>) -> Result<Found> {
        let name = layout::session(id.as_str());
        let projects = match project {
            Project::Of(cwd) => vec![self.root.path().join(layout::project(cwd))],
            Project::Any => folders(self.root.path())?,
        };
        let mut found = None;
        for project in projects {
            if let Some(log) = in_folder(project.join(&name))?
                && found.replace(log).is_some()
            {
                return Err(several_found());
            }
        }
        found.ok_or_else(|| not_found().in_file(self.root.path()))
    }

    /// Every log, and every folder where it cannot be said which is the log.
    pub(super) fn find_all(&self) -> Result<Vec<Result<Found, (PathBuf, crate::Error)>>> {
        let mut all = Vec::new();
        for project in folders(self.root.path())? {
            for folder in folders(&project)? {
                match in_folder(folder.clone()) {
                    Ok(found) => all.extend(found.map(Ok)),
                    Err(error) => all.push(Err((folder, error))),
                }
            }
        }
        Ok(all)
    }
}

/// The log in a session's folder, however it is compressed.
fn in_folder(folder: PathBuf) -> Result<Option<Found>> {
    let there = |compression: Compression| match files::exists(&folder.join(compression.file_name())) {
        // Nothing is kept below a file, or under a name that no file can have.
        Err(error) if matches!(error.kind(), ErrorKind::NotADirectory | ErrorKind::InvalidFilename) => Ok(false),
        other => other.map_err(|error| storage(&folder, "look for the log", &error)),
    };
    match (there(Compression::None)?, there(Compression::Zstd)?) {
        (false, false) => Ok(None),
        (true, false) => Ok(Some(Found { folder, compression: Compression::None })),
        (false, true) => Ok(Some(Found { folder, compression: Compression::Zstd })),
        (true, true) => Err(damaged(format!(
            "there is both {} and {}: move the one away that is not the session's",
            Compression::None.file_name(),
            Compression::Zstd.file_name()
        ))
        .in_file(&folder)),
    }
}

/// The folders in a folder, by name; none where it does not exist.
fn folders(folder: &Path) -> Result<Vec<PathBuf>> {
    let listed = fs::read_dir(folder)
        .and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<PathBuf>>>());
    let mut paths = match listed {
        Ok(paths) => paths,
        Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(storage(folder, "look through the folder", &error)),
    };
    paths.retain(|path| path.is_dir());
    paths.sort();
    Ok(paths)
}
