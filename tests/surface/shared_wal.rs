//! `cipher_shared_wal`: the log's own checksum in its shared index. (That SQLCipher can
//! live with it, and what it is good for: `tests/interop/shared_log.rs`.)

use std::path::Path;

use pageseal::{Key, OpenOptions};
use rusqlite::Connection;

fn key() -> Key {
    Key::from_raw_bytes(&[5; 48]).expect("48 bytes")
}

fn open(path: &Path, on: bool) -> Connection {
    let db = OpenOptions::new(key()).shared_wal(on).open(path);
    let db = db.expect("opened");
    db.execute_batch("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0")
        .expect("a log");
    db
}

/// The checksum of the last frame: in the index (whose words are the machine's), and
/// in the log.
fn sums(path: &Path) -> ([u32; 2], [u32; 2]) {
    let read = |end: &str| std::fs::read(format!("{}{end}", path.display())).expect("a file");
    let (index, log) = (read("-shm"), read("-wal"));
    let native = |at: usize| u32::from_ne_bytes(index[at..at + 4].try_into().expect("4"));
    let frame = 32 + (native(16) as usize - 1) * (24 + 4096);
    let big = |at: usize| u32::from_be_bytes(log[at..at + 4].try_into().expect("4"));
    ([native(24), native(28)], [big(frame + 16), big(frame + 20)])
}

fn agrees(path: &Path) -> bool {
    let (index, log) = sums(path);
    index == log
}

#[test]
fn keeps_the_checksum_of_the_log_in_the_index() {
    let dir = tempfile::tempdir().expect("a directory");
    for on in [false, true] {
        let path = dir.path().join(format!("{on}.db"));
        let db = open(&path, on);
        db.execute_batch("CREATE TABLE t(a); INSERT INTO t VALUES(1)")
            .expect("rows");
        assert_eq!(agrees(&path), on);
        // Pages that the same transaction logged before, and then overwrote.
        db.execute_batch(
            "PRAGMA cache_size = 5; BEGIN;
             WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 500)
             INSERT INTO t SELECT randomblob(500) FROM n;
             UPDATE t SET a = randomblob(400); COMMIT",
        )
        .expect("spilled");
        assert_eq!(agrees(&path), on);
        db.execute_batch("BEGIN; DELETE FROM t; ROLLBACK")
            .expect("rolled back");
        assert_eq!(agrees(&path), on);
    }
}

/// While a statement reads, SQLite must find the index as it left it, or the
/// connection could not go on to write.
#[test]
fn a_reader_can_write() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("x.db");
    let db = open(&path, true);
    db.execute_batch("CREATE TABLE t(a, b); INSERT INTO t VALUES(1, 0), (2, 0), (3, 0)")
        .expect("rows");
    let mut statement = db.prepare("SELECT a FROM t").expect("a statement");
    let mut rows = statement.query([]).expect("a query");
    let mut seen = 0;
    while let Some(row) = rows.next().expect("a row") {
        let a: i64 = row.get(0).expect("a number");
        db.execute("UPDATE t SET b = b + 1 WHERE a = ?1", [a])
            .expect("updated within the read");
        seen += 1;
    }
    assert_eq!(seen, 3);
    drop(rows);
    // When it has ended, the index is put right.
    assert!(agrees(&path));
    let sum: i64 = db
        .query_row("SELECT sum(b) FROM t", [], |row| row.get(0))
        .expect("a sum");
    assert_eq!(sum, 3);
}

#[test]
fn can_be_said_in_each_way() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("x.db");
    let get = |db: &Connection| -> String {
        db.query_row("PRAGMA cipher_shared_wal", [], |row| row.get(0))
            .expect("an answer")
    };
    let db = open(&path, false);
    assert_eq!(get(&db), "0");
    db.execute_batch("PRAGMA cipher_shared_wal = ON")
        .expect("taken");
    assert_eq!(get(&db), "1");
    let error = db.execute_batch("PRAGMA cipher_shared_wal = maybe");
    let error = error.expect_err("no switch").to_string();
    assert!(
        error.contains("cipher_shared_wal: ON or OFF is needed"),
        "{error}"
    );
    drop(db);
    let hex = "05".repeat(48);
    let uri = format!(
        "file:{}?vfs=pageseal&key=x'{hex}'&cipher_shared_wal=1",
        path.display()
    );
    assert_eq!(get(&Connection::open(uri).expect("opened")), "1");
    assert_eq!(get(&open(&path, true)), "1");
}
