//! Hands functions to SQLite: on one connection, and on all that are opened later.

#![allow(unsafe_code)]

use core::ffi::{c_char, c_int};
use core::ptr::{self, NonNull};
use core::slice;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::sys as ffi;
use crate::vfs::{Db, SqlError};

use super::scalar::{ScalarFunction, Value};
use super::{SCALARS, TABLES, table};

/// Provides all functions on a connection. Returns a result code.
pub(crate) fn add(db: Db<'_>) -> c_int {
    for function in &TABLES {
        // SAFETY: the connection is open, and the function static.
        let code = unsafe {
            ffi::sqlite3_create_module_v2(
                db.as_ptr(),
                function.name.as_ptr(),
                &table::MODULE,
                ptr::from_ref(function).cast_mut().cast(),
                None,
            )
        };
        if code != ffi::SQLITE_OK {
            return code;
        }
    }
    for function in &SCALARS {
        for &arguments in function.arguments {
            // SAFETY: as above.
            let code = unsafe {
                ffi::sqlite3_create_function_v2(
                    db.as_ptr(),
                    function.name.as_ptr(),
                    arguments,
                    ffi::SQLITE_UTF8 | ffi::SQLITE_DIRECTONLY,
                    ptr::from_ref(function).cast_mut().cast(),
                    Some(call),
                    None,
                    None,
                    None,
                )
            };
            if code != ffi::SQLITE_OK {
                return code;
            }
        }
    }
    ffi::SQLITE_OK
}

/// Provides all functions on every connection that is opened from now on. Doing so
/// again changes nothing. Returns a result code: not every SQLite can do it.
pub(crate) fn on_every_connection() -> c_int {
    // SAFETY: an entry point of the right type, which stays where it is.
    unsafe { ffi::sqlite3_auto_extension(Some(connection_opened)) }
}

/// What SQLite calls for every new connection. Anything but `SQLITE_OK` would fail
/// the opening or end the chain of auto-extensions, for want of functions that the
/// connection may never call.
unsafe extern "C" fn connection_opened(
    db: *mut ffi::sqlite3,
    _message: *mut *mut c_char,
    _api: *const ffi::sqlite3_api_routines,
) -> c_int {
    let _ = catch_unwind(|| {
        if let Some(db) = NonNull::new(db) {
            // SAFETY: SQLite passes an open connection, for the length of the call.
            add(unsafe { Db::new(db) });
        }
    });
    ffi::SQLITE_OK
}

/// A function of one value is called.
unsafe extern "C" fn call(
    context: *mut ffi::sqlite3_context,
    count: c_int,
    values: *mut *mut ffi::sqlite3_value,
) {
    let result = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: the user data is what `add` gave, and the connection open.
        let (function, db) = unsafe {
            (
                &*ffi::sqlite3_user_data(context).cast::<ScalarFunction>(),
                NonNull::new(ffi::sqlite3_context_db_handle(context)),
            )
        };
        let count = usize::try_from(count).unwrap_or(0);
        let arguments: Vec<Option<String>> = if count == 0 {
            Vec::new()
        } else {
            // SAFETY: SQLite passes as many values as it says.
            unsafe { slice::from_raw_parts(values, count) }
                .iter()
                // SAFETY: SQLite's values, for the length of the call.
                .map(|&value| unsafe { text(value) })
                .collect()
        };
        let db = db.ok_or_else(|| SqlError::new("no connection"))?;
        // SAFETY: the function's own connection, for the length of the call.
        (function.run)(unsafe { Db::new(db) }, &arguments)
    }))
    .unwrap_or_else(|_| Err(SqlError::new("internal error")));
    // SAFETY: SQLite's own context, for the length of the call.
    unsafe { answer(context, result.as_ref()) }
}

/// The value as text; `None` for NULL.
///
/// # Safety
/// `value` must be a value that SQLite passes to a function or a filter, and that
/// call be running.
pub(super) unsafe fn text(value: *mut ffi::sqlite3_value) -> Option<String> {
    // SAFETY: the caller's promise. The length is asked for after the text, as
    // SQLite wants it.
    unsafe {
        let start = ffi::sqlite3_value_text(value);
        if start.is_null() {
            return None;
        }
        let len = usize::try_from(ffi::sqlite3_value_bytes(value)).unwrap_or(0);
        let bytes = slice::from_raw_parts(start, len);
        Some(String::from_utf8_lossy(bytes).into_owned())
    }
}

/// Answers with a value or an error.
///
/// # Safety
/// `context` must be one that SQLite has passed to a call that is running.
pub(super) unsafe fn answer(context: *mut ffi::sqlite3_context, result: Result<&Value, &SqlError>) {
    // SAFETY: the caller's promise; SQLite copies every text.
    unsafe {
        match result {
            Ok(Value::Null) => ffi::sqlite3_result_null(context),
            Ok(&Value::Integer(value)) => ffi::sqlite3_result_int64(context, value),
            Ok(Value::Text(text)) => ffi::sqlite3_result_text64(
                context,
                text.as_ptr().cast(),
                text.len() as u64,
                ffi::transient(),
                ffi::SQLITE_UTF8 as u8,
            ),
            Err(error) => {
                let len = c_int::try_from(error.text.len()).unwrap_or(c_int::MAX);
                ffi::sqlite3_result_error(context, error.text.as_ptr().cast(), len);
                // Sets the code, and leaves the text.
                ffi::sqlite3_result_error_code(context, error.code);
            }
        }
    }
}
