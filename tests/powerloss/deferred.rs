//! Writes that the shim makes later than SQLite asked for them (`vfs::batch::behind`,
//! `vfs::log`, `vfs::scratch`), or at once (`vfs::journal`): each of them fails in
//! turn. The statement that it belongs to says so, what was committed before is
//! there, and what failed works when it is tried again.

use rusqlite::{Connection, ffi};

use crate::database::{checked_digest, digest, open_with, run};
use crate::store::{Call, Disk, Fault, How};
use crate::trace::Op;

const KEY: &str = "x'00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff'";
const PAGE: usize = 4096;

const SETUP: &str = "
    CREATE TABLE t(id INTEGER PRIMARY KEY, a INTEGER, pad TEXT);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
    INSERT INTO t SELECT i, i * 7 % 41, printf('%0300d', i) FROM n;";

/// What is committed before anything fails.
const COMMITTED: &str = "INSERT INTO t VALUES(1000, 1, 'committed')";

/// Changes about thirty pages: two batches.
const CHANGE: &str = "BEGIN; UPDATE t SET a = -a; INSERT INTO t VALUES(1001, 2, 'x'); COMMIT";

struct Case {
    name: &'static str,
    tuning: &'static str,
    /// The file whose writes fail; all of the temporary ones where it is empty.
    file: &'static str,
    statement: &'static str,
    /// The error that the statement ends with.
    code: i32,
}

/// Runs the case with each write to its file failing, and returns how many there
/// were. The disk where they fail is `faulty`.
fn every_write_fails(case: &Case, faulty: impl Fn(&Disk) -> Disk) -> u64 {
    for after in 0.. {
        let what = format!("{}, write {after}", case.name);
        let disk = Disk::mount(case.name);
        let open = || {
            let conn = open_with(case.name, "", KEY).expect("opening");
            run(&conn, case.tuning).expect("tuning");
            conn
        };
        let conn = open();
        run(&conn, SETUP).expect("setting up");
        run(&conn, COMMITTED).expect("committing");
        let before = digest(&conn).expect("reading");
        let faulty = faulty(&disk);
        faulty.break_at(Some(Fault {
            call: Call::Write,
            how: How::Io,
            after,
            for_good: false,
            file: case.file,
        }));
        let result = run(&conn, case.statement);
        let fired = faulty.fired();
        faulty.break_at(None);
        if fired == 0 {
            result.expect("nothing failed");
            return after;
        }
        let error = result.expect_err(&what);
        let code = error.sqlite_error().map(|error| error.extended_code & 0xff);
        assert_eq!(code, Some(case.code), "{what}: {error}");
        if !conn.is_autocommit() {
            run(&conn, "ROLLBACK").expect(&what);
        }
        assert_eq!(
            checked_digest(&conn),
            Ok(before),
            "{what}, the same connection"
        );
        drop(conn);
        let conn = open();
        assert_eq!(checked_digest(&conn), Ok(before), "{what}, opened again");
        run(&conn, case.statement).expect(&what);
        assert_eq!(
            count(&conn),
            301 + i64::from(case.statement == CHANGE),
            "{what}"
        );
    }
    unreachable!("the statement makes so many writes")
}

fn count(conn: &Connection) -> i64 {
    conn.query_row("SELECT count(*) FROM t", [], |row| row.get(0))
        .expect("a count")
}

/// The lengths of the writes to a file that the statement makes.
fn lengths(case: &Case, written_to: impl Fn(&Disk) -> Disk) -> Vec<usize> {
    let disk = Disk::mount(case.name);
    let conn = open_with(case.name, "", KEY).expect("opening");
    run(&conn, case.tuning).expect("tuning");
    run(&conn, SETUP).expect("setting up");
    let disk = written_to(&disk);
    disk.record();
    run(&conn, case.statement).expect("running");
    let log = disk.recorded();
    let writes = log.iter().filter_map(|op| match op {
        Op::Write { file, data, .. } if file.ends_with(case.file) => Some(data.len()),
        _ => None,
    });
    writes.collect()
}

/// Whether write-behind is on (see `tests/support/switches.rs`).
fn pages_wait() -> bool {
    !std::env::var("PAGESEAL_WITHOUT").is_ok_and(|without| without.contains("behind"))
}

#[test]
fn database_pages() {
    let case = Case {
        name: "deferred-behind",
        tuning: "PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL",
        file: "main.db",
        statement: CHANGE,
        code: ffi::SQLITE_IOERR,
    };
    // They have waited for each other.
    let lengths = lengths(&case, Disk::clone);
    let together = lengths.iter().any(|&len| len > 4 * PAGE);
    assert_eq!(together, pages_wait(), "{lengths:?}");
    let failed = every_write_fails(&case, Disk::clone);
    assert_eq!(failed, lengths.len() as u64);
    println!("deferred, database pages: {failed} writes failed and said so");
}

/// With `synchronous=OFF` there is no sync that would bring them out.
#[test]
fn database_pages_that_are_never_synced() {
    let case = Case {
        name: "deferred-behind-off",
        tuning: "PRAGMA journal_mode = PERSIST; PRAGMA synchronous = OFF",
        file: "main.db",
        statement: CHANGE,
        code: ffi::SQLITE_IOERR,
    };
    let failed = every_write_fails(&case, Disk::clone);
    assert!(failed >= 2, "{failed}");
    println!("deferred, database pages without syncs: {failed} writes failed and said so");
}

#[test]
fn log_frames() {
    for (name, tuning) in [
        (
            "deferred-log",
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL",
        ),
        (
            "deferred-log-off",
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF",
        ),
        // They go out in the middle of the transaction, too.
        (
            "deferred-log-spill",
            "PRAGMA journal_mode = WAL; PRAGMA cache_size = 4; PRAGMA synchronous = NORMAL",
        ),
    ] {
        let case = Case {
            name,
            tuning,
            file: "-wal",
            statement: CHANGE,
            code: ffi::SQLITE_IOERR,
        };
        let lengths = lengths(&case, Disk::clone);
        let together = lengths.iter().any(|&len| len > 4 * PAGE);
        // (A page that is spilled alone goes out when the log is read next.)
        let wait = pages_wait() && name != "deferred-log-spill";
        assert_eq!(together, wait, "{lengths:?}");
        let failed = every_write_fails(&case, Disk::clone);
        assert_eq!(failed, lengths.len() as u64, "{name}");
        println!("{name}: {failed} writes failed and said so");
    }
}

/// Nothing waits here: what SQLite writes in three pieces comes in three.
#[test]
fn journal_records() {
    let case = Case {
        name: "deferred-journal",
        tuning: "PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL",
        file: "-journal",
        statement: CHANGE,
        code: ffi::SQLITE_IOERR,
    };
    let lengths = lengths(&case, Disk::clone);
    let pages = lengths.iter().filter(|&&len| len == PAGE).count();
    let words = lengths.iter().filter(|&&len| len == 4).count();
    assert!(pages > 16 && words == 2 * pages, "{lengths:?}");
    let failed = every_write_fails(&case, Disk::clone);
    assert_eq!(failed, lengths.len() as u64);
    println!("deferred, journal records (none is): {failed} writes failed and said so");
}

/// A temporary table, larger than its cache, and its journal, which SQLite writes in
/// pieces of 4 bytes and of a page.
#[test]
fn temporary_blocks() {
    let case = Case {
        name: "deferred-scratch",
        tuning: "PRAGMA temp_store = FILE; PRAGMA temp.cache_size = 4",
        file: "",
        statement: "CREATE TEMP TABLE s(x);
            BEGIN; INSERT INTO s SELECT pad FROM t; COMMIT;
            BEGIN; UPDATE s SET x = x || 'y'; DELETE FROM s; COMMIT",
        code: ffi::SQLITE_IOERR,
    };
    let temporary = |_: &Disk| Disk::temporary();
    let lengths = lengths(&case, temporary);
    // In whole blocks, whatever the pieces that SQLite writes.
    assert!(lengths.len() > 30, "{lengths:?}");
    assert!(lengths.iter().all(|&len| len == 4096), "{lengths:?}");
    let failed = every_write_fails(&case, temporary);
    assert_eq!(failed, lengths.len() as u64);
    println!("deferred, temporary blocks: {failed} writes failed and said so");
}

/// SQLite gives up a whole transaction after most errors, but after a full disk it
/// may take back one statement and go on. Whatever pages earlier statements have
/// written must still be there then.
#[test]
fn a_transaction_goes_on_after_a_full_disk() {
    // Each may fail half way, so that SQLite keeps a statement journal.
    const STATEMENTS: &[&str] = &[
        "UPDATE t SET a = a + 1000",
        "INSERT INTO t SELECT id + 2000, a, pad || 'x' FROM t WHERE id <= 200",
        "UPDATE t SET pad = 'short ' || id WHERE id % 3 = 0",
        "SELECT sum(length(pad)) FROM t",
        "PRAGMA cipher_integrity_check",
        "DELETE FROM t WHERE id % 7 = 0",
        "INSERT INTO t SELECT id + 5000, a, pad || 'y' FROM t WHERE id <= 100",
    ];
    let (mut injected, mut went_on) = (0, 0);
    for (name, mode, file) in [
        ("full-delete", "DELETE", "main.db"),
        ("full-memory", "MEMORY", "main.db"),
        ("full-wal", "WAL", "-wal"),
    ] {
        // (Writes come by the hundred, and are like each other.)
        for after in (0..).step_by(5) {
            let what = format!("{mode}, write {after}");
            let open = |key| {
                let conn = open_with(name, "&cipher_page_size=1024", key).expect("opening");
                let tuning = format!("PRAGMA journal_mode = {mode}; PRAGMA cache_size = 6");
                run(&conn, &tuning).expect("tuning");
                conn
            };
            let disk = Disk::mount(name);
            let conn = open(KEY);
            run(&conn, SETUP).expect("setting up");
            run(&conn, "BEGIN").expect("beginning");
            disk.break_at(Some(Fault {
                call: Call::Write,
                how: How::Full,
                after,
                for_good: false,
                file,
            }));
            let mut done = Vec::new();
            for statement in STATEMENTS {
                match run(&conn, statement) {
                    Ok(()) => done.push(statement),
                    // Nothing of the transaction is left.
                    Err(_) if conn.is_autocommit() => done.clear(),
                    Err(_) => went_on += 1,
                }
                if conn.is_autocommit() {
                    break;
                }
            }
            if !conn.is_autocommit() && run(&conn, "COMMIT").is_err() {
                done.clear();
                if !conn.is_autocommit() {
                    run(&conn, "ROLLBACK").expect(&what);
                }
            }
            let fired = disk.fired();
            disk.break_at(None);
            let same = checked_digest(&conn);
            drop(conn);
            let again = checked_digest(&open(KEY));
            // What it must be, by a database where nothing failed.
            Disk::mount(name);
            let conn = open(KEY);
            run(&conn, SETUP).expect("setting up");
            for statement in done {
                run(&conn, statement).expect(&what);
            }
            let expected = checked_digest(&conn);
            assert!(expected.is_ok());
            assert_eq!(same, expected, "{what}, the same connection");
            assert_eq!(again, expected, "{what}, opened again");
            if fired == 0 {
                break;
            }
            injected += 1;
        }
    }
    println!(
        "deferred, a full disk within a transaction: {injected} injected, {went_on} times the transaction went on"
    );
}
