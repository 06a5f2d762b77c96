//! Damage anywhere in a database, its journal and its log: an error or the right
//! rows, never a panic, never rows that nobody wrote.
#![no_main]

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use pageseal::{Key, OpenOptions};
use rusqlite::Connection;

/// A database with a log, and one with a hot journal, as bytes.
struct Originals {
    log: [Vec<u8>; 2],
    journal: [Vec<u8>; 2],
}

fn open(path: &Path) -> Result<Connection, pageseal::OpenError> {
    let key = Key::from_raw_bytes(&[9; 80]).expect("80 bytes");
    OpenOptions::new(key).page_size(1024).open(path)
}

fn originals() -> &'static Originals {
    static ORIGINALS: OnceLock<Originals> = OnceLock::new();
    ORIGINALS.get_or_init(|| {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("x.db");
        let side = |end: &str| dir.path().join(format!("x.db{end}"));
        let read = |path: &Path| fs::read(path).expect("a file");
        let db = open(&path).expect("new");
        db.execute_batch(
            "CREATE TABLE t(a INTEGER PRIMARY KEY, b);
             WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM n WHERE x<60)
             INSERT INTO t SELECT x, 'right' || zeroblob(100) FROM n;
             PRAGMA cache_size=2; PRAGMA cache_spill=2; BEGIN;
             UPDATE t SET b='right' || zeroblob(90)",
        )
        .expect("rows");
        let journal = [read(&path), read(&side("-journal"))];
        db.execute_batch("ROLLBACK; PRAGMA journal_mode=WAL; UPDATE t SET b='right'")
            .expect("a log");
        let log = [read(&path), read(&side("-wal"))];
        Originals { log, journal }
    })
}

fuzz_target!(|input: &[u8]| {
    let Some((&which, mut edits)) = input.split_first() else {
        return;
    };
    let (end, files) = match which & 1 {
        0 => ("-wal", &originals().log),
        _ => ("-journal", &originals().journal),
    };
    let mut files = files.clone();
    // An edit: which file, where, what to XOR; or a length to cut to.
    while let Some((&[file, a, b, xor], rest)) = edits.split_first_chunk() {
        edits = rest;
        let bytes = &mut files[usize::from(file & 1)];
        let at = usize::from(u16::from_be_bytes([a, b])) * bytes.len() / 65536;
        match file & 2 {
            0 => bytes[at] ^= xor,
            _ => bytes.truncate(at.max(1)),
        }
    }
    let dir = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
    let dir = dir.expect("a directory");
    let path = dir.path().join("x.db");
    fs::write(&path, &files[0]).expect("written");
    fs::write(dir.path().join(format!("x.db{end}")), &files[1]).expect("written");
    let Ok(db) = open(&path) else {
        return;
    };
    let Ok(mut statement) = db.prepare("SELECT b FROM t") else {
        return;
    };
    let Ok(mut rows) = statement.query([]) else {
        return;
    };
    while let Ok(Some(row)) = rows.next() {
        let text: String = row.get(0).expect("a text");
        assert!(text.starts_with("right"), "a row that nobody wrote");
    }
});
