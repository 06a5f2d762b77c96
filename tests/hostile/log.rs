//! Damage to write-ahead logs, and logs of other databases.

use crate::judge::{Verdict, judge, report, snapshot};
use crate::sample::{KEY, Kind, NO_MAC, OTHER_KEY, Sample, V3, V4};

const HEADER: usize = 32;
const FRAME_HEADER: usize = 24;

fn with_log(sample: &Sample, database: &[u8], log: &[u8], what: &str) -> Verdict {
    std::fs::write(sample.path(), database).expect("a file");
    std::fs::write(sample.side("-wal"), log).expect("a file");
    let _ = std::fs::remove_file(sample.side("-shm"));
    judge(sample.dir.path(), sample.kind, what)
}

fn read(sample: &Sample) -> (Vec<u8>, Vec<u8>) {
    let read = |path| std::fs::read(path).expect("a file");
    (read(sample.path()), read(sample.side("-wal")))
}

/// A log ends where it is damaged: what is found is the state after some commit.
#[test]
fn flipped_bits() {
    let mut tried = 0;
    let mut states = [0; 4];
    for kind in [V4, V3] {
        let sample = Sample::with_log(kind, KEY);
        let (database, log) = read(&sample);
        let frame = FRAME_HEADER + kind.page_size;
        let frames = (log.len() - HEADER) / frame;
        let body = kind.page_size - kind.reserve;
        let mut places: Vec<usize> = (0..HEADER).step_by(3).collect();
        for n in (0..frames).step_by(3) {
            let at = HEADER + n * frame;
            places.extend([0, 3, 4, 7, 8, 13, 16, 22].map(|byte| at + byte));
            places.extend(
                [0, body / 2, body, body + 16, kind.page_size - 1]
                    .map(|byte| at + FRAME_HEADER + byte),
            );
        }
        for at in places {
            let mut bytes = log.clone();
            bytes[at] ^= 0x40;
            let what = format!("{kind:?}, log byte {at}");
            let verdict = with_log(&sample, &database, &bytes, &what);
            assert!(verdict.is_whole(), "{what}: {verdict:?}");
            let stamp = verdict.a.expect("whole")[0];
            states[stamp as usize] += 1;
            tried += 1;
        }
    }
    println!(
        "hostile, flipped bits in logs: {tried} tried, recovered the states after 0..3 commits {states:?} times"
    );
}

#[test]
fn truncated() {
    let sample = Sample::with_log(V4, KEY);
    let (database, log) = read(&sample);
    let mut tried = 0;
    for len in (0..log.len()).step_by(509) {
        let what = format!("log cut to {len} bytes");
        let verdict = with_log(&sample, &database, &log[..len], &what);
        assert!(verdict.is_whole(), "{what}: {verdict:?}");
        tried += 1;
    }
    report("truncated logs", tried);
}

/// Nothing in a log says whose it is, and SQLite takes any.
#[test]
fn of_another_database() {
    let foreign = |kind: Kind, key: &str| read(&Sample::with_log(kind, key)).1;
    let sample = Sample::with_log(V4, KEY);
    let (database, _) = read(&sample);
    for (what, log) in [
        ("the same key, another salt", foreign(V4, KEY)),
        ("another key", foreign(V4, OTHER_KEY)),
    ] {
        let verdict = with_log(&sample, &database, &log, what);
        // What is not in the log is still to be had.
        let fault = verdict.a.as_ref().expect_err(what);
        assert!(
            fault.reason.contains("write-ahead log"),
            "{what}: {fault:?}"
        );
        assert!(verdict.b.is_ok(), "{what}: {verdict:?}");
        // The connection was closed, which is when SQLite would copy the log into
        // the database and delete it.
        assert!(
            std::fs::read(sample.path()).expect("a file") == database,
            "{what}"
        );
        assert!(snapshot(sample.dir.path())["s.db-wal"] == log, "{what}");
    }
    // Without MACs nothing can tell: no panic is all that can be promised.
    let no_mac = Sample::with_log(NO_MAC, KEY);
    let log = foreign(NO_MAC, OTHER_KEY);
    let (unsealed, _) = read(&no_mac);
    with_log(&no_mac, &unsealed, &log, "no HMAC, another key");
    // Another page size: SQLite reads the log's header and believes it.
    let other_size = Kind {
        uri: "&cipher_page_size=2048",
        page_size: 2048,
        ..V4
    };
    let log = foreign(other_size, KEY);
    let (database, _) = read(&sample);
    let verdict = with_log(&sample, &database, &log, "another page size");
    assert!(verdict.is_refused(), "{verdict:?}");
    println!("hostile, logs of other databases: 4 tried");
}
