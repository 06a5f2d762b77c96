//! SQL functions and table-valued functions.
//!
//! Where SQLCipher answers a pragma with several rows, a VFS can answer with one
//! only: the same rows are to be had from a table-valued function of the same name.
//!
//! | SQL | rows |
//! |---|---|
//! | `SELECT * FROM cipher_settings` | one a setting, as a `PRAGMA` to say it with |
//! | `SELECT * FROM cipher_integrity_check` | one a fault; none where all is well |
//! | `SELECT * FROM cipher_stats` | `name`, `value`: the counters of [`crate::stats`], process-wide |
//!
//! Each takes the name of a database as an argument (`cipher_settings('other')`);
//! without one the first two mean `main`. Like pragmas they can't be used in views
//! and triggers, so no database that is opened can make them run.
//!
//! `SELECT sqlcipher_export('target')` copies everything in `main` to another database
//! of the connection, and returns NULL; `sqlcipher_export('target', 'source')` takes
//! another source. See [`ExportError`] for what can go wrong; nothing is left behind
//! then.
//!
//! [`crate::register`] provides them on every connection that is opened later, by
//! way of `sqlite3_auto_extension`; so does the loadable extension. A connection
//! that was open before has them from [`register`]. (Apple's SQLite has no
//! auto-extensions: there, [`register`] is the only way.)

mod export;
mod ffi;
mod rows;
mod scalar;
mod table;

#[cfg(any(feature = "rusqlite", feature = "loadable-extension"))]
pub(crate) use ffi::add;
pub(crate) use ffi::on_every_connection;

pub use export::ExportError;
#[cfg(feature = "rusqlite")]
pub use export::export;

use rows::TABLES;
use scalar::ScalarFunction;

/// Functions of one value.
static SCALARS: [ScalarFunction; 1] = [export::FUNCTION];

/// Provides the SQL functions on this connection.
///
/// # Errors
/// SQLite refuses: memory is short, or one of the functions is in use.
#[cfg(feature = "rusqlite")]
pub fn register(connection: &rusqlite::Connection) -> rusqlite::Result<()> {
    let code = crate::vfs::with_db(connection, add);
    if code == crate::sys::SQLITE_OK {
        Ok(())
    } else {
        Err(rusqlite::Error::SqliteFailure(
            rusqlite::ffi::Error::new(code),
            None,
        ))
    }
}
