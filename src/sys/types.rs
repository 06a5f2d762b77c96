//! Types of SQLite's C interface, under their C names.

use core::ffi::{c_char, c_int, c_uint, c_void};

macro_rules! opaque {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        $(
            $(#[$doc])*
            #[repr(C)]
            pub(crate) struct $name {
                _opaque: [u8; 0],
            }
        )*
    };
}

opaque! {
    /// A connection.
    sqlite3;
    /// A prepared statement.
    sqlite3_stmt;
    /// What an SQL function answers through.
    sqlite3_context;
    /// A value that SQLite owns.
    sqlite3_value;
    /// The functions that SQLite offers to extensions.
    sqlite3_api_routines;
}

/// A file name that SQLite has made, with URI parameters around it.
pub(crate) type sqlite3_filename = *const c_char;

/// A system call that a VFS can replace.
pub(crate) type sqlite3_syscall_ptr = Option<unsafe extern "C" fn()>;

/// What `xDlSym` returns, as `sqlite3.h` has it: a function of any type.
pub(crate) type Symbol = unsafe extern "C" fn(*mut sqlite3_vfs, *mut c_void, *const c_char);

/// What frees a thing, or one of the constants that say how it lives.
pub(crate) type Destructor = Option<unsafe extern "C" fn(*mut c_void)>;

/// An SQL function.
pub(crate) type Function =
    Option<unsafe extern "C" fn(*mut sqlite3_context, c_int, *mut *mut sqlite3_value)>;

/// What a traced event is handed to.
pub(crate) type Trace =
    Option<unsafe extern "C" fn(c_uint, *mut c_void, *mut c_void, *mut c_void) -> c_int>;

/// What a row of `sqlite3_exec` is handed to.
pub(crate) type ExecCallback =
    Option<unsafe extern "C" fn(*mut c_void, c_int, *mut *mut c_char, *mut *mut c_char) -> c_int>;

/// An extension's entry point.
pub(crate) type EntryPoint =
    unsafe extern "C" fn(*mut sqlite3, *mut *mut c_char, *const sqlite3_api_routines) -> c_int;

/// An open file.
#[repr(C)]
pub(crate) struct sqlite3_file {
    pub(crate) pMethods: *const sqlite3_io_methods,
}

/// The methods of an open file.
#[repr(C)]
pub(crate) struct sqlite3_io_methods {
    pub(crate) iVersion: c_int,
    pub(crate) xClose: Option<unsafe extern "C" fn(*mut sqlite3_file) -> c_int>,
    pub(crate) xRead:
        Option<unsafe extern "C" fn(*mut sqlite3_file, *mut c_void, c_int, i64) -> c_int>,
    pub(crate) xWrite:
        Option<unsafe extern "C" fn(*mut sqlite3_file, *const c_void, c_int, i64) -> c_int>,
    pub(crate) xTruncate: Option<unsafe extern "C" fn(*mut sqlite3_file, i64) -> c_int>,
    pub(crate) xSync: Option<unsafe extern "C" fn(*mut sqlite3_file, c_int) -> c_int>,
    pub(crate) xFileSize: Option<unsafe extern "C" fn(*mut sqlite3_file, *mut i64) -> c_int>,
    pub(crate) xLock: Option<unsafe extern "C" fn(*mut sqlite3_file, c_int) -> c_int>,
    pub(crate) xUnlock: Option<unsafe extern "C" fn(*mut sqlite3_file, c_int) -> c_int>,
    pub(crate) xCheckReservedLock:
        Option<unsafe extern "C" fn(*mut sqlite3_file, *mut c_int) -> c_int>,
    pub(crate) xFileControl:
        Option<unsafe extern "C" fn(*mut sqlite3_file, c_int, *mut c_void) -> c_int>,
    pub(crate) xSectorSize: Option<unsafe extern "C" fn(*mut sqlite3_file) -> c_int>,
    pub(crate) xDeviceCharacteristics: Option<unsafe extern "C" fn(*mut sqlite3_file) -> c_int>,
    // From version 2 on.
    pub(crate) xShmMap: Option<
        unsafe extern "C" fn(*mut sqlite3_file, c_int, c_int, c_int, *mut *mut c_void) -> c_int,
    >,
    pub(crate) xShmLock:
        Option<unsafe extern "C" fn(*mut sqlite3_file, c_int, c_int, c_int) -> c_int>,
    pub(crate) xShmBarrier: Option<unsafe extern "C" fn(*mut sqlite3_file)>,
    pub(crate) xShmUnmap: Option<unsafe extern "C" fn(*mut sqlite3_file, c_int) -> c_int>,
    // From version 3 on.
    pub(crate) xFetch:
        Option<unsafe extern "C" fn(*mut sqlite3_file, i64, c_int, *mut *mut c_void) -> c_int>,
    pub(crate) xUnfetch: Option<unsafe extern "C" fn(*mut sqlite3_file, i64, *mut c_void) -> c_int>,
}

/// A VFS.
#[repr(C)]
pub(crate) struct sqlite3_vfs {
    pub(crate) iVersion: c_int,
    pub(crate) szOsFile: c_int,
    pub(crate) mxPathname: c_int,
    pub(crate) pNext: *mut sqlite3_vfs,
    pub(crate) zName: *const c_char,
    pub(crate) pAppData: *mut c_void,
    pub(crate) xOpen: Option<
        unsafe extern "C" fn(
            *mut sqlite3_vfs,
            sqlite3_filename,
            *mut sqlite3_file,
            c_int,
            *mut c_int,
        ) -> c_int,
    >,
    pub(crate) xDelete:
        Option<unsafe extern "C" fn(*mut sqlite3_vfs, *const c_char, c_int) -> c_int>,
    pub(crate) xAccess:
        Option<unsafe extern "C" fn(*mut sqlite3_vfs, *const c_char, c_int, *mut c_int) -> c_int>,
    pub(crate) xFullPathname:
        Option<unsafe extern "C" fn(*mut sqlite3_vfs, *const c_char, c_int, *mut c_char) -> c_int>,
    pub(crate) xDlOpen:
        Option<unsafe extern "C" fn(*mut sqlite3_vfs, *const c_char) -> *mut c_void>,
    pub(crate) xDlError: Option<unsafe extern "C" fn(*mut sqlite3_vfs, c_int, *mut c_char)>,
    pub(crate) xDlSym: Option<
        unsafe extern "C" fn(*mut sqlite3_vfs, *mut c_void, *const c_char) -> Option<Symbol>,
    >,
    pub(crate) xDlClose: Option<unsafe extern "C" fn(*mut sqlite3_vfs, *mut c_void)>,
    pub(crate) xRandomness:
        Option<unsafe extern "C" fn(*mut sqlite3_vfs, c_int, *mut c_char) -> c_int>,
    pub(crate) xSleep: Option<unsafe extern "C" fn(*mut sqlite3_vfs, c_int) -> c_int>,
    pub(crate) xCurrentTime: Option<unsafe extern "C" fn(*mut sqlite3_vfs, *mut f64) -> c_int>,
    pub(crate) xGetLastError:
        Option<unsafe extern "C" fn(*mut sqlite3_vfs, c_int, *mut c_char) -> c_int>,
    // From version 2 on.
    pub(crate) xCurrentTimeInt64: Option<unsafe extern "C" fn(*mut sqlite3_vfs, *mut i64) -> c_int>,
    // From version 3 on.
    pub(crate) xSetSystemCall:
        Option<unsafe extern "C" fn(*mut sqlite3_vfs, *const c_char, sqlite3_syscall_ptr) -> c_int>,
    pub(crate) xGetSystemCall:
        Option<unsafe extern "C" fn(*mut sqlite3_vfs, *const c_char) -> sqlite3_syscall_ptr>,
    pub(crate) xNextSystemCall:
        Option<unsafe extern "C" fn(*mut sqlite3_vfs, *const c_char) -> *const c_char>,
}

/// What `xCreate` and `xConnect` are.
pub(crate) type Connect = Option<
    unsafe extern "C" fn(
        *mut sqlite3,
        *mut c_void,
        c_int,
        *const *const c_char,
        *mut *mut sqlite3_vtab,
        *mut *mut c_char,
    ) -> c_int,
>;

/// A kind of virtual table, up to the methods of version 1 that a read-only one
/// without transactions has; SQLite reads no further than a null method says.
#[repr(C)]
pub(crate) struct sqlite3_module {
    pub(crate) iVersion: c_int,
    pub(crate) xCreate: Connect,
    pub(crate) xConnect: Connect,
    pub(crate) xBestIndex:
        Option<unsafe extern "C" fn(*mut sqlite3_vtab, *mut sqlite3_index_info) -> c_int>,
    pub(crate) xDisconnect: Option<unsafe extern "C" fn(*mut sqlite3_vtab) -> c_int>,
    pub(crate) xDestroy: Option<unsafe extern "C" fn(*mut sqlite3_vtab) -> c_int>,
    pub(crate) xOpen:
        Option<unsafe extern "C" fn(*mut sqlite3_vtab, *mut *mut sqlite3_vtab_cursor) -> c_int>,
    pub(crate) xClose: Option<unsafe extern "C" fn(*mut sqlite3_vtab_cursor) -> c_int>,
    pub(crate) xFilter: Option<
        unsafe extern "C" fn(
            *mut sqlite3_vtab_cursor,
            c_int,
            *const c_char,
            c_int,
            *mut *mut sqlite3_value,
        ) -> c_int,
    >,
    pub(crate) xNext: Option<unsafe extern "C" fn(*mut sqlite3_vtab_cursor) -> c_int>,
    pub(crate) xEof: Option<unsafe extern "C" fn(*mut sqlite3_vtab_cursor) -> c_int>,
    pub(crate) xColumn: Option<
        unsafe extern "C" fn(*mut sqlite3_vtab_cursor, *mut sqlite3_context, c_int) -> c_int,
    >,
    pub(crate) xRowid: Option<unsafe extern "C" fn(*mut sqlite3_vtab_cursor, *mut i64) -> c_int>,
    /// `xUpdate` to `xIntegrity`, the methods of writable tables, of transactions
    /// and of later versions: we have none of them.
    pub(crate) absent: [Option<unsafe extern "C" fn()>; 12],
}

/// A virtual table of one connection.
#[repr(C)]
pub(crate) struct sqlite3_vtab {
    pub(crate) pModule: *const sqlite3_module,
    pub(crate) nRef: c_int,
    pub(crate) zErrMsg: *mut c_char,
}

/// A scan of a virtual table.
#[repr(C)]
pub(crate) struct sqlite3_vtab_cursor {
    pub(crate) pVtab: *mut sqlite3_vtab,
}

/// A term of a WHERE clause that a virtual table may use.
#[repr(C)]
pub(crate) struct sqlite3_index_constraint {
    pub(crate) iColumn: c_int,
    pub(crate) op: u8,
    pub(crate) usable: u8,
    pub(crate) iTermOffset: c_int,
}

/// What a virtual table does with a term.
#[repr(C)]
pub(crate) struct sqlite3_index_constraint_usage {
    pub(crate) argvIndex: c_int,
    pub(crate) omit: u8,
}

/// How a virtual table will be scanned; the fields after these are not ours to
/// touch.
#[repr(C)]
pub(crate) struct sqlite3_index_info {
    pub(crate) nConstraint: c_int,
    pub(crate) aConstraint: *mut sqlite3_index_constraint,
    pub(crate) nOrderBy: c_int,
    pub(crate) aOrderBy: *mut c_void,
    pub(crate) aConstraintUsage: *mut sqlite3_index_constraint_usage,
    pub(crate) idxNum: c_int,
    pub(crate) idxStr: *mut c_char,
    pub(crate) needToFreeIdxStr: c_int,
    pub(crate) orderByConsumed: c_int,
    pub(crate) estimatedCost: f64,
}
