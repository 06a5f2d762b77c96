//! Table-valued functions, as virtual tables that exist without being created.

#![allow(unsafe_code)]

use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr::{self, NonNull};
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::sys as ffi;
use crate::vfs::{Db, SqlError, sqlite_string};

use super::ffi::{answer, text};
use super::scalar::Value;

/// The values of a row's columns.
pub(crate) type Row = Vec<Value>;

/// A table-valued function, which no view or trigger can use.
pub(crate) struct TableFunction {
    pub(crate) name: &'static CStr,
    /// Its columns, as a CREATE TABLE; the argument is a hidden column.
    pub(crate) declaration: &'static CStr,
    /// The argument's column, counted from 0.
    pub(crate) argument: c_int,
    /// Its rows, all at once, for an argument or without one.
    pub(crate) rows: fn(Db<'_>, Option<&str>) -> Result<Vec<Row>, SqlError>,
}

/// The methods of all of them; the aux pointer says which one it is.
pub(super) static MODULE: ffi::sqlite3_module = ffi::sqlite3_module {
    iVersion: 1,
    // No CREATE VIRTUAL TABLE: the name itself is the table.
    xCreate: None,
    xConnect: Some(connect),
    xBestIndex: Some(best_index),
    xDisconnect: Some(disconnect),
    xDestroy: Some(disconnect),
    xOpen: Some(open),
    xClose: Some(close),
    xFilter: Some(filter),
    xNext: Some(next),
    xEof: Some(eof),
    xColumn: Some(column),
    xRowid: Some(rowid),
    absent: [None; 12],
};

#[repr(C)]
struct Table {
    base: ffi::sqlite3_vtab,
    db: NonNull<ffi::sqlite3>,
    function: &'static TableFunction,
}

#[repr(C)]
struct Cursor {
    base: ffi::sqlite3_vtab_cursor,
    rows: Vec<Row>,
    at: usize,
}

/// How the table is scanned: `idxNum`.
const WITHOUT_ARGUMENT: c_int = 0;
const WITH_ARGUMENT: c_int = 1;

/// Turns a panic into an error: none may cross into C.
fn guard(f: impl FnOnce() -> c_int) -> c_int {
    catch_unwind(AssertUnwindSafe(f)).unwrap_or(ffi::SQLITE_ERROR)
}

unsafe extern "C" fn connect(
    db: *mut ffi::sqlite3,
    aux: *mut c_void,
    _argc: c_int,
    _argv: *const *const c_char,
    out: *mut *mut ffi::sqlite3_vtab,
    _message: *mut *mut c_char,
) -> c_int {
    guard(|| {
        // SAFETY: the aux pointer is what the module was registered with.
        let function: &'static TableFunction = unsafe { &*aux.cast() };
        // SAFETY: in xConnect, on its connection.
        unsafe {
            let code = ffi::sqlite3_declare_vtab(db, function.declaration.as_ptr());
            if code != ffi::SQLITE_OK {
                return code;
            }
            ffi::vtab_option(db, ffi::SQLITE_VTAB_DIRECTONLY);
        }
        let Some(db) = NonNull::new(db) else {
            return ffi::SQLITE_ERROR;
        };
        let table = Box::new(Table {
            base: ffi::sqlite3_vtab {
                pModule: ptr::null(),
                nRef: 0,
                zErrMsg: ptr::null_mut(),
            },
            db,
            function,
        });
        // SAFETY: out takes the table; `base` is its first field.
        unsafe { *out = Box::into_raw(table).cast() };
        ffi::SQLITE_OK
    })
}

unsafe extern "C" fn disconnect(table: *mut ffi::sqlite3_vtab) -> c_int {
    // SAFETY: made by `connect`, and not used after this.
    drop(unsafe { Box::from_raw(table.cast::<Table>()) });
    ffi::SQLITE_OK
}

unsafe extern "C" fn best_index(
    table: *mut ffi::sqlite3_vtab,
    info: *mut ffi::sqlite3_index_info,
) -> c_int {
    guard(|| {
        // SAFETY: made by `connect`; the arrays are as long as nConstraint says.
        unsafe {
            let argument = (*table.cast::<Table>()).function.argument;
            let info = &mut *info;
            info.idxNum = WITHOUT_ARGUMENT;
            info.estimatedCost = 1e6;
            let mut missing = false;
            for n in 0..usize::try_from(info.nConstraint).unwrap_or(0) {
                let term = &*info.aConstraint.add(n);
                if term.iColumn != argument
                    || c_int::from(term.op) != ffi::SQLITE_INDEX_CONSTRAINT_EQ
                {
                    continue;
                }
                if term.usable == 0 {
                    missing = true;
                } else if info.idxNum == WITHOUT_ARGUMENT {
                    let usage = &mut *info.aConstraintUsage.add(n);
                    usage.argvIndex = 1;
                    usage.omit = 1;
                    info.idxNum = WITH_ARGUMENT;
                    info.estimatedCost = 1e3;
                }
            }
            // The argument is there, but this plan has no value for it yet.
            if missing && info.idxNum == WITHOUT_ARGUMENT {
                return ffi::SQLITE_CONSTRAINT;
            }
        }
        ffi::SQLITE_OK
    })
}

unsafe extern "C" fn open(
    _table: *mut ffi::sqlite3_vtab,
    out: *mut *mut ffi::sqlite3_vtab_cursor,
) -> c_int {
    guard(|| {
        let cursor = Box::new(Cursor {
            base: ffi::sqlite3_vtab_cursor {
                pVtab: ptr::null_mut(),
            },
            rows: Vec::new(),
            at: 0,
        });
        // SAFETY: out takes the cursor; `base` is its first field.
        unsafe { *out = Box::into_raw(cursor).cast() };
        ffi::SQLITE_OK
    })
}

unsafe extern "C" fn close(cursor: *mut ffi::sqlite3_vtab_cursor) -> c_int {
    // SAFETY: made by `open`, and not used after this.
    drop(unsafe { Box::from_raw(cursor.cast::<Cursor>()) });
    ffi::SQLITE_OK
}

unsafe extern "C" fn filter(
    cursor: *mut ffi::sqlite3_vtab_cursor,
    plan: c_int,
    _text: *const c_char,
    _count: c_int,
    values: *mut *mut ffi::sqlite3_value,
) -> c_int {
    guard(|| {
        // SAFETY: made by `open`, and its table by `connect`.
        let (cursor, table) = unsafe {
            let table = (*cursor).pVtab;
            (&mut *cursor.cast::<Cursor>(), table.cast::<Table>())
        };
        cursor.at = 0;
        cursor.rows = Vec::new();
        // SAFETY: with that plan there is one value.
        let argument = (plan == WITH_ARGUMENT).then(|| unsafe { text(*values) });
        // SAFETY: the table's own connection, which is running this statement.
        let (db, function) = unsafe { (Db::new((*table).db), (*table).function) };
        let rows = match &argument {
            // Nothing is equal to NULL.
            Some(None) => return ffi::SQLITE_OK,
            Some(Some(argument)) => (function.rows)(db, Some(argument)),
            None => (function.rows)(db, None),
        };
        match rows {
            Ok(rows) => {
                cursor.rows = rows;
                ffi::SQLITE_OK
            }
            Err(error) => {
                // SAFETY: SQLite frees the message, and has done so with the last.
                unsafe {
                    ffi::sqlite3_free((*table).base.zErrMsg.cast());
                    (*table).base.zErrMsg = sqlite_string(&error.text).unwrap_or(ptr::null_mut());
                }
                error.code
            }
        }
    })
}

unsafe extern "C" fn next(cursor: *mut ffi::sqlite3_vtab_cursor) -> c_int {
    // SAFETY: made by `open`.
    unsafe { (*cursor.cast::<Cursor>()).at += 1 };
    ffi::SQLITE_OK
}

unsafe extern "C" fn eof(cursor: *mut ffi::sqlite3_vtab_cursor) -> c_int {
    // SAFETY: made by `open`.
    let cursor = unsafe { &*cursor.cast::<Cursor>() };
    c_int::from(cursor.at >= cursor.rows.len())
}

unsafe extern "C" fn column(
    cursor: *mut ffi::sqlite3_vtab_cursor,
    context: *mut ffi::sqlite3_context,
    n: c_int,
) -> c_int {
    guard(|| {
        // SAFETY: made by `open`.
        let cursor = unsafe { &*cursor.cast::<Cursor>() };
        let value = usize::try_from(n)
            .ok()
            .and_then(|n| cursor.rows.get(cursor.at)?.get(n))
            .unwrap_or(&Value::Null);
        // SAFETY: SQLite's context, for the length of the call.
        unsafe { answer(context, Ok(value)) };
        ffi::SQLITE_OK
    })
}

unsafe extern "C" fn rowid(cursor: *mut ffi::sqlite3_vtab_cursor, out: *mut i64) -> c_int {
    // SAFETY: made by `open`; out takes the number.
    unsafe { *out = (*cursor.cast::<Cursor>()).at as i64 + 1 };
    ffi::SQLITE_OK
}
