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
        let rows = self.rows(sql)?;
        let first = |row: Vec<Option<String>>| row.into_iter().next().flatten();
        Ok(rows.into_iter().map(first).collect())
    }

    /// Runs SQL, and returns all its rows.
    pub(crate) fn rows(self, sql: &str) -> Result<Vec<Vec<Option<String>>>, SqlError> {
        let sql = CString::new(sql).map_err(|_| SqlError::new("the SQL text has a NUL in it"))?;
        let mut rows: Vec<Vec<Option<String>>> = Vec::new();
        let mut message = ptr::null_mut();
        // SAFETY: an open connection, a C string, and the callback's argument.
        let code = unsafe {
            ffi::sqlite3_exec(
                self.db.as_ptr(),
                sql.as_ptr(),
                Some(take_row),
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

    /// Whether no transaction is open.
    pub(crate) fn is_autocommit(self) -> bool {
        // SAFETY: an open connection.
        unsafe { ffi::sqlite3_get_autocommit(self.db.as_ptr()) != 0 }
    }

    /// What `last_insert_rowid()` returns.
    pub(crate) fn last_insert_rowid(self) -> i64 {
        // SAFETY: an open connection.
        unsafe { ffi::sqlite3_last_insert_rowid(self.db.as_ptr()) }
    }

    /// Sets what `last_insert_rowid()` returns.
    pub(crate) fn set_last_insert_rowid(self, rowid: i64) {
        // SAFETY: an open connection.
        unsafe { ffi::sqlite3_set_last_insert_rowid(self.db.as_ptr(), rowid) }
    }

    /// Whether a switch is on.
    pub(crate) fn switch(self, switch: Switch) -> Result<bool, SqlError> {
        self.db_switch(switch, -1)
    }

    /// Turns a switch on or off; within a transaction, too.
    pub(crate) fn set_switch(self, switch: Switch, on: bool) -> Result<(), SqlError> {
        self.db_switch(switch, c_int::from(on)).map(drop)
    }

    fn db_switch(self, switch: Switch, on: c_int) -> Result<bool, SqlError> {
        let mut now = 0;
        // SAFETY: an open connection; all switches take these arguments.
        let code = unsafe { ffi::db_switch(self.db.as_ptr(), switch as c_int, on, &mut now) };
        if code == ffi::SQLITE_OK {
            return Ok(now != 0);
        }
        Err(SqlError {
            code,
            text: format!("SQLite does not know the switch {}", switch as c_int),
        })
    }
}

/// A switch of a connection that can be thrown at any time.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Switch {
    /// The schema table and shadow tables can't be written.
    Defensive = ffi::SQLITE_DBCONFIG_DEFENSIVE as isize,
    /// A name in double quotes that is none is a text, also in a definition.
    DoubleQuotedText = ffi::SQLITE_DBCONFIG_DQS_DDL as isize,
    /// Foreign keys are enforced.
    ForeignKeys = ffi::SQLITE_DBCONFIG_ENABLE_FKEY as isize,
    /// The schema table can be written.
    WritableSchema = ffi::SQLITE_DBCONFIG_WRITABLE_SCHEMA as isize,
}

/// # Safety
/// `sqlite3_exec` must call it, with a `Vec<Vec<Option<String>>>` as its argument.
unsafe extern "C" fn take_row(
    rows: *mut c_void,
    columns: c_int,
    values: *mut *mut c_char,
    _names: *mut *mut c_char,
) -> c_int {
    let taken = catch_unwind(AssertUnwindSafe(|| {
        let columns = usize::try_from(columns).unwrap_or(0);
        // SAFETY: as many values as columns, each NULL or a C string.
        let value = |column| unsafe {
            let value: *mut c_char = *values.add(column);
            (!value.is_null()).then(|| CStr::from_ptr(value).to_string_lossy().into_owned())
        };
        let row = (0..columns).map(value).collect();
        // SAFETY: the argument is what `rows` passes.
        unsafe { (*rows.cast::<Vec<Vec<Option<String>>>>()).push(row) };
    }));
    // Anything but 0 ends the statement.
    c_int::from(taken.is_err())
}
