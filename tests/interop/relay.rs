//! A database goes back and forth, and everyone changes it.
//!
//! SQLCipher makes it, we read and change it, SQLCipher reads and rewrites it,
//! we read it; and the same with the parts exchanged. In a rollback journal's mode
//! and in WAL mode.

use std::path::Path;

use crate::configuration::Configuration;
use crate::content::{CHANGE, CREATE, REWRITE, hashes};
use crate::database::{BOTH_WAYS, Database, Side, check};
use crate::each::test_each_group;

test_each_group!(relay);

fn relay(how: &Configuration, directory: &Path) {
    for (maker, taker) in BOTH_WAYS {
        for journal_mode in ["delete", "wal"] {
            eprintln!("{}: made by {maker:?}, {journal_mode}", how.name);
            let path = directory.join(format!("{maker:?}-{journal_mode}.db"));
            hand_over(how, &path, maker, taker, journal_mode);
        }
    }
}

fn hand_over(how: &Configuration, path: &Path, maker: Side, taker: Side, journal_mode: &str) {
    let hashes = hashes(how);

    let mut database = maker.create(path, how);
    prepare(&mut *database);
    let answer = database.get(&format!("PRAGMA journal_mode = {journal_mode}"));
    assert_eq!(answer, journal_mode);
    database.exec(CREATE);
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
