//! The VFS's own methods.

use std::ffi::{CStr, CString, OsStr, c_char, c_int};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::{Arc, Mutex};

use rusqlite::ffi;

use super::methods::{HEADER, TapFile, table_like};
use super::{Event, Kind, State, Taped, lock};

/// What `pAppData` points to.
pub(super) struct Shared {
    base: *mut ffi::sqlite3_vfs,
    pub(super) state: Arc<Mutex<State>>,
}

/// Registers a VFS over the one that SQLite has at the start.
pub(super) fn register(name: &str, state: Arc<Mutex<State>>) {
    let name = CString::new(name).expect("a name");
    // SAFETY: a C string; the VFS that it names stays registered; what is built
    // here is leaked, and so lives as long as SQLite may use it.
    unsafe {
        let base = ffi::sqlite3_vfs_find(c"unix".as_ptr());
        assert!(!base.is_null(), "this test runs where SQLite's unix VFS is");
        let shared = Box::leak(Box::new(Shared { base, state }));
        let mut vfs = *base;
        vfs.szOsFile += HEADER;
        vfs.pNext = ptr::null_mut();
        vfs.zName = name.into_raw();
        vfs.pAppData = ptr::from_mut(shared).cast();
        vfs.xOpen = Some(open);
        vfs.xDelete = Some(delete);
        vfs.xAccess = Some(access);
        vfs.xFullPathname = Some(full_pathname);
        vfs.xRandomness = Some(randomness);
        vfs.xSleep = Some(sleep);
        vfs.xCurrentTimeInt64 = Some(current_time);
        vfs.xGetLastError = Some(get_last_error);
        let code = ffi::sqlite3_vfs_register(Box::leak(Box::new(vfs)), 0);
        assert_eq!(code, ffi::SQLITE_OK);
    }
}

/// # Safety
/// `vfs` must be one that [`register`] has made.
unsafe fn shared(vfs: *mut ffi::sqlite3_vfs) -> &'static Shared {
    // SAFETY: see `register`.
    unsafe { &*(*vfs).pAppData.cast::<Shared>() }
}

/// # Safety
/// `name` must be NULL or a C string.
unsafe fn path(name: *const c_char) -> Option<PathBuf> {
    // SAFETY: the caller's promise.
    let name = (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) })?;
    Some(Path::new(OsStr::from_bytes(name.to_bytes())).to_owned())
}

unsafe extern "C" fn open(
    vfs: *mut ffi::sqlite3_vfs,
    name: ffi::sqlite3_filename,
    out: *mut ffi::sqlite3_file,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    // SAFETY: SQLite's arguments, passed on; the lower file lies behind our header,
    // in the szOsFile bytes that were asked for.
    unsafe {
        let shared = shared(vfs);
        let file = out.cast::<TapFile>();
        (*file).base.pMethods = ptr::null();
        let lower = TapFile::lower(out);
        let open = (*shared.base).xOpen.expect("xOpen");
        let code = open(shared.base, name, lower, flags, out_flags);
        if (*lower).pMethods.is_null() {
            return code;
        }
        let path = path(name);
        let bytes = path.as_ref().and_then(|path| std::fs::read(path).ok());
        let mut state = lock(&shared.state);
        state.files.push(Taped {
            kind: Kind::of(flags),
            path,
            bytes: bytes.unwrap_or_default(),
            open: true,
        });
        let index = state.files.len() - 1;
        state.see(index, Event::Open);
        (*file).shared = shared;
        (*file).index = index;
        (*file).base.pMethods = table_like((*lower).pMethods);
        code
    }
}

unsafe extern "C" fn delete(vfs: *mut ffi::sqlite3_vfs, name: *const c_char, sync: c_int) -> c_int {
    // SAFETY: SQLite's arguments, passed on.
    unsafe {
        let shared = shared(vfs);
        {
            let mut state = lock(&shared.state);
            let index = path(name).and_then(|path| state.named(&path));
            if let Some(index) = index {
                state.see(index, Event::Delete);
                state.files[index].bytes = Vec::new();
            }
        }
        (*shared.base).xDelete.expect("xDelete")(shared.base, name, sync)
    }
}

unsafe extern "C" fn access(
    vfs: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    flags: c_int,
    out: *mut c_int,
) -> c_int {
    // SAFETY: SQLite's arguments, passed on; so in all that follow.
    unsafe {
        let base = shared(vfs).base;
        (*base).xAccess.expect("xAccess")(base, name, flags, out)
    }
}

unsafe extern "C" fn full_pathname(
    vfs: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    len: c_int,
    out: *mut c_char,
) -> c_int {
    // SAFETY: as above.
    unsafe {
        let base = shared(vfs).base;
        (*base).xFullPathname.expect("xFullPathname")(base, name, len, out)
    }
}

unsafe extern "C" fn randomness(vfs: *mut ffi::sqlite3_vfs, len: c_int, out: *mut c_char) -> c_int {
    // SAFETY: as above.
    unsafe {
        let base = shared(vfs).base;
        (*base).xRandomness.expect("xRandomness")(base, len, out)
    }
}

unsafe extern "C" fn sleep(vfs: *mut ffi::sqlite3_vfs, microseconds: c_int) -> c_int {
    // SAFETY: as above.
    unsafe {
        let base = shared(vfs).base;
        (*base).xSleep.expect("xSleep")(base, microseconds)
    }
}

unsafe extern "C" fn current_time(vfs: *mut ffi::sqlite3_vfs, out: *mut i64) -> c_int {
    // SAFETY: as above.
    unsafe {
        let base = shared(vfs).base;
        (*base).xCurrentTimeInt64.expect("xCurrentTimeInt64")(base, out)
    }
}

unsafe extern "C" fn get_last_error(
    vfs: *mut ffi::sqlite3_vfs,
    len: c_int,
    out: *mut c_char,
) -> c_int {
    // SAFETY: as above.
    unsafe {
        let base = shared(vfs).base;
        (*base).xGetLastError.expect("xGetLastError")(base, len, out)
    }
}
