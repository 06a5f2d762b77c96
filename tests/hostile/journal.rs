//! Damage to rollback journals, and journals of other databases.

use std::os::unix::fs::MetadataExt as _;

use crate::judge::{Verdict, judge, report};
use crate::sample::{KEY, Kind, OTHER_KEY, Sample, V3, V4};

const SECTOR: usize = 512;

fn with_journal(sample: &Sample, database: &[u8], journal: &[u8], what: &str) -> Verdict {
    std::fs::write(sample.path(), database).expect("a file");
    std::fs::write(sample.side("-journal"), journal).expect("a file");
    judge(sample.dir.path(), sample.kind, what)
}

fn read(sample: &Sample) -> (Vec<u8>, Vec<u8>) {
    let read = |path| std::fs::read(path).expect("a file");
    (read(sample.path()), read(sample.side("-journal")))
}

/// What can be had: no panic, no row that nobody wrote. (SQLite itself takes a
/// record whose checksum is wrong for the journal's end.)
#[test]
fn flipped_bits() {
    let (mut tried, mut whole, mut refused) = (0, 0, 0);
    for kind in [V4, V3] {
        let sample = Sample::with_hot_journal(kind);
        let (database, journal) = read(&sample);
        assert!(with_journal(&sample, &database, &journal, "undamaged").is_whole());
        let record = kind.page_size + 8;
        let mut places: Vec<usize> = (0..28).collect();
        for n in 0..20 {
            let at = SECTOR + n * record;
            let body = kind.page_size - kind.reserve;
            places.extend(
                [
                    0,
                    3,
                    4,
                    4 + body / 2,
                    4 + body,
                    4 + body + 16,
                    4 + kind.page_size,
                    record - 1,
                ]
                .map(|byte| at + byte),
            );
        }
        for at in places.into_iter().filter(|&at| at < journal.len()) {
            let mut bytes = journal.clone();
            bytes[at] ^= 0x04;
            let what = format!("{kind:?}, journal byte {at}");
            let verdict = with_journal(&sample, &database, &bytes, &what);
            tried += 1;
            whole += u32::from(verdict.is_whole());
            refused += u32::from(verdict.is_refused());
        }
    }
    println!(
        "hostile, flipped bits in journals: {tried} tried, {whole} rolled back all the same, {refused} refused"
    );
}

/// Nothing authenticates the page count in a journal's header. A larger one must not
/// have us fill the disk; a smaller one would cut off pages of the database.
#[test]
fn page_count() {
    let (mut tried, mut refused) = (0, 0);
    for kind in [V4, V3] {
        let sample = Sample::with_hot_journal(kind);
        let (database, journal) = read(&sample);
        let right = u32::from_be_bytes(journal[16..20].try_into().expect("four bytes"));
        assert!(right > 4, "{right} pages");
        for pages in [
            0,
            1,
            2,
            right / 2,
            right - 1,
            right + 1,
            right + 1000,
            0xff00_000a,
        ] {
            let mut bytes = journal.clone();
            bytes[16..20].copy_from_slice(&pages.to_be_bytes());
            let what = format!("{kind:?}, {pages} pages instead of {right}");
            let verdict = with_journal(&sample, &database, &bytes, &what);
            tried += 1;
            if pages < right {
                refused += 1;
                assert!(verdict.is_refused(), "{what}: {verdict:?}");
                assert!(
                    verdict.reasons().contains(&format!("had {pages} pages")),
                    "{what}: {}",
                    verdict.reasons()
                );
            } else {
                assert!(verdict.is_whole(), "{what}: {verdict:?}");
            }
            let used = std::fs::metadata(sample.path()).expect("a file").blocks() * 512;
            assert!(used < 64 << 20, "{what}: {used} bytes on disk");
        }
    }
    println!("hostile, page counts in journal headers: {tried} tried, {refused} refused");
}

/// A journal without records that says that there was no database, as the creation of
/// one leaves it when it is broken off: it must not empty a database, least of all for
/// who has not even the key.
#[test]
fn of_a_creation() {
    let (mut tried, magic) = (0, [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]);
    for (kind, key) in [(V4, KEY), (V3, KEY), (V4, OTHER_KEY), (V3, OTHER_KEY)] {
        let sample = Sample::new(kind);
        let database = std::fs::read(sample.path()).expect("a file");
        for records in [0, 5, u32::MAX] {
            let mut journal = vec![0; SECTOR];
            journal[..8].copy_from_slice(&magic);
            journal[8..12].copy_from_slice(&records.to_be_bytes());
            journal[20..24].copy_from_slice(&512u32.to_be_bytes());
            journal[24..28].copy_from_slice(&(kind.page_size as u32).to_be_bytes());
            std::fs::write(sample.path(), &database).expect("a file");
            std::fs::write(sample.side("-journal"), &journal).expect("a file");
            let conn = rusqlite::Connection::open(crate::sample::uri(&sample.path(), kind, key));
            let read = conn
                .expect("opened")
                .query_row("SELECT count(*) FROM a", [], |_| Ok(()));
            assert!(read.is_err(), "{kind:?}, {records} records");
            let after = std::fs::read(sample.path()).expect("a file");
            assert!(after == database, "{kind:?}, {records} records: written to");
            tried += 1;
        }
    }
    println!("hostile, journals of a creation: {tried} tried and refused");
}

#[test]
fn truncated() {
    let sample = Sample::with_hot_journal(V4);
    let (database, journal) = read(&sample);
    let mut tried = 0;
    for len in (0..journal.len()).step_by(499) {
        with_journal(
            &sample,
            &database,
            &journal[..len],
            &format!("journal cut to {len} bytes"),
        );
        tried += 1;
    }
    report("truncated journals", tried);
}

/// SQLite cuts a database to the size that a hot journal gives before it looks at
/// the first record: by then it must be known to be this database's.
#[test]
fn of_another_database() {
    let foreign = |kind: Kind, key: &str| {
        let other = Sample::with_key(kind, key, "");
        let conn = rusqlite::Connection::open(crate::sample::uri(&other.path(), kind, key))
            .expect("opening");
        conn.execute_batch("DELETE FROM big; VACUUM; PRAGMA cache_size = 3; BEGIN; UPDATE a SET pad = 'x'; UPDATE b SET pad = 'x'")
            .expect("a transaction");
        std::fs::read(other.side("-journal")).expect("a journal")
    };
    let sample = Sample::new(V4);
    let database = std::fs::read(sample.path()).expect("a file");
    let other_size = Kind {
        uri: "&cipher_page_size=2048",
        page_size: 2048,
        ..V4
    };
    for (what, journal) in [
        ("the same key, another salt", foreign(V4, KEY)),
        ("another key", foreign(V4, OTHER_KEY)),
        ("another page size", foreign(other_size, KEY)),
    ] {
        let verdict = with_journal(&sample, &database, &journal, what);
        assert!(verdict.is_refused(), "{what}: {verdict:?}");
        assert!(
            verdict.reasons().contains("rollback journal"),
            "{what}: {}",
            verdict.reasons()
        );
    }
    println!("hostile, journals of other databases: 3 tried");
}
