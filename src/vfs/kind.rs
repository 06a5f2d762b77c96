//! What a file is, from the flags of `xOpen`.

use core::ffi::c_int;

use crate::sys as ffi;

/// The kinds of file that SQLite opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A main or attached database.
    Database,
    /// Its rollback journal.
    Journal,
    /// Its write-ahead log.
    Log,
    /// Temporary databases, their journals, statement journals, sorter runs,
    /// VACUUM's copy: read by nobody but the handle that wrote them.
    Temporary,
    /// File names only (super-journals), or something that SQLite did not open.
    Raw,
}

impl Kind {
    pub(crate) fn of(flags: c_int) -> Self {
        const TEMPORARY: c_int = ffi::SQLITE_OPEN_TEMP_DB
            | ffi::SQLITE_OPEN_TRANSIENT_DB
            | ffi::SQLITE_OPEN_TEMP_JOURNAL
            | ffi::SQLITE_OPEN_SUBJOURNAL;
        if flags & ffi::SQLITE_OPEN_MAIN_DB != 0 {
            Self::Database
        } else if flags & ffi::SQLITE_OPEN_MAIN_JOURNAL != 0 {
            Self::Journal
        } else if flags & ffi::SQLITE_OPEN_WAL != 0 {
            Self::Log
        } else if flags & TEMPORARY != 0 {
            Self::Temporary
        } else {
            Self::Raw
        }
    }
}
