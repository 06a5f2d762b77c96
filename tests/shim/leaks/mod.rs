//! Nothing that is written to a keyed database can be found in any file.
//!
//! A marker goes through every kind of file that SQLite uses, and is looked for in
//! two ways: by a VFS below the shim, in what is written to every file, and by
//! reading whatever the process has open or left in its directory. The same search
//! over plain SQLite finds it in each of them: so it would be found.

mod descriptors;
mod search;
mod workload;

use std::collections::BTreeSet;

use rusqlite::Connection;

use crate::support::open::{RAW_KEY, key, open_with};
use crate::support::tap::{Kind, Tap};
use descriptors::Found;
use search::Search;
use workload::Phase;

/// How a database is written.
#[derive(Debug, Clone, Copy)]
struct Mode {
    journal: &'static str,
    /// `psow=0` tells SQLite that power loss during a write may garble a whole
    /// sector, `synchronous=FULL` has it sync more: together they change in which
    /// pieces SQLite writes a log.
    careful: bool,
}

fn modes() -> impl Iterator<Item = Mode> {
    ["DELETE", "TRUNCATE", "PERSIST", "MEMORY", "OFF", "WAL"]
        .into_iter()
        .flat_map(|journal| [true, false].map(|careful| Mode { journal, careful }))
}

/// What a run has shown.
struct Outcome {
    /// In which kinds of file the marker was seen, and when.
    leaks: BTreeSet<(Phase, Kind)>,
    /// Which kinds of file were written at all, and when.
    written: BTreeSet<(Phase, Kind)>,
    /// Where the marker was found by reading.
    found: BTreeSet<Found>,
}

/// Runs the workload in `mode`, through the shim or below it.
fn run(mode: Mode, keyed: Option<&str>) -> Outcome {
    let dir = tempfile::tempdir().expect("a directory");
    let tap = Tap::new();
    let search = Search::start(&tap);
    let vfs = match keyed {
        Some(_) => tap.with_shim(),
        None => tap.name().to_owned(),
    };
    let path = dir.path().join("leak.db");
    let psow = u8::from(!mode.careful);
    let uri = format!("file:{}?psow={psow}", path.display());
    let connection = open_with(uri, &vfs).expect("opened");
    if let Some(settings) = keyed {
        key(&connection, RAW_KEY).expect("keyed");
        connection.execute_batch(settings).expect("settings");
    }
    let mut found = BTreeSet::new();
    configure(&connection, mode);
    workload::run(
        &connection,
        search.marker(),
        mode.journal != "OFF",
        &mut |phase| {
            search.enter(phase);
            found.extend(descriptors::search(dir.path(), search.marker()));
        },
    );
    drop(connection);
    found.extend(descriptors::search(dir.path(), search.marker()));
    let (leaks, written) = search.finish();
    Outcome {
        leaks,
        written,
        found,
    }
}

fn configure(connection: &Connection, mode: Mode) {
    let synchronous = if mode.careful { "FULL" } else { "NORMAL" };
    connection
        .execute_batch(&format!(
            "PRAGMA temp_store = FILE; PRAGMA cache_size = 20; PRAGMA temp.cache_size = 20;
             PRAGMA synchronous = {synchronous}; PRAGMA journal_mode = {};",
            mode.journal
        ))
        .expect("configured");
}

/// What plain SQLite must be caught at, or the search is no good.
fn expected(mode: Mode) -> BTreeSet<(Phase, Kind)> {
    let mut expected = BTreeSet::from([
        (Phase::End, Kind::Database),
        (Phase::Sort, Kind::TempJournal),
        (Phase::Ephemeral, Kind::Transient),
        (Phase::TempTable, Kind::TempDatabase),
        (Phase::Vacuum, Kind::TempDatabase),
    ]);
    if mode.journal == "WAL" {
        expected.insert((Phase::Write, Kind::Wal));
    }
    // Otherwise journals are in memory, or there are none.
    if !["MEMORY", "OFF"].contains(&mode.journal) {
        expected.insert((Phase::Statement, Kind::SubJournal));
        expected.insert((Phase::TempTable, Kind::TempJournal));
        if mode.journal != "WAL" {
            expected.insert((Phase::Spill, Kind::Journal));
        }
    }
    expected
}

/// The search finds the marker in every kind of file of a plain database.
#[test]
fn plain_sqlite_is_caught() {
    for mode in modes() {
        let outcome = run(mode, None);
        let missed: Vec<_> = expected(mode).difference(&outcome.leaks).copied().collect();
        assert!(
            missed.is_empty(),
            "{mode:?}: not caught in {missed:?} but {:?}",
            outcome.leaks
        );
        let mut read = BTreeSet::from([Found::Deleted, Found::Named("leak.db".into())]);
        match mode.journal {
            "DELETE" | "TRUNCATE" | "PERSIST" => {
                read.insert(Found::Named("leak.db-journal".into()));
            }
            "WAL" => {
                read.insert(Found::Named("leak.db-wal".into()));
            }
            _ => {}
        }
        assert!(
            outcome.found.is_superset(&read),
            "{mode:?}: {:?}",
            outcome.found
        );
    }
}

fn assert_no_leak(settings: &str, modes: impl Iterator<Item = Mode>) {
    for mode in modes {
        let outcome = run(mode, Some(settings));
        assert!(outcome.leaks.is_empty(), "{mode:?}: {:?}", outcome.leaks);
        assert!(outcome.found.is_empty(), "{mode:?}: {:?}", outcome.found);
        // It did go through all those files.
        let unused: Vec<_> = expected(mode)
            .difference(&outcome.written)
            .copied()
            .collect();
        assert!(
            unused.is_empty(),
            "{mode:?}: nothing was written to {unused:?}"
        );
    }
}

#[test]
fn nothing_leaks_in_any_mode() {
    assert_no_leak("", modes());
}

/// Small pages, small reserve, no MAC; pages larger than a sector, and than the
/// blocks of temporary files.
#[test]
fn nothing_leaks_with_other_pages() {
    for settings in [
        "PRAGMA cipher_compatibility = 1",
        "PRAGMA cipher_page_size = 16384",
    ] {
        let few = modes().filter(|mode| mode.careful && ["DELETE", "WAL"].contains(&mode.journal));
        assert_no_leak(settings, few);
    }
}
