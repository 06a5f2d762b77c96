//! The table of functions that SQLite hands to a loadable extension.

use core::ffi::{c_char, c_int, c_void};
use core::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use super::functions::SLOTS;
use super::types::sqlite3_api_routines;

/// A table is an array of function pointers.
type Slot = *const ();

static TABLE: AtomicPtr<Slot> = AtomicPtr::new(ptr::null_mut());

/// SQLite 3.39 is the first with all that we call.
pub(crate) const MIN_VERSION: i32 = 3_039_000;

/// Places of `sqlite3_libversion_number` and `sqlite3_malloc`, which every table
/// has.
const LIBVERSION_NUMBER: usize = 67;
const MALLOC: usize = 68;

/// Why a table can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TableError {
    #[error("SQLite 3.39 or later is needed; this is {}.{}.{}", .0 / 1_000_000, .0 / 1000 % 1000, .0 % 1000)]
    TooOld(i32),
    #[error("this SQLite was compiled without {0}")]
    Omitted(&'static str),
    #[error(
        "another copy of SQLite in this process has loaded this file already; load a copy of the file"
    )]
    OtherSqlite,
}

/// Takes a table, if it is the first or the same again.
///
/// # Safety
/// `api` must be what SQLite passes to an extension's entry point.
pub(crate) unsafe fn install(api: *const sqlite3_api_routines) -> Result<(), TableError> {
    let table: *const Slot = api.cast();
    // SAFETY: a table of any version has this slot, with a function of this type.
    let version = unsafe {
        let version: unsafe extern "C" fn() -> i32 =
            core::mem::transmute(table.add(LIBVERSION_NUMBER).read());
        version()
    };
    if version < MIN_VERSION {
        return Err(TableError::TooOld(version));
    }
    for &(slot, name) in SLOTS {
        // SAFETY: a table of that version has all of our slots.
        if unsafe { table.add(slot).read() }.is_null() {
            return Err(TableError::Omitted(name));
        }
    }
    let table = table.cast_mut();
    match TABLE.compare_exchange(ptr::null_mut(), table, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => Ok(()),
        Err(installed) if installed == table => Ok(()),
        Err(_) => Err(TableError::OtherSqlite),
    }
}

/// A copy of a text in memory that the SQLite behind this table frees, or NULL.
/// (It may be another SQLite than the one whose table is installed.)
///
/// # Safety
/// `api` must be what SQLite passes to an extension's entry point.
pub(crate) unsafe fn message(api: *const sqlite3_api_routines, text: &str) -> *mut c_char {
    let table: *const Slot = api.cast();
    let len = c_int::try_from(text.len()).unwrap_or(0);
    // SAFETY: a table of any version has this slot, with a function of this type,
    // and what it returns holds the text and a NUL.
    unsafe {
        let malloc: unsafe extern "C" fn(c_int) -> *mut c_void =
            core::mem::transmute(table.add(MALLOC).read());
        let copy = malloc(len + 1).cast::<u8>();
        if !copy.is_null() {
            ptr::copy_nonoverlapping(text.as_ptr(), copy, len as usize);
            copy.add(len as usize).write(0);
        }
        copy.cast()
    }
}

/// The function in a slot of [`SLOTS`].
pub(super) fn function(slot: usize) -> Slot {
    let table = TABLE.load(Ordering::Acquire);
    assert!(!table.is_null(), "the extension has not been loaded");
    // SAFETY: an installed table has all of our slots.
    unsafe { table.add(slot).read() }
}
