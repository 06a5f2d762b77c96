//! Write-ahead logs.

use std::path::Path;

use rusqlite::Connection;

use super::{fill, layouts, open};
use crate::support::content_hash::content_hash;
use crate::support::disk::beside;
use crate::support::layouts::{PageLayout, layout};
use crate::support::open::text;
use crate::support::plaintext::{Faults, codec, connect, with_log};
use crate::support::tap::Tap;
use crate::support::wal;

/// A database with a log that is never checkpointed by itself.
struct Logged {
    connection: Connection,
    path: std::path::PathBuf,
    layout: PageLayout,
    /// Frames of the log at the last check.
    frames: usize,
    _dir: tempfile::TempDir,
}

fn uri(path: &Path, psow: u8) -> String {
    format!("file:{}?psow={psow}", path.display())
}

const PRAGMAS: &str = "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;
     PRAGMA cache_size = 8;";

impl Logged {
    fn new(layout: PageLayout, psow: u8, synchronous: &str) -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("a.db");
        let pragmas = format!("PRAGMA synchronous = {synchronous}; {PRAGMAS}");
        let vfs = Tap::new().with_shim();
        let connection = open(&uri(&path, psow), &vfs, layout, &pragmas);
        fill(&connection, layout);
        Self {
            connection,
            path,
            layout,
            frames: 0,
            _dir: dir,
        }
    }

    fn run(&mut self, sql: &str) {
        self.connection
            .execute_batch(sql)
            .unwrap_or_else(|error| panic!("{:?}: {sql}: {error}", self.layout));
    }

    /// Checks that every frame that SQLite counts has the right checksum, and that
    /// file and log hold what the connection sees.
    fn check(&mut self) {
        let log = std::fs::read(beside(&self.path, "-wal")).expect("the log");
        let file = std::fs::read(&self.path).expect("the file");
        let sound = wal::read(&log).expect("a sound header");
        assert_eq!(sound.page_size, self.layout.page_size);
        // SQLite's own count: NOOP (3.51) copies nothing and reports.
        let counted: i64 = self
            .connection
            .query_row("PRAGMA wal_checkpoint(NOOP)", [], |row| row.get(1))
            .expect("a report");
        self.frames = sound.committed().len();
        assert_eq!(self.frames as i64, counted, "{:?}", self.layout);
        let codec = codec(&self.layout.settings(), &file);
        let (pages, faults) = with_log(&codec, &file, &log);
        assert_eq!(faults, Faults::new(), "{:?}", self.layout);
        assert_eq!(
            content_hash(&connect(&pages), "main").expect("contents"),
            content_hash(&self.connection, "main").expect("contents"),
            "{:?}",
            self.layout
        );
    }
}

/// What makes SQLite append, overwrite in place, rewrite checksums, go back, and
/// begin anew.
fn exercise(layout: PageLayout, psow: u8, synchronous: &str) {
    let mut db = Logged::new(layout, psow, synchronous);
    db.check();
    for n in 0..5 {
        db.run(&format!("UPDATE t SET a = a || '{n}' WHERE id = {n}"));
        db.check();
    }
    // Pages spilled, changed again, and overwritten in the log.
    db.run("BEGIN");
    for n in 0..4 {
        db.run(&format!(
            "UPDATE t SET a = a || '{n}', b = randomblob(length(b))"
        ));
    }
    db.run("COMMIT");
    db.check();
    let frames = db.frames;
    // Rolled back, wholly and in part; the next commit writes over the frames.
    db.run("BEGIN; UPDATE t SET b = randomblob(length(b)); ROLLBACK");
    db.check();
    assert_eq!(db.frames, frames);
    db.run(
        "BEGIN; UPDATE t SET a = 'first' || id; SAVEPOINT s;
         UPDATE t SET a = 'second', b = randomblob(length(b)); ROLLBACK TO s;
         UPDATE t SET a = a || 'third' WHERE id < 50; COMMIT",
    );
    db.check();
    assert!(db.frames > frames);
    // From the start again, with frames of the earlier round behind.
    let frames = db.frames;
    db.run("PRAGMA wal_checkpoint(RESTART); UPDATE t SET a = a || 'anew' WHERE id = 7");
    db.check();
    assert!(db.frames < frames, "the log was not begun anew");
    db.run("PRAGMA wal_checkpoint(TRUNCATE); UPDATE t SET a = a || 'anew' WHERE id = 9");
    db.check();
    db.run("DELETE FROM t WHERE id % 2 = 0; VACUUM");
    db.check();
}

#[test]
fn in_every_page_size() {
    for layout in layouts() {
        exercise(layout, 1, "NORMAL");
    }
}

/// Commits padded to the end of a sector, in pieces.
#[test]
fn padded_to_sectors() {
    for layout in layouts() {
        exercise(layout, 0, "FULL");
    }
}

/// Padding shows: frames are added until a sector is full.
#[test]
fn padding_is_there() {
    let layout = layout(1024, Some("SHA1"));
    let frames = |psow: u8| {
        let mut db = Logged::new(layout, psow, "FULL");
        db.check();
        let before = db.frames;
        db.run("UPDATE t SET a = 'x' WHERE id = 1");
        db.check();
        (before, db.frames)
    };
    let ((_, plain), (_, padded)) = (frames(1), frames(0));
    assert!(padded > plain, "{padded} frames, {plain} without padding");
}

/// Several connections write in turn: what one remembers of the log's end must not
/// outlive the other's writes. One reopens in between.
#[test]
fn by_turns() {
    let layout = layout(4096, Some("SHA512"));
    let mut db = Logged::new(layout, 1, "NORMAL");
    let vfs = Tap::new().with_shim();
    let other = open(&uri(&db.path, 1), &vfs, layout, PRAGMAS);
    for n in 0..6 {
        db.run(&format!("UPDATE t SET a = a || 'a{n}' WHERE id = {n}"));
        db.check();
        other
            .execute_batch(&format!(
                "UPDATE t SET a = a || 'b{n}', b = randomblob(9) WHERE id < 20"
            ))
            .expect("updated");
        db.check();
        let third = open(&uri(&db.path, 1), &vfs, layout, PRAGMAS);
        third
            .execute_batch("BEGIN; UPDATE t SET a = a || 'c'; UPDATE t SET a = a || 'd'; COMMIT")
            .expect("updated");
        drop(third);
        db.check();
    }
    assert_eq!(
        text(&db.connection, "PRAGMA integrity_check").expect("a check"),
        "ok"
    );
}

/// Without shared memory, as in exclusive mode, SQLite keeps the log's index itself.
#[test]
fn in_exclusive_mode() {
    let layout = layout(1024, Some("SHA1"));
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("a.db");
    let pragmas = format!("PRAGMA locking_mode = EXCLUSIVE; {PRAGMAS}");
    let vfs = Tap::new().with_shim();
    let connection = open(&uri(&path, 1), &vfs, layout, &pragmas);
    fill(&connection, layout);
    let mut db = Logged {
        connection,
        path,
        layout,
        frames: 0,
        _dir: dir,
    };
    db.check();
    assert!(!beside(&db.path, "-shm").exists());
    db.run("BEGIN; UPDATE t SET a = a || '1'; UPDATE t SET a = a || '2'; COMMIT");
    db.check();
}
