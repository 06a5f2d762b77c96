//! `PRAGMA cipher_integrity_check`: what it can be stopped by, and what is no fault.

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use rusqlite::{Connection, ErrorCode};

fn open(path: &Path) -> Connection {
    pageseal::register().unwrap();
    let db = Connection::open(format!("file:{}?vfs=pageseal&hexkey=6b", path.display())).unwrap();
    db.execute_batch("PRAGMA kdf_iter=100").unwrap();
    db
}

fn fill(db: &Connection, rows: u32) {
    db.execute_batch(&format!(
        "CREATE TABLE t(a);
         WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows})
         INSERT INTO t SELECT zeroblob(3000) FROM n"
    ))
    .unwrap();
}

fn faults(db: &Connection) -> Vec<String> {
    let mut statement = db.prepare("SELECT * FROM cipher_integrity_check").unwrap();
    let rows = statement.query_map([], |row| row.get(0)).unwrap();
    rows.map(Result::unwrap).collect()
}

fn damage(path: &Path, pages: &[usize]) {
    let mut file = std::fs::read(path).unwrap();
    for page in pages {
        file[(page - 1) * 4096 + 700] ^= 1;
    }
    std::fs::write(path, file).unwrap();
}

/// Through the batch kernels, over more than one piece of the file: exactly the
/// damaged pages, in order.
#[test]
fn names_the_damaged_pages() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.db");
    let db = open(&path);
    fill(&db, 700);
    assert_eq!(faults(&db), [""; 0]);
    drop(db);
    damage(&path, &[2, 16, 17, 256, 257, 600]);
    assert_eq!(
        faults(&open(&path)),
        [2, 16, 17, 256, 257, 600].map(|page| format!("HMAC verification failed for page {page}"))
    );
}

/// SQLite's two ways to stop a statement stop the check, and the connection goes on.
#[test]
fn can_be_stopped() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.db");
    let mut db = open(&path);
    fill(&db, 2000);
    let check = |db: &Connection| {
        db.query_row("PRAGMA cipher_integrity_check", [], |_| Ok(()))
            .map_err(|error| error.sqlite_error_code())
    };
    // Clean: no row.
    assert_eq!(check(&db), Err(None));

    // The progress handler is called now and then, and may say stop.
    static CALLS: AtomicU32 = AtomicU32::new(0);
    let count = || CALLS.fetch_add(1, Ordering::Relaxed);
    db.progress_handler(100, Some(move || count() == u32::MAX))
        .unwrap();
    assert_eq!(check(&db), Err(None));
    let calls = CALLS.load(Ordering::Relaxed);
    assert!(calls >= 8, "{calls} calls while 8 MB were checked");
    db.progress_handler(100, Some(move || count() >= calls + 3))
        .unwrap();
    assert_eq!(check(&db), Err(Some(ErrorCode::OperationInterrupted)));
    assert_eq!(CALLS.load(Ordering::Relaxed), calls + 4);

    // So does an interrupt that comes while the check is on its way, here from within.
    let handle = db.get_interrupt_handle();
    db.progress_handler(
        100,
        Some(move || {
            handle.interrupt();
            false
        }),
    )
    .unwrap();
    assert_eq!(check(&db), Err(Some(ErrorCode::OperationInterrupted)));

    db.progress_handler(100, None::<fn() -> bool>).unwrap();
    assert_eq!(check(&db), Err(None));
    db.execute_batch("INSERT INTO t VALUES(1)").unwrap();
}

/// A page of the file that the log has a newer copy of is not what anybody reads.
#[test]
fn a_page_that_the_log_supersedes_is_no_fault() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.db");
    let db = open(&path);
    db.execute_batch("PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0")
        .unwrap();
    fill(&db, 50);
    db.execute_batch(
        "PRAGMA wal_checkpoint(TRUNCATE); UPDATE t SET a = zeroblob(2999) WHERE rowid = 20",
    )
    .unwrap();
    // The row's page is in the log now. Which one that is, the log's frames say.
    let log = std::fs::read(dir.path().join("x.db-wal")).unwrap();
    let logged: Vec<usize> = log[32..]
        .chunks_exact(24 + 4096)
        .map(|frame| u32::from_be_bytes(frame[..4].try_into().unwrap()) as usize)
        .collect();
    let page = *logged.iter().find(|&&page| page > 1).unwrap();
    let other = (2..50).find(|page| !logged.contains(page)).unwrap();

    damage(&path, &[page]);
    assert_eq!(faults(&db), [""; 0]);
    let sizes = "SELECT sum(length(a)) FROM t";
    let sum = |db: &Connection| db.query_row(sizes, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(sum(&db), 50 * 3000 - 1);

    // A page that is not in the log is a fault as ever.
    damage(&path, &[other]);
    let line = |page| format!("HMAC verification failed for page {page}");
    assert_eq!(faults(&db), [line(other)]);
    damage(&path, &[other]);

    // And so is one whose copy in the log is damaged: then there is none.
    let log_path = dir.path().join("x.db-wal");
    let mut damaged = log.clone();
    let at = logged.iter().rposition(|&logged| logged == page).unwrap();
    damaged[32 + at * (24 + 4096) + 24 + 100] ^= 1;
    std::fs::write(&log_path, damaged).unwrap();
    assert_eq!(faults(&db), [line(page)]);
    std::fs::write(&log_path, log).unwrap();

    // The next checkpoint mends the file.
    assert_eq!(faults(&db), [""; 0]);
    db.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    assert_eq!(faults(&db), [""; 0]);
}

/// Pages that a hot journal will put back are not damaged either: the check has it
/// played back first, as any other reading would.
#[test]
fn a_hot_journal_is_played_back_first() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.db");
    let db = open(&path);
    fill(&db, 300);
    db.execute_batch("PRAGMA cache_size=10; BEGIN; UPDATE t SET a = zeroblob(2000)")
        .unwrap();
    // As a crash would leave both files, with a page that was being written.
    let crashed = dir.path().join("crashed.db");
    std::fs::copy(&path, &crashed).unwrap();
    std::fs::copy(
        dir.path().join("x.db-journal"),
        dir.path().join("crashed.db-journal"),
    )
    .unwrap();
    damage(&crashed, &[10]);
    assert_eq!(faults(&open(&crashed)), [""; 0]);
}
