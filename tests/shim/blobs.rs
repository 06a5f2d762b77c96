//! Large values in every page layout: what is read is what was written, compared
//! with a model in memory. Overflow chains are read directly from the file in
//! pieces that are no pages, and incremental blob I/O reads and writes at any
//! offset.

use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

use rusqlite::{Connection, MAIN_DB};

use crate::support::layouts::{self, PageLayout};
use crate::support::noise::Noise;
use crate::support::open::{number, open_keyed, text};
use crate::support::plaintext::{Faults, codec, open_pages};

/// The blobs as they ought to be, by rowid.
type Model = Vec<Vec<u8>>;

/// Asking for memory mapping must change nothing: a mapping would show ciphertext.
const MMAP: &str = "PRAGMA mmap_size = 268435456;";

fn connect(path: &Path, layout: PageLayout, extra: &str) -> Connection {
    open_keyed(path, &format!("{}{extra}", layout.pragmas())).expect("opened")
}

fn insert(connection: &Connection, model: &mut Model, blob: Vec<u8>) {
    connection
        .execute(
            "INSERT INTO t(id, b) VALUES(?1, ?2)",
            (model.len() as i64, &blob),
        )
        .expect("inserted");
    model.push(blob);
}

/// Reads whole values, pieces through SQL, and pieces through blob handles.
fn assert_same(connection: &Connection, model: &Model, noise: &mut Noise) {
    for (id, expected) in model.iter().enumerate() {
        let found: Vec<u8> = connection
            .query_row("SELECT b FROM t WHERE id = ?1", [id as i64], |row| {
                row.get(0)
            })
            .expect("read");
        assert!(found == *expected, "blob {id} of {} bytes", expected.len());
        let at = noise.below(expected.len());
        let len = (1 + noise.below(9000)).min(expected.len() - at);
        let piece: Vec<u8> = connection
            .query_row(
                "SELECT substr(b, ?2, ?3) FROM t WHERE id = ?1",
                (id as i64, at as i64 + 1, len as i64),
                |row| row.get(0),
            )
            .expect("read");
        assert!(
            piece == expected[at..at + len],
            "{len} bytes at {at} of blob {id}"
        );
        let mut blob = connection
            .blob_open(MAIN_DB, "t", "b", id as i64, true)
            .expect("a handle");
        for _ in 0..8 {
            let at = noise.below(expected.len()) | 1;
            let len = (1 + noise.below(70_000)).min(expected.len().saturating_sub(at));
            let mut piece = vec![0xa5; len];
            blob.seek(SeekFrom::Start(at as u64)).expect("sought");
            blob.read_exact(&mut piece).expect("read");
            assert!(
                piece == expected[at..at + len],
                "{len} bytes at {at} of blob {id}"
            );
        }
    }
}

/// Overwrites pieces at odd offsets, in place.
fn scribble(connection: &Connection, model: &mut Model, noise: &mut Noise) {
    let transaction = connection.unchecked_transaction().expect("begun");
    for (id, expected) in model.iter_mut().enumerate() {
        let mut blob = connection
            .blob_open(MAIN_DB, "t", "b", id as i64, false)
            .expect("a handle");
        for _ in 0..6 {
            let at = noise.below(expected.len()) | 1;
            let len = (1 + noise.below(20_000)).min(expected.len().saturating_sub(at));
            let piece = noise.bytes(len);
            blob.seek(SeekFrom::Start(at as u64)).expect("sought");
            blob.write_all(&piece).expect("written");
            expected[at..at + len].copy_from_slice(&piece);
        }
    }
    transaction.commit().expect("committed");
}

fn exercise(layout: PageLayout, sizes: &[usize], extra: &str, seed: u64) {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("blobs.db");
    let mut noise = Noise::new(seed);
    let mut model = Model::new();
    let connection = connect(&path, layout, extra);
    connection
        .execute_batch("CREATE TABLE t(id INTEGER PRIMARY KEY, b BLOB)")
        .expect("created");
    for &size in sizes {
        insert(&connection, &mut model, noise.bytes(size));
    }
    assert_same(&connection, &model, &mut noise);
    scribble(&connection, &mut model, &mut noise);
    assert_same(&connection, &model, &mut noise);
    drop(connection);

    let connection = connect(&path, layout, extra);
    assert_same(&connection, &model, &mut noise);
    scribble(&connection, &mut model, &mut noise);
    drop(connection);

    let connection = connect(&path, layout, extra);
    assert_same(&connection, &model, &mut noise);
    assert_eq!(
        text(&connection, "PRAGMA integrity_check").expect("a check"),
        "ok"
    );
    drop(connection);

    // SQLite file format, section 1.3: page size at 16 (65536 is stored as 1),
    // reserved bytes of a page at 20.
    let file = std::fs::read(&path).expect("the file");
    let (pages, faults) = open_pages(&codec(&layout.settings(), &file), &file);
    assert_eq!(faults, Faults::new(), "{layout:?}");
    let page_size = (layout.page_size as u32 % 65536).max(1) as u16;
    assert_eq!(pages[0][16..18], page_size.to_be_bytes(), "{layout:?}");
    assert_eq!(usize::from(pages[0][20]), layout.reserve, "{layout:?}");
}

/// 50 KB and a few 100 KB in every layout; odd lengths around the pages' own.
#[test]
fn every_layout() {
    for (seed, layout) in layouts::all().enumerate() {
        let usable = layout.page_size - layout.reserve;
        let sizes = [50_000, usable - 4, usable * 3 + 1, 300_001];
        let extra = if seed % 2 == 0 { MMAP } else { "" };
        exercise(layout, &sizes, extra, seed as u64);
    }
}

/// 10 MB, with a mapping asked for and without, in logs and journals.
#[test]
fn ten_megabytes() {
    for (page_size, extra) in [
        (4096, MMAP),
        (4096, "PRAGMA journal_mode = WAL; PRAGMA cache_size = 50;"),
        (65536, ""),
        (1024, "PRAGMA cache_size = 20;"),
    ] {
        let layout = layouts::layout(page_size, Some("SHA512"));
        exercise(layout, &[10_000_000, 1_234_567], extra, page_size as u64);
    }
}

/// The pragma is answered and does nothing: 0 is how SQLite spells "no mapping".
#[test]
fn no_mapping() {
    let dir = tempfile::tempdir().expect("a directory");
    let connection = open_keyed(dir.path().join("a.db"), "").expect("opened");
    let asked = number(&connection, "PRAGMA mmap_size = 268435456").expect("an answer");
    assert_eq!(asked, 0);
    assert_eq!(
        number(&connection, "PRAGMA mmap_size").expect("an answer"),
        0
    );
}
