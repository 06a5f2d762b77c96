//! Our declarations are those of SQLite's header, as `libsqlite3-sys` has them, and
//! of the table that the SQLite at hand gives to extensions.

use core::ffi::{c_char, c_int};
use core::mem::{align_of, offset_of, size_of};
use core::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use libsqlite3_sys as theirs;

use super::{constants, functions, types as ours};

#[test]
fn constants_are_the_headers() {
    for (name, ours, theirs) in constants::ALL {
        assert_eq!(ours, theirs, "{name}");
    }
}

macro_rules! same_layout {
    ($name:ident: $($field:ident)*) => {
        assert_eq!(
            align_of::<ours::$name>(), align_of::<theirs::$name>(), stringify!($name)
        );
        $(assert_eq!(
            offset_of!(ours::$name, $field),
            offset_of!(theirs::$name, $field),
            concat!(stringify!($name), ".", stringify!($field)),
        );)*
    };
}

#[test]
fn structures_are_the_headers() {
    same_layout!(sqlite3_file: pMethods);
    assert_eq!(
        size_of::<ours::sqlite3_file>(),
        size_of::<theirs::sqlite3_file>()
    );
    same_layout!(sqlite3_io_methods:
        iVersion xClose xRead xWrite xTruncate xSync xFileSize xLock xUnlock xCheckReservedLock
        xFileControl xSectorSize xDeviceCharacteristics xShmMap xShmLock xShmBarrier xShmUnmap
        xFetch xUnfetch);
    assert_eq!(
        size_of::<ours::sqlite3_io_methods>(),
        size_of::<theirs::sqlite3_io_methods>()
    );
    same_layout!(sqlite3_vfs:
        iVersion szOsFile mxPathname pNext zName pAppData xOpen xDelete xAccess xFullPathname
        xDlOpen xDlError xDlSym xDlClose xRandomness xSleep xCurrentTime xGetLastError
        xCurrentTimeInt64 xSetSystemCall xGetSystemCall xNextSystemCall);
    assert_eq!(
        size_of::<ours::sqlite3_vfs>(),
        size_of::<theirs::sqlite3_vfs>()
    );
    same_layout!(sqlite3_module:
        iVersion xCreate xConnect xBestIndex xDisconnect xDestroy xOpen xClose xFilter xNext xEof
        xColumn xRowid);
    assert_eq!(
        offset_of!(ours::sqlite3_module, absent),
        offset_of!(theirs::sqlite3_module, xUpdate)
    );
    assert_eq!(
        size_of::<ours::sqlite3_module>(),
        size_of::<theirs::sqlite3_module>()
    );
    same_layout!(sqlite3_vtab: pModule nRef zErrMsg);
    same_layout!(sqlite3_vtab_cursor: pVtab);
    same_layout!(sqlite3_index_info:
        nConstraint aConstraint nOrderBy aOrderBy aConstraintUsage idxNum idxStr needToFreeIdxStr
        orderByConsumed estimatedCost);
    assert_eq!(
        size_of::<ours::sqlite3_index_constraint>(),
        size_of::<theirs::sqlite3_index_constraint>()
    );
    assert_eq!(
        size_of::<ours::sqlite3_index_constraint_usage>(),
        size_of::<theirs::sqlite3_index_constraint_usage>()
    );
}

static API: AtomicPtr<usize> = AtomicPtr::new(ptr::null_mut());

unsafe extern "C" fn note_api(
    _db: *mut ours::sqlite3,
    _message: *mut *mut c_char,
    api: *const ours::sqlite3_api_routines,
) -> c_int {
    API.store(api.cast_mut().cast(), Ordering::Release);
    constants::SQLITE_OK
}

#[test]
fn table_slots_hold_the_functions() {
    // SAFETY: an entry point as SQLite wants them, which stays where it is.
    let code = unsafe { functions::sqlite3_auto_extension(Some(note_api)) };
    assert_eq!(code, constants::SQLITE_OK);
    drop(rusqlite::Connection::open_in_memory().unwrap());
    let api = API.load(Ordering::Acquire);
    assert!(!api.is_null());
    for (slot, name, address) in functions::linked() {
        // SAFETY: the table of a current SQLite has all of our slots.
        assert_eq!(unsafe { api.add(slot).read() }, address, "{slot} {name}");
    }
}
