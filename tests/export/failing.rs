//! A failed export leaves nothing behind, wherever it fails.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use pageseal::functions::{self, ExportError};
use rusqlite::Connection;
use rusqlite::hooks::Authorization;
use tempfile::tempdir;

use crate::fixture::{attach, contents, export, open, open_everything, rows, schema, value};
use crate::settings;

/// The export fails; the target is as empty as before, and the connection as it was.
fn fails(db: &Connection, target: &str) -> String {
    let before = settings::all(db);
    let error = export(db, target, "main").unwrap_err().to_string();
    assert_eq!(schema(db, target), [], "{error}");
    assert_eq!(
        value::<i64>(db, &format!("PRAGMA {target}.user_version")),
        0
    );
    assert_eq!(settings::all(db), before);
    error
}

#[test]
fn arguments() {
    let db = open(":memory:");
    for (call, message) in [
        (
            "",
            "invalid number of arguments (0) passed to sqlcipher_export",
        ),
        (
            "1, 2, 3",
            "invalid number of arguments (3) passed to sqlcipher_export",
        ),
        ("NULL", "target database can't be NULL"),
        ("'temp', NULL", "source database can't be NULL"),
        ("'nowhere'", "invalid target database nowhere"),
        ("'temp', 'nowhere'", "invalid source database nowhere"),
        ("'Main'", "can't export database Main to itself"),
        ("5", "invalid target database 5"),
    ] {
        let error = db.prepare(&format!("SELECT sqlcipher_export({call})"));
        let error = error
            .and_then(|mut s| s.query_row([], |_| Ok(())))
            .unwrap_err();
        assert_eq!(error.to_string(), message);
        assert_eq!(
            error.sqlite_error_code(),
            Some(rusqlite::ErrorCode::Unknown)
        );
    }
}

#[test]
fn a_full_disk_at_every_size() {
    let dir = tempdir().unwrap();
    let db = open_everything(dir.path().join("source.db"));
    let path = dir.path().join("target.db");
    attach(&db, &path, "target");
    db.execute_batch("PRAGMA target.page_size = 512").unwrap();
    let mut pages = 1;
    while pages < 200 {
        db.execute_batch(&format!("PRAGMA target.max_page_count = {pages}"))
            .unwrap();
        let error = fails(&db, "target");
        assert!(error.contains("database or disk is full"), "{error}");
        assert!(error.starts_with("export failed ("), "{error}");
        assert!(db.is_autocommit());
        assert_eq!(path.metadata().unwrap().len(), 0);
        pages += pages / 8 + 1;
    }
    db.execute_batch("PRAGMA target.max_page_count = 1000000")
        .unwrap();
    export(&db, "target", "main").unwrap();
    assert_eq!(contents(&db, "target"), contents(&db, "main"));
}

#[test]
fn a_full_disk_within_a_transaction() {
    let db = open_everything(":memory:");
    attach(&db, ":memory:", "target");
    for pages in (2..60).step_by(3) {
        db.execute_batch("BEGIN; INSERT INTO log VALUES ('mine')")
            .unwrap();
        db.execute_batch(&format!("PRAGMA target.max_page_count = {pages}"))
            .unwrap();
        let error = fails(&db, "target");
        // SQLite may end the transaction then; but never quietly.
        let ended = error.contains("rolled back the whole transaction");
        assert_eq!(db.is_autocommit(), ended, "{error}");
        let mine = value::<i64>(&db, "SELECT count(*) FROM log");
        assert_eq!(mine, i64::from(!ended));
        if !ended {
            db.execute_batch("ROLLBACK").unwrap();
        }
    }
}

/// Has the `n`th question that SQLite asks its authorizer answered by no.
fn deny(db: &mut Connection, n: u64) -> Arc<AtomicU64> {
    let asked = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&asked);
    db.authorizer(Some(move |_: rusqlite::hooks::AuthContext<'_>| {
        if count.fetch_add(1, Ordering::Relaxed) == n {
            Authorization::Deny
        } else {
            Authorization::Allow
        }
    }))
    .unwrap();
    asked
}

#[test]
fn at_every_statement_within_a_transaction() {
    let mut db = open(":memory:");
    db.execute_batch(
        "PRAGMA foreign_keys = ON; PRAGMA user_version = 5; PRAGMA application_id = 6;
         CREATE TABLE t(a, b AS (a)); INSERT INTO t VALUES (1), (2);
         CREATE TABLE k(a INTEGER PRIMARY KEY AUTOINCREMENT); INSERT INTO k VALUES (3);
         CREATE INDEX i ON t(a);
         CREATE VIRTUAL TABLE f USING fts5(b); INSERT INTO f VALUES ('x');
         CREATE VIEW v AS SELECT * FROM t;
         CREATE TRIGGER g AFTER INSERT ON t BEGIN SELECT 1; END; ANALYZE",
    )
    .unwrap();
    attach(&db, ":memory:", "target");
    db.execute_batch("BEGIN; INSERT INTO t VALUES (7)").unwrap();
    let mut n = 0;
    loop {
        let before = settings::all(&db);
        let asked = deny(&mut db, n);
        let result = functions::export(&db, "target", "main");
        let asked = asked.load(Ordering::Relaxed);
        db.authorizer(None::<fn(rusqlite::hooks::AuthContext<'_>) -> Authorization>)
            .unwrap();
        assert!(!db.is_autocommit());
        if asked <= n {
            result.unwrap();
            break;
        }
        // Denied may be what only costs an optimisation, or what comes afterwards.
        if result.is_ok() {
            db.execute_batch("PRAGMA ignore_check_constraints = OFF")
                .unwrap();
            assert_eq!(value::<i64>(&db, "SELECT count(*) FROM target.t"), 3);
            db.execute_batch("ROLLBACK; BEGIN; INSERT INTO t VALUES (7)")
                .unwrap();
        }
        assert_eq!(schema(&db, "target"), [], "{n}");
        assert_eq!(settings::all(&db), before, "{n}");
        n += 1;
    }
    assert!(n > 100, "{n}");
    db.execute_batch("COMMIT").unwrap();
    assert_eq!(value::<i64>(&db, "SELECT count(*) FROM target.v"), 3);
}

#[test]
fn interrupted_at_many_points() {
    let dir = tempdir().unwrap();
    let mut db = open_everything(dir.path().join("source.db"));
    attach(&db, dir.path().join("target.db"), "target");
    let mut steps = 1;
    loop {
        let mut left = steps;
        let stop = move || {
            left -= 1;
            left == 0
        };
        db.progress_handler(10, Some(stop)).unwrap();
        let result = functions::export(&db, "target", "main");
        db.progress_handler(10, None::<fn() -> bool>).unwrap();
        if result.is_ok() {
            break;
        }
        assert!(db.is_autocommit());
        assert_eq!(schema(&db, "target"), []);
        steps += steps / 4 + 1;
    }
    assert!(steps > 100, "{steps}");
    assert_eq!(contents(&db, "target"), contents(&db, "main"));
}

#[test]
fn interrupted_within_a_transaction() {
    let mut db = open_everything(":memory:");
    attach(&db, ":memory:", "target");
    let mut ended = 0;
    for steps in (1..400).step_by(20) {
        db.execute_batch("BEGIN; INSERT INTO log VALUES ('mine')")
            .unwrap();
        let mut left = steps;
        let stop = move || {
            left -= 1;
            left == 0
        };
        db.progress_handler(10, Some(stop)).unwrap();
        let error = functions::export(&db, "target", "main").unwrap_err();
        db.progress_handler(10, None::<fn() -> bool>).unwrap();
        assert_eq!(schema(&db, "target"), []);
        // SQLite ends the transaction where it was writing; never quietly.
        let is_ended = matches!(error, ExportError::TransactionEnded(_));
        assert_eq!(db.is_autocommit(), is_ended, "{error}");
        ended += i32::from(is_ended);
        if !is_ended {
            db.execute_batch("ROLLBACK").unwrap();
        }
    }
    assert!(ended > 0);
}

/// A source whose index says that it is unique, and is not.
fn contradicting(db: &Connection) {
    db.execute_batch(
        "CREATE TABLE t(a); INSERT INTO t VALUES (1), (1); CREATE INDEX i ON t(a);
         CREATE TABLE log(line);
         PRAGMA writable_schema = ON;
         UPDATE sqlite_schema SET sql = 'CREATE UNIQUE INDEX i ON t(a)' WHERE name = 'i';
         PRAGMA writable_schema = RESET",
    )
    .unwrap();
}

#[test]
fn a_constraint() {
    let db = open(":memory:");
    contradicting(&db);
    attach(&db, ":memory:", "target");
    let error = fails(&db, "target");
    assert_eq!(
        error,
        "export failed (creating index \"i\"): UNIQUE constraint failed: t.a"
    );
    // The program's transaction goes on.
    db.execute_batch("BEGIN; INSERT INTO log VALUES ('mine'); SAVEPOINT a")
        .unwrap();
    fails(&db, "target");
    db.execute_batch("INSERT INTO log VALUES ('too'); RELEASE a; COMMIT")
        .unwrap();
    assert_eq!(rows(&db, "SELECT * FROM log").len(), 2);
    let error = functions::export(&db, "target", "main").unwrap_err();
    let ExportError::Sqlite { code, .. } = error else {
        panic!("{error}")
    };
    assert_eq!(code & 0xff, rusqlite::ffi::SQLITE_CONSTRAINT);
}

#[test]
fn a_locked_target() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("target.db");
    let other = open(&path);
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let db = open_everything(":memory:");
    db.busy_timeout(std::time::Duration::ZERO).unwrap();
    attach(&db, &path, "target");
    let error = export(&db, "target", "main").unwrap_err().to_string();
    assert!(error.contains("locked"), "{error}");
    other.execute_batch("ROLLBACK").unwrap();
    export(&db, "target", "main").unwrap();
    assert_eq!(contents(&db, "target"), contents(&db, "main"));
}

#[test]
fn a_commit_that_readers_hold_up() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("target.db");
    let other = open(&path);
    other
        .execute_batch("CREATE TABLE own(a); BEGIN; SELECT * FROM own")
        .unwrap();
    let db = open_everything(":memory:");
    db.busy_timeout(std::time::Duration::ZERO).unwrap();
    attach(&db, &path, "target");
    let error = export(&db, "target", "main").unwrap_err().to_string();
    assert!(error.contains("locked"), "{error}");
    assert!(db.is_autocommit());
    assert_eq!(schema(&db, "target").len(), 1);
}

#[test]
fn from_within_a_statement_that_writes() {
    let db = open_everything(":memory:");
    attach(&db, ":memory:", "target");
    let error = db.execute("INSERT INTO log SELECT sqlcipher_export('target')", []);
    let error = error.unwrap_err().to_string();
    assert!(error.contains("SQL statements in progress"), "{error}");
    assert_eq!(schema(&db, "target"), []);
}

#[test]
fn from_within_a_view_or_trigger() {
    let db = open_everything(":memory:");
    attach(&db, ":memory:", "target");
    db.execute_batch("CREATE VIEW v AS SELECT sqlcipher_export('target')")
        .unwrap();
    let error = db.query_row("SELECT * FROM v", [], |_| Ok(())).unwrap_err();
    assert!(error.to_string().contains("unsafe use"), "{error}");
}

#[test]
fn a_read_only_connection() {
    let db = open_everything(":memory:");
    attach(&db, ":memory:", "target");
    db.execute_batch("PRAGMA query_only = ON").unwrap();
    assert!(fails(&db, "target").contains("readonly"));
}

#[test]
fn temporary_triggers_on_tables_elsewhere() {
    let db = open(":memory:");
    db.execute_batch(
        "CREATE TABLE t(a); CREATE TEMP TABLE u(a);
         CREATE TEMP TRIGGER g AFTER INSERT ON main.t BEGIN INSERT INTO u VALUES (1); END",
    )
    .unwrap();
    attach(&db, ":memory:", "target");
    export(&db, "target", "temp").unwrap_err();
    assert_eq!(schema(&db, "target"), []);
}
