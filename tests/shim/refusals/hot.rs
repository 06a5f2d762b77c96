//! Wrong keys where a log or hot journal lies beside the file: recovery and
//! rollback write, and with a wrong key they would destroy.

use std::path::Path;

use super::unchanged;
use crate::support::disk::{beside, snapshot};
use crate::support::manifest::{Vector, vectors};
use crate::support::open::{code, key, open, open_keyed};
use crate::support::tap::{Event, Kind, Tap};

const ATTEMPTS: [&str; 6] = [
    "SELECT * FROM sqlite_schema",
    "CREATE TABLE new(a)",
    "PRAGMA wal_checkpoint(TRUNCATE)",
    "VACUUM",
    "PRAGMA journal_mode = DELETE",
    "PRAGMA journal_mode = WAL",
];

fn hot() -> impl Iterator<Item = &'static Vector> {
    vectors()
        .iter()
        .filter(|vector| vector.class() == "ok" && vector.files().count() > 1)
}

/// A connection that is wrong about the file does its worst.
fn attempt(path: &Path, pragmas: &[&str], what: &str) {
    let connection = open(path).expect("opening reads nothing");
    for pragma in pragmas {
        let result = connection.execute_batch(pragma);
        assert_eq!(code(result), 0, "{what}: {pragma}");
    }
    for sql in ATTEMPTS {
        assert_eq!(code(connection.execute_batch(sql)), 26, "{what}: {sql}");
    }
}

/// Genuine SQLCipher files as a crash left them.
#[test]
fn vectors_with_a_wrong_key() {
    for vector in hot() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = vector.copy_to(dir.path());
        let iterations = vector.settings().kdf_iter.to_string();
        let wrong = [
            "PRAGMA key = 'correct horsf'".to_owned(),
            format!("PRAGMA kdf_iter = {iterations}"),
        ];
        let v3 = vector.settings().page_size == 1024;
        let compatibility = if v3 {
            "PRAGMA cipher_compatibility = 3"
        } else {
            "PRAGMA cipher_compatibility = 4"
        };
        let cases: [&[&str]; 4] = [
            // Another key, everything else right.
            &[&wrong[0], compatibility, &wrong[1]],
            // Another page size.
            &[&wrong[0], "PRAGMA cipher_page_size = 8192", &wrong[1]],
            // Another page layout.
            &[
                &wrong[0],
                compatibility,
                &wrong[1],
                "PRAGMA cipher_use_hmac = OFF",
            ],
            // No key at all.
            &[],
        ];
        for pragmas in cases {
            let what = format!("{}: {pragmas:?}", vector.name());
            unchanged(dir.path(), &what, || attempt(&path, pragmas, &what));
        }
        // And with the right one all is still there.
        let connection = vector.open_copy(dir.path()).expect("a key");
        let check = crate::support::open::text(&connection, "PRAGMA integrity_check");
        assert_eq!(check.expect("a check"), "ok", "{}", vector.name());
    }
}

/// Files and side files as a crash leaves our own.
fn crash(dir: &Path, mode: &str, pragmas: &str) -> std::path::PathBuf {
    let path = dir.join("live.db");
    let connection = open_keyed(&path, pragmas).expect("opened");
    connection
        .execute_batch(&format!(
            "PRAGMA journal_mode = {mode}; PRAGMA cache_size = 3;
             CREATE TABLE t(a, b);
             WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM c WHERE i < 60)
             INSERT INTO t SELECT i, zeroblob(1000) FROM c;
             BEGIN; UPDATE t SET b = randomblob(1000);"
        ))
        .expect("filled");
    let crashed = dir.join("crashed");
    std::fs::create_dir(&crashed).expect("a directory");
    let copy = crashed.join("a.db");
    let suffix = if mode == "WAL" { "-wal" } else { "-journal" };
    for suffix in ["", suffix] {
        std::fs::copy(beside(&path, suffix), beside(&copy, suffix)).expect("a copy");
    }
    copy
}

/// Every page layout tells a wrong key from a right one before it writes; without
/// MACs too.
#[test]
fn our_own_with_a_wrong_key() {
    for mode in ["DELETE", "PERSIST", "WAL"] {
        for pragmas in [
            "",
            "PRAGMA cipher_compatibility = 1",
            "PRAGMA cipher_use_hmac = OFF",
            "PRAGMA cipher_page_size = 65536",
        ] {
            let dir = tempfile::tempdir().expect("a directory");
            let path = crash(dir.path(), mode, pragmas);
            let crashed = path.parent().expect("a directory");
            let what = format!("{mode} {pragmas}");
            unchanged(crashed, &what, || {
                attempt(
                    &path,
                    &["PRAGMA key = 'wrong'", pragmas, "PRAGMA kdf_iter = 1"],
                    &what,
                );
            });
            unchanged(crashed, &what, || attempt(&path, &[], &what));
            let right = open_keyed(&path, pragmas).expect("opened");
            let count = crate::support::open::number(&right, "SELECT count(*) FROM t");
            assert_eq!(count.expect("a count"), 60, "{what}");
        }
    }
}

/// Page 1 itself is half written, as only a crash leaves it: the journal or log must
/// prove the key, and a wrong one must change nothing.
#[test]
fn a_torn_page_1() {
    for mode in ["DELETE", "WAL"] {
        for pragmas in [
            "",
            "PRAGMA cipher_use_hmac = OFF",
            "PRAGMA cipher_compatibility = 3",
        ] {
            let dir = tempfile::tempdir().expect("a directory");
            let path = crash(dir.path(), mode, pragmas);
            let what = format!("{mode} {pragmas}");
            let side = beside(&path, if mode == "WAL" { "-wal" } else { "-journal" });
            let mut bytes = std::fs::read(&path).expect("the file");
            // Its second half is from another time; the salt is where it was.
            bytes[300..600].fill(0x5a);
            std::fs::write(&path, &bytes).expect("written");
            if !covers_page_1(&side, mode) {
                continue;
            }
            let crashed = path.parent().expect("a directory");
            unchanged(crashed, &what, || {
                attempt(
                    &path,
                    &["PRAGMA key = 'wrong'", pragmas, "PRAGMA kdf_iter = 1"],
                    &what,
                );
            });
            let right = open_keyed(&path, pragmas).expect("opened");
            let count = crate::support::open::number(&right, "SELECT count(*) FROM t");
            assert_eq!(count.expect("a count"), 60, "{what}");
        }
    }
}

/// Whether a journal or log holds page 1.
fn covers_page_1(side: &Path, mode: &str) -> bool {
    let bytes = std::fs::read(side).expect("a side file");
    if mode == "WAL" {
        let log = crate::support::wal::read(&bytes).expect("a sound header");
        log.committed().iter().any(|frame| frame.pgno == 1)
    } else {
        crate::support::journal::segments(&bytes)
            .iter()
            .flat_map(|segment| &segment.records)
            .any(|record| record.pgno == 1)
    }
}

/// A wrong key takes nothing from a database that others are using.
#[test]
fn beside_a_living_writer() {
    for mode in ["DELETE", "WAL"] {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("a.db");
        let writer = open_keyed(&path, &format!("PRAGMA journal_mode = {mode}")).expect("opened");
        writer.execute_batch(super::FILL).expect("filled");
        writer
            .execute_batch("BEGIN; INSERT INTO t VALUES(3, 3)")
            .expect("begun");
        let before = snapshot(dir.path());
        let wrong = open(&path).expect("opened");
        key(&wrong, "wrong").expect("an answer");
        wrong
            .execute_batch("PRAGMA kdf_iter = 1")
            .expect("an answer");
        for sql in ATTEMPTS {
            assert_eq!(code(wrong.execute_batch(sql)), 26, "{mode}: {sql}");
        }
        drop(wrong);
        let mut after = snapshot(dir.path());
        // Locks are words in it.
        after.retain(|path, _| !path.to_string_lossy().ends_with("-shm"));
        for (path, bytes) in after {
            assert!(
                before.get(&path) == Some(&bytes),
                "{mode}: {}",
                path.display()
            );
        }
        writer.execute_batch("COMMIT").expect("committed");
        let right = open_keyed(&path, "").expect("opened");
        let count = crate::support::open::number(&right, "SELECT count(*) FROM t");
        assert_eq!(count.expect("a count"), 3, "{mode}");
    }
}

/// Not even for a moment: below the shim no write is made.
#[test]
fn no_write_is_even_tried() {
    for vector in hot() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = vector.copy_to(dir.path());
        let tap = Tap::new();
        let shim = tap.with_shim();
        let writes = tap.collect(|file, event| {
            let changes = matches!(
                event,
                Event::Write { .. } | Event::Truncate(_) | Event::Delete
            );
            let temporary = matches!(file.kind, Kind::TempDatabase | Kind::TempJournal);
            (changes && !temporary).then_some((file.kind, event))
        });
        let connection = crate::support::open::open_with(&path, &shim).expect("opened");
        connection
            .execute_batch("PRAGMA key = 'wrong'; PRAGMA kdf_iter = 1")
            .expect("an answer");
        for sql in ATTEMPTS {
            assert_eq!(
                code(connection.execute_batch(sql)),
                26,
                "{}: {sql}",
                vector.name()
            );
        }
        drop(connection);
        let writes = writes.take();
        assert!(writes.is_empty(), "{}: {writes:?}", vector.name());
    }
}
