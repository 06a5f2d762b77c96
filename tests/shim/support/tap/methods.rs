//! The methods of its files.

use std::ffi::{c_int, c_void};
use std::slice;

use rusqlite::ffi;

use super::vfs::Shared;
use super::{Event, State, lock};

/// Our part of the memory that SQLite gives for a file; the lower file's follows.
#[repr(C)]
pub(super) struct TapFile {
    pub(super) base: ffi::sqlite3_file,
    pub(super) shared: *const Shared,
    pub(super) index: usize,
}

/// Bytes of it.
pub(super) const HEADER: c_int = size_of::<TapFile>() as c_int;

impl TapFile {
    /// # Safety
    /// `file` must be the memory of one of our files.
    pub(super) unsafe fn lower(file: *mut ffi::sqlite3_file) -> *mut ffi::sqlite3_file {
        // SAFETY: szOsFile has room for both.
        unsafe { file.cast::<TapFile>().add(1).cast() }
    }
}

/// A method table with the same methods missing.
///
/// # Safety
/// `lower` must be a method table.
pub(super) unsafe fn table_like(
    lower: *const ffi::sqlite3_io_methods,
) -> *const ffi::sqlite3_io_methods {
    // SAFETY: the caller's promise.
    let mut table = unsafe { *lower };
    table.xClose = Some(close);
    table.xRead = Some(read);
    table.xWrite = Some(write);
    table.xTruncate = Some(truncate);
    table.xSync = Some(sync);
    table.xFileSize = Some(file_size);
    table.xLock = Some(lock_file);
    table.xUnlock = Some(unlock_file);
    table.xCheckReservedLock = Some(check_reserved_lock);
    table.xFileControl = Some(file_control);
    table.xSectorSize = Some(sector_size);
    table.xDeviceCharacteristics = Some(device_characteristics);
    // Absent where the file has no shared memory.
    table.xShmMap = table.xShmMap.map(|_| shm_map as _);
    table.xShmLock = table.xShmLock.map(|_| shm_lock as _);
    table.xShmBarrier = table.xShmBarrier.map(|_| shm_barrier as _);
    table.xShmUnmap = table.xShmUnmap.map(|_| shm_unmap as _);
    table.xFetch = table.xFetch.map(|_| fetch as _);
    table.xUnfetch = table.xUnfetch.map(|_| unfetch as _);
    // A few dozen bytes a file, for SQLite to use until it is closed.
    Box::leak(Box::new(table))
}

/// # Safety
/// `file` must be one of our open files.
unsafe fn with(file: *mut ffi::sqlite3_file, f: impl FnOnce(&mut State, usize)) {
    // SAFETY: the caller's promise; the shared part is never freed.
    unsafe {
        let file = &*file.cast::<TapFile>();
        f(&mut lock(&(*file.shared).state), file.index);
    }
}

/// Calls a method of the lower file.
macro_rules! pass {
    ($file:ident . $method:ident ( $($arg:expr),* )) => {
        // SAFETY: SQLite's arguments, passed on to the file that lies behind ours.
        unsafe {
            let lower = TapFile::lower($file);
            let method = (*(*lower).pMethods).$method.expect(stringify!($method));
            method(lower, $($arg),*)
        }
    };
}

unsafe extern "C" fn close(file: *mut ffi::sqlite3_file) -> c_int {
    // SAFETY: SQLite calls the methods of open files.
    unsafe {
        with(file, |state, index| {
            state.see(index, Event::Close);
            state.files[index].open = false;
            // Nobody can look at it again, unless it is to be deleted by name.
            if state.files[index].path.is_none() {
                state.files[index].bytes = Vec::new();
            }
        });
    }
    pass!(file.xClose())
}

unsafe extern "C" fn read(
    file: *mut ffi::sqlite3_file,
    buf: *mut c_void,
    len: c_int,
    offset: i64,
) -> c_int {
    pass!(file.xRead(buf, len, offset))
}

unsafe extern "C" fn write(
    file: *mut ffi::sqlite3_file,
    buf: *const c_void,
    len: c_int,
    offset: i64,
) -> c_int {
    let code = pass!(file.xWrite(buf, len, offset));
    if code == ffi::SQLITE_OK {
        let (len, offset) = (len as usize, offset as usize);
        // SAFETY: SQLite gives len bytes; and as in `close`.
        unsafe {
            let data = slice::from_raw_parts(buf.cast::<u8>(), len);
            with(file, |state, index| {
                let bytes = &mut state.files[index].bytes;
                if bytes.len() < offset + len {
                    bytes.resize(offset + len, 0);
                }
                bytes[offset..offset + len].copy_from_slice(data);
                state.see(index, Event::Write { offset, len });
            });
        }
    }
    code
}

unsafe extern "C" fn truncate(file: *mut ffi::sqlite3_file, size: i64) -> c_int {
    let len = size as usize;
    // SAFETY: as in `close`.
    unsafe { with(file, |state, index| state.see(index, Event::Truncate(len))) };
    let code = pass!(file.xTruncate(size));
    if code == ffi::SQLITE_OK {
        // SAFETY: as in `close`.
        unsafe { with(file, |state, index| state.files[index].bytes.resize(len, 0)) };
    }
    code
}

/// Noted and not done: these tests cut no power, and waiting for a disk is most of
/// what they would do.
unsafe extern "C" fn sync(file: *mut ffi::sqlite3_file, _flags: c_int) -> c_int {
    // SAFETY: as in `close`.
    unsafe { with(file, |state, index| state.see(index, Event::Sync)) };
    ffi::SQLITE_OK
}

unsafe extern "C" fn file_size(file: *mut ffi::sqlite3_file, out: *mut i64) -> c_int {
    pass!(file.xFileSize(out))
}

unsafe extern "C" fn lock_file(file: *mut ffi::sqlite3_file, level: c_int) -> c_int {
    pass!(file.xLock(level))
}

unsafe extern "C" fn unlock_file(file: *mut ffi::sqlite3_file, level: c_int) -> c_int {
    pass!(file.xUnlock(level))
}

unsafe extern "C" fn check_reserved_lock(file: *mut ffi::sqlite3_file, out: *mut c_int) -> c_int {
    pass!(file.xCheckReservedLock(out))
}

unsafe extern "C" fn file_control(
    file: *mut ffi::sqlite3_file,
    op: c_int,
    arg: *mut c_void,
) -> c_int {
    pass!(file.xFileControl(op, arg))
}

unsafe extern "C" fn sector_size(file: *mut ffi::sqlite3_file) -> c_int {
    pass!(file.xSectorSize())
}

unsafe extern "C" fn device_characteristics(file: *mut ffi::sqlite3_file) -> c_int {
    pass!(file.xDeviceCharacteristics())
}

unsafe extern "C" fn shm_map(
    file: *mut ffi::sqlite3_file,
    region: c_int,
    size: c_int,
    extend: c_int,
    out: *mut *mut c_void,
) -> c_int {
    pass!(file.xShmMap(region, size, extend, out))
}

unsafe extern "C" fn shm_lock(
    file: *mut ffi::sqlite3_file,
    offset: c_int,
    n: c_int,
    flags: c_int,
) -> c_int {
    pass!(file.xShmLock(offset, n, flags))
}

unsafe extern "C" fn shm_barrier(file: *mut ffi::sqlite3_file) {
    pass!(file.xShmBarrier());
}

unsafe extern "C" fn shm_unmap(file: *mut ffi::sqlite3_file, delete: c_int) -> c_int {
    pass!(file.xShmUnmap(delete))
}

unsafe extern "C" fn fetch(
    file: *mut ffi::sqlite3_file,
    offset: i64,
    len: c_int,
    out: *mut *mut c_void,
) -> c_int {
    pass!(file.xFetch(offset, len, out))
}

unsafe extern "C" fn unfetch(
    file: *mut ffi::sqlite3_file,
    offset: i64,
    page: *mut c_void,
) -> c_int {
    pass!(file.xUnfetch(offset, page))
}
