//! Both sides have one database in WAL mode open at the same time and commit and
//! checkpoint by turns; then all programs die at once, and somebody recovers.
//!
//! SQLite's index of the log is gone then, and what counts is the checksums in the log
//! itself: the last frame to which they lead from the first is the end. See
//! `session/shared_log.rs`.

use std::path::Path;
use std::process::Command;

use crate::configuration::Configuration;
use crate::database::Database;
use crate::database::Side::{Pageseal, SqlCipher};
use crate::each::scratch;

/// What happens next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    OurCommit,
    TheirCommit,
    OurCheckpoint,
    TheirCheckpoint,
}
use Step::{OurCheckpoint, OurCommit, TheirCheckpoint, TheirCommit};

const STEPS: [Step; 4] = [OurCommit, TheirCommit, OurCheckpoint, TheirCheckpoint];

/// All sequences of up to `most` steps.
fn sequences(most: usize) -> Vec<Vec<Step>> {
    let mut all = vec![Vec::new()];
    let mut start = 0;
    for _ in 0..most {
        let end = all.len();
        for index in start..end {
            for step in STEPS {
                let mut longer = all[index].clone();
                longer.push(step);
                all.push(longer);
            }
        }
        start = end;
    }
    all
}

/// Whether the log ends, after these steps, with commits of SQLCipher's that follow
/// one of ours, where we had not met SQLCipher before and have done nothing since.
fn is_in_the_gap(steps: &[Step]) -> bool {
    let (mut met, mut unseen, mut ours_last, mut gap, mut over) =
        (false, false, false, false, false);
    for step in steps {
        match step {
            OurCommit | OurCheckpoint => {
                met |= unseen;
                (unseen, gap) = (false, false);
                ours_last = match step {
                    OurCommit => !met,
                    _ => ours_last && !met,
                };
            }
            TheirCommit => {
                // After a whole checkpoint the log starts over.
                gap |= ours_last && !over;
                (unseen, ours_last) = (true, false);
            }
            TheirCheckpoint => {}
        }
        over = matches!(step, OurCheckpoint | TheirCheckpoint);
    }
    gap
}

fn commit(n: usize) -> String {
    format!(
        "BEGIN; INSERT INTO t VALUES({n}, randomblob(3000)); UPDATE t SET b = randomblob(2000) WHERE a = 0;
         UPDATE n SET last = {n}; COMMIT"
    )
}

/// What is in the database, if it can be read and is sound.
fn rows(database: &mut dyn Database) -> Result<String, String> {
    let sql =
        "SELECT (SELECT group_concat(a) FROM (SELECT a FROM t ORDER BY a)) || '; ' || last FROM n";
    let rows = database.try_query(sql).map_err(|error| error.to_string())?;
    let sound = database
        .try_query("PRAGMA integrity_check")
        .map_err(|error| error.to_string())?;
    match (&rows[..], &sound[..]) {
        ([row], [ok]) if crate::database::text(&ok[0]) == "ok" => {
            Ok(crate::database::text(&row[0]))
        }
        _ => Err(format!("{rows:?}, {sound:?}")),
    }
}

/// Copies database and log as a crash would leave them. (By another process: to close
/// a database's file here would give up SQLite's locks on it.)
fn leave(from: &Path, to: &Path) {
    for end in ["", "-wal"] {
        let name = |path: &Path| format!("{}{end}", path.display());
        if Path::new(&name(from)).exists() {
            let copied = Command::new("cp").args([name(from), name(to)]).status();
            assert!(copied.expect("cp runs").success());
        }
    }
}

/// Goes through the steps and lets both sides recover; returns whether both found all
/// that was committed.
fn survives(how: &Configuration, steps: &[Step], ours_says_so: bool) -> bool {
    let directory = scratch();
    let path = directory.path().join("a.db");
    let mut theirs = SqlCipher.create(&path, how);
    theirs.exec(
        "PRAGMA journal_mode = WAL; CREATE TABLE t(a INTEGER PRIMARY KEY, b); CREATE TABLE n(last);
         INSERT INTO t VALUES(0, ''); INSERT INTO n VALUES(0)",
    );
    theirs.exec("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA wal_autocheckpoint = 0");
    let mut ours = Pageseal.open(&path, how);
    ours.exec("PRAGMA wal_autocheckpoint = 0");
    if ours_says_so {
        ours.exec("PRAGMA cipher_shared_wal = ON");
    }
    assert_eq!(rows(&mut *ours).as_deref(), Ok("0; 0"));

    let mut wanted = (vec!["0".to_owned()], 0);
    for (n, step) in steps.iter().enumerate() {
        let n = n + 1;
        match step {
            OurCommit => ours.exec(&commit(n)),
            TheirCommit => theirs.exec(&commit(n)),
            OurCheckpoint => ours.exec("PRAGMA wal_checkpoint"),
            TheirCheckpoint => theirs.exec("PRAGMA wal_checkpoint"),
        }
        if matches!(step, OurCommit | TheirCommit) {
            wanted.0.push(n.to_string());
            wanted.1 = n;
        }
    }
    let wanted = format!("{}; {}", wanted.0.join(","), wanted.1);
    // While they live, each sees everything.
    assert_eq!(rows(&mut *ours).as_deref(), Ok(&wanted[..]), "{steps:?}");
    assert_eq!(rows(&mut *theirs).as_deref(), Ok(&wanted[..]), "{steps:?}");

    let found = [Pageseal, SqlCipher].map(|heir| {
        let crashed = directory.path().join(format!("{heir:?}.db"));
        leave(&path, &crashed);
        let mut database = heir.open(&crashed, how);
        let found = rows(&mut *database);
        database.close();
        found
    });
    ours.close();
    theirs.close();
    if found[0].is_ok() || found[1].is_ok() {
        assert_eq!(found[0], found[1], "{steps:?}: both recover the same");
    }
    found[0].as_deref() == Ok(&wanted[..])
}

/// SQLCipher gives the database another key while we have it open: it has that key, for
/// us too, and also after a crash.
#[test]
fn rekeyed_beside_us() {
    let how = configuration();
    let new = how.clone().keyed("another key");
    let directory = scratch();
    let path = directory.path().join("a.db");
    let mut theirs = SqlCipher.create(&path, &how);
    theirs.exec("PRAGMA journal_mode = WAL; CREATE TABLE t(a INTEGER PRIMARY KEY, b)");
    theirs.exec("CREATE TABLE n(last); INSERT INTO t VALUES(0, ''); INSERT INTO n VALUES(0)");
    let mut ours = Pageseal.open(&path, &how);
    ours.exec(&commit(1));
    theirs.exec("PRAGMA rekey = 'another key'");
    let refused = ours.try_query("SELECT * FROM t").expect_err("another key");
    assert_eq!(refused.code, 26);
    let mut ours_again = Pageseal.open(&path, &new);
    ours_again.exec(&commit(2));
    theirs.exec(&commit(3));
    for heir in [Pageseal, SqlCipher] {
        let crashed = directory.path().join(format!("{heir:?}.db"));
        leave(&path, &crashed);
        let mut database = heir.open(&crashed, &new);
        assert_eq!(
            rows(&mut *database).as_deref(),
            Ok("0,1,2,3; 3"),
            "{heir:?}"
        );
        database.close();
    }
    ours_again.close();
    theirs.close();
}

/// However we came to leave SQLite's checksum in the index, it is put right when a read
/// of ours ends.
#[test]
fn the_index_is_put_right_late() {
    let how = configuration();
    for (what, ours_does) in [
        (
            "said after a commit",
            "INSERT INTO t VALUES(1, ''); PRAGMA cipher_shared_wal = ON; SELECT * FROM t",
        ),
        (
            "a commit in exclusive mode",
            "SELECT * FROM t; PRAGMA cipher_shared_wal = ON; PRAGMA locking_mode = EXCLUSIVE; INSERT INTO t VALUES(1, '');
             PRAGMA locking_mode = NORMAL; SELECT * FROM t",
        ),
    ] {
        let directory = scratch();
        let path = directory.path().join("a.db");
        let mut theirs = SqlCipher.create(&path, &how);
        theirs.exec("PRAGMA journal_mode = WAL; CREATE TABLE t(a INTEGER PRIMARY KEY, b)");
        theirs.exec("CREATE TABLE n(last); INSERT INTO t VALUES(0, ''); INSERT INTO n VALUES(0)");
        // (The exclusive mode needs the database for itself.)
        theirs.close();
        let mut ours = Pageseal.open(&path, &how);
        ours.exec(ours_does);
        let mut theirs = SqlCipher.open(&path, &how);
        theirs.exec(&commit(2));
        let crashed = directory.path().join("crashed.db");
        leave(&path, &crashed);
        let mut heir = SqlCipher.open(&crashed, &how);
        assert_eq!(rows(&mut *heir).as_deref(), Ok("0,1,2; 2"), "{what}");
        heir.close();
        ours.close();
        theirs.close();
    }
}

fn configuration() -> Configuration {
    Configuration::new("shared log").few_iterations()
}

/// With `cipher_shared_wal` nothing is ever lost.
#[test]
fn nothing_is_lost_where_the_program_has_said_so() {
    let sequences = sequences(4);
    let how = configuration();
    for steps in &sequences {
        assert!(survives(&how, steps, true), "{steps:?}");
    }
    println!(
        "shared log, said beforehand: {} sequences survived",
        sequences.len()
    );
}

/// Without it nothing is lost either, but in the one case that the documentation
/// names.
#[test]
fn nothing_is_lost_once_sqlcipher_has_been_met() {
    let sequences = sequences(4);
    let how = configuration();
    let (mut survived, mut gap, mut lost) = (0, 0, 0);
    for steps in &sequences {
        let survives = survives(&how, steps, false);
        if is_in_the_gap(steps) {
            gap += 1;
            lost += u32::from(!survives);
        } else {
            assert!(survives, "{steps:?}");
            survived += 1;
        }
    }
    println!(
        "shared log: {survived} sequences survived; {gap} in the documented gap, {lost} of them lost a commit"
    );
}
