//! The power is cut behind every operation of a rekey or a migration: exactly one of
//! the old way and the new way opens the database, and all is in it. The way that does
//! not open it does it no harm. The same where a call in a migration fails; and then
//! the same connection does it when it is told again.

use std::collections::HashMap;

use rusqlite::Connection;

use crate::database::{checked_digest, digest, run};
use crate::faults::KINDS;
use crate::random::Random;
use crate::store::{Disk, Fault, SEALED};
use crate::trace::{Loss, Moment, Op};

const OLD_KEY: &str = "x'00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff'";
const NEW_KEY: &str = "x'ffeeddccbbaa99887766554433221100ffeeddccbbaa99887766554433221100'";
/// It brings a salt of its own.
const SALTED_KEY: &str = "x'ffeeddccbbaa99887766554433221100ffeeddccbbaa9988776655443322110001010101010101010101010101010101'";

/// A key, and settings as URI parameters.
struct Way {
    key: &'static str,
    settings: &'static str,
}

const V4: Way = Way {
    key: OLD_KEY,
    settings: "",
};
const V3: Way = Way {
    key: OLD_KEY,
    settings: "&cipher_compatibility=3",
};
const V1: Way = Way {
    key: OLD_KEY,
    settings: "&cipher_compatibility=1",
};
const REKEYED: Way = Way {
    key: NEW_KEY,
    settings: "",
};

const SALTED: Way = Way {
    key: SALTED_KEY,
    settings: "",
};

struct Rewrite {
    name: &'static str,
    old: Way,
    new: Way,
    /// The way that it is done by.
    by: Way,
    mode: &'static str,
    statement: &'static str,
}

const REKEY: &str =
    "PRAGMA rekey = \"x'ffeeddccbbaa99887766554433221100ffeeddccbbaa99887766554433221100'\"";
const REKEY_SALTED: &str = "PRAGMA rekey = \"x'ffeeddccbbaa99887766554433221100ffeeddccbbaa9988776655443322110001010101010101010101010101010101'\"";
const MIGRATE: &str = "PRAGMA cipher_migrate";

const ALL: [Rewrite; 7] = [
    Rewrite {
        name: "rekey",
        old: V4,
        new: REKEYED,
        by: V4,
        mode: "delete",
        statement: REKEY,
    },
    Rewrite {
        name: "rekey, WAL",
        old: V4,
        new: REKEYED,
        by: V4,
        mode: "wal",
        statement: REKEY,
    },
    Rewrite {
        name: "rekey with another salt",
        old: V4,
        new: SALTED,
        by: V4,
        mode: "delete",
        statement: REKEY_SALTED,
    },
    Rewrite {
        name: "rekey with another salt, WAL",
        old: V4,
        new: SALTED,
        by: V4,
        mode: "wal",
        statement: REKEY_SALTED,
    },
    Rewrite {
        name: "migration of version 3",
        old: V3,
        new: V4,
        by: V4,
        mode: "delete",
        statement: MIGRATE,
    },
    Rewrite {
        name: "migration of version 3, WAL",
        old: V3,
        new: V4,
        by: V4,
        mode: "wal",
        statement: MIGRATE,
    },
    Rewrite {
        name: "migration of version 1",
        old: V1,
        new: V4,
        by: V4,
        mode: "delete",
        statement: MIGRATE,
    },
];

const SETUP: &str = "
    CREATE TABLE t(id INTEGER PRIMARY KEY, a INTEGER, pad TEXT);
    CREATE INDEX by_a ON t(a);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
    INSERT INTO t SELECT i, i * 7 % 61, printf('%0300d', i) FROM n;";

fn open(disk: &str, way: &Way) -> rusqlite::Result<Connection> {
    let Way { key, settings } = way;
    let uri = format!("file:/{disk}/main.db?vfs={SEALED}&key={key}{settings}");
    let conn = Connection::open(uri)?;
    conn.set_prepared_statement_cache_capacity(0);
    Ok(conn)
}

#[test]
fn one_way_opens() {
    let mut failures = Vec::new();
    for (number, rewrite) in ALL.iter().enumerate() {
        let [cuts, by_new] = cut_everywhere(number, rewrite, &mut failures);
        println!(
            "power cuts, {:28} {cuts}, the new way opens after {by_new}",
            rewrite.name
        );
        // Both happen, or nothing was tried.
        assert!(by_new > 0 && by_new < cuts, "{}", rewrite.name);
    }
    for failure in failures.iter().take(20) {
        println!("FAILED: {failure}");
    }
    assert!(failures.is_empty(), "{} cuts failed", failures.len());
}

fn cut_everywhere(number: usize, rewrite: &Rewrite, failures: &mut Vec<String>) -> [u64; 2] {
    let name = format!("rewrite{number}");
    let disk = Disk::mount(&name);
    let conn = open(&name, &rewrite.old).expect("opening");
    run(&conn, &format!("PRAGMA journal_mode = {}", rewrite.mode)).expect("the mode");
    run(&conn, SETUP).expect("setting up");
    let content = digest(&conn).expect("reading");
    conn.close().expect("closing");

    let before = disk.files();
    let conn = open(&name, &rewrite.by).expect("opening");
    if rewrite.statement != MIGRATE {
        digest(&conn).expect("reading");
    }
    disk.record();
    run(&conn, rewrite.statement).unwrap_or_else(|error| panic!("{}: {error}", rewrite.name));
    disk.mark();
    assert_eq!(digest(&conn).expect("reading"), content);
    drop(conn);
    let log = disk.recorded();

    let mut random = Random::new(number as u64 + 1);
    let mut moment = Moment::new(&before);
    let mut returned = false;
    let (mut cuts, mut by_new) = (0, 0);
    for (at, op) in log.iter().enumerate() {
        moment.apply(op);
        returned |= matches!(op, Op::Mark);
        for loss in [
            Loss::Nothing,
            Loss::Everything,
            Loss::HalfOfTheLast,
            Loss::Any,
            Loss::Any,
        ] {
            let files = moment.cut(loss, &mut random);
            cuts += 1;
            match judge(&disk, &name, rewrite, &files, content) {
                Ok(new) => {
                    by_new += u64::from(new);
                    // The commit is a truncation that is synced.
                    if returned && !new {
                        failures.push(format!("{}: undone after its end", rewrite.name));
                    }
                }
                Err(error) => failures.push(format!(
                    "{}, {}, behind operation {at}: {error}",
                    rewrite.name,
                    loss.name()
                )),
            }
        }
    }
    [cuts, by_new]
}

/// Whether it is the new way that opens these files, whichever is tried first.
fn judge(
    disk: &Disk,
    name: &str,
    rewrite: &Rewrite,
    files: &HashMap<String, Vec<u8>>,
    content: u64,
) -> Result<bool, String> {
    let opens = |way: &Way| match open(name, way) {
        Err(error) => Err(error.to_string()),
        Ok(conn) => match checked_digest(&conn) {
            Ok(found) if found == content => Ok(true),
            Ok(_) => Err("something else is in it".to_owned()),
            Err(error) if error == "file is not a database" => Ok(false),
            Err(error) => Err(error),
        },
    };
    disk.load(files.clone());
    let (old, new) = (opens(&rewrite.old)?, opens(&rewrite.new)?);
    disk.load(files.clone());
    let (new_first, old_last) = (opens(&rewrite.new)?, opens(&rewrite.old)?);
    match (old, new) {
        (old, new) if (old, new) != (old_last, new_first) => {
            Err("it depends on which is tried first".to_owned())
        }
        (true, false) => Ok(false),
        (false, true) => Ok(true),
        (true, true) => Err("both open it".to_owned()),
        (false, false) => Err("neither opens it".to_owned()),
    }
}

#[test]
fn a_migration_fails_and_is_tried_again() {
    const NAME: &str = "rewrite-faults";
    let mut failures = Vec::new();
    for rewrite in ALL.iter().filter(|it| it.statement == MIGRATE) {
        let disk = Disk::mount(NAME);
        let conn = open(NAME, &rewrite.old).expect("opening");
        run(&conn, &format!("PRAGMA journal_mode = {}", rewrite.mode)).expect("the mode");
        run(&conn, SETUP).expect("setting up");
        let content = digest(&conn).expect("reading");
        conn.close().expect("closing");
        let files = disk.files();
        let (mut injected, mut surfaced) = (0, 0);
        for (call, how) in KINDS {
            for for_good in [false, true] {
                for after in 0.. {
                    let fault = Fault {
                        call,
                        how,
                        after,
                        for_good,
                        file: "",
                    };
                    match fail_once(&disk, NAME, rewrite, &files, content, fault) {
                        Ok(None) => break,
                        Ok(Some(is_surfaced)) => surfaced += u64::from(is_surfaced),
                        Err(error) => {
                            failures.push(format!("{}, {fault:?}: {error}", rewrite.name));
                        }
                    }
                    injected += 1;
                }
            }
        }
        println!(
            "migrations, faults, {:28} {injected} injected, {surfaced} surfaced",
            rewrite.name
        );
        assert!(surfaced * 2 > injected, "{}", rewrite.name);
    }
    for failure in failures.iter().take(20) {
        println!("FAILED: {failure}");
    }
    assert!(failures.is_empty(), "{} faults did harm", failures.len());
}

/// Returns whether the fault surfaced; `None` where it was not reached.
fn fail_once(
    disk: &Disk,
    name: &str,
    rewrite: &Rewrite,
    files: &HashMap<String, Vec<u8>>,
    content: u64,
    fault: Fault,
) -> Result<Option<bool>, String> {
    let text = |error: rusqlite::Error| error.to_string();
    let migrate =
        |conn: &Connection| conn.query_row(rewrite.statement, [], |row| row.get::<_, String>(0));
    disk.load(files.clone());
    let conn = open(name, &rewrite.by).map_err(text)?;
    disk.break_at(Some(fault));
    let result = migrate(&conn);
    let fired = disk.fired() > 0;
    disk.break_at(None);
    if !fired {
        result.map_err(text)?;
        return Ok(None);
    }
    let left = disk.files();
    // It may be done although an error came of it, which then says so.
    let is_done = match &result {
        Ok(status) => status == "0",
        Err(error) => error.to_string().contains("cipher_migrate is done"),
    };
    let again = migrate(&conn).map_err(|error| format!("tried again: {error}"))?;
    if again != if is_done { "21" } else { "0" } {
        return Err(format!("after {result:?} it answers {again}"));
    }
    let found = checked_digest(&conn).map_err(|error| format!("same connection: {error}"))?;
    if found != content {
        return Err("same connection: rows are not what they were".to_owned());
    }
    drop(conn);
    if !judge(disk, name, rewrite, &disk.files(), content)? {
        return Err("tried again, and the old settings open it".to_owned());
    }
    let new = judge(disk, name, rewrite, &left, content)?;
    match result {
        Ok(status) if status == "0" && new => Ok(Some(false)),
        Err(_) => Ok(Some(true)),
        result => Err(format!("{result:?}, new: {new}")),
    }
}
