//! Damage to rollback journals, and journals of other databases.

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
            // The original size of the database has a test of its own.
            if (16..20).contains(&at) {
                continue;
            }
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
