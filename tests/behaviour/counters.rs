//! `PRAGMA cipher_stats`, and the table.

use rusqlite::Connection;

use crate::{number, open};

fn counter(db: &Connection, name: &str) -> i64 {
    let sql = "SELECT value FROM cipher_stats('main') WHERE name = ?1";
    db.query_row(sql, [name], |row| row.get(0)).unwrap()
}

#[test]
fn count_what_was_done() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.db");
    let db = open(&path);
    db.execute_batch(
        "PRAGMA cipher_stats = on; CREATE TABLE t(a);
         WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50)
         INSERT INTO t SELECT zeroblob(3000) FROM n",
    )
    .unwrap();
    let pages = number(&db, "PRAGMA page_count");
    assert!(pages > 50);
    let sealed = counter(&db, "pages_sealed");
    // Each page of the file at least once, and page 1 with both transactions; no page
    // more than three times (database and journal).
    assert!(
        (pages + 1..=3 * pages).contains(&sealed),
        "{sealed} of {pages}"
    );
    assert_eq!(counter(&db, "bytes_sealed"), sealed * 4096);
    drop(db);

    let db = open(&path);
    assert_eq!(number(&db, "SELECT sum(length(a)) FROM t"), 150_000);
    let opened = counter(&db, "pages_opened");
    assert!((pages..=2 * pages).contains(&opened), "{opened} of {pages}");
    assert_eq!(counter(&db, "bytes_opened"), opened * 4096);
    assert!(counter(&db, "cipher_ns") > 0 && counter(&db, "mac_ns") > 0);
    // The first connection's derivation was remembered.
    assert_eq!(counter(&db, "derivations"), 0);
    let line: String = db
        .query_row("PRAGMA cipher_stats = off", [], |row| row.get(0))
        .or_else(|_| db.query_row("PRAGMA cipher_stats", [], |row| row.get(0)))
        .unwrap();
    assert!(line.contains(&format!("pages_opened={opened} ")), "{line}");
}
