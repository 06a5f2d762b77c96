//! The wrapped VFS and its files, as safe Rust: the only place that calls them.

#![allow(unsafe_code)]

use core::ffi::{CStr, c_int, c_void};
use core::ptr;
use std::alloc::{self, Layout};

use crate::sys as ffi;

use super::code::{Code, Result};

/// The VFS below ours. SQLite never frees a registered VFS, and we hold no
/// other kind.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct LowerVfs(ptr::NonNull<ffi::sqlite3_vfs>);

// SAFETY: a sqlite3_vfs is read-only after registration, and SQLite itself calls
// its methods from any thread.
unsafe impl Send for LowerVfs {}
// SAFETY: as above.
unsafe impl Sync for LowerVfs {}

impl LowerVfs {
    /// The VFS registered under `name`, or the default one.
    pub(crate) fn find(name: Option<&CStr>) -> Option<Self> {
        let name = name.map_or(ptr::null(), CStr::as_ptr);
        // SAFETY: name is NULL or a C string that outlives the call.
        ptr::NonNull::new(unsafe { ffi::sqlite3_vfs_find(name) }).map(Self)
    }

    pub(crate) fn as_ptr(self) -> *mut ffi::sqlite3_vfs {
        self.0.as_ptr()
    }

    pub(crate) fn get(&self) -> &ffi::sqlite3_vfs {
        // SAFETY: a registered VFS stays where it is.
        unsafe { self.0.as_ref() }
    }

    /// Opens a file; `name` is passed on as it came, since SQLite keeps URI
    /// parameters and the database's name around it.
    ///
    /// Returns the file and the flags it was opened with.
    ///
    /// # Safety
    /// `name` must be what SQLite passed to `xOpen` (or NULL), and outlive the
    /// file.
    pub(crate) unsafe fn open(
        self,
        name: ffi::sqlite3_filename,
        flags: c_int,
    ) -> Result<(LowerFile, c_int)> {
        let open = self.get().xOpen.ok_or(Code::CANT_OPEN)?;
        let file = Block::new(self.get().szOsFile)?;
        let mut out = flags;
        // SAFETY: file is szOsFile zeroed bytes; name is the caller's promise.
        let code = unsafe { open(self.as_ptr(), name, file.as_ptr(), flags, &mut out) };
        // Some VFS set methods even where they fail: then xClose is owed.
        let file = LowerFile { file, name: None };
        Code::check(code)?;
        Ok((file, out))
    }

    /// Opens a file that SQLite does not know of.
    pub(crate) fn open_alone(self, path: &CStr, flags: c_int) -> Result<LowerFile> {
        let empty = c"".as_ptr();
        // SAFETY: three C strings and no parameters; the name that is made lives
        // in the file, and is freed after that is closed.
        unsafe {
            let name =
                ffi::sqlite3_create_filename(path.as_ptr(), empty, empty, 0, ptr::null_mut());
            if name.is_null() {
                return Err(Code::NO_MEMORY);
            }
            let name = OwnedName(name);
            let (mut file, _) = self.open(name.0, flags)?;
            file.name = Some(name);
            Ok(file)
        }
    }

    /// Opens a file beside a database.
    pub(crate) fn open_side(self, name: SideName, flags: c_int) -> Result<LowerFile> {
        // SAFETY: a SideName is SQLite's own string.
        unsafe { self.open(name.0.as_ptr(), flags) }.map(|(file, _)| file)
    }

    /// Deletes a file, and makes that safe against power loss.
    pub(crate) fn delete(self, name: &CStr) -> Result {
        let Some(delete) = self.get().xDelete else {
            return Err(Code(ffi::SQLITE_IOERR_DELETE));
        };
        // SAFETY: name is a C string.
        Code::check(unsafe { delete(self.as_ptr(), name.as_ptr(), 1) })
    }

    /// Whether a file exists and is not empty.
    pub(crate) fn exists(self, name: &CStr) -> bool {
        self.access(name, ffi::SQLITE_ACCESS_EXISTS)
    }

    /// Whether a file exists, empty or not, and can be written to.
    pub(crate) fn is_writable(self, name: &CStr) -> bool {
        self.access(name, ffi::SQLITE_ACCESS_READWRITE)
    }

    fn access(self, name: &CStr, what: c_int) -> bool {
        let mut out = 0;
        let Some(access) = self.get().xAccess else {
            return true;
        };
        // SAFETY: name is a C string; out is a valid place for the answer.
        let code = unsafe { access(self.as_ptr(), name.as_ptr(), what, &mut out) };
        // A question that can't be answered counts as "maybe there".
        code != ffi::SQLITE_OK || out != 0
    }
}

/// The name of a database's journal or log: SQLite's own string, which lives until
/// the database's file is closed and has the database's name and parameters around
/// it.
#[derive(Clone, Copy)]
pub(crate) struct SideName(&'static CStr);

impl SideName {
    /// # Safety
    /// `name` must come from `sqlite3_filename_journal` or `sqlite3_filename_wal`,
    /// for a name that SQLite passed to `xOpen`, and not be used after that file
    /// is closed.
    pub(crate) unsafe fn new(name: &'static CStr) -> Self {
        Self(name)
    }

    pub(crate) fn as_c_str(self) -> &'static CStr {
        self.0
    }
}

/// The memory of a `sqlite3_file` of the lower VFS.
struct Block {
    file: ptr::NonNull<ffi::sqlite3_file>,
    layout: Layout,
}

impl Block {
    fn new(size: c_int) -> Result<Self> {
        let size = usize::try_from(size).map_err(|_| Code::CANT_OPEN)?;
        let size = size.max(size_of::<ffi::sqlite3_file>());
        // SQLite aligns sqlite3_file to 8; 16 serves any VFS.
        let layout = Layout::from_size_align(size, 16).map_err(|_| Code::NO_MEMORY)?;
        // SAFETY: the layout is not of size zero.
        let memory = unsafe { alloc::alloc_zeroed(layout) };
        let file = ptr::NonNull::new(memory.cast()).ok_or(Code::NO_MEMORY)?;
        Ok(Self { file, layout })
    }

    fn as_ptr(&self) -> *mut ffi::sqlite3_file {
        self.file.as_ptr()
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with this layout.
        unsafe { alloc::dealloc(self.file.as_ptr().cast(), self.layout) }
    }
}

/// A name made by SQLite for us.
struct OwnedName(ffi::sqlite3_filename);

impl Drop for OwnedName {
    fn drop(&mut self) {
        // SAFETY: made by sqlite3_create_filename, and freed once.
        unsafe { ffi::sqlite3_free_filename(self.0) }
    }
}

/// Most bytes of one read or write below. SQLite itself asks for a page and a
/// frame header at most, and its unix VFS looks at 17 bits of a length only
/// (`seekAndRead`, `seekAndWriteFd`).
const MAX_PIECE: usize = 0x1f000;

/// An open file of the lower VFS; closed when dropped.
pub(crate) struct LowerFile {
    file: Block,
    /// Its name, where it is not SQLite's; dropped after the file is closed.
    name: Option<OwnedName>,
}

/// Calls a method of the lower file, or answers `$absent` where it has none.
macro_rules! call {
    ($self:ident . $method:ident ( $($arg:expr),* ), absent $absent:expr) => {
        match $self.methods().$method {
            // SAFETY: the file is open, and the arguments are valid for the call.
            Some(method) => unsafe { method($self.file.as_ptr(), $($arg),*) },
            None => $absent,
        }
    };
}

impl LowerFile {
    fn methods(&self) -> &ffi::sqlite3_io_methods {
        // SAFETY: an open file's pMethods points to a static table.
        unsafe { &*(*self.file.as_ptr()).pMethods }
    }

    /// Version of the method table: 2 and more have shared memory.
    pub(crate) fn has_shared_memory(&self) -> bool {
        self.methods().iVersion >= 2 && self.methods().xShmMap.is_some()
    }

    /// Reads; a short read fills the rest with zeros and is the error
    /// [`Code::SHORT_READ`].
    pub(crate) fn read(&self, buf: &mut [u8], offset: u64) -> Result {
        let mut at = i64::try_from(offset).map_err(|_| Code::READ)?;
        let mut rest = buf;
        while !rest.is_empty() {
            let (piece, after) = rest.split_at_mut(rest.len().min(MAX_PIECE));
            let len = piece.len() as c_int;
            let code = call!(self.xRead(piece.as_mut_ptr().cast(), len, at), absent ffi::SQLITE_IOERR_READ);
            if let Err(code) = Code::check(code) {
                after.fill(0);
                return Err(code);
            }
            at += i64::from(len);
            rest = after;
        }
        Ok(())
    }

    pub(crate) fn write(&self, buf: &[u8], offset: u64) -> Result {
        let mut at = i64::try_from(offset).map_err(|_| Code(ffi::SQLITE_IOERR_WRITE))?;
        for piece in buf.chunks(MAX_PIECE) {
            let len = piece.len() as c_int;
            Code::check(
                call!(self.xWrite(piece.as_ptr().cast(), len, at), absent ffi::SQLITE_IOERR_WRITE),
            )?;
            at += i64::from(len);
        }
        Ok(())
    }

    pub(crate) fn truncate(&self, size: i64) -> Result {
        Code::check(call!(self.xTruncate(size), absent ffi::SQLITE_IOERR_TRUNCATE))
    }

    pub(crate) fn sync(&self, flags: c_int) -> Result {
        Code::check(call!(self.xSync(flags), absent ffi::SQLITE_OK))
    }

    pub(crate) fn size(&self) -> Result<u64> {
        let mut size = 0i64;
        Code::check(call!(self.xFileSize(&mut size), absent ffi::SQLITE_IOERR_FSTAT))?;
        u64::try_from(size).map_err(|_| Code(ffi::SQLITE_IOERR_FSTAT))
    }

    pub(crate) fn lock(&self, level: c_int) -> Result {
        Code::check(call!(self.xLock(level), absent ffi::SQLITE_OK))
    }

    pub(crate) fn unlock(&self, level: c_int) -> Result {
        Code::check(call!(self.xUnlock(level), absent ffi::SQLITE_OK))
    }

    pub(crate) fn check_reserved_lock(&self) -> Result<bool> {
        let mut out = 0;
        Code::check(call!(self.xCheckReservedLock(&mut out), absent ffi::SQLITE_OK))?;
        Ok(out != 0)
    }

    /// Passes a file control on.
    ///
    /// # Safety
    /// `arg` must be what `op` asks for.
    pub(crate) unsafe fn control(&self, op: c_int, arg: *mut c_void) -> Result {
        Code::check(call!(self.xFileControl(op, arg), absent ffi::SQLITE_NOTFOUND))
    }

    pub(crate) fn sector_size(&self) -> c_int {
        call!(self.xSectorSize(), absent 0)
    }

    pub(crate) fn capabilities(&self) -> c_int {
        call!(self.xDeviceCharacteristics(), absent 0)
    }

    /// Maps a region of the log's shared index.
    ///
    /// # Safety
    /// `out` must be valid for a pointer.
    pub(crate) unsafe fn shm_map(
        &self,
        region: c_int,
        size: c_int,
        extend: c_int,
        out: *mut *mut c_void,
    ) -> Result {
        Code::check(call!(self.xShmMap(region, size, extend, out), absent ffi::SQLITE_IOERR_SHMMAP))
    }

    pub(crate) fn shm_lock(&self, offset: c_int, n: c_int, flags: c_int) -> Result {
        Code::check(call!(self.xShmLock(offset, n, flags), absent ffi::SQLITE_IOERR_SHMLOCK))
    }

    pub(crate) fn shm_barrier(&self) {
        call!(self.xShmBarrier(), absent());
    }

    pub(crate) fn shm_unmap(&self, delete: c_int) -> Result {
        Code::check(call!(self.xShmUnmap(delete), absent ffi::SQLITE_OK))
    }

    /// Closes the file and says how that went.
    pub(crate) fn close(self) -> Result {
        let result = self.close_once();
        // SAFETY: methods NULL is how SQLite marks a closed file; `drop` sees it.
        unsafe { (*self.file.as_ptr()).pMethods = ptr::null() };
        result
    }

    fn close_once(&self) -> Result {
        // SAFETY: the block is at least a sqlite3_file, zeroed or opened.
        if unsafe { (*self.file.as_ptr()).pMethods.is_null() } {
            return Ok(());
        }
        Code::check(call!(self.xClose(), absent ffi::SQLITE_OK))
    }
}

impl Drop for LowerFile {
    fn drop(&mut self) {
        let _ = self.close_once();
    }
}

// SAFETY: SQLite uses a file from one thread at a time, under the connection's
// mutex, but not always from the same thread.
unsafe impl Send for LowerFile {}
