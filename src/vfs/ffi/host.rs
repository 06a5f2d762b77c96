//! Calls up into SQLite: its log, URI parameters, the connection behind a file
//! and the statement that it is running.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr::{self, NonNull};
use std::ffi::CString;
use std::sync::Arc;

use zeroize::{Zeroize, Zeroizing};

use crate::error::Failure;
use crate::pragma::log::{LogLevel, LogSource};
use crate::pragma::{attach, log_output, sql};
use crate::session::Session;
use crate::sys as ffi;

use super::super::code::{self, Code, Result};
use super::super::database::{NewShape, SideNames};
use super::super::lower::SideName;
use super::control;
use super::db::Db;

/// Writes a line to SQLite's error log (`SQLITE_CONFIG_LOG`), and to where
/// `cipher_log` sends it.
pub(crate) fn log(code: c_int, message: &str) {
    log_at(LogLevel::Error, code, message);
}

/// As [`log`], of what is probably not meant, but no error.
pub(super) fn warn(message: &str) {
    log_at(LogLevel::Warn, ffi::SQLITE_WARNING, message);
}

fn log_at(level: LogLevel, code: c_int, message: &str) {
    log_output::write(level, LogSource::Core, message);
    let message = c_string(message);
    // SAFETY: a C string.
    unsafe { ffi::log(code, message.as_ptr()) }
}

/// Records a failure, logs it, and gives its code as an error.
pub(crate) fn fail<T>(session: &Session, failure: Failure) -> Result<T> {
    let code = code::of_failure(&failure);
    log(code.0, &format!("pageseal: {failure}"));
    session.fail(failure);
    Err(code)
}

/// A C string; what follows a NUL is cut.
fn c_string(text: &str) -> CString {
    let text = text.split('\0').next().unwrap_or_default();
    CString::new(text).unwrap_or_default()
}

/// A name and value of a URI, copied; values may hold keys.
pub(super) type Parameters = Vec<(Vec<u8>, Zeroizing<Vec<u8>>)>;

/// The parameters of a database's URI.
///
/// # Safety
/// `name` must be NULL or a database name as SQLite passes it to `xOpen`.
pub(super) unsafe fn uri_parameters(name: ffi::sqlite3_filename) -> Parameters {
    let mut parameters = Parameters::new();
    if name.is_null() {
        return parameters;
    }
    for n in 0.. {
        // SAFETY: such a name is followed by its parameters.
        let (key, value) = unsafe {
            let key = ffi::sqlite3_uri_key(name, n);
            if key.is_null() {
                break;
            }
            (key, ffi::sqlite3_uri_parameter(name, key))
        };
        // SAFETY: both are C strings in that name.
        let bytes = |text: *const c_char| unsafe { CStr::from_ptr(text) }.to_bytes().to_vec();
        if !value.is_null() {
            parameters.push((bytes(key), Zeroizing::new(bytes(value))));
        }
    }
    parameters
}

/// The names of a database's journal and log. They live as long as the file.
///
/// # Safety
/// As for [`uri_parameters`].
pub(super) unsafe fn side_names(name: ffi::sqlite3_filename) -> SideNames {
    let name_of = |get: unsafe extern "C" fn(ffi::sqlite3_filename) -> *const c_char| {
        if name.is_null() {
            return None;
        }
        // SAFETY: such a name is followed by those of journal and log, which SQLite
        // keeps until after the file is closed.
        unsafe {
            let name = get(name);
            (!name.is_null()).then(|| SideName::new(CStr::from_ptr(name)))
        }
    };
    SideNames {
        journal: name_of(ffi::sqlite3_filename_journal),
        log: name_of(ffi::sqlite3_filename_wal),
    }
}

/// The connection that a database file is open for.
///
/// SQLite gives the address of its own pointer to the connection, and that
/// pointer is right at any moment at which it calls a method of the file, also
/// where several connections share a cache.
#[derive(Clone, Copy)]
pub(crate) struct Host(Option<NonNull<*mut ffi::sqlite3>>);

// SAFETY: only followed while SQLite calls a method of the file, from the thread
// that holds the connection's mutex.
unsafe impl Send for Host {}

impl Host {
    /// Not known yet.
    pub(crate) const fn none() -> Self {
        Self(None)
    }

    /// # Safety
    /// `arg` must be the argument of `SQLITE_FCNTL_PDB`.
    pub(super) unsafe fn from_pdb(arg: *mut c_void) -> Self {
        Self(NonNull::new(arg.cast()))
    }

    pub(super) fn db(self) -> Option<NonNull<ffi::sqlite3>> {
        // SAFETY: see the type; the pointer lives as long as the file.
        self.0.and_then(|db| NonNull::new(unsafe { db.read() }))
    }

    /// Calls `f` with the name of each schema, as long as it returns `None`.
    fn find_schema<T>(self, mut f: impl FnMut(&CStr) -> Option<T>) -> Option<T> {
        let db = self.db()?;
        for n in 0.. {
            // SAFETY: the connection is open; past the last schema comes NULL.
            let name = unsafe {
                let name = ffi::sqlite3_db_name(db.as_ptr(), n);
                if name.is_null() {
                    return None;
                }
                CStr::from_ptr(name)
            };
            if let Some(found) = f(name) {
                return Some(found);
            }
        }
        None
    }

    /// Whether this is the connection's main database.
    pub(super) fn is_main(self, file: *mut ffi::sqlite3_file) -> bool {
        self.schema_of(file)
            .is_some_and(|name| name.as_c_str() == c"main")
    }

    /// The schema whose database file is this one. (A shim above ours has a file
    /// of its own, so files can't be compared; the question reaches us through it.)
    pub(super) fn schema_of(self, file: *mut ffi::sqlite3_file) -> Option<CString> {
        self.find_schema(|name| {
            let mut who: usize = 0;
            self.control(name, control::OP_WHO, ptr::from_mut(&mut who).cast())
                .ok()?;
            (who == file as usize).then(|| name.to_owned())
        })
    }

    fn control(self, schema: &CStr, op: c_int, arg: *mut c_void) -> Result {
        let db = self.db().ok_or(Code::ERROR)?;
        // SAFETY: an open connection, a C string, and the argument of that op.
        Code::check(unsafe { ffi::sqlite3_file_control(db.as_ptr(), schema.as_ptr(), op, arg) })
    }

    /// Tells SQLite how many bytes a page of a new database we need and how large
    /// its pages are, and checks that it took that.
    pub(super) fn shape_new_database(
        self,
        file: *mut ffi::sqlite3_file,
        shape: NewShape,
    ) -> Result {
        if self.attach_is_running() {
            return Ok(());
        }
        let Some(schema) = self.schema_of(file) else {
            // Not opened by a connection; page 1 will be checked when it comes.
            return Ok(());
        };
        if self.reserve(&schema, shape.reserve)? < shape.reserve {
            return Err(Code::NO_MEMORY);
        }
        match shape.page_size {
            Some(page_size) => self.page_size(&schema, page_size),
            None => Ok(()),
        }
    }

    /// Tells SQLite how large the pages of a database are that it has just locked for the
    /// first time. Where it does not listen it finds out by itself.
    pub(super) fn hint_page_size(self, file: *mut ffi::sqlite3_file, page_size: usize) {
        if self.attach_is_running() {
            return;
        }
        if let Some(schema) = self.schema_of(file) {
            let _ = self.page_size(&schema, page_size);
            // SQLite keeps the number for the next VACUUM, of whichever schema that is:
            // 0 takes it back, and changes no size.
            let _ = self.page_size(&schema, 0);
        }
    }

    fn page_size(self, schema: &CStr, page_size: usize) -> Result {
        let db = self.db().ok_or(Code::ERROR)?;
        // While SQLite reads a schema it takes no qualified name, and an
        // unqualified one means main. An attached database is locked again before
        // anything is written to it, then outside of that; and were its page size
        // still another, page 1 would be refused.
        let is_main = schema == c"main";
        let mut sql = b"PRAGMA ".to_vec();
        if !is_main {
            sql.extend_from_slice(&sql::quote_name(schema.to_bytes()));
            sql.push(b'.');
        }
        sql.extend_from_slice(format!("page_size={page_size}").as_bytes());
        let sql = CString::new(sql).map_err(|_| Code::ERROR)?;
        // SAFETY: an open connection and a C string; no callback, no message.
        let code = unsafe {
            ffi::sqlite3_exec(
                db.as_ptr(),
                sql.as_ptr(),
                None,
                ptr::null_mut(),
                ptr::null_mut(),
            )
        };
        if is_main { Code::check(code) } else { Ok(()) }
    }

    /// Sets the reserve and reads back what SQLite keeps.
    fn reserve(self, schema: &CStr, bytes: usize) -> Result<usize> {
        let op = ffi::SQLITE_FCNTL_RESERVE_BYTES;
        let mut wanted = c_int::try_from(bytes).map_err(|_| Code::ERROR)?;
        self.control(schema, op, ptr::from_mut(&mut wanted).cast())?;
        let mut kept: c_int = -1;
        self.control(schema, op, ptr::from_mut(&mut kept).cast())?;
        Ok(usize::try_from(kept).unwrap_or(0))
    }

    /// Calls `f` with each statement that is being run, newest first, as long as
    /// it returns `None`.
    fn find_running<T>(
        self,
        mut f: impl FnMut(NonNull<ffi::sqlite3_stmt>) -> Option<T>,
    ) -> Option<T> {
        let db = self.db()?;
        let mut statement = ptr::null_mut();
        loop {
            // SAFETY: an open connection, and NULL or one of its statements.
            statement = unsafe { ffi::sqlite3_next_stmt(db.as_ptr(), statement) };
            let now = NonNull::new(statement)?;
            // SAFETY: a statement of an open connection.
            if unsafe { ffi::sqlite3_stmt_busy(statement) } != 0
                && let Some(found) = f(now)
            {
                return Some(found);
            }
        }
    }

    /// Whether a statement besides the one that is ending is being run. (Asking does
    /// not lead back to a file.)
    pub(crate) fn reads_on(self) -> bool {
        let mut others = 0;
        self.find_running(|_| {
            others += 1;
            (others > 1).then_some(())
        })
        .is_some()
    }

    /// The text of an ATTACH that is being run, as it was written.
    fn find_attach<T>(self, f: impl Fn(NonNull<ffi::sqlite3_stmt>) -> T) -> Option<T> {
        self.find_running(|statement| {
            let sql = statement_text(statement)?;
            attach::is_attach(sql.to_bytes()).then(|| f(statement))
        })
    }

    /// Whether an ATTACH is being run.
    pub(super) fn attach_is_running(self) -> bool {
        self.find_attach(|_| ()).is_some()
    }

    /// The text of the running ATTACH with bound values in their places, if one
    /// is running; `Some(None)` where memory is short.
    pub(super) fn attach_text(self) -> Option<Option<Zeroizing<Vec<u8>>>> {
        self.find_attach(|statement| {
            // SAFETY: a statement of an open connection; the text is ours to free.
            unsafe {
                let text = ffi::sqlite3_expanded_sql(statement.as_ptr());
                if text.is_null() {
                    return None;
                }
                let copy = Zeroizing::new(CStr::from_ptr(text).to_bytes().to_vec());
                core::slice::from_raw_parts_mut(text.cast::<u8>(), copy.len()).zeroize();
                ffi::sqlite3_free(text.cast());
                Some(copy)
            }
        })
    }

    /// The session that a database attached without a key inherits from, if that
    /// is ours: main's; or, where it is VACUUM that attaches its copy, the one of
    /// the database that is being vacuumed.
    pub(super) fn heritage(self) -> Option<Arc<Session>> {
        let vacuumed = self.find_running(|statement| {
            let sql = statement_text(statement)?;
            let schema = attach::vacuumed_schema(sql.to_bytes())?;
            CString::new(schema).ok()
        });
        self.session(vacuumed.as_deref().unwrap_or(c"main"))
    }

    /// Whether the connection is outside of any transaction.
    pub(super) fn is_autocommit(self) -> bool {
        // SAFETY: an open connection.
        self.db()
            .is_none_or(|db| unsafe { ffi::sqlite3_get_autocommit(db.as_ptr()) } != 0)
    }

    /// Whether a database was opened, or can only be opened, for reading.
    pub(super) fn is_read_only(self, schema: &CStr) -> bool {
        // SAFETY: an open connection and a C string.
        self.db()
            .is_none_or(|db| unsafe { ffi::sqlite3_db_readonly(db.as_ptr(), schema.as_ptr()) == 1 })
    }

    /// Runs a statement, and returns the first column of its first row as text.
    pub(super) fn query(self, sql: &[u8]) -> Result<Option<String>> {
        let db = self.db().ok_or(Code::ERROR)?;
        let len = c_int::try_from(sql.len()).map_err(|_| Code::ERROR)?;
        let mut statement = ptr::null_mut();
        // SAFETY: an open connection and len bytes of text; the statement is
        // finalised below on every way out, and its text copied before that.
        unsafe {
            Code::check(ffi::sqlite3_prepare_v2(
                db.as_ptr(),
                sql.as_ptr().cast(),
                len,
                &mut statement,
                ptr::null_mut(),
            ))?;
            let mut out = None;
            let mut code = ffi::sqlite3_step(statement);
            if code == ffi::SQLITE_ROW {
                let text = ffi::sqlite3_column_text(statement, 0);
                if !text.is_null() {
                    out = Some(CStr::from_ptr(text.cast()).to_string_lossy().into_owned());
                }
                while code == ffi::SQLITE_ROW {
                    code = ffi::sqlite3_step(statement);
                }
            }
            let finalised = ffi::sqlite3_finalize(statement);
            if code == ffi::SQLITE_DONE {
                Ok(out)
            } else {
                Err(Code(if finalised == ffi::SQLITE_OK {
                    code
                } else {
                    finalised
                }))
            }
        }
    }

    /// What SQLite says of the statement that has just failed.
    pub(super) fn message(self) -> String {
        let Some(db) = self.db() else {
            return String::new();
        };
        // SAFETY: an open connection; the message is a C string, copied at once.
        unsafe { CStr::from_ptr(ffi::sqlite3_errmsg(db.as_ptr())) }
            .to_string_lossy()
            .into_owned()
    }

    /// The path of a database's file, as SQLite has it.
    pub(super) fn path(self, schema: &CStr) -> Option<CString> {
        let db = self.db()?;
        // SAFETY: an open connection and a C string; the name is copied.
        unsafe {
            let name = ffi::sqlite3_db_filename(db.as_ptr(), schema.as_ptr());
            (!name.is_null()).then(|| CStr::from_ptr(name).to_owned())
        }
    }

    /// Has SQLite overwrite deleted content, as SQLCipher has for a keyed database.
    /// Returns whether that was possible: not while a schema is being read, when
    /// SQLite takes no qualified name.
    pub(super) fn secure_delete(self, file: *mut ffi::sqlite3_file) -> bool {
        let Some(schema) = self.schema_of(file) else {
            return false;
        };
        let schema = sql::quote_name(schema.to_bytes());
        let sql = [b"PRAGMA ".as_slice(), &schema, b".secure_delete=ON"].concat();
        self.query(&sql).is_ok()
    }

    /// Drops the pages that SQLite has cached of a database.
    pub(super) fn reset_cache(self, schema: &CStr) {
        // An older SQLite does not know it, and then notices by the header.
        let _ = self.control(schema, ffi::SQLITE_FCNTL_RESET_CACHE, ptr::null_mut());
    }

    /// The session of a database, if that is ours.
    pub(super) fn session(self, schema: &CStr) -> Option<Arc<Session>> {
        let mut out: *const Session = ptr::null();
        self.control(schema, control::OP_SESSION, ptr::from_mut(&mut out).cast())
            .ok()?;
        // SAFETY: OP_SESSION answers OK only with an owned reference.
        (!out.is_null()).then(|| unsafe { Arc::from_raw(out) })
    }
}

/// A statement's text as it was written.
fn statement_text<'a>(statement: NonNull<ffi::sqlite3_stmt>) -> Option<&'a CStr> {
    // SAFETY: a statement's text is NULL or a C string that lives as long as the
    // statement, which runs while it is looked at.
    unsafe {
        let sql = ffi::sqlite3_sql(statement.as_ptr());
        (!sql.is_null()).then(|| CStr::from_ptr(sql))
    }
}

/// Session of one of a connection's databases, if that is ours.
pub(crate) fn session_in(db: Db<'_>, schema: &str) -> Option<Arc<Session>> {
    let schema = CString::new(schema).ok()?;
    let mut db = db.as_ptr();
    Host(Some(NonNull::from(&mut db))).session(&schema)
}

/// Session of one of a connection's databases, if that is ours.
#[cfg(feature = "rusqlite")]
pub(crate) fn session_of(connection: &rusqlite::Connection, schema: &str) -> Option<Arc<Session>> {
    with_db(connection, |db| session_in(db, schema))
}

/// Whether a connection has a database of that name which is in no file of its own: in
/// memory, or temporary.
#[cfg(feature = "rusqlite")]
pub(crate) fn has_no_file(connection: &rusqlite::Connection, schema: &str) -> bool {
    let Ok(schema) = CString::new(schema) else {
        return false;
    };
    with_db(connection, |db| {
        let mut db = db.as_ptr();
        let host = Host(Some(NonNull::from(&mut db)));
        let known = host.find_schema(|name| (name == schema.as_c_str()).then_some(()));
        known.is_some() && host.path(&schema).is_none_or(|path| path.is_empty())
    })
}

/// Seals one of a connection's databases anew. The error is SQLite's code and what
/// was wrong.
#[cfg(feature = "rusqlite")]
pub(crate) fn rekey(
    connection: &rusqlite::Connection,
    schema: &CStr,
    key: Option<crate::secret::Key>,
    choice: crate::format::Choice,
) -> core::result::Result<(), (c_int, String)> {
    let mut request = control::RekeyRequest {
        wanted: Some((key, choice)),
        refusal: None,
    };
    let arg = ptr::from_mut(&mut request).cast();
    with_db(connection, |db| {
        let mut db = db.as_ptr();
        Host(Some(NonNull::from(&mut db))).control(schema, control::OP_REKEY, arg)
    })
    .map_err(|Code(code)| (code, request.refusal.take().unwrap_or_default()))
}

/// Calls `f` on a connection.
#[cfg(feature = "rusqlite")]
pub(crate) fn with_db<T>(connection: &rusqlite::Connection, f: impl FnOnce(Db<'_>) -> T) -> T {
    // SAFETY: an open connection, which is borrowed until `f` has returned, and is
    // not shared between threads.
    f(unsafe {
        Db::new(NonNull::new_unchecked(
            connection.handle().cast::<ffi::sqlite3>(),
        ))
    })
}

/// A copy of a text in memory that SQLite frees.
pub(crate) fn sqlite_string(text: &str) -> Result<*mut c_char> {
    let text = c_string(text);
    let bytes = text.as_bytes_with_nul();
    // SAFETY: as many bytes as asked for are written where the answer is not NULL.
    unsafe {
        let copy = ffi::sqlite3_malloc64(bytes.len() as u64).cast::<u8>();
        if copy.is_null() {
            return Err(Code::NO_MEMORY);
        }
        ptr::copy_nonoverlapping(bytes.as_ptr(), copy, bytes.len());
        Ok(copy.cast())
    }
}
