//! A codec that fails in the middle of a transaction, a rekey or a migration: nothing
//! of it stays, in every journal mode that promises that (OFF promises nothing).
//!
//! The failures are SQLCipher's `cipher_test_on`, and exist only with the feature
//! `fail-on-demand`: `cargo test --features fail-on-demand --test fail_on_demand`.
#![allow(missing_docs)]

use std::path::Path;

use rusqlite::{Connection, Error};

const MODES: [&str; 5] = ["delete", "truncate", "persist", "memory", "wal"];
const ROWS: i64 = 400;

const IO_ERROR: i32 = 10;
const CORRUPT: i32 = 11;
const NOTADB: i32 = 26;

fn open(path: &Path, key: &str) -> Connection {
    pageseal::register().unwrap();
    let db = Connection::open(format!("file:{}?vfs=pageseal&key={key}", path.display())).unwrap();
    db.execute_batch("PRAGMA kdf_iter=100").unwrap();
    db
}

/// Rows of 500 bytes, with the sum of all `n` known.
fn create(path: &Path, mode: &str) -> Connection {
    let db = open(path, "key");
    let now: String = db
        .query_row(&format!("PRAGMA journal_mode={mode}"), [], |row| row.get(0))
        .unwrap();
    assert_eq!(now, mode);
    db.execute_batch(&format!(
        "CREATE TABLE t(id INTEGER PRIMARY KEY, n, pad);
         CREATE INDEX t_n ON t(n);
         WITH i(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM i WHERE i < {ROWS})
         INSERT INTO t SELECT i, i, zeroblob(500) FROM i"
    ))
    .unwrap();
    db
}

fn sum(db: &Connection) -> Result<i64, Error> {
    db.query_row("SELECT sum(n) FROM t NOT INDEXED", [], |row| row.get(0))
}

/// As it was created, to this connection and to another.
fn assert_unchanged(db: &Connection, path: &Path, what: &str) {
    let other = open(path, "key");
    for (db, who) in [(db, "same"), (&other, "other")] {
        assert_eq!(sum(db).unwrap(), ROWS * (ROWS + 1) / 2, "{what}: {who}");
        let check: String = db
            .query_row("PRAGMA integrity_check", [], |row| row.get(0))
            .unwrap();
        assert_eq!(check, "ok", "{what}: {who}");
        let faults = db.query_row("PRAGMA cipher_integrity_check", [], |_| Ok(()));
        assert_eq!(faults, Err(Error::QueryReturnedNoRows), "{what}: {who}");
    }
}

fn code<T: std::fmt::Debug>(result: Result<T, Error>) -> i32 {
    let error = result.unwrap_err();
    error.sqlite_error().unwrap().extended_code & 0xff
}

fn fail(db: &Connection, fault: &str) {
    db.execute_batch(&format!("PRAGMA cipher_test_on = {fault}"))
        .unwrap();
}

fn heal(db: &Connection, fault: &str) {
    db.execute_batch(&format!("PRAGMA cipher_test_off = {fault}"))
        .unwrap();
}

/// Where SQLite has not rolled back by itself.
fn end(db: &Connection) {
    if !db.is_autocommit() {
        db.execute_batch("ROLLBACK").unwrap();
    }
}

#[test]
fn sealing_fails_at_commit() {
    for mode in MODES {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.db");
        let db = create(&path, mode);
        db.execute_batch("BEGIN; UPDATE t SET n = n + 1").unwrap();
        fail(&db, "fail_encrypt");
        assert_eq!(code(db.execute_batch("COMMIT")), IO_ERROR, "{mode}");
        // The rollback happens with the fault still there.
        end(&db);
        heal(&db, "fail_encrypt");
        assert_unchanged(&db, &path, mode);
        db.execute_batch("UPDATE t SET n = n + 1").unwrap();
        assert_eq!(sum(&db).unwrap(), ROWS * (ROWS + 3) / 2, "{mode}");
    }
}

/// Spilled pages wait to be written when a pragma wants to read one, which lets them go.
/// SQLite takes that error for a finding of the pragma and goes on with the transaction:
/// what waited has to wait further.
#[test]
fn pages_that_wait_outlive_a_failure_that_sqlite_overlooks() {
    for mode in MODES {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.db");
        let db = create(&path, mode);
        // Not a multiple of the pages that go out together: some are left waiting.
        db.execute_batch("PRAGMA cache_size=10; BEGIN; UPDATE t SET n = n + 1 WHERE id < 250")
            .unwrap();
        fail(&db, "fail_encrypt");
        let check: Result<String, Error> =
            db.query_row("PRAGMA integrity_check", [], |row| row.get(0));
        assert_ne!(check.as_deref(), Ok("ok"), "{mode}: nothing waited");
        heal(&db, "fail_encrypt");
        assert!(
            !db.is_autocommit(),
            "{mode}: SQLite gave the transaction up"
        );
        db.execute_batch("COMMIT").unwrap();
        assert_eq!(sum(&db).unwrap(), ROWS * (ROWS + 1) / 2 + 249, "{mode}");
        let other = open(&path, "key");
        for db in [&db, &other] {
            let check: String = db
                .query_row("PRAGMA integrity_check", [], |row| row.get(0))
                .unwrap();
            assert_eq!(check, "ok", "{mode}");
        }
    }
}

/// Part of the transaction is in the file already, for want of cache. (With MEMORY,
/// SQLite gives the journal up on any failed write of a spill, encrypted or not: what
/// is in the file then stays there.)
#[test]
fn sealing_fails_after_a_spill() {
    for mode in MODES.into_iter().filter(|&mode| mode != "memory") {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.db");
        let db = create(&path, mode);
        let len = |path: &Path| std::fs::read(path).map_or(0, |file| file.len());
        let log = dir.path().join("x.db-wal");
        let (before, logged) = (std::fs::read(&path).unwrap(), len(&log));
        db.execute_batch("PRAGMA cache_size=10; BEGIN; UPDATE t SET n = n + 1 WHERE id < 300")
            .unwrap();
        let spilled = std::fs::read(&path).unwrap() != before || len(&log) > logged;
        assert!(spilled, "{mode}: nothing was written before the failure");
        fail(&db, "fail_encrypt");
        let update = db.execute_batch("UPDATE t SET n = n + 1; COMMIT");
        assert_eq!(code(update), IO_ERROR, "{mode}");
        end(&db);
        heal(&db, "fail_encrypt");
        assert_unchanged(&db, &path, mode);
    }
}

#[test]
fn opening_fails_in_a_transaction() {
    for mode in MODES {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.db");
        drop(create(&path, mode));
        let db = open(&path, "key");
        db.execute_batch(&format!(
            "PRAGMA journal_mode={mode}; PRAGMA cache_size=10; BEGIN; UPDATE t SET n = 0 WHERE id < 200"
        ))
        .unwrap();
        fail(&db, "fail_decrypt");
        assert_eq!(code(sum(&db)), CORRUPT, "{mode}");
        let update = db.execute_batch("UPDATE t SET n = 0");
        assert_eq!(code(update), CORRUPT, "{mode}");
        heal(&db, "fail_decrypt");
        // Only what was read while it failed is lost, not what the transaction has.
        if !db.is_autocommit() {
            let zeros: i64 = db
                .query_row(
                    "SELECT count(*) FROM t NOT INDEXED WHERE n = 0",
                    [],
                    |row| row.get(0),
                )
                .unwrap();
            assert_eq!(zeros, 199, "{mode}");
        }
        end(&db);
        assert_unchanged(&db, &path, mode);
    }
}

#[test]
fn rekey_fails_half_way() {
    for mode in MODES {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.db");
        let db = create(&path, mode);
        fail(&db, "fail_rekey");
        let rekey = db.execute_batch("PRAGMA rekey = 'new'");
        assert_eq!(code(rekey), IO_ERROR, "{mode}");
        heal(&db, "fail_rekey");
        assert_unchanged(&db, &path, mode);
        assert_eq!(code(sum(&open(&path, "new"))), NOTADB, "{mode}");
        // So does one in which the codec fails.
        fail(&db, "fail_decrypt");
        assert_ne!(code(db.execute_batch("PRAGMA rekey = 'new'")), 0);
        heal(&db, "fail_decrypt");
        assert_unchanged(&db, &path, mode);
        db.execute_batch("PRAGMA rekey = 'new'").unwrap();
        drop(db);
        assert_eq!(sum(&open(&path, "new")).unwrap(), ROWS * (ROWS + 1) / 2);
        assert_eq!(code(sum(&open(&path, "key"))), NOTADB, "{mode}");
    }
}

#[test]
fn migration_fails_half_way() {
    let vector = Path::new(env!("CARGO_MANIFEST_DIR")).join("compat-vectors/witness-shell-v3.db");
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.db");
    std::fs::copy(vector, &path).unwrap();
    let original = std::fs::read(&path).unwrap();
    pageseal::register().unwrap();
    let open = |pragma: &str| {
        let uri = format!("file:{}?vfs=pageseal&key=correct%20horse", path.display());
        let db = Connection::open(uri).unwrap();
        db.execute_batch(pragma).unwrap();
        db
    };
    let objects = |db: &Connection| {
        db.query_row("SELECT count(*) FROM sqlite_schema", [], |row| {
            row.get::<_, i64>(0)
        })
    };
    let before = objects(&open("PRAGMA cipher_compatibility=3")).unwrap();
    assert!(before > 0);

    let db = open("PRAGMA cipher_test_on = fail_migrate");
    let migrate = db.query_row("PRAGMA cipher_migrate", [], |row| row.get::<_, String>(0));
    assert_eq!(code(migrate), IO_ERROR);
    drop(db);
    // As it was, to the last byte, once somebody has opened it with the old settings.
    assert_eq!(
        objects(&open("PRAGMA cipher_compatibility=3")).unwrap(),
        before
    );
    assert_eq!(std::fs::read(&path).unwrap(), original);
    assert_eq!(code(objects(&open(""))), NOTADB);
    let files = std::fs::read_dir(dir.path()).unwrap().count();
    assert_eq!(files, 1, "only the database is left");

    let db = open("");
    let done: String = db
        .query_row("PRAGMA cipher_migrate", [], |row| row.get(0))
        .unwrap();
    assert_eq!(done, "0");
    drop(db);
    assert_eq!(objects(&open("")).unwrap(), before);
}

/// The switches are a database's own, and unknown names switch nothing.
#[test]
fn faults_are_of_one_database() {
    let dir = tempfile::tempdir().unwrap();
    let one = create(&dir.path().join("one.db"), "delete");
    let two = create(&dir.path().join("two.db"), "delete");
    one.execute_batch("PRAGMA cipher_test_on = fail_nothing; UPDATE t SET n = 1")
        .unwrap();
    fail(&one, "fail_encrypt");
    two.execute_batch("UPDATE t SET n = 1").unwrap();
    assert_eq!(code(one.execute_batch("UPDATE t SET n = 2")), IO_ERROR);
}
