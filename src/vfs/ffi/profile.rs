//! `PRAGMA cipher_profile`: how long each statement took, as a line a statement. It
//! takes the place of the connection's trace callback, as in SQLCipher.

use core::ffi::{CStr, c_int, c_uint, c_void};
use core::ptr;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::pragma::log::LogTarget;
use crate::pragma::log_output::Lines;
use crate::sys as ffi;

use super::host::Host;

/// A statement has ended.
const SQLITE_TRACE_PROFILE: c_uint = 2;

/// Starts or ends it. Returns whether that is possible: a file must open.
pub(super) fn set_target(host: Host, target: LogTarget) -> bool {
    let Some(db) = host.db() else {
        return false;
    };
    let lines = match target {
        LogTarget::Off => None,
        target => match Lines::to(target) {
            Some(lines) => Some(lines),
            None => return false,
        },
    };
    let (mask, callback, argument): (_, ffi::Trace, _) = match lines {
        None => (0, None, ptr::null_mut()),
        Some(lines) => (
            SQLITE_TRACE_PROFILE,
            Some(profile),
            ptr::from_ref(lines).cast_mut().cast(),
        ),
    };
    // SAFETY: an open connection; what the callback is given lives forever.
    let code = unsafe { ffi::sqlite3_trace_v2(db.as_ptr(), mask, callback, argument) };
    code == ffi::SQLITE_OK
}

/// # Safety
/// SQLite must call it, for `SQLITE_TRACE_PROFILE` and with [`Lines`] as its argument.
unsafe extern "C" fn profile(
    _event: c_uint,
    lines: *mut c_void,
    statement: *mut c_void,
    nanoseconds: *mut c_void,
) -> c_int {
    let _ = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: a statement, the time that it took, and our argument.
        let (lines, sql, time) = unsafe {
            let sql = ffi::sqlite3_sql(statement.cast());
            let sql = (!sql.is_null()).then(|| CStr::from_ptr(sql).to_string_lossy());
            let lines: &'static Lines = &*lines.cast();
            (lines, sql, *nanoseconds.cast::<i64>())
        };
        let milliseconds = time as f64 / 1e6;
        lines.write(&format!(
            "Elapsed time:{milliseconds:.3} ms - {}\n",
            sql.unwrap_or_default()
        ));
    }));
    ffi::SQLITE_OK
}
