//! One bad page.

use rusqlite::ErrorCode;

use crate::{number, open};

/// It fails the statement that reads it, and a transaction that has met it, but not the
/// connection; and nothing writes it over.
#[test]
fn a_bad_page_is_its_own_only() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.db");
    open(&path)
        .execute_batch(
            "CREATE TABLE small(a); INSERT INTO small VALUES(1);
             CREATE TABLE t(a);
             WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50)
             INSERT INTO t SELECT zeroblob(3000) FROM n",
        )
        .unwrap();
    let mut file = std::fs::read(&path).unwrap();
    let page = 19 * 4096..20 * 4096;
    file[page.start + 5] ^= 1;
    std::fs::write(&path, &file).unwrap();

    for mode in ["delete", "wal"] {
        let db = open(&path);
        let now: String = db
            .query_row(&format!("PRAGMA journal_mode={mode}"), [], |row| row.get(0))
            .unwrap();
        assert_eq!(now, mode);
        let before = number(&db, "SELECT sum(a) FROM small");
        let fails = |sql: &str| {
            let error = db.query_row(sql, [], |_| Ok(())).unwrap_err();
            let code = error.sqlite_error_code();
            assert_eq!(code, Some(ErrorCode::DatabaseCorrupt), "{mode}: {sql}");
        };
        // Outside of a transaction only the statements that read it fail.
        for sql in ["SELECT sum(length(a)) FROM t", "DELETE FROM t"] {
            fails(sql);
            let status: String = db
                .query_row("PRAGMA cipher_status", [], |row| row.get(0))
                .unwrap();
            assert_eq!(status, "0: page 20 is damaged: its HMAC does not verify");
            db.execute_batch("INSERT INTO small VALUES(100)").unwrap();
        }
        // One that has met it writes no more, and does not commit.
        db.execute_batch("BEGIN; INSERT INTO small VALUES(1000)")
            .unwrap();
        fails("SELECT sum(length(a)) FROM t");
        fails("INSERT INTO small VALUES(1000)");
        assert_eq!(number(&db, "SELECT count(*) FROM small WHERE a = 1"), 1);
        fails("COMMIT");
        assert!(db.is_autocommit(), "{mode}");
        db.execute_batch("BEGIN; INSERT INTO small VALUES(10); COMMIT")
            .unwrap();
        drop(db);
        let db = open(&path);
        let after = number(&db, "SELECT sum(a) FROM small");
        assert_eq!(after, before + 210, "{mode}");
        // All of t but that page is there, and that page as it was.
        assert_eq!(number(&db, "SELECT length(a) FROM t WHERE rowid = 1"), 3000);
        db.execute_batch("PRAGMA journal_mode=delete").unwrap();
        drop(db);
        assert_eq!(
            std::fs::read(&path).unwrap()[page.clone()],
            file[page.clone()]
        );
    }
}
