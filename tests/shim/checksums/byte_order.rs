//! A log in the other byte order of checksums, as a big-endian machine leaves it: it
//! is recovered, and continued in its own order.

use super::{fill, open};
use crate::support::content_hash::content_hash;
use crate::support::disk::beside;
use crate::support::layouts::layout;
use crate::support::plaintext::{Faults, codec, connect, with_log};
use crate::support::tap::Tap;
use crate::support::wal;

const PRAGMAS: &str = "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;";

#[test]
fn big_endian_checksums() {
    let layout = layout(1024, Some("SHA1"));
    let vfs = Tap::new().with_shim();
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("a.db");
    let first = open(path.to_str().expect("text"), &vfs, layout, PRAGMAS);
    fill(&first, layout);
    let contents = content_hash(&first, "main").expect("contents");

    // As a crash leaves file and log, with every sum made anew.
    let copy = dir.path().join("copy.db");
    std::fs::copy(&path, &copy).expect("a copy");
    let log = std::fs::read(beside(&path, "-wal")).expect("the log");
    let log = wal::in_big_endian(&log);
    assert_eq!(log[..4], 0x377f_0683_u32.to_be_bytes());
    std::fs::write(beside(&copy, "-wal"), &log).expect("the log's copy");

    let second = open(copy.to_str().expect("text"), &vfs, layout, PRAGMAS);
    assert_eq!(content_hash(&second, "main").expect("contents"), contents);
    second
        .execute_batch(
            "PRAGMA cache_size = 8; BEGIN; UPDATE t SET a = a || '1';
             UPDATE t SET a = a || '2'; COMMIT; DELETE FROM t WHERE id < 9;",
        )
        .expect("updated");
    let longer = std::fs::read(beside(&copy, "-wal")).expect("the log");
    assert!(longer.len() > log.len() && longer[..32] == log[..32]);
    let frames = wal::read(&longer).expect("a sound header").frames.len();
    assert_eq!(frames, (longer.len() - 32) / (24 + 1024), "all are sound");
    let file = std::fs::read(&copy).expect("the file");
    let (pages, faults) = with_log(&codec(&layout.settings(), &file), &file, &longer);
    assert_eq!(faults, Faults::new());
    assert_eq!(
        content_hash(&connect(&pages), "main").expect("contents"),
        content_hash(&second, "main").expect("contents"),
    );
}
