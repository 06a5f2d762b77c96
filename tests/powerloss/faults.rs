//! One call to the store fails, every one of them in turn, for a moment or for
//! good: the error reaches the caller, nothing that was committed is lost, and the
//! database opens again.

use std::collections::{BTreeMap, HashMap};

use crate::database::{checked_digest, digest, open, run};
use crate::store::{Call, Disk, Fault, How};
use crate::workload::{ALL, Workload};

const DISK: &str = "faults";

/// All ways in which calls fail.
pub(crate) const KINDS: [(Call, How); 7] = [
    (Call::Write, How::Io),
    (Call::Write, How::Full),
    (Call::Write, How::Short),
    (Call::Sync, How::Io),
    (Call::Truncate, How::Io),
    (Call::Delete, How::Io),
    (Call::Read, How::Io),
];

/// Which workloads: one of each kind, since this runs each many times over.
const WORKLOADS: [&str; 9] = [
    "DELETE, full",
    "PERSIST, full",
    "spill, DELETE",
    "WAL, full",
    "WAL, full, psow=0",
    "spill, WAL",
    "checkpoints",
    "VACUUM",
    "auto-vacuum",
];

#[derive(Default)]
struct Counts {
    injected: u64,
    surfaced: u64,
    /// In a checkpoint that nobody asked for: when a connection closes, or behind
    /// a commit, which is none the worse for it. Or in a read of pages that nobody
    /// asked for yet, which are read again when somebody does.
    absorbed: u64,
}

/// A workload's database before the first step, and its contents after each.
struct Prepared {
    workload: &'static Workload,
    files: HashMap<String, Vec<u8>>,
    states: Vec<u64>,
}

fn prepare(workload: &'static Workload) -> rusqlite::Result<Prepared> {
    let disk = Disk::mount(DISK);
    let conn = open(DISK, workload)?;
    run(&conn, workload.tuning)?;
    run(&conn, workload.setup)?;
    conn.close().map_err(|(_, error)| error)?;
    let files = disk.files();
    let conn = open(DISK, workload)?;
    run(&conn, workload.tuning)?;
    let mut states = vec![digest(&conn)?];
    for step in workload.steps {
        run(&conn, step)?;
        states.push(digest(&conn)?);
    }
    Ok(Prepared {
        workload,
        files,
        states,
    })
}

#[test]
fn failing_calls() {
    let mut failures = Vec::new();
    let mut totals: BTreeMap<String, Counts> = BTreeMap::new();
    for workload in ALL
        .iter()
        .filter(|workload| WORKLOADS.contains(&workload.name))
    {
        let prepared = prepare(workload).expect(workload.name);
        for (call, how) in KINDS {
            for for_good in [false, true] {
                let row = format!("{call:?}, {how:?}");
                let counts = totals.entry(row).or_default();
                fail_everywhere(&prepared, call, how, for_good, counts, &mut failures);
            }
        }
    }
    for (row, counts) in &totals {
        println!(
            "faults, {row:16} {} injected, {} surfaced, {} absorbed",
            counts.injected, counts.surfaced, counts.absorbed
        );
    }
    for failure in failures.iter().take(20) {
        println!("FAILED: {failure}");
    }
    assert!(failures.is_empty(), "{} faults did harm", failures.len());
}

fn fail_everywhere(
    prepared: &Prepared,
    call: Call,
    how: How,
    for_good: bool,
    counts: &mut Counts,
    failures: &mut Vec<String>,
) {
    for n in 0.. {
        // Calls come by the hundred in the spills; late ones are like early ones.
        let after = if n < 40 { n } else { 40 + (n - 40) * 9 };
        let fault = Fault {
            call,
            how,
            after,
            for_good,
            file: "",
        };
        match once(prepared, fault) {
            Ok(Outcome::NotReached) => break,
            Ok(Outcome::Surfaced) => counts.surfaced += 1,
            Ok(Outcome::Absorbed) => counts.absorbed += 1,
            Err(error) => failures.push(format!("{}, {fault:?}: {error}", prepared.workload.name)),
        }
        counts.injected += 1;
    }
}

enum Outcome {
    NotReached,
    Surfaced,
    Absorbed,
}

fn once(prepared: &Prepared, fault: Fault) -> Result<Outcome, String> {
    let text = |error: rusqlite::Error| error.to_string();
    let workload = prepared.workload;
    let disk = Disk::mount(DISK);
    disk.load(prepared.files.clone());
    let conn = open(DISK, workload).map_err(text)?;
    run(&conn, workload.tuning).map_err(text)?;
    disk.break_at(Some(fault));
    for (step, states) in workload.steps.iter().zip(prepared.states.windows(2)) {
        let result = run(&conn, step);
        if disk.fired() == 0 {
            result.map_err(text)?;
            continue;
        }
        if let Err(error) = &result {
            expect_code(error, fault)?;
            if !conn.is_autocommit() {
                // Where the rollback fails too, the journal stays.
                let _ = run(&conn, "ROLLBACK");
            }
        }
        disk.break_at(None);
        // The step is done or undone, and if SQLite said that it was done, it is.
        let allowed = if result.is_ok() { &states[1..] } else { states };
        let found = checked_digest(&conn).map_err(|error| format!("same connection: {error}"))?;
        check(allowed, found, "same connection", step)?;
        drop(conn);
        look(workload, &[found])?;
        return match result {
            Err(_) => Ok(Outcome::Surfaced),
            Ok(()) if workload.tuning.contains("wal_autocheckpoint") => Ok(Outcome::Absorbed),
            Ok(()) if fault.call == Call::Read && !fault.for_good => Ok(Outcome::Absorbed),
            Ok(()) => Err(format!("no error came of it: {step}")),
        };
    }
    // It may still be reached when the connection is closed.
    let closed = conn.close();
    let fired = disk.fired();
    disk.break_at(None);
    look(workload, &prepared.states[workload.steps.len()..])?;
    Ok(match (fired, closed) {
        (0, _) => Outcome::NotReached,
        (_, Err(_)) => Outcome::Surfaced,
        (_, Ok(())) => Outcome::Absorbed,
    })
}

fn check(allowed: &[u64], found: u64, who: &str, step: &str) -> Result<(), String> {
    if allowed.contains(&found) {
        Ok(())
    } else {
        Err(format!(
            "{who}: another state than before or after {step:?}"
        ))
    }
}

/// A new connection finds one of these states, and can write.
fn look(workload: &Workload, allowed: &[u64]) -> Result<(), String> {
    let text = |error: rusqlite::Error| error.to_string();
    let conn = open(DISK, workload).map_err(text)?;
    let found = checked_digest(&conn).map_err(|error| format!("opened again: {error}"))?;
    check(allowed, found, "opened again", "all that was done")?;
    run(&conn, "CREATE TABLE again(x); DROP TABLE again").map_err(text)
}

/// A first page that can't be read says nothing of the key: who takes 26 for an answer
/// might make the database anew.
#[test]
fn a_disk_that_fails_is_no_wrong_key() {
    const NAME: &str = "unreadable";
    let workload = &ALL[0];
    let disk = Disk::mount(NAME);
    let conn = open(NAME, workload).expect("opening");
    run(&conn, workload.setup).expect("setting up");
    let content = digest(&conn).expect("reading");
    drop(conn);
    for after in 0..4 {
        let conn = open(NAME, workload).expect("opening");
        disk.break_at(Some(Fault {
            call: Call::Read,
            how: How::Io,
            after,
            for_good: true,
            file: "main.db",
        }));
        let error = digest(&conn).expect_err("nothing can be read");
        assert!(disk.fired() > 0);
        disk.break_at(None);
        let code = error.sqlite_error().map(|error| error.extended_code & 0xff);
        assert_eq!(code, Some(rusqlite::ffi::SQLITE_IOERR), "{after}: {error}");
        assert_eq!(checked_digest(&conn), Ok(content));
    }
}

/// The error says what happened.
fn expect_code(error: &rusqlite::Error, fault: Fault) -> Result<(), String> {
    let code = error
        .sqlite_error()
        .map_or(0, |error| error.extended_code & 0xff);
    let (io, full) = (rusqlite::ffi::SQLITE_IOERR, rusqlite::ffi::SQLITE_FULL);
    let expected: &[i32] = match (fault.call, fault.how) {
        (Call::Write, How::Io) => &[io],
        (Call::Write, How::Full | How::Short) => &[full, io],
        // sqlite-vfs answers SQLITE_DELETE, which is an authorizer's action code and
        // means SQLITE_INTERRUPT as a result.
        (Call::Delete, _) => &[rusqlite::ffi::SQLITE_DELETE],
        _ => &[
            io,
            rusqlite::ffi::SQLITE_CANTOPEN,
            rusqlite::ffi::SQLITE_ERROR,
        ],
    };
    if expected.contains(&code) {
        Ok(())
    } else {
        Err(format!("surfaced as {code}: {error}"))
    }
}
