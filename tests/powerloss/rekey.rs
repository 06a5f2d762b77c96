//! `PRAGMA rekey` while the power is cut behind each operation, and while each
//! call in turn fails: exactly one of the two keys opens the database, all rows
//! are there, trying the other key does no harm, and trying again does it.

use std::collections::{BTreeMap, HashMap};

use rusqlite::Connection;

use crate::database::{checked_digest, digest, open_with, run};
use crate::faults::KINDS;
use crate::random::Random;
use crate::store::{Call, Disk, Fault, How};
use crate::trace::{Loss, Moment, Op};

const OLD: &str = "x'00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff'";
const NEW: &str = "x'ffeeddccbbaa99887766554433221100ffeeddccbbaa99887766554433221100'";

/// A database that is rekeyed.
struct Kind {
    name: &'static str,
    uri: &'static str,
    tuning: &'static str,
}

const KINDS_OF_DATABASE: &[Kind] = &[
    Kind {
        name: "DELETE",
        uri: "",
        tuning: "PRAGMA journal_mode = DELETE",
    },
    Kind {
        name: "TRUNCATE",
        uri: "",
        tuning: "PRAGMA journal_mode = TRUNCATE",
    },
    Kind {
        name: "PERSIST, 1 KiB",
        uri: "&cipher_page_size=1024",
        tuning: "PRAGMA journal_mode = PERSIST",
    },
    Kind {
        name: "EXCLUSIVE, PERSIST",
        uri: "",
        tuning: "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = PERSIST",
    },
    Kind {
        name: "WAL",
        uri: "",
        tuning: "PRAGMA journal_mode = WAL",
    },
    Kind {
        name: "WAL, SQLCipher 3",
        uri: "&cipher_compatibility=3",
        tuning: "PRAGMA journal_mode = WAL",
    },
    Kind {
        name: "DELETE, no HMAC",
        uri: "&cipher_page_size=2048&cipher_use_hmac=off",
        tuning: "PRAGMA journal_mode = DELETE",
    },
];

/// More pages than a rekey handles at once (64) where they are small.
const SETUP: &str = "
    CREATE TABLE t(id INTEGER PRIMARY KEY, a INTEGER, pad TEXT);
    CREATE INDEX by_a ON t(a);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 120)
    INSERT INTO t SELECT i, i * 7 % 41, printf('%0600d', i) FROM n;
    DELETE FROM t WHERE id > 110;";

/// Made with the old key: the open connection, what is in it, what is on the disk.
fn make(name: &str, kind: &Kind) -> (Disk, Connection, u64) {
    let disk = Disk::mount(name);
    let conn = open_with(name, kind.uri, OLD).expect("opening");
    run(&conn, "PRAGMA synchronous = FULL").expect("a pragma");
    run(&conn, kind.tuning).expect("tuning");
    run(&conn, SETUP).expect("filling");
    // Part of it is still in the log, where there is one.
    run(&conn, "UPDATE t SET a = -a WHERE id % 5 = 0").expect("changing");
    let content = digest(&conn).expect("reading");
    (disk, conn, content)
}

fn rekey(conn: &Connection) -> rusqlite::Result<()> {
    run(conn, &format!("PRAGMA rekey = \"{NEW}\""))
}

/// Tries both keys in this order, on the same files. Returns the one that opens
/// them.
fn the_key(
    name: &str,
    kind: &Kind,
    content: u64,
    order: [&'static str; 2],
) -> Result<&'static str, String> {
    let mut opened = Vec::new();
    let mut errors = Vec::new();
    for key in order {
        let conn = open_with(name, kind.uri, key).map_err(|error| error.to_string())?;
        match checked_digest(&conn) {
            Ok(found) if found == content => opened.push(key),
            Ok(_) => return Err("rows are not what they were".to_owned()),
            Err(error) => errors.push(error),
        }
    }
    let &[key] = &opened[..] else {
        return Err(format!("{} keys open it: {errors:?}", opened.len()));
    };
    let conn = open_with(name, kind.uri, key).map_err(|error| error.to_string())?;
    run(&conn, "CREATE TABLE again(x); DROP TABLE again").map_err(|error| error.to_string())?;
    match checked_digest(&conn)? {
        found if found == content => Ok(key),
        _ => Err("rows are not what they were, after another was written".to_owned()),
    }
}

#[test]
fn rekey_power_cuts() {
    const LOSSES: [Loss; 5] = [
        Loss::Nothing,
        Loss::Everything,
        Loss::HalfOfTheLast,
        Loss::Any,
        Loss::Any,
    ];
    let mut failures = Vec::new();
    for (n, kind) in KINDS_OF_DATABASE.iter().enumerate() {
        let name = format!("rekey{n}");
        let (disk, conn, content) = make(&name, kind);
        let before = disk.files();
        disk.record();
        rekey(&conn).expect(kind.name);
        disk.mark();
        drop(conn);
        let log = disk.recorded();
        let mut random = Random::new(n as u64 + 1);
        let mut moment = Moment::new(&before);
        let mut returned = false;
        let (mut cuts, mut old, mut new) = (0, 0, 0);
        for (at, op) in log.iter().enumerate() {
            moment.apply(op);
            returned |= matches!(op, Op::Mark);
            for loss in LOSSES {
                disk.load(moment.cut(loss, &mut random));
                let order = if random.one_in(2) {
                    [OLD, NEW]
                } else {
                    [NEW, OLD]
                };
                match the_key(&name, kind, content, order) {
                    Ok(OLD) if !returned => old += 1,
                    Ok(NEW) => new += 1,
                    result => failures.push(format!(
                        "{}, {}, behind operation {at} of {}: {result:?}",
                        kind.name,
                        loss.name(),
                        log.len(),
                    )),
                }
                cuts += 1;
            }
        }
        println!(
            "rekey, power cuts, {:20} {cuts} behind {} operations: {old} times the old key opened it, {new} times the new",
            kind.name,
            log.len()
        );
    }
    report(&failures);
}

#[derive(Default)]
struct Counts {
    injected: u64,
    surfaced: u64,
    absorbed: u64,
}

#[test]
fn rekey_failing_calls() {
    const NAME: &str = "rekey-faults";
    let mut failures = Vec::new();
    let mut totals: BTreeMap<String, Counts> = BTreeMap::new();
    for kind in KINDS_OF_DATABASE {
        let (disk, conn, content) = make(NAME, kind);
        conn.close().expect("closing");
        let files = disk.files();
        for (call, how) in KINDS {
            for for_good in [false, true] {
                let counts = totals.entry(format!("{call:?}, {how:?}")).or_default();
                for after in 0.. {
                    let fault = Fault {
                        call,
                        how,
                        after,
                        for_good,
                        file: "",
                    };
                    match once(NAME, kind, &files, content, fault) {
                        Ok(None) => break,
                        Ok(Some(true)) => counts.surfaced += 1,
                        Ok(Some(false)) => counts.absorbed += 1,
                        Err(error) => failures.push(format!("{}, {fault:?}: {error}", kind.name)),
                    }
                    counts.injected += 1;
                }
            }
        }
    }
    for (row, counts) in &totals {
        println!(
            "rekey, faults, {row:16} {} injected, {} surfaced, {} absorbed",
            counts.injected, counts.surfaced, counts.absorbed
        );
    }
    report(&failures);
}

/// Returns whether the fault surfaced; `None` where it was not reached.
fn once(
    name: &str,
    kind: &Kind,
    files: &HashMap<String, Vec<u8>>,
    content: u64,
    fault: Fault,
) -> Result<Option<bool>, String> {
    let text = |error: rusqlite::Error| error.to_string();
    let disk = Disk::mount(name);
    disk.load(files.clone());
    let conn = open_with(name, kind.uri, OLD).map_err(text)?;
    run(&conn, "PRAGMA synchronous = FULL").map_err(text)?;
    run(&conn, kind.tuning).map_err(text)?;
    digest(&conn).map_err(text)?;
    disk.break_at(Some(fault));
    let result = rekey(&conn);
    let fired = disk.fired() > 0;
    disk.break_at(None);
    if !fired {
        result.map_err(text)?;
        return Ok(None);
    }
    // The same connection goes on.
    let found = checked_digest(&conn).map_err(|error| format!("same connection: {error}"))?;
    if found != content {
        return Err("same connection: rows are not what they were".to_owned());
    }
    let mode: String = conn
        .query_row("PRAGMA journal_mode", [], |row| row.get(0))
        .map_err(text)?;
    let left_wal = kind.name.starts_with("WAL") && mode == "delete";
    let files = disk.files();
    if result.is_err() {
        // And the same again does it.
        rekey(&conn).map_err(|error| format!("tried again: {error}"))?;
        drop(conn);
        if the_key(name, kind, content, [OLD, NEW])? != NEW {
            return Err("tried again: the old key opens it".to_owned());
        }
        disk.load(files);
    } else {
        drop(conn);
    }
    let key = the_key(name, kind, content, [OLD, NEW])?;
    match (&result, key) {
        (Ok(()), NEW) => {}
        (Ok(()), _) => return Err("it said that it was done".to_owned()),
        (Err(_), _) => return Ok(Some(true)),
    }
    // The journal is empty by then, and no journal; that it can't be deleted is no
    // error. Nor is that the log can't be taken up again, which the log says: who is told
    // of an error goes on with the old key.
    if left_wal || matches!(fault.call, Call::Delete) && matches!(fault.how, How::Io) {
        Ok(Some(false))
    } else {
        Err("no error came of it".to_owned())
    }
}

fn report(failures: &[String]) {
    for failure in failures.iter().take(20) {
        println!("FAILED: {failure}");
    }
    assert!(failures.is_empty(), "{} did harm", failures.len());
}
