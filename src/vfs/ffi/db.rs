//! A connection that has called us, as something to run SQL on.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::marker::PhantomData;
use core::ptr::{self, NonNull};
use std::ffi::CString;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::sys as ffi;

/// A connection, for as long as the call lasts in which SQLite named it.
#[derive(Clone, Copy)]
pub(crate) struct Db<'a> {
    db: NonNull<ffi::sqlite3>,
    call: PhantomData<&'a ()>,
}

/// What SQLite says of an SQL statement that failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub(crate) struct SqlError {
    pub(crate) code: c_int,
    pub(crate) text: String,
}

impl SqlError {
    /// An error that is not SQLite's.
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self {
            code: ffi::SQLITE_ERROR,
            text: text.into(),
        }
    }
}

impl<'a> Db<'a> {
    /// # Safety
    /// `db` must be an open connection that this thread may use for all of `'a`.
    pub(crate) unsafe fn new(db: NonNull<ffi::sqlite3>) -> Self {
        Self {
            db,
            call: PhantomData,
        }
    }

    pub(crate) fn as_ptr(self) -> *mut ffi::sqlite3 {
        self.db.as_ptr()
    }

    /// Runs SQL, and returns the first column of all its rows.
    pub(crate) fn first_column(self, sql: &str) -> Result<Vec<Option<String>>, SqlError> {
        let sql = CString::new(sql).map_err(|_| SqlError::new("the SQL text has a NUL in it"))?;
        let mut rows: Vec<Option<String>> = Vec::new();
        let mut message = ptr::null_mut();
        // SAFETY: an open connection, a C string, and the callback's argument.
        let code = unsafe {
            ffi::sqlite3_exec(
                self.db.as_ptr(),
                sql.as_ptr(),
                Some(take_first),
                ptr::from_mut(&mut rows).cast(),
                &mut message,
            )
        };
        if code == ffi::SQLITE_OK {
            return Ok(rows);
        }
        let text = if message.is_null() {
            "out of memory".to_owned()
        } else {
            // SAFETY: a message is a C string, which is ours to free.
            unsafe {
                let text = CStr::from_ptr(message).to_string_lossy().into_owned();
                ffi::sqlite3_free(message.cast());
                text
            }
        };
        Err(SqlError { code, text })
    }
}

/// # Safety
/// `sqlite3_exec` must call it, with a `Vec<Option<String>>` as its argument.
unsafe extern "C" fn take_first(
    rows: *mut c_void,
    columns: c_int,
    values: *mut *mut c_char,
    _names: *mut *mut c_char,
) -> c_int {
    let taken = catch_unwind(AssertUnwindSafe(|| {
        let value = if columns > 0 {
            // SAFETY: as many values as columns, each NULL or a C string.
            unsafe {
                let value = *values;
                (!value.is_null()).then(|| CStr::from_ptr(value).to_string_lossy().into_owned())
            }
        } else {
            None
        };
        // SAFETY: the argument is what `first_column` passes.
        unsafe { (*rows.cast::<Vec<Option<String>>>()).push(value) };
    }));
    // Anything but 0 ends the statement.
    c_int::from(taken.is_err())
}
