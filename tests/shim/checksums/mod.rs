//! The checksums in our journals and logs are right over the bytes on disk, so that
//! whoever has no key (SQLite's own recovery, SQLCipher's) finds them right.
//!
//! They are recomputed from the raw files by the file format's description
//! (`support::journal`, `support::wal`).

mod byte_order;
mod journal;
mod log;
mod super_journal;

use rusqlite::Connection;

use crate::support::layouts::{self, PageLayout};
use crate::support::open::{RAW_KEY, key, open_with};

/// Opens a database of that layout through a VFS and runs pragmas.
fn open(uri: &str, vfs: &str, layout: PageLayout, pragmas: &str) -> Connection {
    let connection = open_with(uri, vfs).expect("opened");
    key(&connection, RAW_KEY).expect("keyed");
    connection
        .execute_batch(&format!("{}{pragmas}", layout.pragmas()))
        .unwrap_or_else(|error| panic!("{layout:?}: {pragmas}: {error}"));
    connection
}

/// Page sizes below, at and above the sector's 4096 bytes.
fn layouts() -> impl Iterator<Item = PageLayout> {
    [
        (512, None),
        (1024, Some("SHA1")),
        (4096, Some("SHA512")),
        (4096, None),
        (8192, Some("SHA256")),
        (65536, Some("SHA512")),
    ]
    .into_iter()
    .map(|(page_size, mac)| layouts::layout(page_size, mac))
}

/// Rows enough for a few dozen pages of that layout.
fn fill(connection: &Connection, layout: PageLayout) {
    connection
        .execute_batch(&format!(
            "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b BLOB);
             WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM c WHERE i < 80)
             INSERT INTO t SELECT i, 'row ' || i, zeroblob({}) FROM c;",
            layout.page_size / 2
        ))
        .expect("filled");
}
