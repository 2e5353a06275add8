//! Whether a database has the tables that this library makes, and nothing else.
//!
//! A file can say that a name is a view over a query that never ends, or that a trigger is run with each
//! row. Reading what the file says runs none of it.

use rusqlite::{Connection, params};

/// The most bytes that are read of one entry: more than any that is expected has.
const MAX_BYTES: i64 = 4096;

/// The most entries that are read: more than are expected.
const MAX_ENTRIES: i64 = 32;

/// Whether the database is as if it had been made by the statements `tables`.
pub(super) fn is_expected(connection: &Connection, tables: &str) -> rusqlite::Result<bool> {
    let model = Connection::open_in_memory()?;
    model.execute_batch(tables)?;
    Ok(entries(connection)? == entries(&model)?)
}

/// What there is, each with its kind, its name, the name of its table, and how it was made. A text that is
/// longer than any that is expected is as one that is not there.
fn entries(connection: &Connection) -> rusqlite::Result<Vec<[Option<String>; 4]>> {
    connection
        .prepare(
            "SELECT iif(octet_length(type) <= ?1, type, NULL), iif(octet_length(name) <= ?1, name, NULL),
                iif(octet_length(tbl_name) <= ?1, tbl_name, NULL), iif(octet_length(sql) <= ?1, sql, NULL)
                FROM sqlite_schema ORDER BY rowid LIMIT ?2",
        )?
        .query_map(params![MAX_BYTES, MAX_ENTRIES], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?]))?
        .collect()
}
