//! The methods of the VFS itself: `xOpen`, and the rest passed on.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr;
use std::sync::Arc;

use crate::pragma;
use crate::session::Session;
use crate::sys as ffi;

use super::super::code::{self, Code, Result};
use super::super::database::{Database, Opened};
use super::super::file::File;
use super::super::journal::Journal;
use super::super::kind::Kind;
use super::super::log::Log;
use super::super::lower::{LowerVfs, SideName};
use super::super::registry::{self, Owner};
use super::super::scratch::Scratch;
use super::host;
use super::io::{self, guard};

/// The VFS below the one that SQLite calls.
///
/// # Safety
/// `vfs` must be one of ours.
unsafe fn lower(vfs: *mut ffi::sqlite3_vfs) -> LowerVfs {
    // SAFETY: pAppData of our VFS points to its LowerVfs, which is never freed.
    unsafe { *(*vfs).pAppData.cast::<LowerVfs>() }
}

/// A VFS over `below`, named `name`, both of which live forever.
pub(super) fn table(below: &'static LowerVfs, name: &'static CStr) -> ffi::sqlite3_vfs {
    let lower = below.get();
    let version = lower.iVersion.min(3);
    // In a table of an older version these are not what their names say.
    let second = (version >= 2).then_some(lower);
    let third = (version >= 3).then_some(lower);
    ffi::sqlite3_vfs {
        iVersion: version,
        szOsFile: io::HANDLE_SIZE,
        mxPathname: lower.mxPathname,
        pNext: ptr::null_mut(),
        zName: name.as_ptr(),
        pAppData: ptr::from_ref(below).cast_mut().cast(),
        xOpen: Some(open),
        xDelete: Some(delete),
        xAccess: Some(access),
        xFullPathname: Some(full_pathname),
        xDlOpen: lower.xDlOpen.map(|_| dl_open as _),
        xDlError: lower.xDlError.map(|_| dl_error as _),
        xDlSym: lower.xDlSym.map(|_| dl_sym as _),
        xDlClose: lower.xDlClose.map(|_| dl_close as _),
        xRandomness: Some(randomness),
        xSleep: Some(sleep),
        xCurrentTime: Some(current_time),
        xGetLastError: Some(get_last_error),
        xCurrentTimeInt64: second
            .and_then(|lower| lower.xCurrentTimeInt64)
            .map(|_| current_time_int64 as _),
        xSetSystemCall: third
            .and_then(|lower| lower.xSetSystemCall)
            .map(|_| set_system_call as _),
        xGetSystemCall: third
            .and_then(|lower| lower.xGetSystemCall)
            .map(|_| get_system_call as _),
        xNextSystemCall: third
            .and_then(|lower| lower.xNextSystemCall)
            .map(|_| next_system_call as _),
    }
}

unsafe extern "C" fn open(
    vfs: *mut ffi::sqlite3_vfs,
    name: ffi::sqlite3_filename,
    out: *mut ffi::sqlite3_file,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    // SAFETY: SQLite gives szOsFile bytes; NULL methods mean that xClose is not
    // owed, which holds until `install`.
    unsafe { (*out).pMethods = ptr::null() };
    code::of(guard(|| {
        // SAFETY: SQLite passes our own VFS, and a name that it keeps until the
        // file is closed.
        let (file, flags) = unsafe { open_file(lower(vfs), name, flags)? };
        // SAFETY: out has room for a handle; out_flags is NULL or a place for the
        // flags.
        unsafe {
            io::install(out, file);
            if !out_flags.is_null() {
                *out_flags = flags;
            }
        }
        Ok(())
    }))
}

/// # Safety
/// `name` must be what SQLite passed to `xOpen`.
unsafe fn open_file(
    below: LowerVfs,
    name: ffi::sqlite3_filename,
    flags: c_int,
) -> Result<(File, c_int)> {
    let kind = Kind::of(flags);
    let mut opened = Opened::default();
    let session = match kind {
        Kind::Database => {
            let session = Arc::new(Session::default());
            // SAFETY: a database's name comes with its URI parameters.
            let parameters = unsafe { host::uri_parameters(name) };
            // SAFETY: as above, and SQLite keeps the name as long as the file.
            opened = unsafe { how_opened(below, name, flags) };
            if let Err(error) = pragma::configure_from_uri(&session, &parameters) {
                host::log(
                    ffi::SQLITE_CANTOPEN,
                    &format!("pageseal: the database's URI: {error}"),
                );
                return Err(Code::CANT_OPEN);
            }
            Some(session)
        }
        Kind::Journal | Kind::Log if !name.is_null() => {
            // SAFETY: not NULL, so a C string.
            match registry::owner(unsafe { CStr::from_ptr(name) }) {
                Owner::Session(session) => Some(session),
                Owner::Nobody => None,
                Owner::Ambiguous => {
                    host::log(
                        ffi::SQLITE_CANTOPEN,
                        "pageseal: a journal's database is open more than once and its name does not say which is meant",
                    );
                    return Err(Code::CANT_OPEN);
                }
            }
        }
        Kind::Journal | Kind::Log | Kind::Temporary | Kind::Raw => None,
    };
    // SAFETY: the name is SQLite's own.
    let (file, flags) = unsafe { below.open(name, flags)? };
    let file = match (kind, session) {
        (Kind::Database, Some(session)) => {
            // SAFETY: as above.
            let side = unsafe { host::side_names(name) };
            if !name.is_null() {
                // SAFETY: not NULL, so a C string.
                let path = unsafe { CStr::from_ptr(name) };
                registry::add(
                    &session,
                    path,
                    side.journal.map(SideName::as_c_str),
                    side.log.map(SideName::as_c_str),
                );
            }
            if flags & ffi::SQLITE_OPEN_READWRITE == 0 {
                // What can't be written to was not created either.
                opened.created = None;
            }
            File::Database(Database::new(file, below, session, side, opened))
        }
        (Kind::Journal, Some(session)) => File::Journal(Journal::new(file, session)),
        (Kind::Log, Some(session)) => File::Log(Log::new(file, session)),
        (Kind::Temporary, _) => File::Scratch(Scratch::new(file)?),
        _ => File::Raw(file),
    };
    Ok((file, flags))
}

/// What is to be remembered of how a database is opened, before that is done.
///
/// # Safety
/// `name` must be a database's, as SQLite passes it to `xOpen`.
unsafe fn how_opened(below: LowerVfs, name: ffi::sqlite3_filename, flags: c_int) -> Opened {
    let may_create = flags & ffi::SQLITE_OPEN_CREATE != 0 && !name.is_null();
    // SAFETY: not NULL, so a C string that SQLite keeps until the file is closed.
    let created = may_create.then(|| unsafe { SideName::new(CStr::from_ptr(name)) });
    // SAFETY: the caller's promise, and a C string.
    let is_on =
        |parameter: &CStr| unsafe { ffi::sqlite3_uri_boolean(name, parameter.as_ptr(), 0) != 0 };
    Opened {
        created: created.filter(|name| !below.is_writable(name.as_c_str())),
        nolock: is_on(c"nolock") || is_on(c"immutable"),
    }
}

/// Passes a call on to the lower VFS's method, or answers `$absent`.
macro_rules! pass {
    ($vfs:ident . $method:ident ( $($arg:expr),* ), absent $absent:expr) => {{
        // SAFETY: SQLite passes our own VFS.
        let below = unsafe { lower($vfs) };
        match below.get().$method {
            // SAFETY: SQLite's arguments, passed on as they are.
            Some(method) => unsafe { method(below.as_ptr(), $($arg),*) },
            None => $absent,
        }
    }};
}

unsafe extern "C" fn delete(
    vfs: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    sync_dir: c_int,
) -> c_int {
    if !name.is_null() {
        // SAFETY: SQLite passes a C string.
        let name = unsafe { CStr::from_ptr(name) };
        // SQLite deletes a log without valid frames when it closes; whether this one
        // has any, a connection with a wrong key does not decide.
        if name.to_bytes().ends_with(b"-wal")
            && let Owner::Session(session) = registry::owner(name)
            && session.codec().is_some()
            && !session.is_proved()
        {
            return ffi::SQLITE_IOERR_DELETE;
        }
    }
    pass!(vfs.xDelete(name, sync_dir), absent ffi::SQLITE_IOERR_DELETE)
}

unsafe extern "C" fn access(
    vfs: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    flags: c_int,
    out: *mut c_int,
) -> c_int {
    pass!(vfs.xAccess(name, flags, out), absent ffi::SQLITE_IOERR_ACCESS)
}

unsafe extern "C" fn full_pathname(
    vfs: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    len: c_int,
    out: *mut c_char,
) -> c_int {
    pass!(vfs.xFullPathname(name, len, out), absent ffi::SQLITE_CANTOPEN)
}

unsafe extern "C" fn dl_open(vfs: *mut ffi::sqlite3_vfs, name: *const c_char) -> *mut c_void {
    pass!(vfs.xDlOpen(name), absent ptr::null_mut())
}

unsafe extern "C" fn dl_error(vfs: *mut ffi::sqlite3_vfs, len: c_int, out: *mut c_char) {
    pass!(vfs.xDlError(len, out), absent());
}

unsafe extern "C" fn dl_sym(
    vfs: *mut ffi::sqlite3_vfs,
    library: *mut c_void,
    name: *const c_char,
) -> Option<ffi::Symbol> {
    pass!(vfs.xDlSym(library, name), absent None)
}

unsafe extern "C" fn dl_close(vfs: *mut ffi::sqlite3_vfs, library: *mut c_void) {
    pass!(vfs.xDlClose(library), absent());
}

unsafe extern "C" fn randomness(vfs: *mut ffi::sqlite3_vfs, len: c_int, out: *mut c_char) -> c_int {
    pass!(vfs.xRandomness(len, out), absent 0)
}

unsafe extern "C" fn sleep(vfs: *mut ffi::sqlite3_vfs, microseconds: c_int) -> c_int {
    pass!(vfs.xSleep(microseconds), absent 0)
}

unsafe extern "C" fn current_time(vfs: *mut ffi::sqlite3_vfs, out: *mut f64) -> c_int {
    pass!(vfs.xCurrentTime(out), absent ffi::SQLITE_ERROR)
}

unsafe extern "C" fn get_last_error(
    vfs: *mut ffi::sqlite3_vfs,
    len: c_int,
    out: *mut c_char,
) -> c_int {
    pass!(vfs.xGetLastError(len, out), absent 0)
}

unsafe extern "C" fn current_time_int64(vfs: *mut ffi::sqlite3_vfs, out: *mut i64) -> c_int {
    pass!(vfs.xCurrentTimeInt64(out), absent ffi::SQLITE_ERROR)
}

unsafe extern "C" fn set_system_call(
    vfs: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    call: ffi::sqlite3_syscall_ptr,
) -> c_int {
    pass!(vfs.xSetSystemCall(name, call), absent ffi::SQLITE_NOTFOUND)
}

unsafe extern "C" fn get_system_call(
    vfs: *mut ffi::sqlite3_vfs,
    name: *const c_char,
) -> ffi::sqlite3_syscall_ptr {
    pass!(vfs.xGetSystemCall(name), absent None)
}

unsafe extern "C" fn next_system_call(
    vfs: *mut ffi::sqlite3_vfs,
    name: *const c_char,
) -> *const c_char {
    pass!(vfs.xNextSystemCall(name), absent ptr::null())
}
