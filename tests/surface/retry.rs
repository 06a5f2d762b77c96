//! A rekey or migration that did not come to its end, for whatever reason: everything
//! is as before, and the same words again do it.

use std::path::Path;
use std::sync::{Arc, Mutex};

use rusqlite::trace::{TraceEvent, TraceEventCodes};
use rusqlite::{Connection, Error};

const ROWS: i64 = 200;

fn open(path: &Path, pragmas: &str) -> Connection {
    pageseal::register().unwrap();
    let db = Connection::open(format!("file:{}?vfs=pageseal", path.display())).unwrap();
    db.busy_timeout(std::time::Duration::ZERO).unwrap();
    db.execute_batch(&format!("PRAGMA key = 'key'; {pragmas}"))
        .unwrap();
    db
}

fn text(db: &Connection, sql: &str) -> Result<String, Error> {
    db.query_row(sql, [], |row| row.get(0))
}

fn code<T: std::fmt::Debug>(result: Result<T, Error>) -> i32 {
    let error = result.unwrap_err();
    error.sqlite_error().unwrap().extended_code & 0xff
}

fn count(db: &Connection) -> Result<i64, Error> {
    db.query_row("SELECT count(*) FROM t WHERE length(b) > 100", [], |row| {
        row.get(0)
    })
}

/// What is tried, and the settings that open the database before and after.
#[derive(Clone, Copy)]
struct Attempt {
    statement: &'static str,
    answer: &'static str,
    before: &'static str,
    by: &'static str,
    after: &'static str,
}

const REKEY: Attempt = Attempt {
    statement: "PRAGMA rekey = 'new'",
    answer: "ok",
    before: "PRAGMA kdf_iter = 10",
    by: "PRAGMA kdf_iter = 10",
    after: "PRAGMA key = 'new'; PRAGMA kdf_iter = 10",
};

/// The key is not the one that it brings: the salt changes with it.
const REKEY_SALTED: Attempt = Attempt {
    statement: "PRAGMA rekey = \"x'ffeeddccbbaa99887766554433221100ffeeddccbbaa9988776655443322110001010101010101010101010101010101'\"",
    after: "PRAGMA key = \"x'ffeeddccbbaa99887766554433221100ffeeddccbbaa9988776655443322110001010101010101010101010101010101'\"; PRAGMA kdf_iter = 10",
    ..REKEY
};

const MIGRATE: Attempt = Attempt {
    statement: "PRAGMA cipher_migrate",
    answer: "0",
    before: "PRAGMA cipher_compatibility = 3",
    by: "",
    after: "",
};

/// As above, after settings of an old version have been given, which count for nothing.
const MIGRATE_BY_OLD: Attempt = Attempt {
    by: "PRAGMA cipher_compatibility = 3",
    ..MIGRATE
};

const ATTEMPTS: [Attempt; 4] = [REKEY, REKEY_SALTED, MIGRATE, MIGRATE_BY_OLD];

impl Attempt {
    fn make(&self, path: &Path, mode: &str) {
        let db = open(path, self.before);
        assert_eq!(
            text(&db, &format!("PRAGMA journal_mode = {mode}")).unwrap(),
            mode
        );
        db.execute_batch(&format!(
            "CREATE TABLE t(a INTEGER PRIMARY KEY, b);
             WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {ROWS})
             INSERT INTO t SELECT i, printf('%0500d', i) FROM n"
        ))
        .unwrap();
    }

    fn run(&self, db: &Connection) -> Result<String, Error> {
        text(db, self.statement)
    }

    /// It has not been done: the other way does not open the database, the old one does.
    fn assert_undone(&self, path: &Path) {
        assert_eq!(count(&open(path, self.before)).unwrap(), ROWS);
        assert_eq!(code(count(&open(path, self.after))), 26);
    }

    fn assert_done(&self, path: &Path, db: &Connection, mode: &str) {
        assert_eq!(count(db).unwrap(), ROWS);
        assert_eq!(text(db, "PRAGMA journal_mode").unwrap(), mode);
        assert_eq!(text(db, "PRAGMA integrity_check").unwrap(), "ok");
        assert_eq!(count(&open(path, self.after)).unwrap(), ROWS);
        assert_eq!(code(count(&open(path, self.before))), 26);
        let dir = path.parent().unwrap();
        let copies = std::fs::read_dir(dir)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name.contains("migrate"));
        assert_eq!(copies.count(), 0);
    }
}

/// Each attempt in a rollback mode and in WAL mode, on a database of its own.
fn each(f: impl Fn(&Attempt, &Path, &str)) {
    for attempt in &ATTEMPTS {
        for mode in ["delete", "wal"] {
            println!("{mode}, {}: {}", attempt.by, attempt.statement);
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("x.db");
            attempt.make(&path, mode);
            f(attempt, &path, mode);
        }
    }
}

#[test]
fn while_another_connection_reads_or_writes() {
    each(|attempt, path, mode| {
        for begin in ["BEGIN; SELECT * FROM t", "BEGIN IMMEDIATE"] {
            let db = open(path, attempt.by);
            let other = open(path, attempt.before);
            other.execute_batch(begin).unwrap();
            for _ in 0..3 {
                let error = attempt.run(&db).unwrap_err();
                assert!(!error.to_string().is_empty());
                assert_eq!(code::<()>(Err(error)), 5, "{begin}");
            }
            other.execute_batch("COMMIT").unwrap();
            drop(other);
            attempt.assert_undone(path);
            if begin == "BEGIN IMMEDIATE" {
                assert_eq!(attempt.run(&db).unwrap(), attempt.answer, "{begin}");
                attempt.assert_done(path, &db, mode);
            }
        }
    });
}

#[test]
fn in_a_transaction_or_beside_a_statement() {
    each(|attempt, path, mode| {
        let db = open(path, attempt.by);
        db.execute_batch("BEGIN").unwrap();
        let error = attempt.run(&db).unwrap_err().to_string();
        assert!(error.contains("transaction"), "{error}");
        db.execute_batch("COMMIT").unwrap();
        // A statement that is not at its end: VACUUM can't run beside it, nor can a log
        // be left that it reads.
        let reads = attempt.answer == "ok";
        let sql = if reads {
            "SELECT a FROM t"
        } else {
            // It needs no schema.
            "PRAGMA collation_list"
        };
        let mut statement = db.prepare(sql).unwrap();
        let mut rows = statement.query([]).unwrap();
        rows.next().unwrap().unwrap();
        let beside = attempt.run(&db);
        let mut read = 1;
        while rows.next().unwrap().is_some() {
            read += 1;
        }
        assert!(!reads || read == ROWS, "{read}");
        drop(rows);
        drop(statement);
        if reads && mode != "wal" {
            assert_eq!(beside.unwrap(), "ok");
        } else {
            // The reason, not only "SQL logic error".
            let error = beside.unwrap_err().to_string();
            assert!(
                error.contains("in progress") || error.contains("out of wal mode"),
                "{error}"
            );
            attempt.assert_undone(path);
            assert_eq!(attempt.run(&db).unwrap(), attempt.answer);
        }
        attempt.assert_done(path, &db, mode);
    });
}

/// A migration in exclusive mode is refused; afterwards it is a first one.
#[test]
fn migration_in_exclusive_mode() {
    for mode in ["delete", "wal"] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.db");
        MIGRATE.make(&path, mode);
        let db = open(&path, "PRAGMA locking_mode = EXCLUSIVE");
        let error = MIGRATE.run(&db).unwrap_err().to_string();
        assert!(error.contains("locking_mode=NORMAL"), "{error}");
        db.execute_batch("PRAGMA locking_mode = NORMAL").unwrap();
        assert_eq!(MIGRATE.run(&db).unwrap(), "0");
        MIGRATE.assert_done(&path, &db, mode);
    }
}

/// After a refusal the connection is what it was before: with settings yet to be given.
#[test]
fn a_refused_migration_leaves_the_settings() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.db");
    MIGRATE.make(&path, "delete");
    let other = open(&path, MIGRATE.before);
    other.execute_batch("BEGIN; SELECT * FROM t").unwrap();
    let db = open(&path, "PRAGMA cipher_page_size = 8192");
    assert_eq!(code(MIGRATE.run(&db)), 5);
    assert_eq!(text(&db, "PRAGMA cipher_page_size").unwrap(), "8192");
    assert_eq!(code(count(&db)), 26);
    db.execute_batch("PRAGMA cipher_compatibility = 3").unwrap();
    assert_eq!(count(&db).unwrap(), ROWS);
    // In use now, as in SQLCipher.
    assert_eq!(MIGRATE.run(&db).unwrap(), "21");
}

/// A connection that starts to read when a statement starts that `db` runs by itself.
fn read_at(
    db: &mut Connection,
    statement: &'static str,
    path: &Path,
    pragmas: &'static str,
) -> Arc<Mutex<Option<Connection>>> {
    let reader = Arc::new(Mutex::new(None::<Connection>));
    let (place, path) = (Arc::clone(&reader), path.to_owned());
    let read = move |event: TraceEvent<'_>| {
        let mut place = place.lock().unwrap();
        if let TraceEvent::Stmt(running, _) = event
            && running.sql().contains(statement)
            && place.is_none()
        {
            let reader = open(&path, pragmas);
            reader.execute_batch("BEGIN; SELECT * FROM t").unwrap();
            *place = Some(reader);
        }
    };
    db.trace_v2(TraceEventCodes::SQLITE_TRACE_STMT, Some(read))
        .unwrap();
    reader
}

fn end_trace(db: &mut Connection) {
    db.trace_v2(
        TraceEventCodes::SQLITE_TRACE_STMT,
        None::<fn(TraceEvent<'_>)>,
    )
    .unwrap();
}

#[test]
fn interrupted() {
    let copying = [MIGRATE, MIGRATE_BY_OLD];
    for (attempt, mode) in copying.iter().flat_map(|it| [(it, "delete"), (it, "wal")]) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.db");
        attempt.make(&path, mode);
        let mut db = open(&path, attempt.by);
        let mut steps = 0;
        db.progress_handler(
            1,
            Some(move || {
                steps += 1;
                steps == 700
            }),
        )
        .unwrap();
        assert_eq!(code(attempt.run(&db)), 9, "{mode}");
        db.progress_handler(0, None::<fn() -> bool>).unwrap();
        attempt.assert_undone(&path);
        assert_eq!(attempt.run(&db).unwrap(), attempt.answer);
        attempt.assert_done(&path, &db, mode);
    }
}

/// An interrupt beside a statement that is not at its end outlasts the rekey, and meets
/// the COMMIT: the error says that the new key is in place.
#[test]
fn interrupted_when_it_is_done() {
    for attempt in [REKEY, REKEY_SALTED] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.db");
        attempt.make(&path, "delete");
        let mut db = open(&path, attempt.by);
        let handle = db.get_interrupt_handle();
        let interrupt = move |event: TraceEvent<'_>| {
            if let TraceEvent::Profile(ended, _) = event
                && ended.sql().contains("BEGIN EXCLUSIVE")
            {
                handle.interrupt();
            }
        };
        db.trace_v2(TraceEventCodes::SQLITE_TRACE_PROFILE, Some(interrupt))
            .unwrap();
        let mut statement = db.prepare("SELECT a FROM t").unwrap();
        let mut rows = statement.query([]).unwrap();
        rows.next().unwrap().unwrap();
        let error = attempt.run(&db).unwrap_err();
        assert!(error.to_string().contains("rekey is done"), "{error}");
        assert_eq!(code::<()>(Err(error)), 9);
        drop(rows);
        drop(statement);
        db.trace_v2(
            TraceEventCodes::SQLITE_TRACE_PROFILE,
            None::<fn(TraceEvent<'_>)>,
        )
        .unwrap();
        db.execute_batch("ROLLBACK").unwrap();
        attempt.assert_done(&path, &db, "delete");
        db.execute_batch("INSERT INTO t VALUES(9999, 'more')")
            .unwrap();
        assert_eq!(text(&db, "PRAGMA integrity_check").unwrap(), "ok");
    }
}

/// Between the leaving of WAL mode and the exclusive lock somebody starts to read: what
/// has failed is tried again, and WAL mode comes back with it.
#[test]
fn a_reader_slips_in_behind_the_log() {
    for attempt in ATTEMPTS {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.db");
        attempt.make(&path, "wal");
        let mut db = open(&path, attempt.by);
        let reader = read_at(&mut db, "BEGIN EXCLUSIVE", &path, attempt.before);
        assert_eq!(code(attempt.run(&db)), 5);
        end_trace(&mut db);
        drop(reader.lock().unwrap().take().expect("it was there"));
        attempt.assert_undone(&path);
        assert_eq!(attempt.run(&db).unwrap(), attempt.answer);
        attempt.assert_done(&path, &db, "wal");
    }
}

/// The new key is in place and somebody reads with it before WAL mode is back: that is
/// no failure of the rekey, whose caller would go on with the old key.
#[test]
fn a_reader_slips_in_before_wal_mode_is_back() {
    for attempt in ATTEMPTS {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.db");
        attempt.make(&path, "wal");
        let mut db = open(&path, attempt.by);
        let reader = read_at(&mut db, "journal_mode=WAL", &path, attempt.after);
        assert_eq!(attempt.run(&db).unwrap(), attempt.answer);
        end_trace(&mut db);
        drop(reader.lock().unwrap().take().expect("it was there"));
        attempt.assert_done(&path, &db, "delete");
        // The next one brings it back.
        assert_eq!(text(&db, "PRAGMA rekey = 'third'").unwrap(), "ok");
        assert_eq!(text(&db, "PRAGMA journal_mode").unwrap(), "wal");
    }
}

/// A new database has nothing to be migrated.
#[test]
fn an_empty_database_is_no_old_one() {
    let dir = tempfile::tempdir().unwrap();
    let db = open(&dir.path().join("x.db"), "PRAGMA cipher_page_size = 8192");
    assert_eq!(MIGRATE.run(&db).unwrap(), "0");
    db.execute_batch("CREATE TABLE t(a)").unwrap();
    assert_eq!(text(&db, "PRAGMA page_size").unwrap(), "8192");
}

/// A page that could not be read says nothing of the key.
#[test]
fn a_wrong_key_again_is_still_one() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.db");
    MIGRATE.make(&path, "delete");
    let db = open(&path, "PRAGMA key = 'wrong'");
    for _ in 0..2 {
        assert_eq!(MIGRATE.run(&db).unwrap(), "26");
        let status = text(&db, "PRAGMA cipher_status").unwrap();
        assert!(status.starts_with("0: wrong key or settings"), "{status}");
    }
    db.execute_batch("PRAGMA key = 'key'").unwrap();
    assert_eq!(MIGRATE.run(&db).unwrap(), "0");
    MIGRATE.assert_done(&path, &db, "delete");
}
