//! A database goes back and forth, and everyone changes it.
//!
//! SQLCipher makes it, we read and change it, SQLCipher reads and rewrites it,
//! we read it; and the same with the parts exchanged. In a rollback journal's mode
//! and in WAL mode.

use std::path::Path;

use crate::configuration::Configuration;
use crate::content::{CHANGE, REWRITE, create, hashes};
use crate::database::{BOTH_WAYS, Database, Side, Ways, check};
use crate::each::{scratch, test_each_group};

test_each_group!(with_sqlcipher);

fn with_sqlcipher(how: &Configuration, directory: &Path) {
    relay(how, directory, BOTH_WAYS);
}

pub(crate) fn relay(how: &Configuration, directory: &Path, ways: Ways) {
    for (maker, taker) in ways {
        for journal_mode in ["delete", "wal"] {
            eprintln!("{}: made by {maker:?}, {journal_mode}", how.name);
            let path = directory.join(format!("{maker:?}-{journal_mode}.db"));
            hand_over(how, &path, maker, taker, journal_mode);
        }
    }
}

/// The modes that the groups leave out. They belong to a connection, not to the
/// file: everyone asks for them.
#[test]
fn in_other_journal_modes() {
    for mode in ["truncate", "persist", "memory"] {
        let how = Configuration::new(mode).with("journal_mode", mode);
        for (maker, taker) in BOTH_WAYS {
            eprintln!("made by {maker:?}, {mode}");
            let directory = scratch();
            hand_over(&how, &directory.path().join("a.db"), maker, taker, mode);
        }
    }
}

/// A log without shared memory, which only one connection can use.
#[test]
fn in_exclusive_wal_mode() {
    let how = Configuration::new("exclusive").with("locking_mode", "EXCLUSIVE");
    for (maker, taker) in BOTH_WAYS {
        eprintln!("made by {maker:?}");
        let directory = scratch();
        hand_over(&how, &directory.path().join("a.db"), maker, taker, "wal");
        assert!(!directory.path().join("a.db-shm").exists());
    }
}

fn hand_over(how: &Configuration, path: &Path, maker: Side, taker: Side, journal_mode: &str) {
    let hashes = hashes(how);

    let mut database = maker.create(path, how);
    prepare(&mut *database);
    let answer = database.get(&format!("PRAGMA journal_mode = {journal_mode}"));
    assert_eq!(answer, journal_mode);
    database.exec(&create(how));
    check(&mut *database, how, &hashes.created);
    database.close();

    let mut database = taker.open(path, how);
    prepare(&mut *database);
    check(&mut *database, how, &hashes.created);
    assert_eq!(database.get("PRAGMA journal_mode"), journal_mode);
    database.exec(CHANGE);
    database.close();

    let mut database = maker.open(path, how);
    prepare(&mut *database);
    check(&mut *database, how, &hashes.changed);
    database.exec(REWRITE);
    database.close();

    let mut database = taker.open(path, how);
    check(&mut *database, how, &hashes.rewritten);
    assert_eq!(database.get("PRAGMA user_version"), "9");
    assert_eq!(database.get("PRAGMA journal_mode"), journal_mode);
    database.close();
}

/// A small cache, so that pages reach the file before the commit, a log that is
/// checkpointed on the way, and no waiting for the disk.
fn prepare(database: &mut dyn Database) {
    database
        .exec("PRAGMA cache_size = 10; PRAGMA wal_autocheckpoint = 50; PRAGMA synchronous = OFF;");
}
