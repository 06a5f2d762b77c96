//! Read-ahead: what a scan sees is what is there, whoever changes it meanwhile.

use pageseal::{Key, OpenOptions};
use rusqlite::Connection;

fn open(path: &std::path::Path) -> Connection {
    OpenOptions::new(Key::from_raw_bytes(&[3; 32]).unwrap())
        .page_size(1024)
        .open(path)
        .unwrap()
}

fn sums(db: &Connection) -> (i64, i64) {
    db.query_row("SELECT count(*), sum(b) FROM t", [], |row| {
        Ok((row.get(0)?, row.get(1)?))
    })
    .unwrap()
}

/// Scans through a small cache while another connection changes every row, in both
/// journal modes and all modes of reading ahead: each scan sees one state, and the newest
/// that was committed before it.
#[test]
fn scans_see_what_others_commit() {
    for (mode, ahead) in ["delete", "wal"]
        .into_iter()
        .flat_map(|mode| ["off", "thread", "on"].map(|ahead| (mode, ahead)))
    {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.db");
        let writer = open(&path);
        writer
            .query_row(&format!("PRAGMA journal_mode={mode}"), [], |_| Ok(()))
            .unwrap();
        writer
            .execute_batch(
                "CREATE TABLE t(a INTEGER PRIMARY KEY, b, c);
                 WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM n WHERE x<2000)
                 INSERT INTO t SELECT x, 0, zeroblob(300) FROM n",
            )
            .unwrap();
        let reader = open(&path);
        reader.execute_batch("PRAGMA cache_size=5").unwrap();
        for pragma in [&format!("cipher_read_ahead={ahead}"), "cipher_read_ahead"] {
            let now: String = reader
                .query_row(&format!("PRAGMA {pragma}"), [], |row| row.get(0))
                .unwrap();
            assert_eq!(now, ahead);
        }
        for round in 1..=20 {
            writer.execute("UPDATE t SET b=?1", [round]).unwrap();
            assert_eq!(sums(&reader), (2000, 2000 * round), "{mode}");
            if round % 5 == 0 {
                let _ = writer.query_row("PRAGMA wal_checkpoint", [], |_| Ok(()));
                assert_eq!(sums(&reader), (2000, 2000 * round), "{mode}");
            }
        }
        // Its own scan, too, sees what it has spilled in the middle of it.
        reader.execute_batch("BEGIN").unwrap();
        reader
            .execute_batch("UPDATE t SET b=b+1 WHERE a%2; UPDATE t SET b=b+1 WHERE a%2=0")
            .unwrap();
        assert_eq!(sums(&reader), (2000, 2000 * 21));
        reader.execute_batch("ROLLBACK").unwrap();
        assert_eq!(sums(&reader), (2000, 2000 * 20));
    }
}

/// A damaged page behind the one that is asked for is no concern of that read, and
/// fails only the statement that needs it.
#[test]
fn a_damaged_page_ahead_is_not_reported_before_it_is_needed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.db");
    let db = open(&path);
    db.execute_batch(
        "CREATE TABLE t(a INTEGER PRIMARY KEY, b, c);
         WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM n WHERE x<300)
         INSERT INTO t SELECT x, 1, zeroblob(300) FROM n",
    )
    .unwrap();
    drop(db);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[60 * 1024 + 100] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let db = open(&path);
    let mut scan = db.prepare("SELECT b FROM t").unwrap();
    let mut rows = scan.query([]).unwrap();
    let mut seen = 0;
    let error = loop {
        match rows.next() {
            Ok(Some(_)) => seen += 1,
            Ok(None) => panic!("the damaged page was not noticed"),
            Err(error) => break error,
        }
    };
    // Two rows of 300 bytes fit in a page of 1024, and page 61 is among the last.
    assert!(seen > 100, "{seen}");
    assert_eq!(
        error.sqlite_error_code(),
        Some(rusqlite::ErrorCode::DatabaseCorrupt)
    );
}
