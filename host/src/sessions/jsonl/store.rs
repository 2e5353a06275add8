//! Files of JSON lines as a store: begun, resumed, read and listed.

use std::fs;
use std::path::{Path, PathBuf};

use super::find::Found;
use super::log::JsonlLog;
use super::opened::Opened;
use super::publish::already_exists;
use super::{JsonlPersistence, read};
use crate::contract::SessionId;
use crate::error::{Code, Error, Result};
use crate::sessions::failure::storage;
use crate::sessions::files;
use crate::sessions::limits::Size;
use crate::sessions::lock::Locked;
use crate::sessions::pending::Pending;
use crate::sessions::store::{check_identity, newest_first};
use crate::sessions::{
    ListedSession, Loaded, Location, LocationKind, LogHeader, Project, Resumed, SessionLog, SessionStore, layout,
};

/// The most bytes of one component of a path, on every file system in use.
const MAX_NAME_BYTES: usize = 255;

impl SessionStore for JsonlPersistence {
    fn create(&self, header: &LogHeader) -> Result<Box<dyn SessionLog>> {
        let header = header.clone().completed();
        let folder = self.folder(&header.session);
        check_name(&header.session.id, &folder)?;
        let path = folder.join(self.compression.file_name());
        let rival = folder.join(self.compression.other().file_name());
        for taken in [&path, &rival] {
            if files::exists(taken).map_err(|error| storage(taken, "keep a session here", &error))? {
                return Err(already_exists(taken));
            }
        }
        let mut pending = Pending::after(self.limits, 0, Size::default());
        pending.push_header(&header)?;
        Ok(Box::new(JsonlLog {
            location: location(&path),
            rival,
            compression: self.compression,
            pending,
            file: None,
            length: 0,
            unclean: false,
            to_sync: self.entries_of(&folder),
            _opened: Opened::default(),
        }))
    }

    fn resume(&self, id: &SessionId, project: Project<'_>) -> Result<Resumed> {
        let found = self.find(id, project)?;
        let path = found.path();
        let file = Locked::new(files::open(&path, true)?, &path)?;
        let read = read::log(&file, &path, found.compression, self.limits)?;
        check_place(&read.header, id, &found)?;
        if read.torn > 0 {
            file.set_len(read.good)
                .and_then(|()| file.sync_all())
                .map_err(|error| storage(&path, "remove the torn end of the log", &error))?;
        }
        let log = JsonlLog {
            location: location(&path),
            rival: found.folder.join(found.compression.other().file_name()),
            compression: found.compression,
            pending: Pending::after(self.limits, read.events.len(), read.expanded),
            file: Some(file),
            length: read.good,
            unclean: false,
            to_sync: self.entries_of(&found.folder),
            _opened: self.remember(found),
        };
        Ok(Resumed { header: read.header, events: read.events, log: Box::new(log), repaired: read.torn })
    }

    fn load(&self, id: &SessionId, project: Project<'_>) -> Result<Loaded> {
        let found = self.find(id, project)?;
        let path = found.path();
        let read = read::log(&files::open(&path, false)?, &path, found.compression, self.limits)?;
        check_place(&read.header, id, &found)?;
        Ok(Loaded { header: read.header, events: read.events, location: Some(location(&path)), torn: read.torn })
    }

    fn list(&self) -> Result<Vec<ListedSession>> {
        let mut sessions: Vec<_> = self
            .find_all()?
            .into_iter()
            .map(|found| match found {
                Ok(found) => self.listed(&found),
                Err((_, error)) => ListedSession { header: Err(error), location: None, bytes: 0 },
            })
            .collect();
        newest_first(&mut sessions);
        Ok(sessions)
    }
}

impl JsonlPersistence {
    fn listed(&self, found: &Found) -> ListedSession {
        let path = found.path();
        let header = files::open(&path, false)
            .and_then(|file| read::header(&file, &path, found.compression, self.limits))
            .and_then(|header| check_place(&header, &header.session.id, found).map(|()| header));
        let bytes = fs::symlink_metadata(&path).map_or(0, |metadata| metadata.len());
        ListedSession { header, location: Some(location(&path)), bytes }
    }

    /// The folders with the entries that lead to a log, none of which need be durable: whoever made them may
    /// have been killed before it synced them.
    fn entries_of(&self, folder: &Path) -> Vec<PathBuf> {
        let within_root = folder.ancestors().take_while(|ancestor| ancestor.starts_with(self.root.path()));
        within_root.map(Path::to_path_buf).collect()
    }

    /// A log that is not compressed as configured is located where it is while it is open.
    fn remember(&self, found: Found) -> Opened {
        if found.compression == self.compression {
            return Opened::default();
        }
        self.opened.remember(found.folder, found.compression)
    }

    /// The same with other limits.
    #[cfg(test)]
    pub(in crate::sessions) fn with_limits(mut self, limits: crate::sessions::limits::Limits) -> Self {
        self.limits = limits;
        self
    }
}

fn location(path: &Path) -> Location {
    Location { kind: LocationKind::Jsonl, path: path.to_path_buf() }
}

/// The folders that exist do not tell whether one can exist: where the root does not, nothing was looked at.
fn check_name(id: &SessionId, folder: &Path) -> Result<()> {
    let bytes = layout::session(id.as_str()).len();
    if bytes <= MAX_NAME_BYTES {
        return Ok(());
    }
    let message = format!(
        "the session's id makes a name of {bytes} bytes, and file systems take {MAX_NAME_BYTES}: choose a shorter id"
    );
    let project = folder.parent().unwrap_or(folder);
    Err(Error::host(Code::SessionStorage, message).in_file(project))
}

/// A log is that of the session whose folder it is in.
fn check_place(header: &LogHeader, id: &SessionId, found: &Found) -> Result<()> {
    let named = |path: Option<&Path>, name: String| path.and_then(Path::file_name) == Some(name.as_ref());
    let session = &header.session;
    let at_home = named(Some(&found.folder), layout::session(session.id.as_str()))
        && named(found.folder.parent(), layout::project(session.cwd.as_deref()));
    check_identity(session, id, at_home).map_err(|error| error.in_file(&found.path()))
}
