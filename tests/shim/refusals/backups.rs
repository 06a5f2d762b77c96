//! Backups and vacuums whose pages do not fit.

use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};

use super::{FILL, make, make_plain, unchanged};
use crate::support::content_hash::{ContentHash, content_hash};
use crate::support::open::{code, open, open_keyed};

/// Copies everything; what `sqlite3_backup_step` says.
fn back_up(from: &Connection, to: &mut Connection) -> rusqlite::Result<StepResult> {
    let backup = Backup::new(from, to)?;
    let mut result = backup.step(1)?;
    while result == StepResult::More {
        result = backup.step(1)?;
    }
    Ok(result)
}

fn hash(connection: &Connection) -> ContentHash {
    content_hash(connection, "main").expect("contents")
}

fn filled() -> ContentHash {
    let connection = Connection::open_in_memory().expect("opened");
    connection.execute_batch(FILL).expect("filled");
    hash(&connection)
}

/// Into an encrypted database that has pages.
#[test]
fn into_a_database_from_another_layout() {
    let dir = tempfile::tempdir().expect("a directory");
    let sources = dir.path().join("sources");
    let into = dir.path().join("into");
    std::fs::create_dir(&sources).expect("a directory");
    std::fs::create_dir(&into).expect("a directory");
    let plain = |page_size, reserve| {
        let path = sources.join(format!("plain-{page_size}-{reserve}.db"));
        make_plain(&path, page_size, reserve);
        Connection::open(path).expect("opened")
    };
    let keyed = |name: &str, pragmas: &str| {
        let path = sources.join(name);
        make(&path, pragmas);
        open_keyed(path, pragmas).expect("opened")
    };
    let memory = Connection::open_in_memory().expect("opened");
    memory.execute_batch(FILL).expect("filled");
    for (what, source) in [
        ("plain", plain(4096, 0)),
        ("plain, small pages", plain(1024, 0)),
        ("plain, a smaller reserve", plain(4096, 48)),
        ("memory", memory),
        (
            "encrypted, small pages",
            keyed("1024.db", "PRAGMA cipher_page_size = 1024"),
        ),
        (
            "encrypted, no MAC",
            keyed("bare.db", "PRAGMA cipher_use_hmac = OFF"),
        ),
        (
            "encrypted, version 3",
            keyed("v3.db", "PRAGMA cipher_compatibility = 3"),
        ),
    ] {
        for mode in ["DELETE", "WAL"] {
            let path = into.join("a.db");
            make(&path, &format!("PRAGMA journal_mode = {mode}"));
            // Rolled back, its pages are sealed anew, but say what they said.
            let mut target = open_keyed(&path, "").expect("opened");
            let result = back_up(&source, &mut target);
            assert_ne!(code(result), 0, "{what}, {mode}");
            drop(target);
            let target = open_keyed(&path, "").expect("opened");
            assert_eq!(hash(&target), filled(), "{what}, {mode}");
            drop(target);
            std::fs::remove_file(&path).expect("removed");
        }
        // Into a new file: nothing at all is written.
        let path = into.join("new.db");
        let mut target = open_keyed(&path, "").expect("opened");
        assert_ne!(code(back_up(&source, &mut target)), 0, "{what}");
        drop(target);
        assert_eq!(
            std::fs::metadata(&path).map_or(0, |file| file.len()),
            0,
            "{what}"
        );
    }
}

/// From the same layout it works, and the copy is sealed with its own key.
#[test]
fn from_the_same_layout() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("source.db");
    make(&path, "");
    let source = open_keyed(&path, "").expect("opened");
    for there_already in [false, true] {
        let path = dir.path().join(format!("copy-{there_already}.db"));
        let key = "PRAGMA key = 'another'; PRAGMA kdf_iter = 1;";
        let mut target = open(&path).expect("opened");
        target.execute_batch(key).expect("keyed");
        if there_already {
            target
                .execute_batch("CREATE TABLE old(a)")
                .expect("created");
        }
        assert_eq!(
            back_up(&source, &mut target).expect("copied"),
            StepResult::Done
        );
        drop(target);
        let copy = open(&path).expect("opened");
        copy.execute_batch(key).expect("keyed");
        assert_eq!(hash(&copy), filled());
        let bytes = std::fs::read(&path).expect("the file");
        assert!(!bytes.starts_with(b"SQLite format 3\0"));
    }
}

/// A plaintext source that reserves as many bytes as the encryption needs fits.
#[test]
fn from_a_plaintext_database_with_room() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("plain.db");
    make_plain(&path, 4096, 80);
    let source = Connection::open(&path).expect("opened");
    let path = dir.path().join("copy.db");
    let mut target = open_keyed(&path, "").expect("opened");
    assert_eq!(
        back_up(&source, &mut target).expect("copied"),
        StepResult::Done
    );
    drop(target);
    assert_eq!(hash(&open_keyed(&path, "").expect("opened")), filled());
    let bytes = std::fs::read(&path).expect("the file");
    assert!(!bytes.starts_with(b"SQLite format 3\0"));
}

/// `VACUUM INTO` a file that is there, or with another page size in mind.
#[test]
fn vacuum_into() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("a.db");
    make(&path, "");
    let taken = dir.path().join("taken.db");
    make(&taken, "PRAGMA cipher_page_size = 1024");
    let connection = open_keyed(&path, "").expect("opened");
    unchanged(dir.path(), "into an existing file", || {
        let sql = format!("VACUUM INTO '{}'", taken.display());
        assert_ne!(code(connection.execute_batch(&sql)), 0);
    });
    let copy = dir.path().join("copy.db");
    connection
        .execute_batch(&format!(
            "PRAGMA page_size = 1024; VACUUM INTO '{}'",
            copy.display()
        ))
        .expect("copied");
    assert_eq!(hash(&open_keyed(&copy, "").expect("opened")), filled());
}
