//! Which of the lower file's capabilities hold for a sealed file.

use core::ffi::c_int;

use libsqlite3_sys as ffi;

/// The allow-list: what is true of our file whenever it is true of the lower one.
///
/// Everything else is withheld, known or not yet invented: atomic and batch-atomic
/// writes (a sealed page is not the write that SQLite sees), sub-page reads (we
/// read whole pages), safe append and sequential order (we fill gaps).
const ALLOWED: c_int = ffi::SQLITE_IOCAP_POWERSAFE_OVERWRITE
    | ffi::SQLITE_IOCAP_UNDELETABLE_WHEN_OPEN
    | ffi::SQLITE_IOCAP_IMMUTABLE;

/// The capabilities of a file over one with `lower`.
pub(crate) fn allowed(lower: c_int) -> c_int {
    lower & ALLOWED
}
