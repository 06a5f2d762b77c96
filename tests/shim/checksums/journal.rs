//! Rollback journals.

use rusqlite::Connection;

use super::{fill, layouts, open};
use crate::support::content_hash::content_hash;
use crate::support::disk::beside;
use crate::support::journal::segments;
use crate::support::layouts::PageLayout;
use crate::support::plaintext::{Faults, codec, connect, open_pages, rolled_back};
use crate::support::tap::{Event, Kind, Tap};

/// Every statement changes more pages than the cache holds, so that the journal is
/// synced and a new segment begun in mid-transaction.
fn change_everything(connection: &Connection) {
    connection
        .execute_batch(
            "UPDATE t SET a = a || ' changed', b = randomblob(length(b));
             UPDATE t SET a = a || ' again' WHERE id % 3 = 0;
             DELETE FROM t WHERE id % 5 = 0;
             INSERT INTO t SELECT id + (SELECT max(id) FROM t), a, b FROM t;",
        )
        .expect("changed");
}

/// Checks one state of a journal against the database from before the transaction.
/// Returns segments and records.
fn check(bytes: &[u8], layout: PageLayout, before: &[Vec<u8>], salt_of: &[u8]) -> (usize, usize) {
    let codec = codec(&layout.settings(), salt_of);
    let segments = segments(bytes);
    let mut records = 0;
    for segment in &segments {
        assert_eq!(segment.page_size, layout.page_size);
        assert_eq!(segment.initial_pages as usize, before.len());
        for record in &segment.records {
            let pgno = record.pgno;
            assert!(record.intact, "{layout:?}: the checksum of page {pgno}");
            let mut page = record.page.to_vec();
            codec.open(pgno, &mut page).expect("a sealed page");
            assert!(page == before[pgno as usize - 1], "{layout:?}: page {pgno}");
            records += 1;
        }
    }
    (segments.len(), records)
}

fn run(layout: PageLayout, mode: &str, psow: u8, synchronous: &str) {
    let what = format!("{layout:?} {mode} psow={psow} {synchronous}");
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("a.db");
    let tap = Tap::new();
    let vfs = tap.with_shim();
    let uri = format!("file:{}?psow={psow}", path.display());
    let pragmas = format!(
        "PRAGMA journal_mode = {mode}; PRAGMA synchronous = {synchronous}; PRAGMA cache_size = 8;"
    );
    let connection = open(&uri, &vfs, layout, &pragmas);
    fill(&connection, layout);
    let file = std::fs::read(&path).expect("the file");
    let (before, faults) = open_pages(&codec(&layout.settings(), &file), &file);
    assert_eq!(faults, Faults::new());
    let hash = content_hash(&connection, "main").expect("contents");

    // Each state that a crash could leave: as synced, and as it is before it goes.
    let states = tap.collect(|file, event| {
        let whole = matches!(event, Event::Sync | Event::Delete | Event::Truncate(0));
        (file.kind == Kind::Journal && whole).then(|| file.bytes.clone())
    });
    connection.execute_batch("BEGIN").expect("begun");
    change_everything(&connection);

    // In mid-transaction, by what lies on disk: the journal leads back.
    let now = std::fs::read(&path).expect("the file");
    let journal = std::fs::read(beside(&path, "-journal")).expect("the journal");
    assert!(now != file, "{what}: nothing was spilled");
    if synchronous != "OFF" {
        let codec = codec(&layout.settings(), &now);
        let (pages, faults) = rolled_back(&codec, &now, &journal);
        assert_eq!(faults, Faults::new(), "{what}");
        assert_eq!(
            content_hash(&connect(&pages), "main").expect("contents"),
            hash
        );
    }
    connection.execute_batch("COMMIT").expect("committed");

    let (mut most_segments, mut most_records) = (0, 0);
    for state in states.take() {
        let (segments, records) = check(&state, layout, &before, &file);
        most_segments = most_segments.max(segments);
        most_records = most_records.max(records);
    }
    if mode == "PERSIST" && synchronous == "OFF" {
        // Neither synced nor deleted: the snapshot above was all.
        return;
    }
    assert!(most_records > 30, "{what}: {most_records} records");
    if synchronous != "OFF" {
        assert!(most_segments > 1, "{what}: {most_segments} segments");
    }

    // A rollback from the spilled state puts every byte's meaning back.
    let hash = content_hash(&connection, "main").expect("contents");
    connection.execute_batch("BEGIN").expect("begun");
    change_everything(&connection);
    connection.execute_batch("ROLLBACK").expect("rolled back");
    assert_eq!(
        content_hash(&connection, "main").expect("contents"),
        hash,
        "{what}"
    );
    drop(connection);
    let file = std::fs::read(&path).expect("the file");
    let (pages, faults) = open_pages(&codec(&layout.settings(), &file), &file);
    assert_eq!(faults, Faults::new());
    assert_eq!(
        content_hash(&connect(&pages), "main").expect("contents"),
        hash,
        "{what}"
    );
}

#[test]
fn in_every_page_size() {
    for layout in layouts() {
        run(layout, "DELETE", 1, "FULL");
        run(layout, "DELETE", 0, "FULL");
    }
}

#[test]
fn in_every_mode() {
    let layout = crate::support::layouts::layout(1024, Some("SHA512"));
    for mode in ["DELETE", "TRUNCATE", "PERSIST"] {
        for synchronous in ["OFF", "NORMAL", "FULL", "EXTRA"] {
            run(layout, mode, 1, synchronous);
        }
    }
}

/// The reading that the tests go by notices a single wrong bit where the checksum
/// looks.
#[test]
fn a_wrong_bit_is_noticed() {
    let vector = crate::support::manifest::vector("journal-delete-v4");
    let mut bytes = vector.bytes("journal").expect("a journal");
    let intact = |bytes: &[u8]| segments(bytes)[0].records[0].intact;
    assert!(intact(&bytes));
    // A header of one sector, a page number, and 200 bytes from the page's end.
    let sector = u32::from_be_bytes(bytes[20..24].try_into().expect("four bytes")) as usize;
    bytes[sector + 4 + 4096 - 200] ^= 1;
    assert!(!intact(&bytes));
}
