//! pageseal's side.

use std::path::Path;

use rusqlite::fallible_iterator::FallibleIterator;
use rusqlite::types::ValueRef;
use rusqlite::{Batch, Connection, OpenFlags};

use crate::configuration::Configuration;
use crate::content_hash::content_hash;
use crate::database::{Database, Side};
use crate::peer::{PeerError, Rows, Value};

/// A connection through pageseal.
pub(crate) struct Ours(pub(crate) Connection);

impl Ours {
    /// Opens `path`, creating it if need be, and keys it by pragma.
    pub(crate) fn open(path: &Path, how: &Configuration) -> Self {
        let mut ours = Self::open_unkeyed(path);
        assert_eq!(ours.get(&how.key_pragma()), "ok");
        ours.exec(&how.settings());
        ours
    }

    /// Opens `path`, or a `file:` URI.
    pub(crate) fn open_unkeyed(path: &Path) -> Self {
        pageseal::register().expect("SQLite takes the VFS");
        let vfs = pageseal::VFS_NAME;
        let connection = Connection::open_with_flags_and_vfs(path, OpenFlags::default(), vfs);
        Self(connection.unwrap_or_else(|e| panic!("{}: {e}", path.display())))
    }

    fn run(&self, sql: &str, rows: &mut Rows) -> rusqlite::Result<()> {
        let mut batch = Batch::new(&self.0, sql);
        while let Some(mut statement) = batch.next()? {
            let columns = statement.column_count();
            let mut answer = statement.query([])?;
            while let Some(row) = answer.next()? {
                let values = (0..columns).map(|column| row.get_ref(column).map(value));
                rows.push(values.collect::<rusqlite::Result<_>>()?);
            }
        }
        Ok(())
    }
}

impl Database for Ours {
    fn side(&self) -> Side {
        Side::Pageseal
    }

    fn try_query(&mut self, sql: &str) -> Result<Rows, PeerError> {
        let mut rows = Vec::new();
        self.run(sql, &mut rows).map_err(failure)?;
        Ok(rows)
    }

    fn content_hash(&mut self) -> String {
        let hash = content_hash(&self.0, "main");
        hash.unwrap_or_else(|e| panic!("content hash: {e}")).sha256
    }

    fn close(self: Box<Self>) {
        self.0.close().unwrap_or_else(|(_, e)| panic!("close: {e}"));
    }
}

fn value(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(i) => Value::Integer(i),
        ValueRef::Real(r) => Value::Real(r),
        ValueRef::Text(t) => Value::Text(String::from_utf8_lossy(t).into_owned()),
        ValueRef::Blob(b) => Value::Blob(b.to_vec()),
    }
}

fn failure(error: rusqlite::Error) -> PeerError {
    let (error, message) = match error {
        rusqlite::Error::SqliteFailure(error, message) => (error, message),
        rusqlite::Error::SqlInputError { error, msg, .. } => (error, Some(msg)),
        other => panic!("{other}"),
    };
    PeerError {
        code: error.extended_code & 0xff,
        extended: error.extended_code,
        message: message.unwrap_or_else(|| error.to_string()),
    }
}
