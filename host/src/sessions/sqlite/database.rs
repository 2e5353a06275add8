//! The database itself: opened, made, and looked at before anything else is.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::schema;
use crate::error::{Code, Error, Result};
use crate::sessions::failure::{damaged, storage};
use crate::sessions::files::make_folders;
use crate::sessions::lock::Locked;

/// The version of the tables, in `user_version`.
const VERSION: i64 = 1;

/// Says in the file whose database it is: `dshs`.
const APPLICATION_ID: i64 = 0x6473_6873;

/// How long to wait for another writer, whose transaction is one flush.
const BUSY: Duration = Duration::from_secs(10);

/// The header and the events are the lines that a file would have. A number is never given twice.
const TABLES: &str = "
    CREATE TABLE sessions (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        project TEXT NOT NULL,
        id TEXT NOT NULL,
        header TEXT NOT NULL,
        UNIQUE (project, id)
    ) STRICT;
    CREATE TABLE events (
        session INTEGER NOT NULL REFERENCES sessions (number),
        seq INTEGER NOT NULL,
        line TEXT NOT NULL,
        PRIMARY KEY (session, seq)
    ) STRICT, WITHOUT ROWID;
";

/// Opens the database if there is one that has tables. Nothing is made.
pub(super) fn open(path: &Path, write: bool) -> Result<Option<Connection>> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_file() => {}
        Ok(_) => return Err(damaged("this is not a regular file, so not a database: remove it").in_file(path)),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(storage(path, "open the database", &error)),
    }
    // Links on the way there are the user's business; the database itself is none.
    let real = real_path(path).map_err(|error| storage(path, "open the database", &error))?;
    let access = if write { OpenFlags::SQLITE_OPEN_READ_WRITE } else { OpenFlags::SQLITE_OPEN_READ_ONLY };
    let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let opened = Connection::open_with_flags(real, flags).and_then(|connection| {
        connection.busy_timeout(BUSY)?;
        // Nothing that a file says is to be run.
        connection.pragma_update(None, "trusted_schema", "OFF")?;
        // A flush that was acknowledged has reached the disk.
        connection.pragma_update(None, "synchronous", "FULL")?;
        Ok(connection)
    });
    let connection = opened.map_err(|error| failed(path, "open the database", &error))?;
    // At one moment: another process may be making the tables.
    let snapshot = connection.unchecked_transaction().map_err(|error| failed(path, "read the database", &error))?;
    let has_tables = has_tables(&snapshot, path)?;
    drop(snapshot);
    Ok(has_tables.then_some(connection))
}

/// Opens the database for writing, and makes it where there is none.
pub(super) fn open_or_make(path: &Path, to_sync: &mut Vec<PathBuf>) -> Result<Connection> {
    if let Some(connection) = open(path, true)? {
        return Ok(connection);
    }
    let folder = path.parent().unwrap_or(path);
    make_folders(folder, to_sync)?;
    let handle = File::open(folder).map_err(|error| storage(folder, "open the folder", &error))?;
    // Two processes that turn a database into one with a write-ahead log would fail each other.
    let _making = Locked::soon(handle, folder)?;
    make_file(path).map_err(|error| storage(path, "make the database", &error))?;
    if let Some(connection) = open(path, true)? {
        return Ok(connection);
    }
    make_tables(path).map_err(|error| failed(path, "make the database", &error))?;
    open(path, true)?.ok_or_else(|| damaged("the database lost its tables: try again").in_file(path))
}

/// What SQLite said, in the words of this library.
pub(super) fn failed(path: &Path, doing: &str, error: &rusqlite::Error) -> Error {
    let kind = match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
            return damaged(format!("this is no database of sessions, or a damaged one ({error}): move it away"))
                .in_file(path);
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => ErrorKind::ResourceBusy,
        Some(ErrorCode::DiskFull) => ErrorKind::StorageFull,
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => ErrorKind::PermissionDenied,
        _ => ErrorKind::Other,
    };
    storage(path, doing, &io::Error::new(kind, error.to_string()))
}

/// Whether it is a database of sessions (yes), or nothing so far (no).
fn has_tables(connection: &Connection, path: &Path) -> Result<bool> {
    let number = |pragma: &str| {
        connection
            .pragma_query_value(None, pragma, |row| row.get::<_, i64>(0))
            .map_err(|error| failed(path, "read the database", &error))
    };
    let (application, version) = (number("application_id")?, number("user_version")?);
    if (application, version) == (0, 0) && number("schema_version")? == 0 {
        return Ok(false);
    }
    if application != APPLICATION_ID {
        return Err(damaged("this is a database of another program: choose another root for sessions").in_file(path));
    }
    if version != VERSION {
        let message = format!(
            "the database is of version {version}, and this dsh-env reads version {VERSION}: upgrade dsh-env, the database is not damaged"
        );
        return Err(Error::host(Code::SessionVersion, message).in_file(path));
    }
    if !schema::is_expected(connection, TABLES).map_err(|error| failed(path, "read the database", &error))? {
        return Err(damaged(
            "the database has other tables than those of sessions: move it away, or remove what was added to it",
        )
        .in_file(path));
    }
    Ok(true)
}

/// The same path without links, but for the last component.
fn real_path(path: &Path) -> io::Result<PathBuf> {
    match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) => Ok(folder.canonicalize()?.join(name)),
        _ => Ok(path.to_path_buf()),
    }
}

/// SQLite would make it readable for everybody.
fn make_file(path: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        other => other.map(drop),
    }
}

fn make_tables(path: &Path) -> rusqlite::Result<()> {
    let mut connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection.busy_timeout(BUSY)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    let transaction = connection.transaction()?;
    transaction.execute_batch(TABLES)?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", VERSION)?;
    transaction.commit()
}
