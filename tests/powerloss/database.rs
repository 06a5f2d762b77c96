//! Opening a database on the store, and what is in it.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use rusqlite::fallible_iterator::FallibleIterator;
use rusqlite::types::ValueRef;
use rusqlite::{Batch, Connection};

use crate::store::SEALED;
use crate::workload::Workload;

const KEY: &str = "x'00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff'";

/// Opens the database of a workload; nothing is read yet.
pub(crate) fn open(disk: &str, workload: &Workload) -> rusqlite::Result<Connection> {
    open_with(disk, workload.uri, KEY)
}

/// Opens a disk's database with a key and more URI parameters.
pub(crate) fn open_with(disk: &str, parameters: &str, key: &str) -> rusqlite::Result<Connection> {
    let uri = format!("file:/{disk}/main.db?vfs={SEALED}&key={key}{parameters}");
    let conn = Connection::open(uri)?;
    conn.set_prepared_statement_cache_capacity(0);
    Ok(conn)
}

/// Runs statements, dropping their rows.
pub(crate) fn run(conn: &Connection, sql: &str) -> rusqlite::Result<()> {
    let mut batch = Batch::new(conn, sql);
    while let Some(mut statement) = batch.next()? {
        let mut rows = statement.query([])?;
        while rows.next()?.is_some() {}
    }
    Ok(())
}

/// A hash of everything in a database.
pub(crate) fn digest(conn: &Connection) -> rusqlite::Result<u64> {
    let mut hash = DefaultHasher::new();
    let mut tables = vec!["sqlite_schema".to_owned()];
    let mut statement = conn.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")?;
    for name in statement.query_map([], |row| row.get(0))? {
        tables.push(name?);
    }
    for table in tables {
        // Where a table's pages are is no content: VACUUM moves them.
        let columns = match table.as_str() {
            "sqlite_schema" => "type, name, sql",
            _ => "*",
        };
        let mut statement = conn.prepare(&format!("SELECT {columns} FROM {table} ORDER BY 1"))?;
        let columns = statement.column_count();
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            for column in 0..columns {
                match row.get_ref(column)? {
                    ValueRef::Null => 0.hash(&mut hash),
                    ValueRef::Integer(i) => i.hash(&mut hash),
                    ValueRef::Real(r) => r.to_bits().hash(&mut hash),
                    ValueRef::Text(t) | ValueRef::Blob(t) => t.hash(&mut hash),
                }
            }
        }
    }
    Ok(hash.finish())
}

/// The content of a database that has been checked.
pub(crate) fn checked_digest(conn: &Connection) -> Result<u64, String> {
    let text = |error: rusqlite::Error| error.to_string();
    let content = digest(conn).map_err(text)?;
    let answer: String = conn
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .map_err(text)?;
    match answer.as_str() {
        "ok" => Ok(content),
        fault => Err(fault.to_owned()),
    }
}
