//! `sqlcipher_export(target[, source])`: copies a database into another one on the
//! same connection, most often to encrypt, decrypt or re-encrypt it.
//!
//! Tables are created from the text of the source's schema, rows copied with their
//! rowids, indexes built, and virtual tables, views and triggers entered as they
//! are: the content of a virtual table lies in its shadow tables, which are copied
//! like any other. It is all or nothing.

mod copy;
mod error;
mod hold;

use crate::vfs::{Db, SqlError};

pub use error::ExportError;

use super::scalar::{ScalarFunction, Value};
use copy::Copy;
use error::Step;
use hold::Hold;

/// The SQL function. It counts its arguments itself, to say so in SQLCipher's words.
pub(super) const FUNCTION: ScalarFunction = ScalarFunction {
    name: c"sqlcipher_export",
    arguments: &[-1],
    // The error's code is SQLITE_ERROR, as SQLCipher's: with that of a full disk
    // SQLite would roll back more than the export.
    run: |db, arguments| match call(db, arguments) {
        Ok(()) => Ok(Value::Null),
        Err(error) => Err(SqlError::new(error.to_string())),
    },
};

fn call(db: Db<'_>, arguments: &[Option<String>]) -> Result<(), ExportError> {
    let (target, source) = match arguments {
        [target] => (target, &Some("main".to_owned())),
        [target, source] => (target, source),
        _ => return Err(ExportError::Arguments(arguments.len())),
    };
    let target = target.as_ref().ok_or(ExportError::Null("target"))?;
    let source = source.as_ref().ok_or(ExportError::Null("source"))?;
    run(db, target, source)
}

/// Copies everything in the database `source` of a connection into its database
/// `target`: schema, rows, rowids, `user_version` and `application_id`. What
/// `SELECT sqlcipher_export(target, source)` does.
///
/// The target is most often new. It may hold other tables, and keeps a
/// `user_version` or `application_id` that it has already. Its page size and
/// auto-vacuum are its own; its text encoding is the connection's, as SQLite wants
/// it of every attached database.
///
/// `last_insert_rowid()` is the same afterwards; `changes()` and `total_changes()`
/// count the export's rows.
///
/// ```
/// use pageseal::{Key, OpenOptions, functions};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// # let (path, plain) = (dir.path().join("app.db"), dir.path().join("plain.db"));
/// # let plain = plain.to_str().unwrap();
/// let db = OpenOptions::new(Key::passphrase("correct horse")).open(&path)?;
/// db.execute_batch("CREATE TABLE note(text); INSERT INTO note VALUES('hello')")?;
///
/// db.execute("ATTACH DATABASE ?1 AS plaintext KEY ''", [plain])?;
/// functions::export(&db, "plaintext", "main")?;
/// db.execute_batch("DETACH DATABASE plaintext")?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// See [`ExportError`]. Nothing of the export is left behind then.
#[cfg(feature = "rusqlite")]
pub fn export(
    connection: &rusqlite::Connection,
    target: &str,
    source: &str,
) -> Result<(), ExportError> {
    crate::vfs::with_db(connection, |db| run(db, target, source))
}

fn run(db: Db<'_>, target: &str, source: &str) -> Result<(), ExportError> {
    let copy = Copy::new(db, target, source)?;
    let in_transaction = !db.is_autocommit();
    let last_rowid = db.last_insert_rowid();
    let hold = Hold::new(db).step(|| "preparing".to_owned())?;
    let result = all_or_nothing(db, &copy);
    drop(hold);
    db.set_last_insert_rowid(last_rowid);
    match result {
        // SQLite itself rolls back when it runs out of memory or disk.
        Err(error) if in_transaction && db.is_autocommit() => {
            Err(ExportError::TransactionEnded(Box::new(error)))
        }
        result => result,
    }
}

fn all_or_nothing(db: Db<'_>, copy: &Copy<'_>) -> Result<(), ExportError> {
    let in_transaction = !db.is_autocommit();
    let run = |sql| execute(db, sql).step(|| "transaction".to_owned());
    run("SAVEPOINT pageseal_export")?;
    copy.run()
        .and_then(|()| run("RELEASE pageseal_export"))
        .inspect_err(|_| {
            // This fails where SQLite has rolled back already.
            let _ = if in_transaction {
                run("ROLLBACK TO pageseal_export; RELEASE pageseal_export")
            } else {
                run("ROLLBACK")
            };
        })
}

/// Runs SQL for its effect.
fn execute(db: Db<'_>, sql: &str) -> Result<(), SqlError> {
    db.rows(sql).map(drop)
}
