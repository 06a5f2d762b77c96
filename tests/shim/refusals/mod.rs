//! What is refused is refused before anything on disk changes; and once encryption
//! has been asked for, no way leads to a plaintext file.

mod backups;
mod hot;
mod plaintext;
mod settings;

use std::path::Path;

use rusqlite::Connection;

use crate::support::disk::{differences, snapshot};
use crate::support::open::{RAW_KEY, open_keyed};

const FILL: &str = "CREATE TABLE t(a, b); INSERT INTO t VALUES(1, 'one'), (2, zeroblob(9000));";

/// Runs something, and asserts that no file has changed, come or gone. What it
/// opened is closed again before that.
fn unchanged<T>(dir: &Path, what: &str, attempt: impl FnOnce() -> T) -> T {
    let before = snapshot(dir);
    let result = attempt();
    let mut changed = differences(&before, &snapshot(dir));
    // SQLite may have made an index of a log anew: page numbers and sums, no content, and
    // no part of the database.
    changed.retain(|change| !change.contains("-shm: "));
    assert!(changed.is_empty(), "{what}: {changed:?}");
    result
}

/// As [`unchanged`], but SQLite may create an empty file by opening it.
fn nothing_written<T>(dir: &Path, what: &str, attempt: impl FnOnce() -> T) -> T {
    let before = snapshot(dir);
    let result = attempt();
    let mut after = snapshot(dir);
    after.retain(|path, bytes| !bytes.is_empty() || before.contains_key(path));
    let changed = differences(&before, &after);
    assert!(changed.is_empty(), "{what}: {changed:?}");
    result
}

/// Makes a database with [`RAW_KEY`] and the given settings.
fn make(path: &Path, pragmas: &str) {
    open_keyed(path, pragmas)
        .expect("opened")
        .execute_batch(FILL)
        .expect("filled");
}

/// Makes a plaintext database with that page size and reserve.
fn make_plain(path: &Path, page_size: u32, reserve: i32) {
    let connection = Connection::open(path).expect("opened");
    let mut reserve = reserve;
    // SAFETY: an open connection, a C string, and the argument that the op wants.
    unsafe {
        rusqlite::ffi::sqlite3_file_control(
            connection.handle(),
            c"main".as_ptr(),
            rusqlite::ffi::SQLITE_FCNTL_RESERVE_BYTES,
            (&raw mut reserve).cast(),
        );
    }
    connection
        .execute_batch(&format!("PRAGMA page_size = {page_size}; {FILL}"))
        .expect("filled");
}

/// `KEY` clause with [`RAW_KEY`].
fn key_clause() -> String {
    format!("KEY \"{RAW_KEY}\"")
}
