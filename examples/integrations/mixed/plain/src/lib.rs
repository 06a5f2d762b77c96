//! Keeps things in a plain SQLite database.

use std::path::Path;

use rusqlite::{Connection, Result};

/// Opens the database and adds a row; returns how many there are.
pub fn visit(path: &Path) -> Result<u32> {
    let db = Connection::open(path)?;
    db.execute_batch("CREATE TABLE IF NOT EXISTS visit(at); INSERT INTO visit VALUES(1)")?;
    db.query_row("SELECT count(*) FROM visit", [], |row| row.get(0))
}
