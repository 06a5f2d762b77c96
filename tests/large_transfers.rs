//! Gaps that are filled with sealed pages may be larger than what a VFS takes at
//! a time.

use pageseal::VFS_NAME;
use rusqlite::{Connection, OpenFlags};

#[test]
fn a_large_gap_is_filled() {
    pageseal::register().unwrap();
    let directory = tempfile::tempdir().unwrap();
    for page_size in [16384, 32768, 65536] {
        let path = directory.path().join(format!("{page_size}.db"));
        let open = |vfs| Connection::open_with_flags_and_vfs(&path, OpenFlags::default(), vfs);
        let connection = open(VFS_NAME).unwrap();
        // SQLite does not write the pages that are free again by the commit, but
        // the one behind them.
        let script = format!(
            "PRAGMA key = 'k'; PRAGMA kdf_iter = 1; PRAGMA cipher_page_size = {page_size};
             BEGIN;
             CREATE TABLE a(x); INSERT INTO a VALUES(zeroblob(20 * {page_size}));
             CREATE TABLE b(x); INSERT INTO b VALUES('behind');
             DELETE FROM a;
             COMMIT;"
        );
        connection.execute_batch(&script).unwrap();
        let answer: String = connection
            .query_row("PRAGMA integrity_check", [], |row| row.get(0))
            .unwrap();
        assert_eq!(answer, "ok");
        let fault: Option<String> = connection
            .query_row("PRAGMA cipher_integrity_check", [], |row| row.get(0))
            .ok();
        assert_eq!(fault, None);
    }
}
