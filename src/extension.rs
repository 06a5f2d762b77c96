//! The loadable extension, for every program that uses SQLite and can load one.
//!
//! ```text
//! cargo rustc --release --lib --crate-type cdylib --no-default-features --features loadable-extension
//! ```
//!
//! makes `target/release/libpageseal.so` (`.dylib`, `pageseal.dll`). It links no
//! SQLite: it uses the one that loads it, which must be 3.39 or later. Loading it
//!
//! - registers the VFS `pageseal` and makes it the **default** one, so that every
//!   database that is opened later goes through it: encrypted ones with `PRAGMA key`
//!   or `?key=` in the URI, plaintext ones as before;
//! - provides the SQL functions on the connection that loads it and on all that are
//!   opened later in the process.
//!
//! Both stay until the process ends, also when the connection that loaded it is
//! closed. A database that was open before is not touched: open it again.
//!
//! Two entry points leave a choice. Without a name SQLite takes the first.
//!
//! | entry point | the VFS is |
//! |---|---|
//! | `sqlite3_extension_init`, `sqlite3_pageseal_init` | the default |
//! | `sqlite3_pageseal_register_init` | there under its name, for `?vfs=pageseal` in a URI |
//!
//! Loaded again, on another connection, it changes nothing (but it becomes the
//! default if that is asked for now and had not been before); so a VFS that another
//! extension has put on top of it stays on top.

#![allow(unsafe_code)]

use core::ffi::{c_char, c_int};
use core::ptr::NonNull;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use crate::functions;
use crate::registration::{Registration, VFS_NAME_C};
use crate::sys::{self as ffi, table};
use crate::vfs::{self, Db};

/// What loading has done so far in this process.
struct Done {
    loaded: bool,
    made_default: bool,
}

static DONE: Mutex<Done> = Mutex::new(Done {
    loaded: false,
    made_default: false,
});

/// Registers VFS and functions, and returns a result code.
fn load(db: Db<'_>, make_default: bool) -> Result<c_int, String> {
    let mut done = DONE.lock().unwrap_or_else(PoisonError::into_inner);
    // Once, or the default would be taken from a VFS that was registered since;
    // and again after sqlite3_shutdown, which restores the platform's.
    let make_default = make_default && (!done.made_default || vfs::base_is_default(VFS_NAME_C));
    let registration = Registration::new();
    let registration = if make_default {
        registration.make_default()
    } else {
        registration
    };
    registration.register().map_err(|error| error.to_string())?;
    done.made_default |= make_default;
    let code = functions::add(db);
    if code != ffi::SQLITE_OK {
        return Err(format!("SQLite refused an SQL function (code {code})"));
    }
    // SQLite must never unload us, which it learns from this code. It takes it
    // for success only here, not in auto-extensions; once is enough.
    let first = !core::mem::replace(&mut done.loaded, true);
    Ok(if first {
        ffi::SQLITE_OK_LOAD_PERMANENTLY
    } else {
        ffi::SQLITE_OK
    })
}

/// # Safety
/// The arguments must be those of an extension's entry point.
unsafe fn entry(
    db: *mut ffi::sqlite3,
    message: *mut *mut c_char,
    api: *const ffi::sqlite3_api_routines,
    make_default: bool,
) -> c_int {
    let result = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: the caller's promise.
        unsafe { table::install(api) }.map_err(|error| error.to_string())?;
        let db = NonNull::new(db).ok_or_else(|| "no connection".to_owned())?;
        // SAFETY: the connection that loads us, for the length of the call.
        load(unsafe { Db::new(db) }, make_default)
    }))
    .unwrap_or_else(|_| Err("internal error".to_owned()));
    match result {
        Ok(code) => code,
        Err(text) => {
            // SAFETY: message is NULL or takes a text, which SQLite frees.
            unsafe {
                if !message.is_null() {
                    *message = table::message(api, &format!("pageseal: {text}"));
                }
            }
            ffi::SQLITE_ERROR
        }
    }
}

/// The entry point that SQLite looks for first: the VFS becomes the default one.
///
/// # Safety
/// Only SQLite may call it, as an extension's entry point.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn sqlite3_extension_init(
    db: *mut ffi::sqlite3,
    message: *mut *mut c_char,
    api: *const ffi::sqlite3_api_routines,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { entry(db, message, api, true) }
}

/// The same under the name that SQLite makes of the file's.
///
/// # Safety
/// As for [`sqlite3_extension_init`].
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn sqlite3_pageseal_init(
    db: *mut ffi::sqlite3,
    message: *mut *mut c_char,
    api: *const ffi::sqlite3_api_routines,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { entry(db, message, api, true) }
}

/// Registers the VFS under its name only, and leaves the default as it is.
///
/// # Safety
/// As for [`sqlite3_extension_init`].
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn sqlite3_pageseal_register_init(
    db: *mut ffi::sqlite3,
    message: *mut *mut c_char,
    api: *const ffi::sqlite3_api_routines,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { entry(db, message, api, false) }
}
