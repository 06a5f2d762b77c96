//! Opens a database that may be damaged, and says what came of it.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};

use rusqlite::Connection;

use crate::sample::{KEY, Kind, padding, uri};

thread_local! {
    /// Panics in this thread.
    static PANICS: Cell<u64> = const { Cell::new(0) };
}

/// Damaged inputs that have been judged, by all tests.
static JUDGED: AtomicU64 = AtomicU64::new(0);

/// Says how many a test has tried.
pub(crate) fn report(what: &str, tried: u64) {
    let all = JUDGED.load(Ordering::Relaxed);
    println!("hostile, {what}: {tried} tried ({all} by all tests until now)");
}

/// What a program may try on a database that it could read nothing of.
const ATTEMPTS: [&str; 6] = [
    "CREATE TABLE intruder(x)",
    "INSERT INTO a(pad) VALUES('intruder')",
    "VACUUM",
    "PRAGMA wal_checkpoint(TRUNCATE)",
    "PRAGMA user_version = 7",
    "PRAGMA rekey = 'another'",
];

/// A result code and the reason that pageseal gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) code: i32,
    pub(crate) reason: String,
}

/// What reading everything came to.
#[derive(Debug)]
pub(crate) struct Verdict {
    /// The stamps of a table's rows, or why they could not be read.
    pub(crate) a: Result<Vec<i64>, Fault>,
    pub(crate) b: Result<Vec<i64>, Fault>,
    pub(crate) big: Result<i64, Fault>,
}

impl Verdict {
    /// Nothing could be read.
    pub(crate) fn is_refused(&self) -> bool {
        self.a.is_err() && self.b.is_err() && self.big.is_err()
    }

    /// Everything could be read, and all rows of each table are of one time.
    pub(crate) fn is_whole(&self) -> bool {
        let even = |rows: &Result<Vec<i64>, Fault>| {
            rows.as_ref()
                .is_ok_and(|stamps| stamps.iter().all(|stamp| *stamp == stamps[0]))
        };
        even(&self.a) && even(&self.b) && self.big.is_ok()
    }

    /// All reasons in one text.
    pub(crate) fn reasons(&self) -> String {
        let reasons = [
            self.a.as_ref().err(),
            self.b.as_ref().err(),
            self.big.as_ref().err(),
        ];
        let reasons: Vec<_> = reasons
            .into_iter()
            .flatten()
            .map(|fault| format!("{}: {}", fault.code, fault.reason))
            .collect();
        reasons.join("; ")
    }
}

/// All files of a directory but shared indexes.
pub(crate) fn snapshot(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = std::fs::read_dir(dir).expect("a directory").flatten();
    files
        .map(|file| (file.file_name().to_string_lossy().into_owned(), file.path()))
        .filter(|(name, _)| !name.ends_with("-shm"))
        .map(|(name, path)| (name, std::fs::read(path).unwrap_or_default()))
        .collect()
}

fn fault(conn: &Connection, error: &rusqlite::Error) -> Fault {
    let code = error
        .sqlite_error()
        .map_or(0, |error| error.extended_code & 0xff);
    let reason = conn
        .query_row("PRAGMA cipher_status", [], |row| row.get::<_, String>(0))
        .unwrap_or_default();
    Fault { code, reason }
}

/// Opens and reads everything, closes, and makes sure of what must always hold.
///
/// # Panics
/// If pageseal panicked, gave a row that was never written, or wrote to a file of
/// which nothing could be read.
pub(crate) fn judge(dir: &Path, kind: Kind, what: &str) -> Verdict {
    let (verdict, written) = examine(dir, kind, what);
    // A journal's record may turn out to be damaged when others have been put back;
    // it stays hot, and the database closed.
    if verdict.is_refused() && !verdict.reasons().contains("rollback journal's copy") {
        assert!(
            !written,
            "{what}: nothing could be read, but something was written"
        );
    }
    verdict
}

/// As [`judge`], where something may be written; says whether it was.
pub(crate) fn examine(dir: &Path, kind: Kind, what: &str) -> (Verdict, bool) {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            PANICS.set(PANICS.get() + 1);
            before(info);
        }));
    });
    JUDGED.fetch_add(1, Ordering::Relaxed);
    let panics = PANICS.get();
    let before = snapshot(dir);
    let conn = Connection::open(uri(&dir.join("s.db"), kind, KEY)).expect("opening");
    let rows = |table: &str| -> Result<Vec<i64>, Fault> {
        let read = || -> rusqlite::Result<Vec<(i64, i64, String)>> {
            let mut statement = conn.prepare(&format!("SELECT id, stamp, pad FROM {table}"))?;
            let rows =
                statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
            rows.collect()
        };
        let rows = read().map_err(|error| fault(&conn, &error))?;
        if kind.mac > 0 {
            for (id, stamp, pad) in &rows {
                assert_eq!(
                    *pad,
                    padding(*id, *stamp),
                    "{what}: a row that nobody wrote"
                );
            }
        }
        Ok(rows.into_iter().map(|row| row.1).collect())
    };
    let verdict = Verdict {
        a: rows("a"),
        b: rows("b"),
        big: conn
            .query_row("SELECT sum(value) FROM big", [], |row| row.get::<_, f64>(0))
            .map(|sum| sum as i64)
            .map_err(|error| fault(&conn, &error)),
    };
    // SQLITE_NOTADB: not opened. (11 is a fault within; writing is still allowed.)
    let closed = |rows: &Result<Vec<i64>, Fault>| rows.as_ref().is_err_and(|f| f.code == 26);
    if kind.mac > 0 && closed(&verdict.a) && closed(&verdict.b) {
        for attempt in ATTEMPTS {
            let result = conn.execute_batch(attempt);
            assert!(result.is_err(), "{what}: {attempt}");
        }
    }
    let _ = conn.close();
    assert_eq!(PANICS.get(), panics, "{what}: a panic");
    let written = before != snapshot(dir);
    (verdict, written)
}
