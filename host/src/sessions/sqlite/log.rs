//! One session in the database, open for writing: a transaction for each flush.

use std::fmt;
use std::path::PathBuf;

use rusqlite::{Connection, ErrorCode, Transaction, TransactionBehavior, params};

use super::database::{failed, open_or_make};
use super::writer::Writer;
use crate::error::{Code, Error, Result};
use crate::sessions::files::sync_folders;
use crate::sessions::pending::Pending;
use crate::sessions::{Event, Location, SessionLog};

/// A session that is, or will be, in the database.
pub(super) struct SqliteLog {
    pub(super) database: PathBuf,
    pub(super) connection: Option<Connection>,
    pub(super) project: String,
    pub(super) id: String,
    /// The session's number in the database, once it has one, and the right to write it.
    pub(super) session: Option<(i64, Writer)>,
    /// Begins with the header while there is no number.
    pub(super) pending: Pending,
    /// Folders whose entries are not durable yet.
    pub(super) to_sync: Vec<PathBuf>,
}

impl SessionLog for SqliteLog {
    fn append(&mut self, event: &Event) -> Result<()> {
        self.pending.push(event)
    }

    fn flush(&mut self) -> Result<()> {
        if !self.pending.lines().is_empty() {
            self.keep()?;
            self.pending.clear();
        }
        sync_folders(&mut self.to_sync)
    }

    fn location(&self) -> Option<&Location> {
        None
    }
}

impl SqliteLog {
    fn keep(&mut self) -> Result<()> {
        let path = &self.database;
        let write_failed = |error: &rusqlite::Error| failed(path, "write the session", error);
        if self.connection.is_some() && !path.is_file() {
            return Err(removed().in_file(path));
        }
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => open_or_make(path, &mut self.to_sync)?,
        };
        let transaction = self
            .connection
            .insert(connection)
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(|error| write_failed(&error))?;
        let mut lines = self.pending.lines().split_terminator('\n');
        let published = match &self.session {
            Some(_) => None,
            None => {
                let header = lines.next().unwrap_or_default();
                let number = insert_header(&transaction, &self.project, &self.id, header).map_err(|error| {
                    if is_taken(&error) { already_exists().in_file(path) } else { write_failed(&error) }
                })?;
                // Before others can see the session.
                Some((number, Writer::new(path, number)?))
            }
        };
        let number = published.as_ref().or(self.session.as_ref()).map_or(0, |(number, _)| *number);
        let lines: Vec<&str> = lines.collect();
        let events = u64::try_from(lines.len()).unwrap_or(u64::MAX);
        let first = i64::try_from(self.pending.next().saturating_sub(events)).unwrap_or(i64::MAX);
        check_unchanged(&transaction, number, first)
            .map_err(|error| write_failed(&error))?
            .map_err(|error| error.in_file(path))?;
        insert_events(&transaction, number, first, &lines)
            .and_then(|()| transaction.commit())
            .map_err(|error| write_failed(&error))?;
        if published.is_some() {
            self.session = published;
        }
        Ok(())
    }
}

impl fmt::Debug for SqliteLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteLog").field("database", &self.database).field("id", &self.id).finish_non_exhaustive()
    }
}

fn insert_header(transaction: &Transaction<'_>, project: &str, id: &str, header: &str) -> rusqlite::Result<i64> {
    transaction
        .execute("INSERT INTO sessions (project, id, header) VALUES (?1, ?2, ?3)", params![project, id, header])?;
    Ok(transaction.last_insert_rowid())
}

fn insert_events(transaction: &Transaction<'_>, number: i64, first: i64, lines: &[&str]) -> rusqlite::Result<()> {
    let mut insert = transaction.prepare("INSERT INTO events (session, seq, line) VALUES (?1, ?2, ?3)")?;
    for (seq, line) in (first..).zip(lines) {
        insert.execute(params![number, seq, line])?;
    }
    Ok(())
}

/// Whether the session is there and its next event is `first`.
fn check_unchanged(transaction: &Transaction<'_>, number: i64, first: i64) -> rusqlite::Result<Result<()>> {
    let (there, next): (bool, i64) = transaction.query_row(
        "SELECT EXISTS (SELECT 1 FROM sessions WHERE number = ?1),
            (SELECT coalesce(max(seq) + 1, 0) FROM events WHERE session = ?1)",
        [number],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    Ok(match (there, next == first) {
        (true, true) => Ok(()),
        (false, _) => Err(removed()),
        (true, false) => Err(Error::host(
            Code::SessionInUse,
            "the session was changed by another program while it was open: end that one, then resume the session",
        )),
    })
}

fn is_taken(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation)
}

fn removed() -> Error {
    Error::host(
        Code::SessionStorage,
        "the session was removed while it was open: put the database back from a copy and resume, or fork the session",
    )
}

/// There is a session of that id already.
pub(super) fn already_exists() -> Error {
    Error::host(Code::SessionExists, "there is a session of that id already: resume it, or choose another id")
}
