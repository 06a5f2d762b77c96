//! The VFS below the shim: files in memory, a list of all calls, and faults to
//! order.

use std::collections::HashMap;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::ffi;

/// What a test tells it to do.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Orders {
    /// `xOpen` fails, ...
    pub(crate) fail_open: bool,
    /// ... but has set the file's methods, so that `xClose` is owed.
    pub(crate) but_set_methods: bool,
    pub(crate) fail_size: bool,
    pub(crate) fail_close: bool,
    /// A short read leaves the tail of the buffer as it was, against the contract.
    pub(crate) leave_tail: bool,
    /// All capabilities, also those that are not invented yet.
    pub(crate) claim_everything: bool,
}

#[derive(Default)]
struct State {
    orders: Orders,
    calls: Vec<String>,
    files: HashMap<String, Vec<u8>>,
}

/// One such VFS.
pub(crate) struct Below {
    state: Mutex<State>,
    io: ffi::sqlite3_io_methods,
    index: Mutex<Box<[u8; 32768]>>,
}

/// What `xDlOpen` returns, and `xGetSystemCall` and so on.
pub(crate) const LIBRARY: *mut c_void = 0x1234_usize as _;

impl Below {
    /// Registers one; its tables are of these versions and lack `absent`.
    pub(crate) fn register(
        name: &str,
        version: c_int,
        io_version: c_int,
        bare: bool,
    ) -> &'static Self {
        let vfs = Box::into_raw(Box::new(table(version, bare)));
        let below: &'static Self = Box::leak(Box::new(Self {
            state: Mutex::default(),
            io: io_table(io_version),
            index: Mutex::new(Box::new([0; 32768])),
        }));
        // SAFETY: the table lives forever, and nobody else knows of it yet.
        unsafe {
            (*vfs).pAppData = ptr::from_ref(below).cast_mut().cast();
            (*vfs).zName = CString::new(name).expect("a name").into_raw();
            assert_eq!(ffi::sqlite3_vfs_register(vfs, 0), ffi::SQLITE_OK);
        }
        below
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn order(&self, orders: Orders) {
        self.state().orders = orders;
    }

    /// The calls since this was asked last.
    pub(crate) fn calls(&self) -> Vec<String> {
        std::mem::take(&mut self.state().calls)
    }

    pub(crate) fn put(&self, name: &str, bytes: &[u8]) {
        self.state().files.insert(name.to_owned(), bytes.to_vec());
    }

    pub(crate) fn get(&self, name: &str) -> Vec<u8> {
        self.state().files.get(name).cloned().unwrap_or_default()
    }

    fn note(&self, call: String) {
        self.state().calls.push(call);
    }
}

/// # Safety
/// `vfs` must be one of these.
unsafe fn below(vfs: *mut ffi::sqlite3_vfs) -> &'static Below {
    // SAFETY: see `register`.
    unsafe { &*(*vfs).pAppData.cast::<Below>() }
}

/// A file of it.
#[repr(C)]
struct File {
    base: ffi::sqlite3_file,
    below: *const Below,
    name: *mut String,
}

/// # Safety
/// `file` must be open.
unsafe fn parts(file: *mut ffi::sqlite3_file) -> (&'static Below, &'static str) {
    // SAFETY: see `open`.
    unsafe {
        let file = file.cast::<File>();
        (&*(*file).below, (*(*file).name).as_str())
    }
}

unsafe fn text(name: *const c_char) -> String {
    if name.is_null() {
        return "NULL".to_owned();
    }
    // SAFETY: a C string.
    unsafe { CStr::from_ptr(name) }
        .to_string_lossy()
        .into_owned()
}

fn table(version: c_int, bare: bool) -> ffi::sqlite3_vfs {
    ffi::sqlite3_vfs {
        iVersion: version,
        szOsFile: size_of::<File>() as c_int,
        mxPathname: 300,
        pNext: ptr::null_mut(),
        zName: ptr::null(),
        pAppData: ptr::null_mut(),
        xOpen: Some(open),
        xDelete: Some(delete),
        xAccess: Some(access),
        xFullPathname: Some(full_pathname),
        xDlOpen: if bare { None } else { Some(dl_open) },
        xDlError: if bare { None } else { Some(dl_error) },
        xDlSym: if bare { None } else { Some(dl_sym) },
        xDlClose: if bare { None } else { Some(dl_close) },
        xRandomness: Some(randomness),
        xSleep: Some(sleep),
        xCurrentTime: Some(current_time),
        xGetLastError: Some(get_last_error),
        xCurrentTimeInt64: if bare { None } else { Some(current_time_int64) },
        xSetSystemCall: if bare { None } else { Some(set_system_call) },
        xGetSystemCall: if bare { None } else { Some(get_system_call) },
        xNextSystemCall: if bare { None } else { Some(next_system_call) },
    }
}

fn io_table(version: c_int) -> ffi::sqlite3_io_methods {
    // What is not of its version is garbage that must not be called.
    ffi::sqlite3_io_methods {
        iVersion: version,
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
        xFetch: Some(fetch),
        xUnfetch: Some(unfetch),
    }
}

unsafe extern "C" fn open(
    vfs: *mut ffi::sqlite3_vfs,
    name: ffi::sqlite3_filename,
    out: *mut ffi::sqlite3_file,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    // SAFETY: a table of `register`; `out` has szOsFile bytes.
    unsafe {
        let below = below(vfs);
        below.note(format!("xOpen {:p} {flags:#x}", name));
        let orders = below.state().orders;
        (*out).pMethods = ptr::null();
        if !orders.fail_open || orders.but_set_methods {
            let name = text(name);
            below.state().files.entry(name.clone()).or_default();
            out.cast::<File>().write(File {
                base: ffi::sqlite3_file {
                    pMethods: &below.io,
                },
                below,
                name: Box::into_raw(Box::new(name)),
            });
        }
        if orders.fail_open {
            return ffi::SQLITE_CANTOPEN_ISDIR;
        }
        if !out_flags.is_null() {
            *out_flags = flags | 0x4000_0000;
        }
        ffi::SQLITE_OK
    }
}

unsafe extern "C" fn delete(vfs: *mut ffi::sqlite3_vfs, name: *const c_char, sync: c_int) -> c_int {
    // SAFETY: as above; so in all that follow.
    unsafe {
        let (below, name) = (below(vfs), text(name));
        below.note(format!("xDelete {name} {sync}"));
        match below.state().files.remove(&name) {
            Some(_) => ffi::SQLITE_OK,
            None => ffi::SQLITE_IOERR_DELETE_NOENT,
        }
    }
}

unsafe extern "C" fn access(
    vfs: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    flags: c_int,
    out: *mut c_int,
) -> c_int {
    // SAFETY: as above.
    unsafe {
        let (below, name) = (below(vfs), text(name));
        below.note(format!("xAccess {name} {flags}"));
        *out = below.state().files.contains_key(&name).into();
    }
    ffi::SQLITE_OK
}

unsafe extern "C" fn full_pathname(
    vfs: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    len: c_int,
    out: *mut c_char,
) -> c_int {
    // SAFETY: as above.
    unsafe {
        let name = text(name);
        below(vfs).note(format!("xFullPathname {name} {len}"));
        ptr::copy_nonoverlapping(name.as_ptr().cast(), out, name.len());
        *out.add(name.len()) = 0;
    }
    ffi::SQLITE_OK
}

unsafe extern "C" fn dl_open(vfs: *mut ffi::sqlite3_vfs, name: *const c_char) -> *mut c_void {
    // SAFETY: as above.
    unsafe { below(vfs).note(format!("xDlOpen {}", text(name))) };
    LIBRARY
}

unsafe extern "C" fn dl_error(vfs: *mut ffi::sqlite3_vfs, len: c_int, out: *mut c_char) {
    // SAFETY: as above.
    unsafe {
        below(vfs).note(format!("xDlError {len}"));
        *out = 0;
    }
}

type Symbol = unsafe extern "C" fn(*mut ffi::sqlite3_vfs, *mut c_void, *const c_char);

unsafe extern "C" fn dl_sym(
    vfs: *mut ffi::sqlite3_vfs,
    library: *mut c_void,
    name: *const c_char,
) -> Option<Symbol> {
    // SAFETY: as above.
    unsafe { below(vfs).note(format!("xDlSym {library:p} {}", text(name))) };
    None
}

unsafe extern "C" fn dl_close(vfs: *mut ffi::sqlite3_vfs, library: *mut c_void) {
    // SAFETY: as above.
    unsafe { below(vfs).note(format!("xDlClose {library:p}")) };
}

unsafe extern "C" fn randomness(vfs: *mut ffi::sqlite3_vfs, len: c_int, out: *mut c_char) -> c_int {
    // SAFETY: as above.
    unsafe {
        below(vfs).note(format!("xRandomness {len}"));
        ptr::write_bytes(out, 9, len as usize);
    }
    len
}

unsafe extern "C" fn sleep(vfs: *mut ffi::sqlite3_vfs, microseconds: c_int) -> c_int {
    // SAFETY: as above.
    unsafe { below(vfs).note(format!("xSleep {microseconds}")) };
    microseconds
}

unsafe extern "C" fn current_time(vfs: *mut ffi::sqlite3_vfs, out: *mut f64) -> c_int {
    // SAFETY: as above.
    unsafe {
        below(vfs).note("xCurrentTime".to_owned());
        *out = 2_461_000.5;
    }
    ffi::SQLITE_OK
}

unsafe extern "C" fn get_last_error(
    vfs: *mut ffi::sqlite3_vfs,
    len: c_int,
    out: *mut c_char,
) -> c_int {
    // SAFETY: as above.
    unsafe {
        below(vfs).note(format!("xGetLastError {len}"));
        if len > 0 {
            *out = 0;
        }
    }
    77
}

unsafe extern "C" fn current_time_int64(vfs: *mut ffi::sqlite3_vfs, out: *mut i64) -> c_int {
    // SAFETY: as above.
    unsafe {
        below(vfs).note("xCurrentTimeInt64".to_owned());
        *out = 212_630_400_000_000;
    }
    ffi::SQLITE_OK
}

unsafe extern "C" fn set_system_call(
    vfs: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    _call: ffi::sqlite3_syscall_ptr,
) -> c_int {
    // SAFETY: as above.
    unsafe { below(vfs).note(format!("xSetSystemCall {}", text(name))) };
    ffi::SQLITE_OK
}

unsafe extern "C" fn get_system_call(
    vfs: *mut ffi::sqlite3_vfs,
    name: *const c_char,
) -> ffi::sqlite3_syscall_ptr {
    // SAFETY: as above.
    unsafe { below(vfs).note(format!("xGetSystemCall {}", text(name))) };
    None
}

unsafe extern "C" fn next_system_call(
    vfs: *mut ffi::sqlite3_vfs,
    name: *const c_char,
) -> *const c_char {
    // SAFETY: as above.
    unsafe { below(vfs).note(format!("xNextSystemCall {}", text(name))) };
    c"next".as_ptr()
}

unsafe extern "C" fn close(file: *mut ffi::sqlite3_file) -> c_int {
    // SAFETY: an open file of `open`.
    unsafe {
        let (below, name) = parts(file);
        below.note(format!("xClose {name}"));
        drop(Box::from_raw((*file.cast::<File>()).name));
        if below.state().orders.fail_close {
            return ffi::SQLITE_IOERR_CLOSE;
        }
    }
    ffi::SQLITE_OK
}

unsafe extern "C" fn read(
    file: *mut ffi::sqlite3_file,
    buf: *mut c_void,
    len: c_int,
    offset: i64,
) -> c_int {
    // SAFETY: as above, and a buffer of `len` bytes.
    unsafe {
        let (below, name) = parts(file);
        let buf = buf.cast::<u8>();
        below.note(format!("xRead {name} {len} {offset}"));
        let state = below.state();
        let bytes = &state.files[name];
        let start = (offset as usize).min(bytes.len());
        let n = (len as usize).min(bytes.len() - start);
        ptr::copy_nonoverlapping(bytes[start..].as_ptr(), buf, n);
        if n == len as usize {
            return ffi::SQLITE_OK;
        }
        if !state.orders.leave_tail {
            ptr::write_bytes(buf.add(n), 0, len as usize - n);
        }
    }
    ffi::SQLITE_IOERR_SHORT_READ
}

unsafe extern "C" fn write(
    file: *mut ffi::sqlite3_file,
    buf: *const c_void,
    len: c_int,
    offset: i64,
) -> c_int {
    // SAFETY: as above.
    unsafe {
        let (below, name) = parts(file);
        below.note(format!("xWrite {name} {len} {offset}"));
        let data = std::slice::from_raw_parts(buf.cast::<u8>(), len as usize);
        let mut state = below.state();
        let bytes = state.files.entry(name.to_owned()).or_default();
        let end = offset as usize + data.len();
        if bytes.len() < end {
            bytes.resize(end, 0);
        }
        bytes[offset as usize..end].copy_from_slice(data);
    }
    ffi::SQLITE_OK
}

unsafe extern "C" fn truncate(file: *mut ffi::sqlite3_file, size: i64) -> c_int {
    // SAFETY: as above.
    unsafe {
        let (below, name) = parts(file);
        below.note(format!("xTruncate {name} {size}"));
        let mut state = below.state();
        state
            .files
            .entry(name.to_owned())
            .or_default()
            .resize(size as usize, 0);
    }
    ffi::SQLITE_OK
}

unsafe extern "C" fn file_size(file: *mut ffi::sqlite3_file, out: *mut i64) -> c_int {
    // SAFETY: as above.
    unsafe {
        let (below, name) = parts(file);
        below.note(format!("xFileSize {name}"));
        if below.state().orders.fail_size {
            return ffi::SQLITE_IOERR_FSTAT;
        }
        *out = below.state().files[name].len() as i64;
    }
    ffi::SQLITE_OK
}

/// Methods that only write down that they were called.
macro_rules! noted {
    ($($name:ident => $method:literal ( $($arg:ident : $type:ty),* ) -> $code:expr;)*) => {$(
        unsafe extern "C" fn $name(file: *mut ffi::sqlite3_file $(, $arg: $type)*) -> c_int {
            // SAFETY: an open file of `open`.
            let (below, name) = unsafe { parts(file) };
            #[allow(unused_mut)]
            let mut call = format!("{} {name}", $method);
            $(call += &format!(" {:?}", $arg);)*
            below.note(call);
            ($code)(below)
        }
    )*};
}

noted! {
    sync => "xSync"(flags: c_int) -> |_| ffi::SQLITE_OK;
    lock => "xLock"(level: c_int) -> |_| ffi::SQLITE_OK;
    unlock => "xUnlock"(level: c_int) -> |_| ffi::SQLITE_OK;
    file_control => "xFileControl"(op: c_int, arg: *mut c_void) -> |_| ffi::SQLITE_NOTFOUND;
    sector_size => "xSectorSize"() -> |_| 2048;
    device_characteristics => "xDeviceCharacteristics"() -> |below: &Below| -i32::from(below.state().orders.claim_everything);
    shm_lock => "xShmLock"(offset: c_int, n: c_int, flags: c_int) -> |_| ffi::SQLITE_OK;
    shm_unmap => "xShmUnmap"(delete: c_int) -> |_| ffi::SQLITE_OK;
    fetch => "xFetch"(offset: i64, n: c_int, out: *mut *mut c_void) -> |_| ffi::SQLITE_OK;
    unfetch => "xUnfetch"(offset: i64, page: *mut c_void) -> |_| ffi::SQLITE_OK;
}

unsafe extern "C" fn check_reserved_lock(file: *mut ffi::sqlite3_file, out: *mut c_int) -> c_int {
    // SAFETY: as above.
    unsafe {
        let (below, name) = parts(file);
        below.note(format!("xCheckReservedLock {name}"));
        *out = 1;
    }
    ffi::SQLITE_OK
}

unsafe extern "C" fn shm_map(
    file: *mut ffi::sqlite3_file,
    region: c_int,
    size: c_int,
    extend: c_int,
    out: *mut *mut c_void,
) -> c_int {
    // SAFETY: as above.
    unsafe {
        let (below, name) = parts(file);
        below.note(format!("xShmMap {name} {region} {size} {extend}"));
        let mut index = below.index.lock().unwrap_or_else(PoisonError::into_inner);
        *out = index.as_mut_ptr().cast();
    }
    ffi::SQLITE_OK
}

unsafe extern "C" fn shm_barrier(file: *mut ffi::sqlite3_file) {
    // SAFETY: as above.
    unsafe {
        let (below, name) = parts(file);
        below.note(format!("xShmBarrier {name}"));
    }
}
