//! The methods of an open file.

use core::ffi::{c_int, c_void};
use core::{ptr, slice};
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::sys as ffi;

use super::super::code::{self, Code, Result};
use super::super::database::{Database, Shape};
use super::super::file::File;
use super::super::registry;
use super::control;
use super::host;
use super::index::SharedIndex;

/// Our `sqlite3_file`.
#[repr(C)]
pub(super) struct Handle {
    base: ffi::sqlite3_file,
    file: *mut File,
}

/// Bytes of a [`Handle`], for `szOsFile`.
pub(super) const HANDLE_SIZE: c_int = size_of::<Handle>() as c_int;

/// Methods of a file over one that has shared memory. Memory mapping, which version
/// 3 adds, would show SQLite the ciphertext.
static METHODS_SHARED: ffi::sqlite3_io_methods = SHARED;

/// And over one without: SQLite does not try a log with a shared index on it.
static METHODS: ffi::sqlite3_io_methods = ffi::sqlite3_io_methods {
    iVersion: 1,
    xShmMap: None,
    xShmLock: None,
    xShmBarrier: None,
    xShmUnmap: None,
    ..SHARED
};

const SHARED: ffi::sqlite3_io_methods = ffi::sqlite3_io_methods {
    iVersion: 2,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(file_size),
    xLock: Some(lock),
    xUnlock: Some(unlock),
    xCheckReservedLock: Some(check_reserved_lock),
    xFileControl: Some(file_control),
    xSectorSize: Some(sector_size),
    xDeviceCharacteristics: Some(device_characteristics),
    xShmMap: Some(shm_map),
    xShmLock: Some(shm_lock),
    xShmBarrier: Some(shm_barrier),
    xShmUnmap: Some(shm_unmap),
    xFetch: None,
    xUnfetch: None,
};

/// Puts an open file into the memory that SQLite gave for it.
///
/// # Safety
/// `out` must be valid for writes of [`HANDLE_SIZE`] bytes.
pub(super) unsafe fn install(out: *mut ffi::sqlite3_file, file: File) {
    let methods = if file.lower().has_shared_memory() {
        &METHODS_SHARED
    } else {
        &METHODS
    };
    let handle = Handle {
        base: ffi::sqlite3_file { pMethods: methods },
        file: Box::into_raw(Box::new(file)),
    };
    // SAFETY: the caller's promise.
    unsafe { out.cast::<Handle>().write(handle) }
}

/// Runs `f` on the file, and turns a panic into an I/O error.
///
/// # Safety
/// `file` must have been filled by [`install`] and not closed, and `f` must not
/// call back into SQLite.
pub(super) unsafe fn with<T>(
    file: *mut ffi::sqlite3_file,
    f: impl FnOnce(&mut File) -> Result<T>,
) -> Result<T> {
    guard(|| {
        // SAFETY: installed and open, says the caller; SQLite calls a file's
        // methods one at a time, and f does not lead back here.
        let file = unsafe { &mut *(*file.cast::<Handle>()).file };
        f(file)
    })
}

/// Turns a panic into an I/O error.
pub(super) fn guard<T>(f: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(f)).unwrap_or_else(|_| {
        host::log(
            ffi::SQLITE_INTERNAL,
            "pageseal: internal error (a panic was caught)",
        );
        Err(Code::IOERR)
    })
}

unsafe extern "C" fn close(file: *mut ffi::sqlite3_file) -> c_int {
    code::of(guard(|| {
        let handle = file.cast::<Handle>();
        // SAFETY: SQLite closes an open file once; the box came from `install`.
        let file = unsafe {
            let inner = (*handle).file;
            (*handle).file = ptr::null_mut();
            (*handle).base.pMethods = ptr::null();
            Box::from_raw(inner)
        };
        if let Some(session) = file.session() {
            registry::remove(session);
        }
        file.close()
    }))
}

/// SQLite's length and offset as Rust has them.
fn extent(len: c_int, offset: i64) -> Result<(usize, u64)> {
    match (usize::try_from(len), u64::try_from(offset)) {
        (Ok(len), Ok(offset)) => Ok((len, offset)),
        _ => Err(Code::IOERR),
    }
}

unsafe extern "C" fn read(
    file: *mut ffi::sqlite3_file,
    buf: *mut c_void,
    len: c_int,
    offset: i64,
) -> c_int {
    let result = extent(len, offset).and_then(|(len, offset)| {
        // SAFETY: SQLite gives a buffer of len bytes; whether it has written to
        // them matters not, since u8 has no invalid values and all are set first.
        let buf = unsafe {
            ptr::write_bytes(buf.cast::<u8>(), 0, len);
            slice::from_raw_parts_mut(buf.cast::<u8>(), len)
        };
        // SAFETY: SQLite calls methods on open files only.
        unsafe {
            control::settle(file)?;
            with(file, |file| file.read(buf, offset))
        }
    });
    code::of(result)
}

unsafe extern "C" fn write(
    file: *mut ffi::sqlite3_file,
    buf: *const c_void,
    len: c_int,
    offset: i64,
) -> c_int {
    let result = extent(len, offset).and_then(|(len, offset)| {
        // SAFETY: SQLite gives len initialised bytes.
        let data = unsafe { slice::from_raw_parts(buf.cast::<u8>(), len) };
        // SAFETY: SQLite calls methods on open files only.
        unsafe { with(file, |file| file.write(data, offset)) }
    });
    code::of(result)
}

unsafe extern "C" fn truncate(file: *mut ffi::sqlite3_file, size: i64) -> c_int {
    // SAFETY: SQLite calls methods on open files only.
    code::of(unsafe { with(file, |file| file.truncate(size)) })
}

unsafe extern "C" fn sync(file: *mut ffi::sqlite3_file, flags: c_int) -> c_int {
    // SAFETY: SQLite calls methods on open files only.
    code::of(unsafe { with(file, |file| file.sync(flags)) })
}

unsafe extern "C" fn file_size(file: *mut ffi::sqlite3_file, out: *mut i64) -> c_int {
    // SAFETY: SQLite calls methods on open files only.
    let size = unsafe {
        guard(|| control::first_use_without_lock(file)).and_then(|()| with(file, File::size))
    };
    code::of(size.and_then(|size| {
        let size = i64::try_from(size).map_err(|_| Code::IOERR)?;
        // SAFETY: SQLite gives a place for the size.
        unsafe { *out = size };
        Ok(())
    }))
}

unsafe extern "C" fn lock(file: *mut ffi::sqlite3_file, level: c_int) -> c_int {
    // SAFETY: SQLite calls methods on open files only.
    let shape = guard(|| unsafe {
        control::settle(file)?;
        with(file, |file| file.lock(level))
    });
    let told = shape.and_then(|shape| {
        let Some(shape) = shape else {
            return Ok(());
        };
        // SAFETY: as above; the borrow ends with the call.
        let host = unsafe { control::on_database(file, |database| database.host()) }?;
        let told = guard(|| match shape {
            Shape::New(shape) => host.shape_new_database(file, shape),
            Shape::Pages(page_size) => {
                host.hint_page_size(file, page_size);
                Ok(())
            }
        });
        // SAFETY: as above.
        unsafe { control::on_database(file, Database::end_shape) }?;
        told.inspect_err(|_| {
            // SAFETY: as above.
            let _ = unsafe { with(file, |file| file.unlock(ffi::SQLITE_LOCK_NONE)) };
        })
    });
    // SAFETY: as above.
    let _ = guard(|| unsafe {
        match told {
            Ok(()) => control::secure_delete(file),
            Err(code) => control::note_failed_attach(file, code),
        }
    });
    code::of(told)
}

unsafe extern "C" fn unlock(file: *mut ffi::sqlite3_file, level: c_int) -> c_int {
    // SAFETY: SQLite calls methods on open files only.
    code::of(unsafe { with(file, |file| file.unlock(level)) })
}

unsafe extern "C" fn check_reserved_lock(file: *mut ffi::sqlite3_file, out: *mut c_int) -> c_int {
    // SAFETY: SQLite calls methods on open files only.
    let held = unsafe { with(file, |file| file.lower().check_reserved_lock()) };
    code::of(held.map(|held| {
        // SAFETY: SQLite gives a place for the answer.
        unsafe { *out = held.into() };
    }))
}

unsafe extern "C" fn file_control(
    file: *mut ffi::sqlite3_file,
    op: c_int,
    arg: *mut c_void,
) -> c_int {
    // SAFETY: SQLite calls methods on open files only, with the arg of that op.
    code::of(guard(|| unsafe { control::file_control(file, op, arg) }))
}

unsafe extern "C" fn sector_size(file: *mut ffi::sqlite3_file) -> c_int {
    // SAFETY: SQLite calls methods on open files only.
    unsafe { with(file, |file| Ok(file.lower().sector_size())) }.unwrap_or(0)
}

unsafe extern "C" fn device_characteristics(file: *mut ffi::sqlite3_file) -> c_int {
    // SAFETY: SQLite calls methods on open files only.
    unsafe { with(file, |file| Ok(file.capabilities())) }.unwrap_or(0)
}

unsafe extern "C" fn shm_map(
    file: *mut ffi::sqlite3_file,
    region: c_int,
    size: c_int,
    extend: c_int,
    out: *mut *mut c_void,
) -> c_int {
    // SAFETY: SQLite calls methods on open files only, with a place for the
    // mapping.
    code::of(unsafe {
        with(file, |file| {
            file.lower().shm_map(region, size, extend, out)?;
            if region == 0
                && let Some(database) = file.database()
            {
                database.sharing().set_index(SharedIndex::new(*out));
            }
            Ok(())
        })
    })
}

unsafe extern "C" fn shm_lock(
    file: *mut ffi::sqlite3_file,
    offset: c_int,
    n: c_int,
    flags: c_int,
) -> c_int {
    /// The log's write lock (SQLite, "WAL-mode file format", section 2.3.1).
    const WRITE_LOCK: c_int = 0;
    // SAFETY: SQLite calls methods on open files only.
    code::of(unsafe {
        with(file, |file| match file.database() {
            Some(database) => {
                if offset == WRITE_LOCK {
                    database.session().next_wal_epoch();
                }
                database.shm_lock(offset, n, flags)
            }
            None => file.lower().shm_lock(offset, n, flags),
        })
    })
}

unsafe extern "C" fn shm_barrier(file: *mut ffi::sqlite3_file) {
    // SAFETY: SQLite calls methods on open files only.
    let _ = unsafe {
        with(file, |file| {
            file.lower().shm_barrier();
            Ok(())
        })
    };
}

unsafe extern "C" fn shm_unmap(file: *mut ffi::sqlite3_file, delete: c_int) -> c_int {
    // SAFETY: SQLite calls methods on open files only.
    code::of(unsafe {
        with(file, |file| {
            if let Some(database) = file.database() {
                database.sharing().set_index(None);
            }
            file.lower().shm_unmap(delete)
        })
    })
}
