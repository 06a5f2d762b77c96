//! Functions of SQLite's C interface: linked, or out of an extension's table.

use core::ffi::{c_char, c_int, c_uchar, c_uint, c_void};

use super::types::*;

/// Declares functions. The number before each is its place in SQLite's
/// `struct sqlite3_api_routines` (`sqlite3ext.h`), counted from 0; places never
/// change, and a test compares each with the table of the SQLite it runs on.
macro_rules! functions {
    ($($slot:literal fn $name:ident($($arg:ident: $type:ty),* $(,)?) $(-> $result:ty)?;)*) => {
        #[cfg(not(feature = "loadable-extension"))]
        unsafe extern "C" {
            $(pub(crate) fn $name($($arg: $type),*) $(-> $result)?;)*
        }

        $(
            #[cfg(feature = "loadable-extension")]
            pub(crate) unsafe extern "C" fn $name($($arg: $type),*) $(-> $result)? {
                // SAFETY: the function in that slot has this type; what it asks of
                // its arguments, our caller has promised.
                unsafe {
                    let function: unsafe extern "C" fn($($type),*) $(-> $result)? =
                        core::mem::transmute(super::table::function($slot));
                    function($($arg),*)
                }
            }
        )*

        /// The table's slots that must not be empty.
        #[cfg(feature = "loadable-extension")]
        pub(super) const SLOTS: &[(usize, &str)] =
            &[
                $(($slot, stringify!($name)),)*
                (DB_CONFIG, "sqlite3_db_config"),
                (LOG, "sqlite3_log"),
                (VTAB_CONFIG, "sqlite3_vtab_config"),
            ];

        /// Slot and address of every function.
        #[cfg(all(test, feature = "linked"))]
        pub(super) fn linked() -> Vec<(usize, &'static str, usize)> {
            vec![
                $(($slot, stringify!($name), $name as *const () as usize),)*
                (DB_CONFIG, "sqlite3_db_config", sqlite3_db_config as *const () as usize),
                (LOG, "sqlite3_log", sqlite3_log as *const () as usize),
                (VTAB_CONFIG, "sqlite3_vtab_config", sqlite3_vtab_config as *const () as usize),
            ]
        }
    };
}

functions! {
    // Memory and text.
    58 fn sqlite3_free(memory: *mut c_void);
    197 fn sqlite3_malloc64(bytes: u64) -> *mut c_void;

    // VFSes, and the names that they are given.
    127 fn sqlite3_file_control(
        db: *mut sqlite3,
        schema: *const c_char,
        op: c_int,
        arg: *mut c_void,
    ) -> c_int;
    249 fn sqlite3_create_filename(
        database: *const c_char,
        journal: *const c_char,
        log: *const c_char,
        parameters: c_int,
        names_and_values: *mut *const c_char,
    ) -> sqlite3_filename;
    250 fn sqlite3_free_filename(name: sqlite3_filename);
    141 fn sqlite3_vfs_find(name: *const c_char) -> *mut sqlite3_vfs;
    142 fn sqlite3_vfs_register(vfs: *mut sqlite3_vfs, make_default: c_int) -> c_int;
    187 fn sqlite3_uri_boolean(
        name: sqlite3_filename,
        parameter: *const c_char,
        otherwise: c_int,
    ) -> c_int;
    189 fn sqlite3_uri_parameter(
        name: sqlite3_filename,
        parameter: *const c_char,
    ) -> *const c_char;
    245 fn sqlite3_uri_key(name: sqlite3_filename, n: c_int) -> *const c_char;
    247 fn sqlite3_filename_journal(name: sqlite3_filename) -> *const c_char;
    248 fn sqlite3_filename_wal(name: sqlite3_filename) -> *const c_char;

    // Connections and statements.
    60 fn sqlite3_get_autocommit(db: *mut sqlite3) -> c_int;
    181 fn sqlite3_db_readonly(db: *mut sqlite3, schema: *const c_char) -> c_int;
    180 fn sqlite3_db_filename(db: *mut sqlite3, schema: *const c_char) -> sqlite3_filename;
    116 fn sqlite3_prepare_v2(
        db: *mut sqlite3,
        sql: *const c_char,
        bytes: c_int,
        statement: *mut *mut sqlite3_stmt,
        tail: *mut *const c_char,
    ) -> c_int;
    94 fn sqlite3_step(statement: *mut sqlite3_stmt) -> c_int;
    36 fn sqlite3_column_text(statement: *mut sqlite3_stmt, column: c_int) -> *const c_uchar;
    57 fn sqlite3_finalize(statement: *mut sqlite3_stmt) -> c_int;
    53 fn sqlite3_errmsg(db: *mut sqlite3) -> *const c_char;
    183 fn sqlite3_errstr(code: c_int) -> *const c_char;
    55 fn sqlite3_exec(
        db: *mut sqlite3,
        sql: *const c_char,
        callback: ExecCallback,
        argument: *mut c_void,
        message: *mut *mut c_char,
    ) -> c_int;
    65 fn sqlite3_last_insert_rowid(db: *mut sqlite3) -> i64;
    216 fn sqlite3_set_last_insert_rowid(db: *mut sqlite3, rowid: i64);
    152 fn sqlite3_next_stmt(db: *mut sqlite3, after: *mut sqlite3_stmt) -> *mut sqlite3_stmt;
    153 fn sqlite3_sql(statement: *mut sqlite3_stmt) -> *const c_char;
    184 fn sqlite3_stmt_busy(statement: *mut sqlite3_stmt) -> c_int;
    215 fn sqlite3_expanded_sql(statement: *mut sqlite3_stmt) -> *mut c_char;
    214 fn sqlite3_trace_v2(
        db: *mut sqlite3,
        mask: c_uint,
        callback: Trace,
        argument: *mut c_void,
    ) -> c_int;
    264 fn sqlite3_db_name(db: *mut sqlite3, n: c_int) -> *const c_char;

    // SQL functions and virtual tables.
    50 fn sqlite3_declare_vtab(db: *mut sqlite3, sql: *const c_char) -> c_int;
    80 fn sqlite3_result_error(context: *mut sqlite3_context, text: *const c_char, len: c_int);
    83 fn sqlite3_result_int64(context: *mut sqlite3_context, value: i64);
    84 fn sqlite3_result_null(context: *mut sqlite3_context);
    101 fn sqlite3_user_data(context: *mut sqlite3_context) -> *mut c_void;
    103 fn sqlite3_value_bytes(value: *mut sqlite3_value) -> c_int;
    109 fn sqlite3_value_text(value: *mut sqlite3_value) -> *const c_uchar;
    119 fn sqlite3_create_module_v2(
        db: *mut sqlite3,
        name: *const c_char,
        module: *const sqlite3_module,
        aux: *mut c_void,
        destroy: Destructor,
    ) -> c_int;
    146 fn sqlite3_result_error_code(context: *mut sqlite3_context, code: c_int);
    149 fn sqlite3_context_db_handle(context: *mut sqlite3_context) -> *mut sqlite3;
    162 fn sqlite3_create_function_v2(
        db: *mut sqlite3,
        name: *const c_char,
        arguments: c_int,
        flags: c_int,
        app: *mut c_void,
        function: Function,
        step: Function,
        last: Option<unsafe extern "C" fn(*mut sqlite3_context)>,
        destroy: Destructor,
    ) -> c_int;
    192 fn sqlite3_auto_extension(entry: Option<EntryPoint>) -> c_int;
    202 fn sqlite3_result_text64(
        context: *mut sqlite3_context,
        text: *const c_char,
        len: u64,
        destroy: Destructor,
        encoding: c_uchar,
    );
}

// Functions of any number of arguments, which a macro can't pass on.

#[cfg(any(test, feature = "loadable-extension"))]
const DB_CONFIG: usize = 163;
#[cfg(any(test, feature = "loadable-extension"))]
const LOG: usize = 167;
#[cfg(any(test, feature = "loadable-extension"))]
const VTAB_CONFIG: usize = 177;

#[cfg(not(feature = "loadable-extension"))]
unsafe extern "C" {
    fn sqlite3_db_config(db: *mut sqlite3, op: c_int, ...) -> c_int;
    fn sqlite3_log(code: c_int, format: *const c_char, ...);
    fn sqlite3_vtab_config(db: *mut sqlite3, op: c_int, ...) -> c_int;
    fn sqlite3_initialize() -> c_int;
}

/// Writes a line to SQLite's error log (`SQLITE_CONFIG_LOG`).
///
/// # Safety
/// `text` must be a C string.
pub(crate) unsafe fn log(code: c_int, text: *const c_char) {
    let format = c"%s".as_ptr();
    #[cfg(not(feature = "loadable-extension"))]
    // SAFETY: the format takes one C string, and gets one.
    unsafe {
        sqlite3_log(code, format, text);
    }
    #[cfg(feature = "loadable-extension")]
    // SAFETY: the function in that slot has this type; the format as above.
    unsafe {
        let function: unsafe extern "C" fn(c_int, *const c_char, ...) =
            core::mem::transmute(super::table::function(LOG));
        function(code, format, text);
    }
}

/// Sets an option, one without arguments, of the virtual table whose `xConnect` is
/// running.
///
/// # Safety
/// `db` must be that table's connection.
pub(crate) unsafe fn vtab_option(db: *mut sqlite3, option: c_int) -> c_int {
    #[cfg(not(feature = "loadable-extension"))]
    // SAFETY: the caller's promise.
    unsafe {
        sqlite3_vtab_config(db, option)
    }
    #[cfg(feature = "loadable-extension")]
    // SAFETY: the function in that slot has this type; db is the caller's promise.
    unsafe {
        let function: unsafe extern "C" fn(*mut sqlite3, c_int, ...) -> c_int =
            core::mem::transmute(super::table::function(VTAB_CONFIG));
        function(db, option)
    }
}

/// Turns a switch of a connection on (1) or off (0), or leaves it (-1), and writes
/// what it is then to `now`.
///
/// # Safety
/// `db` must be an open connection, and `op` one of the `SQLITE_DBCONFIG_*` that take
/// these arguments.
pub(crate) unsafe fn db_switch(db: *mut sqlite3, op: c_int, on: c_int, now: &mut c_int) -> c_int {
    let now: *mut c_int = now;
    #[cfg(not(feature = "loadable-extension"))]
    // SAFETY: the caller's promise.
    unsafe {
        sqlite3_db_config(db, op, on, now)
    }
    #[cfg(feature = "loadable-extension")]
    // SAFETY: the function in that slot has this type; the caller's promise.
    unsafe {
        let function: unsafe extern "C" fn(*mut sqlite3, c_int, ...) -> c_int =
            core::mem::transmute(super::table::function(DB_CONFIG));
        function(db, op, on, now)
    }
}

/// Makes sure that SQLite is initialised: whoever has loaded an extension has done
/// that (and the table has no such function).
pub(crate) fn initialize() -> c_int {
    #[cfg(not(feature = "loadable-extension"))]
    // SAFETY: may be called at any time, from any thread.
    unsafe {
        sqlite3_initialize()
    }
    #[cfg(feature = "loadable-extension")]
    super::constants::SQLITE_OK
}

/// The constant `SQLITE_TRANSIENT`: SQLite copies what it is given.
pub(crate) fn transient() -> Destructor {
    // SAFETY: a function pointer that is never called; SQLite compares it.
    unsafe { core::mem::transmute::<isize, Destructor>(-1) }
}
