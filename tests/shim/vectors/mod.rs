//! Databases made by genuine SQLCipher (`compat-vectors`), and damaged copies.
//!
//! Expected values are SQLCipher's own, from the manifest: contents as a hash that
//! SQLCipher computed, codes as it answered them.

mod codec;
mod faults;
mod files;
mod side_files;
mod vfs;

use rusqlite::Connection;

use crate::support::content_hash::content_hash;
use crate::support::manifest::Vector;
use crate::support::open::number;

/// Asserts that a connection holds what SQLCipher found in the vector.
fn assert_contents(connection: &Connection, vector: &Vector) {
    let name = vector.name();
    let found = content_hash(connection, "main").unwrap_or_else(|error| panic!("{name}: {error}"));
    let tables = vector.expect()["tables"].as_object().expect("tables");
    let counts: Vec<_> = found
        .tables
        .iter()
        .map(|(table, n)| (table.as_str(), *n))
        .collect();
    let expected: Vec<_> = tables
        .iter()
        .map(|(table, n)| (table.as_str(), n.as_u64().expect("a count")))
        .collect();
    assert_eq!(counts, expected, "{name}");
    assert_eq!(found.sha256, vector.expect()["content_hash"], "{name}");
    for pragma in [
        "page_count",
        "freelist_count",
        "auto_vacuum",
        "user_version",
        "application_id",
    ] {
        let value = number(connection, &format!("PRAGMA {pragma}")).expect(pragma);
        assert_eq!(value, vector.expect()[pragma], "{name}: {pragma}");
    }
}
