//! Key and settings through SQL and URI: what counts, when, and what is ignored.
//!
//! Expected behaviour is SQLCipher's, as the project's notes on its interface list
//! it; bytes are checked with the page codec alone.

mod keys;
mod new_files;
mod uri;

use std::path::Path;

use pageseal::Settings;
use rusqlite::Connection;

use crate::support::content_hash::{ContentHash, content_hash};
use crate::support::plaintext::{Faults, codec, connect, open_pages};

const FILL: &str = "CREATE TABLE t(a, b); INSERT INTO t VALUES(1, 'one'), (2, zeroblob(9000));";

/// Asserts that a file opens with these settings, and returns its contents.
fn contents(path: &Path, settings: &Settings) -> ContentHash {
    let file = std::fs::read(path).expect("the file");
    let (pages, faults) = open_pages(&codec(settings, &file), &file);
    assert_eq!(faults, Faults::new());
    content_hash(&connect(&pages), "main").expect("contents")
}

/// What [`FILL`] makes.
fn filled() -> ContentHash {
    let connection = Connection::open_in_memory().expect("opened");
    connection.execute_batch(FILL).expect("filled");
    content_hash(&connection, "main").expect("contents")
}
