//! Keeps things in an encrypted SQLite database.

use std::path::Path;

use pageseal::{Key, OpenError, OpenOptions};

/// Opens the database and adds a row; returns how many there are.
pub fn visit(path: &Path) -> Result<u32, OpenError> {
    let db = OpenOptions::new(Key::passphrase("correct horse")).open(path)?;
    db.execute_batch("CREATE TABLE IF NOT EXISTS visit(at); INSERT INTO visit VALUES(1)")?;
    Ok(db.query_row("SELECT count(*) FROM visit", [], |row| row.get(0))?)
}
