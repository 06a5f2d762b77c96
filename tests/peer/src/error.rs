//! What a request can fail with.

use rusqlite::ffi;

/// Answered as `err CODE EXTENDED MESSAGE`.
#[derive(Debug)]
pub(crate) struct Error {
    /// SQLite's extended result code; 0 when the request itself was wrong.
    pub(crate) extended: i32,
    /// SQLite's text, or ours.
    pub(crate) message: String,
}

impl Error {
    /// A request that cannot be understood or carried out.
    pub(crate) fn request(message: impl Into<String>) -> Self {
        Error {
            extended: 0,
            message: message.into(),
        }
    }

    /// A bare result code.
    pub(crate) fn sqlite(code: i32) -> Self {
        Error {
            extended: code,
            message: ffi::code_to_str(code).to_owned(),
        }
    }
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        let (sqlite, message) = match error {
            rusqlite::Error::SqliteFailure(e, message) => (e, message),
            rusqlite::Error::SqlInputError { error, msg, .. } => (error, Some(msg)),
            other => return Error::request(other.to_string()),
        };
        let mut answer = Error::sqlite(sqlite.extended_code);
        answer.message = message.unwrap_or(answer.message);
        answer
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        Error::request(error.to_string())
    }
}
