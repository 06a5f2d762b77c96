//! `behaviour.md` says how SQLCipher behaves at its interface, where this is better on
//! purpose, and which test covers each line. The first test here keeps that list true;
//! the others cover lines that had no test elsewhere.
#![allow(missing_docs)]

mod counters;
mod damage;
mod late;
mod list;
mod past_4_gib;

use std::path::Path;

use rusqlite::Connection;

/// Opens a database with a key, derived quickly.
fn open(path: &Path) -> Connection {
    pageseal::register().unwrap();
    let uri = format!("file:{}?vfs=pageseal&key=key&kdf_iter=100", path.display());
    Connection::open(uri).unwrap()
}

fn number(db: &Connection, sql: &str) -> i64 {
    db.query_row(sql, [], |row| row.get(0)).unwrap()
}
