//! Ten thousand databases are opened and closed: memory and descriptors stay as
//! they were. A program of its own, so that nobody else allocates.
//!
//! ```sh
//! cargo test --test memory -- --nocapture
//! ```
#![cfg(target_os = "linux")]

use std::path::Path;

use rusqlite::Connection;

/// Raw, so that nothing is derived slowly.
const KEY: &str = "x'3333333333333333333333333333333333333333333333333333333333333333'";
const OTHER_KEY: &str = "x'3434343434343434343434343434343434343434343434343434343434343434'";

const OPENS: u64 = 10_000;
/// What has been allocated by then is what there is to be.
const WARM_UP: u64 = 1000;

/// The allocator keeps a page here and there; a leak of 64 bytes an open is more
/// than this.
const MOST: u64 = 512 << 10;

/// Bytes that the process has in memory.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").expect("statm");
    let pages = text
        .split(' ')
        .nth(1)
        .and_then(|word| word.parse::<u64>().ok());
    pages.expect("a number") * 4096
}

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd")
        .expect("a directory")
        .count()
}

fn open(path: &Path, key: &str) -> Connection {
    let uri = format!("file:{}?vfs=pageseal&key={key}", path.display());
    Connection::open(uri).expect("opened")
}

/// One open and close, of every sixth kind in turn; returns what was read.
fn once(turn: u64, dir: &Path) -> i64 {
    let path = dir.join(if turn.is_multiple_of(2) {
        "delete.db"
    } else {
        "wal.db"
    });
    let count = |conn: &Connection| conn.query_row("SELECT count(*) FROM t", [], |row| row.get(0));
    match turn % 6 {
        // A wrong key.
        2 => {
            let conn = open(&path, OTHER_KEY);
            let error = count(&conn).expect_err("a wrong key");
            assert_eq!(
                error.sqlite_error().map(|error| error.extended_code),
                Some(26)
            );
            conn.close().expect("closed");
            50
        }
        // A file that can't be opened.
        3 => {
            let uri = format!("file:{}/none/x.db?vfs=pageseal&key={KEY}", dir.display());
            assert!(Connection::open(uri).is_err());
            50
        }
        // By pragma, and with another one attached.
        4 => {
            let uri = format!("file:{}?vfs=pageseal", path.display());
            let conn = Connection::open(uri).expect("opened");
            let other = dir.join("other.db");
            conn.execute_batch(&format!(
                "PRAGMA key = \"{KEY}\"; ATTACH '{}' AS other KEY \"{OTHER_KEY}\";
                 SELECT count(*) FROM other.t",
                other.display()
            ))
            .expect("attached");
            count(&conn).expect("read")
        }
        // Something is written, and a temporary file used.
        5 => {
            let conn = open(&path, KEY);
            conn.execute_batch(
                "PRAGMA temp_store = FILE; PRAGMA temp.cache_size = 2;
                 CREATE TEMP TABLE u AS SELECT zeroblob(20000) AS x FROM t LIMIT 3;
                 UPDATE t SET a = a + 1 WHERE a % 10 = 0",
            )
            .expect("written");
            count(&conn).expect("read")
        }
        _ => count(&open(&path, KEY)).expect("read"),
    }
}

#[test]
fn opens_and_closes_leave_nothing_behind() {
    pageseal::register().expect("registered");
    let dir = tempfile::tempdir().expect("a directory");
    for (name, mode, key) in [
        ("delete.db", "DELETE", KEY),
        ("wal.db", "WAL", KEY),
        ("other.db", "DELETE", OTHER_KEY),
    ] {
        let conn = open(&dir.path().join(name), key);
        conn.execute_batch(&format!(
            "PRAGMA journal_mode = {mode}; CREATE TABLE t(a);
             WITH RECURSIVE n(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM n WHERE a < 50)
             INSERT INTO t SELECT a FROM n"
        ))
        .expect("filled");
    }
    for turn in 0..WARM_UP {
        assert_eq!(once(turn, dir.path()), 50);
    }
    let (memory, files) = (resident(), descriptors());
    for turn in WARM_UP..OPENS {
        assert_eq!(once(turn, dir.path()), 50);
    }
    let grown = resident().saturating_sub(memory);
    println!(
        "memory: {OPENS} opens and closes; {} KiB after {WARM_UP}, {} KiB more in the end",
        memory >> 10,
        grown >> 10
    );
    assert_eq!(descriptors(), files);
    assert!(grown < MOST, "{grown} bytes more");
}
