//! SQLite's error log, which is the process's: what programs that only look at codes
//! can't tell, it tells. (It must be set before SQLite is used, so that this is a
//! program of its own.)
#![allow(missing_docs)]

use std::ffi::c_int;
use std::path::Path;
use std::sync::Mutex;

use rusqlite::{Connection, trace};

static LINES: Mutex<Vec<(c_int, String)>> = Mutex::new(Vec::new());

fn take(code: c_int, text: &str) {
    LINES.lock().unwrap().push((code, text.to_owned()));
}

/// What has been logged since this was asked last.
fn lines() -> Vec<(c_int, String)> {
    std::mem::take(&mut LINES.lock().unwrap())
}

fn open(path: &Path, pragmas: &str) -> Connection {
    let db = Connection::open(format!("file:{}?vfs=pageseal", path.display())).unwrap();
    db.execute_batch(pragmas).unwrap();
    db
}

const KEYED: &str = "PRAGMA key = 'open sesame'; PRAGMA kdf_iter = 100";

/// Runs a statement that fails with `code`, and asserts that the log has a line of ours
/// with that code which says why.
fn fails(db: &Connection, sql: &str, code: c_int, why: &str) {
    lines();
    let error = db.execute_batch(sql).unwrap_err();
    let found = error.sqlite_error().unwrap().extended_code & 0xff;
    assert_eq!(found, code, "{sql}: {error}");
    let log = lines();
    let said = |(at, text): &(c_int, String)| {
        at & 0xff == code && text.starts_with("pageseal: ") && text.contains(why)
    };
    assert!(log.iter().any(said), "{sql}: {log:?}");
    assert!(
        !log.iter().any(|(_, text)| text.contains("sesame")),
        "{log:?}"
    );
}

#[test]
fn the_reason_is_in_sqlites_error_log() {
    // SAFETY: SQLite has not been used in this process, and no other thread does now.
    unsafe { trace::config_log(Some(take)) }.unwrap();
    pageseal::register().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.db");
    let rows = "CREATE TABLE t(a);
        WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20)
        INSERT INTO t SELECT zeroblob(3000) FROM n";
    open(&path, &format!("{KEYED}; {rows}"));
    let plain = dir.path().join("plain.db");
    open(&plain, rows);

    const READ: &str = "SELECT sum(length(a)) FROM t";
    fails(&open(&path, ""), READ, 26, "no key given");
    let wrong = "PRAGMA key = 'close sesame'";
    fails(&open(&path, wrong), READ, 26, "wrong key or settings");
    fails(&open(&plain, KEYED), READ, 26, "plaintext SQLite database");
    let db = open(&path, KEYED);
    let attach = format!("ATTACH '{}' AS o KEY lower('SESAME')", plain.display());
    fails(&db, &attach, 1, "expression");
    let new = open(&dir.path().join("new.db"), "");
    new.execute_batch("PRAGMA key = ''").unwrap_err();
    fails(&new, rows, 10, "can't be used");

    lines();
    db.execute_batch("SELECT count(*) FROM t; PRAGMA kdf_iter = 5")
        .unwrap();
    let ignored = (
        rusqlite::ffi::SQLITE_WARNING,
        "pageseal: PRAGMA kdf_iter is ignored: the database is in use already".to_owned(),
    );
    assert_eq!(lines(), [ignored]);
    drop(db);

    let mut file = std::fs::read(&path).unwrap();
    file[11 * 4096 + 100] ^= 1;
    std::fs::write(&path, file).unwrap();
    fails(&open(&path, KEYED), READ, 11, "page 12 is damaged");
}
