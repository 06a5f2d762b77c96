//! Why an export failed, and at what.

use thiserror::Error;

use crate::vfs::SqlError;

/// Why an export failed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ExportError {
    /// `sqlcipher_export` was not called with one or two arguments.
    #[error("invalid number of arguments ({0}) passed to sqlcipher_export")]
    Arguments(usize),
    /// `sqlcipher_export` was called with a NULL.
    #[error("{0} database can't be NULL")]
    Null(&'static str),
    /// The connection has no database of that name.
    #[error("invalid {role} database {name}")]
    UnknownDatabase {
        /// `target` or `source`.
        role: &'static str,
        /// The name.
        name: String,
    },
    /// Target and source are the same.
    #[error("can't export database {0} to itself")]
    SameDatabase(String),
    /// The target holds something of the same name as the source.
    #[error("can't export {name:?}: database {target:?} has that name already ({kind})")]
    Exists {
        /// The target's name on this connection.
        target: String,
        /// What it has: `table`, `index`, `view` or `trigger`.
        kind: String,
        /// Its name.
        name: String,
    },
    /// The source's schema holds a text that SQLite has not written.
    #[error("the definition of {0:?} can't be read")]
    Definition(String),
    /// SQLite reported an error.
    #[error("export failed ({step}): {message}")]
    Sqlite {
        /// What was being done.
        step: String,
        /// SQLite's result code, extended where the connection has these on.
        code: i32,
        /// SQLite's message.
        message: String,
    },
    /// As SQLite does when it runs out of disk space or memory, or is interrupted,
    /// it has rolled back the transaction in which the export ran, not only the
    /// export.
    #[error("{0}; SQLite has rolled back the whole transaction around the export")]
    TransactionEnded(#[source] Box<ExportError>),
}

/// Says what was being done when an error came.
pub(super) trait Step<T> {
    /// `step` is asked for the text only where there is an error.
    fn step(self, step: impl FnOnce() -> String) -> Result<T, ExportError>;
}

impl<T> Step<T> for Result<T, SqlError> {
    fn step(self, step: impl FnOnce() -> String) -> Result<T, ExportError> {
        self.map_err(|error| ExportError::Sqlite {
            step: step(),
            code: error.code,
            message: error.text,
        })
    }
}
