//! Databases to damage, and the journals and logs of interrupted transactions.

use std::path::{Path, PathBuf};

use rusqlite::Connection;

/// Raw, so that nothing is derived slowly.
pub(crate) const KEY: &str = "x'5555555555555555555555555555555555555555555555555555555555555555'";
/// Another one.
pub(crate) const OTHER_KEY: &str =
    "x'7777777777777777777777777777777777777777777777777777777777777777'";

/// Rows of each table.
pub(crate) const ROWS: i64 = 60;

/// Settings as URI parameters, and bytes of a page.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kind {
    pub(crate) uri: &'static str,
    pub(crate) page_size: usize,
    pub(crate) reserve: usize,
    pub(crate) mac: usize,
}

pub(crate) const V4: Kind = Kind {
    uri: "&cipher_page_size=1024",
    page_size: 1024,
    reserve: 80,
    mac: 64,
};

pub(crate) const V3: Kind = Kind {
    uri: "&cipher_compatibility=3",
    page_size: 1024,
    reserve: 48,
    mac: 20,
};

pub(crate) const NO_MAC: Kind = Kind {
    uri: "&cipher_page_size=1024&cipher_use_hmac=off",
    page_size: 1024,
    reserve: 16,
    mac: 0,
};

/// A directory with a database in it.
pub(crate) struct Sample {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) kind: Kind,
}

pub(crate) fn uri(path: &Path, kind: Kind, key: &str) -> String {
    format!("file:{}?vfs=pageseal&key={key}{}", path.display(), kind.uri)
}

/// What belongs into a row.
pub(crate) fn padding(id: i64, stamp: i64) -> String {
    format!("{:0200}", id * 1000 + stamp)
}

const PADDING: &str = "printf('%0200d', id * 1000 + stamp)";
const PADDING_OF_1: &str = "printf('%0200d', id * 1000 + 1)";

impl Sample {
    pub(crate) fn new(kind: Kind) -> Self {
        Self::with_key(kind, KEY, "")
    }

    /// Tables `a` and `b` of rows on many pages, an overflowing value, free pages.
    pub(crate) fn with_key(kind: Kind, key: &str, pragmas: &str) -> Self {
        crate::switches::apply();
        pageseal::register().expect("registering");
        let memory = Path::new("/dev/shm");
        let dir = if memory.is_dir() {
            tempfile::tempdir_in(memory)
        } else {
            tempfile::tempdir()
        };
        let sample = Self {
            dir: dir.expect("a scratch directory"),
            kind,
        };
        let conn = Connection::open(uri(&sample.path(), kind, key)).expect("opening");
        conn.execute_batch(&format!(
            "{pragmas} PRAGMA synchronous = OFF;
             BEGIN;
             CREATE TABLE a(id INTEGER PRIMARY KEY, stamp INTEGER, pad TEXT);
             CREATE TABLE b(id INTEGER PRIMARY KEY, stamp INTEGER, pad TEXT);
             CREATE TABLE big(value TEXT);
             CREATE TABLE gone(value TEXT);
             WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < {ROWS})
             INSERT INTO a SELECT id, 0, '' FROM n;
             UPDATE a SET pad = {PADDING};
             INSERT INTO b SELECT * FROM a;
             INSERT INTO big VALUES(printf('%020000d', 1));
             INSERT INTO gone SELECT pad FROM a;
             COMMIT;
             DROP TABLE gone;"
        ))
        .expect("filling");
        conn.close().expect("closing");
        sample
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.dir.path().join("s.db")
    }

    pub(crate) fn side(&self, end: &str) -> PathBuf {
        self.dir.path().join(format!("s.db{end}"))
    }

    pub(crate) fn open(&self) -> Connection {
        Connection::open(uri(&self.path(), self.kind, KEY)).expect("opening")
    }

    /// Leaves the database in the middle of a transaction that has spilled, with
    /// its journal.
    pub(crate) fn with_hot_journal(kind: Kind) -> Self {
        let sample = Self::new(kind);
        let conn = sample.open();
        conn.execute_batch(&format!(
            "PRAGMA cache_size = 3; BEGIN;
             UPDATE a SET stamp = 1, pad = {PADDING_OF_1};
             UPDATE b SET stamp = 1, pad = {PADDING_OF_1};"
        ))
        .expect("a transaction");
        let copies = [sample.path(), sample.side("-journal")]
            .map(|path| std::fs::read(path).expect("a file"));
        drop(conn);
        std::fs::write(sample.path(), &copies[0]).expect("a file");
        std::fs::write(sample.side("-journal"), &copies[1]).expect("a file");
        sample
    }

    /// Leaves a log of three transactions, which stamp `a` with 1, 2 and 3.
    pub(crate) fn with_log(kind: Kind, key: &str) -> Self {
        let sample = Self::with_key(kind, key, "PRAGMA journal_mode = WAL;");
        let conn = Connection::open(uri(&sample.path(), kind, key)).expect("opening");
        conn.execute_batch("PRAGMA wal_autocheckpoint = 0")
            .expect("a pragma");
        for stamp in 1..=3 {
            conn.execute_batch(&format!(
                "BEGIN; UPDATE a SET stamp = {stamp}; UPDATE a SET pad = {PADDING}; COMMIT"
            ))
            .expect("a transaction");
        }
        let copies =
            [sample.path(), sample.side("-wal")].map(|path| std::fs::read(path).expect("a file"));
        drop(conn);
        std::fs::write(sample.path(), &copies[0]).expect("a file");
        std::fs::write(sample.side("-wal"), &copies[1]).expect("a file");
        let _ = std::fs::remove_file(sample.side("-shm"));
        sample
    }
}
