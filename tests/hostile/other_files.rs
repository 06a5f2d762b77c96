//! Things that are no databases.

use rusqlite::{Connection, ffi};

use crate::judge::{judge, report};
use crate::sample::{KEY, Sample, V4, uri};

fn code(error: &rusqlite::Error) -> i32 {
    error
        .sqlite_error()
        .map_or(0, |error| error.extended_code & 0xff)
}

#[test]
fn no_databases() {
    let sample = Sample::new(V4);
    let mut tried = 0;
    for (what, bytes) in [
        // (SQLite's unix VFS takes a file of one byte for an empty one.)
        ("two bytes", vec![7, 7]),
        ("10 bytes", b"0123456789".to_vec()),
        ("a salt and no more", vec![3; 16]),
        ("a text file", b"This is not a database. ".repeat(400)),
        ("zeros", vec![0; 8192]),
        (
            "noise",
            (0..40_000u32)
                .map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8)
                .collect(),
        ),
    ] {
        std::fs::write(sample.path(), &bytes).expect("a file");
        let verdict = judge(sample.dir.path(), V4, what);
        assert!(verdict.is_refused(), "{what}: {verdict:?}");
        assert!(verdict.reasons().starts_with("26: "), "{what}: {verdict:?}");
        // Nor does it open without a key, or become one by being written to.
        for uri in [
            uri(&sample.path(), V4, KEY),
            format!("file:{}?vfs=pageseal", sample.path().display()),
        ] {
            let conn = Connection::open(uri).expect("opening");
            let error = conn.execute_batch("CREATE TABLE t(x)").expect_err(what);
            assert!(
                what == "zeros" || code(&error) == ffi::SQLITE_NOTADB,
                "{what}: {error}"
            );
        }
        assert!(
            std::fs::read(sample.path()).expect("a file") == bytes,
            "{what}: written to"
        );
        tried += 1;
    }
    report("no databases", tried);
}

#[test]
fn empty_file_and_directory() {
    let sample = Sample::new(V4);
    std::fs::write(sample.path(), []).expect("a file");
    let conn = sample.open();
    conn.execute_batch("CREATE TABLE t(x); INSERT INTO t VALUES(1)")
        .expect("a new database");
    drop(conn);
    assert_eq!(
        std::fs::metadata(sample.path()).expect("a file").len(),
        2048
    );

    let dir = sample.dir.path().join("d");
    std::fs::create_dir(&dir).expect("a directory");
    let error = Connection::open(uri(&dir, V4, KEY)).expect_err("a directory is no database");
    assert_eq!(code(&error), ffi::SQLITE_CANTOPEN);
}
