//! The same errors: codes, extended codes and texts.

use std::path::{Path, PathBuf};

use rusqlite::Connection;

use crate::support::content_hash::content_hash;
use crate::support::disk::beside;
use crate::support::open::{extended, open, open_with};

/// Makes a plaintext database without the shim.
fn make(path: &Path) {
    let connection = open_with(path, "unix").expect("opened");
    connection
        .execute_batch(
            "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT UNIQUE, CHECK(a <> 'no'));
             WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM c WHERE i < 500)
             INSERT INTO t SELECT i, 'row ' || i FROM c;",
        )
        .expect("filled");
}

type Outcome = Result<(), (i32, String)>;

fn attempt(uri: &str, vfs: &str, sql: &str) -> Outcome {
    let run = || open_with(uri, vfs)?.execute_batch(sql);
    run().map_err(|error| extended(&error))
}

/// Runs the same on copies of a directory, with and without the shim.
fn compare(make: impl Fn(&Path), uri: &str, sql: &str) -> Outcome {
    let outcome = |vfs: &str| {
        let dir = tempfile::tempdir().expect("a directory");
        make(dir.path());
        let here = dir.path().to_str().expect("text");
        let result = attempt(&uri.replace("DIR", here), vfs, &sql.replace("DIR", here));
        result.map_err(|(code, text)| (code, text.replace(here, "DIR")))
    };
    crate::support::open::register();
    let (direct, through) = (outcome("unix"), outcome("pageseal"));
    assert_eq!(direct, through, "{uri}: {sql}");
    direct
}

fn database(dir: &Path) {
    make(&dir.join("a.db"));
}

/// Codes are SQLite's (its documentation, "Result Codes").
#[test]
fn of_statements() {
    for (code, uri, sql) in [
        (0, "DIR/a.db", "SELECT * FROM t"),
        (1, "DIR/a.db", "SELECT * FROM nowhere"),
        (1, "DIR/a.db", "NONSENSE"),
        (2067, "DIR/a.db", "INSERT INTO t VALUES(1000, 'row 1')"),
        (1555, "DIR/a.db", "INSERT INTO t VALUES(1, 'new')"),
        (275, "DIR/a.db", "INSERT INTO t VALUES(1000, 'no')"),
        (8, "file:DIR/a.db?mode=ro", "DELETE FROM t"),
        (8, "file:DIR/a.db?immutable=1", "DELETE FROM t"),
        (0, "file:DIR/a.db?immutable=1", "SELECT * FROM t"),
        (0, "file:DIR/a.db?nolock=1", "DELETE FROM t"),
        (
            13,
            "DIR/a.db",
            "PRAGMA max_page_count = 1; INSERT INTO t SELECT id + 1000, 'n' || a FROM t",
        ),
        (
            14,
            "DIR/a.db",
            "ATTACH 'DIR/none/b.db' AS b; CREATE TABLE b.t(a)",
        ),
        (14, "DIR/none/a.db", ""),
        (14, "file:DIR/b.db?mode=rw", ""),
        (14, "DIR", "SELECT * FROM sqlite_schema"),
        (1, "DIR/a.db", "VACUUM INTO 'DIR/a.db'"),
    ] {
        let outcome = compare(database, uri, sql);
        let found = outcome.map_or_else(|(code, _)| code, |()| 0);
        assert_eq!(found, code, "{uri}: {sql}");
    }
}

/// Files that are no databases, or damaged ones.
#[test]
fn of_files() {
    let with = |change: fn(&mut Vec<u8>)| {
        move |dir: &Path| {
            database(dir);
            let path = dir.join("a.db");
            let mut bytes = std::fs::read(&path).expect("the file");
            change(&mut bytes);
            std::fs::write(path, bytes).expect("written");
        }
    };
    let read = "SELECT sum(length(a)) FROM t NOT INDEXED; SELECT count(a) FROM t;
        PRAGMA integrity_check;";
    type Change = fn(&mut Vec<u8>);
    let changes: [(i32, Change); 9] = [
        (26, |bytes| {
            *bytes = b"not a database, and long enough to be read".repeat(40)
        }),
        (26, |bytes| bytes.truncate(10)),
        (26, |bytes| bytes[20..].fill(0)),
        (26, |bytes| bytes[0] = b's'),
        // An empty file has no table; nor has one of zeros, which is none at all.
        (1, Vec::clear),
        (26, |bytes| bytes.fill(0)),
        (11, |bytes| bytes.truncate(8192)),
        (11, |bytes| bytes[4096..8192].fill(0xff)),
        // Page size 3, which is no power of two.
        (26, |bytes| bytes[16..18].copy_from_slice(&[0, 3])),
    ];
    for (index, (code, change)) in changes.into_iter().enumerate() {
        let outcome = compare(with(change), "DIR/a.db", read);
        let found = outcome.map_or_else(|(code, _)| code, |()| 0);
        assert_eq!(found & 0xff, code, "change {index}");
    }
}

fn pair(dir: &Path, vfs: &str) -> (Connection, Connection) {
    let path = dir.join("a.db");
    let open = || open_with(&path, vfs).expect("opened");
    (open(), open())
}

/// Locks are SQLite's own: connections through the shim and beside it respect each
/// other's.
#[test]
fn of_locks() {
    crate::support::open::register();
    for mode in ["DELETE", "WAL"] {
        let mut outcomes = Vec::new();
        for (first, second) in [
            ("unix", "unix"),
            ("pageseal", "pageseal"),
            ("unix", "pageseal"),
            ("pageseal", "unix"),
        ] {
            let dir = tempfile::tempdir().expect("a directory");
            database(dir.path());
            let (a, _) = pair(dir.path(), first);
            let (b, _) = pair(dir.path(), second);
            a.execute_batch(&format!("PRAGMA journal_mode = {mode}; BEGIN IMMEDIATE"))
                .expect("begun");
            b.execute_batch("SELECT * FROM t").expect("reading goes on");
            let refused = b
                .execute_batch("BEGIN IMMEDIATE")
                .map_err(|error| extended(&error));
            a.execute_batch("DELETE FROM t; COMMIT").expect("committed");
            let seen: i64 = b
                .query_row("SELECT count(*) FROM t", [], |row| row.get(0))
                .expect("a count");
            assert_eq!(seen, 0);
            outcomes.push(refused);
        }
        assert_eq!(outcomes[0], Err((5, "database is locked".to_owned())));
        assert!(
            outcomes.iter().all(|outcome| *outcome == outcomes[0]),
            "{outcomes:?}"
        );
    }
}

/// A plaintext hot journal is rolled back, a plaintext log recovered.
#[test]
fn what_a_crash_left_is_mended() {
    for (mode, suffix) in [("DELETE", "-journal"), ("WAL", "-wal")] {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("a.db");
        make(&path);
        let before = open_with(&path, "unix").expect("opened");
        before
            .execute_batch(&format!(
                "PRAGMA journal_mode = {mode}; PRAGMA cache_size = 2;"
            ))
            .expect("configured");
        if mode == "WAL" {
            before
                .execute_batch("UPDATE t SET a = 'logged ' || id")
                .expect("updated");
        }
        let expected = content_hash(&before, "main").expect("contents");
        before
            .execute_batch("BEGIN; UPDATE t SET a = 'lost ' || id")
            .expect("updated");
        let copy: PathBuf = dir.path().join("copy.db");
        std::fs::copy(&path, &copy).expect("a copy");
        std::fs::copy(beside(&path, suffix), beside(&copy, suffix)).expect("a copy");
        let after = open(&copy).expect("opened");
        assert_eq!(
            content_hash(&after, "main").expect("contents"),
            expected,
            "{mode}"
        );
    }
}
