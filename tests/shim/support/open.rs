//! Opening databases through the VFS, and errors as numbers.

use std::path::Path;
use std::sync::Once;

use rusqlite::{Connection, OpenFlags};

/// The text of a raw key: nothing is derived from it but the HMAC key, so that
/// opening costs next to nothing.
pub(crate) const RAW_KEY: &str =
    "x'2DD29CA851E7B56E4697B0E1F08507293D761A05CE4D1B628663F411A8086D99'";

/// Registers the VFS once and for all.
pub(crate) fn register() {
    static ONCE: Once = Once::new();
    crate::switches::apply();
    ONCE.call_once(|| pageseal::register().expect("the VFS registers"));
}

/// Opens a file or URI through the VFS, without a key of its own.
pub(crate) fn open(path: impl AsRef<Path>) -> rusqlite::Result<Connection> {
    register();
    open_with(path, "pageseal")
}

/// Opens a file or URI through any VFS.
pub(crate) fn open_with(path: impl AsRef<Path>, vfs: &str) -> rusqlite::Result<Connection> {
    Connection::open_with_flags_and_vfs(path, OpenFlags::default(), vfs)
}

/// Opens a file and gives it [`RAW_KEY`], then runs pragmas.
pub(crate) fn open_keyed(path: impl AsRef<Path>, pragmas: &str) -> rusqlite::Result<Connection> {
    let connection = open(path)?;
    key(&connection, RAW_KEY)?;
    connection.execute_batch(pragmas)?;
    Ok(connection)
}

/// `PRAGMA key`.
pub(crate) fn key(connection: &Connection, key: &str) -> rusqlite::Result<()> {
    let quoted = key.replace('\'', "''");
    connection.execute_batch(&format!("PRAGMA key = '{quoted}'"))
}

/// The first column of a query's first row, as text.
pub(crate) fn text(connection: &Connection, sql: &str) -> rusqlite::Result<String> {
    connection.query_row(sql, [], |row| {
        Ok(match row.get_ref(0)? {
            rusqlite::types::ValueRef::Integer(n) => n.to_string(),
            rusqlite::types::ValueRef::Null => "NULL".to_owned(),
            other => other.as_str()?.to_owned(),
        })
    })
}

/// The first column of a query's first row, as a number.
pub(crate) fn number(connection: &Connection, sql: &str) -> rusqlite::Result<i64> {
    connection.query_row(sql, [], |row| row.get(0))
}

/// Primary result code and message of an error.
pub(crate) fn primary<T>(result: rusqlite::Result<T>) -> Result<T, (i32, String)> {
    result.map_err(|error| {
        let (code, text) = extended(&error);
        (code & 0xff, text)
    })
}

/// Extended result code and message of an error.
pub(crate) fn extended(error: &rusqlite::Error) -> (i32, String) {
    match error {
        rusqlite::Error::SqliteFailure(code, text) => {
            (code.extended_code, text.clone().unwrap_or_default())
        }
        rusqlite::Error::SqlInputError { error, msg, .. } => (error.extended_code, msg.clone()),
        other => panic!("not an error of SQLite's: {other}"),
    }
}

/// Only the primary code of what must be an error.
pub(crate) fn code<T>(result: rusqlite::Result<T>) -> i32 {
    match primary(result) {
        Ok(_) => 0,
        Err((code, _)) => code,
    }
}
