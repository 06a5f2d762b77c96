//! One side is killed, the other puts things right.

use std::path::{Path, PathBuf};

use crate::configuration::Configuration;
use crate::content::{CHANGE, CREATE, REWRITE, hashes};
use crate::crash::{End, Work};
use crate::database::{BOTH_WAYS, Side, check};
use crate::each::scratch;

/// A log that was not checkpointed: what was committed counts, what was not does
/// not.
mod log_left {
    crate::each::test_each_group!(super::log_left);
}

/// A journal that was not rolled back.
mod journal_left {
    crate::each::test_each_group!(super::journal_left);
}

/// What must not be seen afterwards.
const UNCOMMITTED: &str = "
    BEGIN;
    UPDATE item SET data = CAST(replace(hex(zeroblob(2000)), '00', 'lost') AS BLOB), name = 'lost ' || id;
    DELETE FROM note; CREATE TABLE lost(a); INSERT INTO lost SELECT data FROM item;
    UPDATE pair SET value = zeroblob(3000);";

fn log_left(how: &Configuration, directory: &Path) {
    let hashes = hashes(how);
    for (victim, heir) in BOTH_WAYS {
        eprintln!("{}: log left by {victim:?}", how.name);
        let path = directory.join(format!("{victim:?}.db"));
        // Pages of an open transaction reach the log, and are overwritten there,
        // when the cache is small. The log starts over behind the checkpoint.
        let script = format!(
            "{} PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = 5;
             {CREATE} PRAGMA wal_checkpoint; {CHANGE} {UNCOMMITTED}",
            how.creation
        );
        let work = Work {
            path: &path,
            how,
            script: &script,
            end: End::Killed,
        };
        work.crash(victim);
        assert!(size(&beside(&path, "-wal")) > 32 + u64::from(how.page_size));

        let mut database = heir.open(&path, how);
        check(&mut *database, how, &hashes.changed);
        assert_eq!(database.get("PRAGMA journal_mode"), "wal");
        database.exec(REWRITE);
        database.close();
        assert!(!beside(&path, "-wal").exists());

        let mut database = victim.open(&path, how);
        check(&mut *database, how, &hashes.rewritten);
        database.close();
    }
}

fn journal_left(how: &Configuration, directory: &Path) {
    for (victim, heir) in BOTH_WAYS {
        eprintln!("{}: journal left by {victim:?}", how.name);
        let path = directory.join(format!("{victim:?}.db"));
        roll_back(how, &path, victim, heir, "DELETE", "FULL");
    }
}

/// In the modes in which a journal outlives its transaction, and where its header
/// does not say how long it is.
#[test]
fn journal_of_every_kind_left() {
    let how = Configuration::new("default");
    for journal_mode in ["DELETE", "TRUNCATE", "PERSIST"] {
        for synchronous in ["OFF", "NORMAL", "EXTRA"] {
            for (victim, heir) in BOTH_WAYS {
                eprintln!("{journal_mode} journal left by {victim:?}, {synchronous}");
                let directory = scratch();
                let path = directory.path().join("a.db");
                roll_back(&how, &path, victim, heir, journal_mode, synchronous);
            }
        }
    }
}

fn roll_back(
    how: &Configuration,
    path: &Path,
    victim: Side,
    heir: Side,
    journal_mode: &str,
    synchronous: &str,
) {
    let hashes = hashes(how);
    let mut database = victim.create(path, how);
    database.exec("PRAGMA synchronous = OFF");
    database.exec(CREATE);
    database.close();
    let before = std::fs::read(path).expect("a file");

    // The cache is small: pages reach the file before the commit.
    let script = format!(
        "PRAGMA journal_mode = {journal_mode}; PRAGMA synchronous = {synchronous};
         PRAGMA cache_size = 2; UPDATE item SET price = price; {UNCOMMITTED}"
    );
    let work = Work {
        path,
        how,
        script: &script,
        end: End::Killed,
    };
    work.crash(victim);
    assert!(size(&beside(path, "-journal")) > 512 + u64::from(how.page_size));
    assert_ne!(before, std::fs::read(path).expect("a file"));

    let mut database = heir.open(path, how);
    check(&mut *database, how, &hashes.created);
    assert!(!beside(path, "-journal").exists());
    database.exec("PRAGMA synchronous = OFF");
    database.exec(CHANGE);
    database.close();

    let mut database = victim.open(path, how);
    check(&mut *database, how, &hashes.changed);
    database.close();
}

/// A transaction over two files that ended between them: both are rolled back,
/// because the super-journal that their journals name is still there.
#[test]
fn journals_of_two_files_left() {
    for (victim, heir) in BOTH_WAYS {
        eprintln!("journals left by {victim:?}");
        two_files(victim, heir);
    }
}

fn two_files(victim: Side, heir: Side) {
    // A raw key: SQLCipher attaches with the process's settings only.
    let key = format!("x'{}'", "42".repeat(32));
    let how = Configuration::preset("raw key", 4, 4096).keyed(key.clone());
    let hashes = hashes(&how);
    let directory = scratch();
    let paths = ["a.db", "b.db"].map(|name| directory.path().join(name));
    for path in &paths {
        let mut database = victim.create(path, &how);
        database.exec(CREATE);
        database.close();
    }
    let before = std::fs::read(&paths[0]).expect("a file");

    // The second file grows too large for its process.
    let script = format!(
        "ATTACH '{}' AS b KEY '{}'; BEGIN;
         UPDATE main.item SET name = 'lost'; UPDATE b.item SET data = zeroblob(50000);",
        paths[1].display(),
        key.replace('\'', "''"),
    );
    let work = Work {
        path: &paths[0],
        how: &how,
        script: &script,
        end: End::TooLarge(4_000_000, "COMMIT"),
    };
    work.crash(victim);
    let files = std::fs::read_dir(directory.path()).expect("a directory");
    let names = files.map(|file| file.expect("a file").file_name());
    let supers = names.filter(|name| name.to_string_lossy().starts_with("a.db-mj"));
    assert_eq!(supers.count(), 1, "super-journals");
    assert_ne!(before, std::fs::read(&paths[0]).expect("a file"));

    for path in &paths {
        let mut database = heir.open(path, &how);
        check(&mut *database, &how, &hashes.created);
        database.exec(CHANGE);
        database.close();
        let mut database = victim.open(path, &how);
        check(&mut *database, &how, &hashes.changed);
        database.close();
    }
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn size(path: &Path) -> u64 {
    let metadata = path.metadata();
    metadata
        .unwrap_or_else(|e| panic!("{}: {e}", path.display()))
        .len()
}
