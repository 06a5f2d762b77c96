//! The bad vectors through the VFS: each fails in its class, names its page, and
//! leaves the rest readable and the disk as it was.

use pageseal::Failure;
use pageseal::connection::failure;
use rusqlite::Connection;
use serde_json::Value;

use crate::support::content_hash::content_hash;
use crate::support::disk::{differences, snapshot};
use crate::support::manifest::{Vector, vector, vectors};
use crate::support::open::{code, number, primary};

fn bad(class: &str) -> impl Iterator<Item = &'static Vector> {
    vectors()
        .iter()
        .filter(move |vector| vector.class() == class)
}

/// Opens a copy as the manifest says; statements have yet to fail.
fn open_copy(vector: &Vector, dir: &std::path::Path) -> Connection {
    vector.open_copy(dir).expect("a key that SQL can spell")
}

/// Compares a result with the number or the error that SQLCipher gave.
fn assert_as_observed(vector: &Vector, what: &str, result: rusqlite::Result<i64>) {
    let name = vector.name();
    let observed = match what.split_once('/') {
        Some((group, member)) => &vector.observed()[group][member],
        None => &vector.observed()[what],
    };
    match (primary(result), observed) {
        (Ok(n), Value::Number(expected)) => {
            assert_eq!(Some(n), expected.as_i64(), "{name}: {what}")
        }
        (Err((code, message)), Value::Object(expected)) => {
            assert_eq!(code, expected["code"], "{name}: {what}");
            assert_eq!(message, expected["message"], "{name}: {what}");
        }
        (result, expected) => panic!("{name}: {what}: {result:?}, SQLCipher: {expected}"),
    }
}

fn full_read(connection: &Connection) -> rusqlite::Result<i64> {
    let tables = content_hash(connection, "main")?.tables;
    Ok(tables.iter().map(|(_, rows)| *rows as i64).sum())
}

/// Every row of a table, without its indexes.
fn read_table(connection: &Connection, table: &str) -> rusqlite::Result<i64> {
    let mut statement = connection.prepare(&format!("SELECT * FROM \"{table}\" NOT INDEXED"))?;
    let mut rows = statement.query([])?;
    let mut count = 0;
    while rows.next()?.is_some() {
        count += 1;
    }
    Ok(count)
}

const COUNT_SCHEMA: &str = "SELECT count(*) FROM sqlite_schema";

/// Error 26 at the first read, the reason beside it, and no byte changed.
#[test]
fn wrong_keys_and_settings() {
    let mut count = 0;
    for vector in bad("wrong_key_or_settings") {
        let dir = tempfile::tempdir().expect("a directory");
        let connection = open_copy(vector, dir.path());
        let before = snapshot(dir.path());
        assert_as_observed(vector, "schema_count", number(&connection, COUNT_SCHEMA));
        assert_as_observed(vector, "full_read", full_read(&connection));
        let reason = failure(&connection, "main").expect("a session");
        let expected = match vector.name() {
            "wrong-no-key" => Failure::NoKey,
            "wrong-plaintext" => Failure::NotEncrypted,
            _ => Failure::WrongKey,
        };
        assert_eq!(reason, Some(expected), "{}", vector.name());
        // Nor does a write get through.
        assert_eq!(code(connection.execute_batch("CREATE TABLE t(a)")), 26);
        assert_eq!(code(connection.execute_batch("VACUUM")), 26);
        assert_eq!(
            code(connection.execute_batch("PRAGMA journal_mode=WAL")),
            26
        );
        drop(connection);
        let changed = differences(&before, &snapshot(dir.path()));
        assert!(changed.is_empty(), "{}: {changed:?}", vector.name());
        count += 1;
    }
    assert!(count >= 10);
}

/// Error 11 when a damaged page is read; the failure names it; on the same
/// connection everything else stays readable, before and after.
#[test]
fn damaged_pages() {
    let mut count = 0;
    for vector in bad("damaged_pages") {
        let name = vector.name();
        let dir = tempfile::tempdir().expect("a directory");
        let connection = open_copy(vector, dir.path());
        assert_as_observed(vector, "schema_count", number(&connection, COUNT_SCHEMA));
        assert_as_observed(vector, "full_read", full_read(&connection));
        let tables = vector.observed()["table_reads"]
            .as_object()
            .expect("tables");
        let mut named = std::collections::BTreeSet::new();
        for table in tables.keys().chain(tables.keys()) {
            let result = read_table(&connection, table);
            if result.is_err() {
                let reason = failure(&connection, "main").expect("a session");
                match reason {
                    Some(
                        Failure::DamagedPage { pgno }
                        | Failure::DamagedLog { pgno }
                        | Failure::ShortPage { pgno },
                    ) => {
                        named.insert(pgno);
                    }
                    other => panic!("{name}: {table}: {other:?}"),
                }
            }
            assert_as_observed(vector, &format!("table_reads/{table}"), result);
        }
        assert_eq!(
            named.into_iter().collect::<Vec<_>>(),
            vector.pages(),
            "{name}"
        );
        count += 1;
    }
    assert!(count >= 8);
}

/// SQLite itself notices that the header counts more pages than the file has.
#[test]
fn truncated() {
    for vector in bad("truncated") {
        let dir = tempfile::tempdir().expect("a directory");
        let connection = open_copy(vector, dir.path());
        assert_as_observed(vector, "schema_count", number(&connection, COUNT_SCHEMA));
        assert_as_observed(vector, "full_read", full_read(&connection));
    }
}

/// `cipher_integrity_check` finds what SQLCipher's finds.
#[test]
fn integrity_check_names_the_same_pages() {
    for class in ["damaged_pages", "truncated"] {
        for vector in bad(class) {
            let dir = tempfile::tempdir().expect("a directory");
            let connection = open_copy(vector, dir.path());
            let expected: Vec<&str> = vector.observed()["cipher_integrity_check"]
                .as_array()
                .expect("lines")
                .iter()
                .map(|line| line.as_str().expect("text"))
                .collect();
            let found: Vec<String> = connection
                .prepare("PRAGMA cipher_integrity_check")
                .expect("prepared")
                .query_map([], |row| row.get(0))
                .expect("run")
                .collect::<rusqlite::Result<_>>()
                .expect("text");
            // One row is all that a pragma of a VFS can answer.
            let lines: Vec<&str> = found.iter().flat_map(|text| text.lines()).collect();
            assert_eq!(lines, expected, "{}", vector.name());
        }
    }
}

/// A connection that was given the wrong key takes the right one.
#[test]
fn the_right_key_after_the_wrong_one() {
    let dir = tempfile::tempdir().expect("a directory");
    let connection = open_copy(vector("wrong-key"), dir.path());
    assert_eq!(code(number(&connection, COUNT_SCHEMA)), 26);
    for pragma in vector("fault-base").pragmas().expect("pragmas") {
        connection.execute_batch(&pragma).expect("pragma");
    }
    super::assert_contents(&connection, vector("fault-base"));
    assert_eq!(failure(&connection, "main").expect("a session"), None);
}
