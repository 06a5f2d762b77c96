//! Errors as SQLite result codes, and the other way round.

use core::ffi::c_int;

use crate::error::{Failure, Refusal};
use crate::sys as ffi;

/// An SQLite result code other than `SQLITE_OK`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Code(pub(crate) c_int);

pub(crate) type Result<T = ()> = core::result::Result<T, Code>;

impl Code {
    pub(crate) const SHORT_READ: Self = Self(ffi::SQLITE_IOERR_SHORT_READ);
    pub(crate) const NOT_FOUND: Self = Self(ffi::SQLITE_NOTFOUND);
    pub(crate) const BUSY: Self = Self(ffi::SQLITE_BUSY);
    pub(crate) const CANT_OPEN: Self = Self(ffi::SQLITE_CANTOPEN);
    pub(crate) const ERROR: Self = Self(ffi::SQLITE_ERROR);
    pub(crate) const NO_MEMORY: Self = Self(ffi::SQLITE_NOMEM);
    pub(crate) const IOERR: Self = Self(ffi::SQLITE_IOERR);
    pub(crate) const READ: Self = Self(ffi::SQLITE_IOERR_READ);

    /// `SQLITE_OK` is no error.
    pub(crate) fn check(code: c_int) -> Result {
        if code == ffi::SQLITE_OK {
            Ok(())
        } else {
            Err(Self(code))
        }
    }
}

/// The result code of a method.
pub(crate) fn of(result: Result) -> c_int {
    match result {
        Ok(()) => ffi::SQLITE_OK,
        Err(Code(code)) => code,
    }
}

/// The code that programs know a failure by: SQLCipher's, where it has one.
///
/// An I/O error is what makes SQLite's pager roll a refused write back.
pub(crate) fn of_failure(failure: &Failure) -> Code {
    Code(match failure {
        // SQLCipher's code where it is page 1.
        Failure::DamagedLog { pgno: 1 } => ffi::SQLITE_NOTADB,
        Failure::DamagedPage { .. }
        | Failure::DamagedLog { .. }
        | Failure::ShortPage { .. }
        | Failure::DamagedJournal { .. }
        | Failure::JournalSize { .. } => ffi::SQLITE_CORRUPT,
        Failure::Refused(Refusal::Unproven) => ffi::SQLITE_NOTADB,
        Failure::Refused(_) | Failure::Random(_) => ffi::SQLITE_IOERR_WRITE,
        Failure::AttachKey(_) => ffi::SQLITE_ERROR,
        _ => ffi::SQLITE_NOTADB,
    })
}
