//! The database as a store: sessions begun, resumed, read and listed.

use std::path::PathBuf;

use rusqlite::{Connection, OptionalExtension as _, params};

use super::SqlitePersistence;
use super::database::{failed, open};
use super::log::{SqliteLog, already_exists};
use super::writer::Writer;
use crate::contract::SessionId;
use crate::error::{Error, Result};
use crate::sessions::failure::damaged;
use crate::sessions::limits::{Limits, Size};
use crate::sessions::pending::Pending;
use crate::sessions::scan::Scan;
use crate::sessions::store::{check_identity, newest_first, not_found, several_found};
use crate::sessions::{Event, ListedSession, Loaded, LogHeader, Project, Resumed, SessionLog, SessionStore, layout};

impl SessionStore for SqlitePersistence {
    fn create(&self, header: &LogHeader) -> Result<Box<dyn SessionLog>> {
        let header = header.clone().completed();
        let id = header.session.id.as_str().to_owned();
        let project = layout::project(header.session.cwd.as_deref());
        let database = self.database();
        if let Some(connection) = open(&database, false)?
            && self.numbers(&connection, &id, Some(&project))?.next().is_some()
        {
            return Err(already_exists().in_file(&database));
        }
        let mut pending = Pending::after(self.limits, 0, Size::default());
        pending.push_header(&header)?;
        Ok(Box::new(SqliteLog {
            database,
            connection: None,
            project,
            id,
            session: None,
            pending,
            to_sync: self.entries(),
        }))
    }

    fn resume(&self, id: &SessionId, project: Project<'_>) -> Result<Resumed> {
        let (connection, number) = self.find(id, project, true)?;
        let database = self.database();
        // Before reading: what another writer adds until then is read.
        let writer = Writer::new(&database, number)?;
        let Session { project, header, events, size } = self.read(&connection, number, id)?;
        let log = SqliteLog {
            database,
            connection: Some(connection),
            project,
            id: id.as_str().to_owned(),
            session: Some((number, writer)),
            pending: Pending::after(self.limits, events.len(), size),
            to_sync: self.entries(),
        };
        Ok(Resumed { header, events, log: Box::new(log), repaired: 0 })
    }

    fn load(&self, id: &SessionId, project: Project<'_>) -> Result<Loaded> {
        let (connection, number) = self.find(id, project, false)?;
        let Session { header, events, .. } = self.read(&connection, number, id)?;
        Ok(Loaded { header, events, location: None, torn: 0 })
    }

    fn list(&self) -> Result<Vec<ListedSession>> {
        let Some(connection) = open(&self.database(), false)? else { return Ok(Vec::new()) };
        let mut sessions = list(&connection, self.limits).map_err(|error| self.failed(&error))?;
        for listed in &mut sessions {
            listed.header = listed.header.clone().map_err(|error| error.in_file(&self.database()));
        }
        newest_first(&mut sessions);
        Ok(sessions)
    }
}

/// A session as it is in the database.
struct Session {
    project: String,
    header: LogHeader,
    events: Vec<Event>,
    /// As lines of a log.
    size: Size,
}

impl SqlitePersistence {
    fn find(&self, id: &SessionId, project: Project<'_>, write: bool) -> Result<(Connection, i64)> {
        let absent = || not_found().in_file(&self.database());
        let connection = open(&self.database(), write)?.ok_or_else(absent)?;
        let project = match project {
            Project::Any => None,
            Project::Of(cwd) => Some(layout::project(cwd)),
        };
        let mut numbers = self.numbers(&connection, id.as_str(), project.as_deref())?;
        match (numbers.next(), numbers.next()) {
            (None, _) => Err(absent()),
            (Some(number), None) => Ok((connection, number)),
            (Some(_), Some(_)) => Err(several_found().in_file(&self.database())),
        }
    }

    fn numbers(&self, connection: &Connection, id: &str, project: Option<&str>) -> Result<std::vec::IntoIter<i64>> {
        connection
            .prepare("SELECT number FROM sessions WHERE id = ?1 AND (?2 IS NULL OR project = ?2)")
            .and_then(|mut select| {
                select.query_map(params![id, project], |row| row.get(0))?.collect::<rusqlite::Result<Vec<i64>>>()
            })
            .map(Vec::into_iter)
            .map_err(|error| self.failed(&error))
    }

    /// Reads the lines through what reads those of a file, so that the same is accepted.
    fn read(&self, connection: &Connection, number: i64, id: &SessionId) -> Result<Session> {
        let mut scan = Scan::new(self.limits);
        let project = read_lines(connection, number, self.limits, &mut scan)
            .map_err(|error| self.failed(&error))?
            .map_err(|error| error.in_file(&self.database()))?
            .ok_or_else(|| not_found().in_file(&self.database()))?;
        let size = scan.end;
        let (header, events) = scan.into_whole().map_err(|error| error.in_file(&self.database()))?;
        let in_its_place = layout::project(header.session.cwd.as_deref()) == project;
        check_identity(&header.session, id, in_its_place).map_err(|error| error.in_file(&self.database()))?;
        Ok(Session { project, header, events, size })
    }

    /// The folder with the database's entry, which need not be durable: whoever made it may have been killed
    /// before it synced the folder.
    fn entries(&self) -> Vec<PathBuf> {
        vec![self.root.path().to_path_buf()]
    }

    fn failed(&self, error: &rusqlite::Error) -> Error {
        failed(&self.database(), "read the sessions", error)
    }

    /// The same with other limits.
    #[cfg(test)]
    pub(in crate::sessions) fn with_limits(mut self, limits: crate::sessions::limits::Limits) -> Self {
        self.limits = limits;
        self
    }
}

/// Hands every line of a session on, and answers with its project; nothing where there is no such session.
fn read_lines(
    connection: &Connection,
    number: i64,
    limits: Limits,
    scan: &mut Scan,
) -> rusqlite::Result<Result<Option<String>>> {
    let longest = longest(limits);
    let session = connection
        .query_row(
            "SELECT iif(octet_length(project) <= ?2, project, ''), iif(octet_length(header) <= ?2, header, NULL)
                FROM sessions WHERE number = ?1",
            [number, longest],
            |row| Ok((row.get::<_, String>(0)?, row.get::<_, Option<String>>(1)?)),
        )
        .optional()?;
    let Some((project, header)) = session else { return Ok(Ok(None)) };
    let mut push = |line: Option<&str>| {
        let line = line.ok_or_else(|| too_long(limits))?;
        scan.push(line.as_bytes()).and_then(|()| scan.push(b"\n"))
    };
    if let Err(error) = push(header.as_deref()) {
        return Ok(Err(error));
    }
    let mut select = connection
        .prepare("SELECT iif(octet_length(line) <= ?2, line, NULL) FROM events WHERE session = ?1 ORDER BY seq")?;
    let mut rows = select.query([number, longest])?;
    while let Some(row) = rows.next()? {
        if let Err(error) = push(row.get_ref(0)?.as_str_or_null()?) {
            return Ok(Err(error));
        }
    }
    Ok(Ok(Some(project)))
}

fn list(connection: &Connection, limits: Limits) -> rusqlite::Result<Vec<ListedSession>> {
    let mut select = connection.prepare(
        "SELECT iif(octet_length(header) <= ?1, header, NULL), octet_length(header) + 1
            + (SELECT coalesce(sum(octet_length(line) + 1), 0) FROM events WHERE session = number) FROM sessions",
    )?;
    select
        .query_map([longest(limits)], |row| {
            let header = match row.get_ref(0)?.as_bytes_or_null()? {
                Some(line) => header_of(line, limits),
                None => Err(too_long(limits)),
            };
            let bytes = u64::try_from(row.get::<_, i64>(1)?).unwrap_or_default();
            Ok(ListedSession { header, location: None, bytes })
        })?
        .collect()
}

fn header_of(line: &[u8], limits: Limits) -> Result<LogHeader> {
    let mut scan = Scan::new(limits);
    scan.push(line)?;
    scan.push(b"\n")?;
    Ok(scan.into_whole()?.0)
}

/// What is longer is not even read: the bytes of a line without its newline.
fn longest(limits: Limits) -> i64 {
    i64::try_from(limits.line.saturating_sub(1)).unwrap_or(i64::MAX)
}

fn too_long(limits: Limits) -> Error {
    damaged(format!("a line of a session is longer than {} bytes, which no line of this host is", limits.line))
}
