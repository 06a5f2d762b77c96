//! A connection to a database, on either side.

use std::path::Path;

use crate::configuration::Configuration;
use crate::ours::Ours;
use crate::peer::{PeerError, Rows, Value};
use crate::theirs::Theirs;

/// Who works on a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// This crate on stock SQLite.
    Pageseal,
    /// Genuine SQLCipher, in a process of its own for each connection.
    SqlCipher,
}

/// Both ways to hand a database over: who makes it, who takes it.
pub(crate) const BOTH_WAYS: [(Side, Side); 2] = [
    (Side::SqlCipher, Side::Pageseal),
    (Side::Pageseal, Side::SqlCipher),
];

impl Side {
    /// Opens a database that is there.
    pub(crate) fn open(self, path: &Path, how: &Configuration) -> Box<dyn Database> {
        let mut database: Box<dyn Database> = match self {
            Side::Pageseal => Box::new(Ours::open(path, &how.key)),
            Side::SqlCipher => Box::new(Theirs::open(path, how)),
        };
        database.exec(&how.settings());
        database
    }

    /// Creates a database.
    pub(crate) fn create(self, path: &Path, how: &Configuration) -> Box<dyn Database> {
        assert!(!path.exists(), "{} exists", path.display());
        let mut database = self.open(path, how);
        database.exec(&how.creation);
        database
    }
}

/// An open database.
pub(crate) trait Database {
    /// Whose connection it is.
    fn side(&self) -> Side;

    /// Runs one or more statements and returns all their rows.
    fn try_query(&mut self, sql: &str) -> Result<Rows, PeerError>;

    /// The hash of what `main` holds; see `content_hash.rs`.
    fn content_hash(&mut self) -> String;

    /// Closes the connection, and reports what that fails with.
    fn close(self: Box<Self>);

    /// As [`Database::try_query`], where no failure is expected.
    fn query(&mut self, sql: &str) -> Rows {
        self.try_query(sql)
            .unwrap_or_else(|e| panic!("{e}\nin: {}", shorten(sql)))
    }

    /// Runs statements whose rows don't matter.
    fn exec(&mut self, sql: &str) {
        self.query(sql);
    }

    /// The only value of the only row, as text.
    fn get(&mut self, sql: &str) -> String {
        let rows = self.query(sql);
        match &rows[..] {
            [row] if row.len() == 1 => text(&row[0]),
            _ => panic!("{} values for {sql}: {rows:?}", rows.len()),
        }
    }
}

/// A value as text: integers come back as text from some pragmas.
pub(crate) fn text(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        Value::Integer(number) => number.to_string(),
        other => panic!("neither text nor integer: {other:?}"),
    }
}

fn shorten(sql: &str) -> String {
    sql.chars().take(300).collect()
}

/// Checks that a database is sound, and holds what it must.
pub(crate) fn check(database: &mut dyn Database, how: &Configuration, content: &str) {
    assert_eq!(database.content_hash(), content, "content");
    assert_sound(database, how);
    let page_size = how.page_size.to_string();
    assert_eq!(database.get("PRAGMA page_size"), page_size, "page size");
}

/// Checks structure and MACs.
pub(crate) fn assert_sound(database: &mut dyn Database, how: &Configuration) {
    assert_eq!(database.get("PRAGMA integrity_check"), "ok");
    let faults = database.query("PRAGMA cipher_integrity_check");
    let faults: Vec<String> = faults.iter().flatten().map(text).collect();
    let expected = how.integrity_answer(database.side());
    assert_eq!(faults, expected, "cipher_integrity_check");
}
