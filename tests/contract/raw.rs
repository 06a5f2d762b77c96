//! Our table, called as SQLite calls it.

use std::ffi::{CString, c_char, c_int};

use rusqlite::{Connection, ffi};

use crate::below::Below;

/// What memory is full of before it is handed over.
pub(crate) const POISON: u8 = 0xa5;

pub(crate) const KEY: &str = "x'4444444444444444444444444444444444444444444444444444444444444444'";
pub(crate) const PAGE: usize = 1024;

/// pageseal over a VFS of its own.
pub(crate) struct Shim {
    pub(crate) below: &'static Below,
    pub(crate) vfs: *mut ffi::sqlite3_vfs,
    pub(crate) name: String,
}

impl Shim {
    /// Over tables of these versions; `bare`: without what a table may lack.
    pub(crate) fn over(name: &str, version: c_int, io_version: c_int, bare: bool) -> Self {
        let below = Below::register(&format!("below-{name}"), version, io_version, bare);
        let ours = format!("contract-{name}");
        pageseal::Registration::new()
            .over(format!("below-{name}"))
            .name(&ours)
            .register()
            .expect("registered");
        let c_name = CString::new(&*ours).expect("a name");
        // SAFETY: a C string.
        let vfs = unsafe { ffi::sqlite3_vfs_find(c_name.as_ptr()) };
        assert!(!vfs.is_null());
        Self {
            below,
            vfs,
            name: ours,
        }
    }

    pub(crate) fn new(name: &str) -> Self {
        Self::over(name, 3, 3, false)
    }

    pub(crate) fn table(&self) -> &ffi::sqlite3_vfs {
        // SAFETY: registered, and never freed.
        unsafe { &*self.vfs }
    }

    /// Opens `name` (or NULL), whose memory and flags are poisoned.
    pub(crate) fn open(&self, name: Option<&Name>, flags: c_int) -> Result<Open, (c_int, Memory)> {
        self.open_raw(name.map_or(std::ptr::null(), Name::as_ptr), flags)
    }

    /// The same with a name that SQLite has made.
    pub(crate) fn open_raw(
        &self,
        name: *const c_char,
        flags: c_int,
    ) -> Result<Open, (c_int, Memory)> {
        let memory = Memory::new(self.table().szOsFile);
        let mut out_flags = 0x5a5a_5a5a_u32 as c_int;
        let open = self.table().xOpen.expect("xOpen");
        // SAFETY: as SQLite would: its own name, and szOsFile bytes.
        let code = unsafe { open(self.vfs, name, memory.file(), flags, &raw mut out_flags) };
        if code == ffi::SQLITE_OK {
            Ok(Open {
                memory,
                flags: out_flags,
            })
        } else {
            Err((code, memory))
        }
    }

    /// Makes an encrypted database of 1024-byte pages with SQLite.
    pub(crate) fn make_database(&self, path: &str) {
        let uri = format!(
            "file:{path}?vfs={}&key={KEY}&cipher_page_size={PAGE}",
            self.name
        );
        let conn = Connection::open(uri).expect("opened");
        conn.execute_batch(
            "PRAGMA journal_mode = MEMORY; CREATE TABLE t(a);
             INSERT INTO t VALUES(hex(zeroblob(3000)));",
        )
        .expect("filled");
        conn.close().expect("closed");
        self.below.calls();
    }

    /// Opens such a database with SQLite, which then holds a shared lock, for its
    /// file to be called beside SQLite's back.
    pub(crate) fn open_database(&self, path: &str) -> Sealed {
        let uri = format!(
            "file:{path}?vfs={}&key={KEY}&cipher_page_size={PAGE}",
            self.name
        );
        let conn = Connection::open(uri).expect("opened");
        conn.execute_batch("BEGIN; SELECT count(*) FROM sqlite_schema")
            .expect("a lock");
        let file = Raw::of(&conn);
        self.below.calls();
        Sealed { file, conn }
    }
}

/// A database that SQLite has open.
pub(crate) struct Sealed {
    pub(crate) file: Raw,
    pub(crate) conn: Connection,
}

/// A database's name as SQLite makes them, with its parameters.
pub(crate) struct Name(*const c_char);

impl Name {
    pub(crate) fn new(path: &str, parameters: &[(&str, &str)]) -> Self {
        let c = |text: &str| CString::new(text).expect("a name");
        let (path, journal, wal) = (
            c(path),
            c(&format!("{path}-journal")),
            c(&format!("{path}-wal")),
        );
        let words: Vec<CString> = parameters.iter().flat_map(|&(k, v)| [c(k), c(v)]).collect();
        let mut words: Vec<*const c_char> = words.iter().map(|word| word.as_ptr()).collect();
        // SAFETY: C strings, and twice as many as there are parameters.
        let name = unsafe {
            ffi::sqlite3_create_filename(
                path.as_ptr(),
                journal.as_ptr(),
                wal.as_ptr(),
                parameters.len() as c_int,
                words.as_mut_ptr(),
            )
        };
        Self(name)
    }

    pub(crate) fn as_ptr(&self) -> *const c_char {
        self.0
    }
}

impl Drop for Name {
    fn drop(&mut self) {
        // SAFETY: made by sqlite3_create_filename.
        unsafe { ffi::sqlite3_free_filename(self.0) }
    }
}

/// The memory that SQLite gives for a file, poisoned, with a margin that must not be
/// touched.
pub(crate) struct Memory {
    words: Vec<u64>,
    size: usize,
}

const MARGIN: usize = 64;

impl Memory {
    fn new(size: c_int) -> Self {
        let size = usize::try_from(size).expect("a size");
        Self {
            words: vec![u64::from_ne_bytes([POISON; 8]); (size + MARGIN).div_ceil(8)],
            size,
        }
    }

    pub(crate) fn file(&self) -> *mut ffi::sqlite3_file {
        self.words.as_ptr().cast_mut().cast()
    }

    pub(crate) fn methods(&self) -> *const ffi::sqlite3_io_methods {
        // SAFETY: at least a sqlite3_file.
        unsafe { (*self.file()).pMethods }
    }

    pub(crate) fn margin_is_untouched(&self) -> bool {
        let bytes: Vec<u8> = self
            .words
            .iter()
            .flat_map(|word| word.to_ne_bytes())
            .collect();
        bytes[self.size..].iter().all(|&byte| byte == POISON)
    }
}

/// A file that is open.
#[derive(Clone, Copy)]
pub(crate) struct Raw(pub(crate) *mut ffi::sqlite3_file);

/// A file that [`Shim::open`] has opened; closed when dropped.
pub(crate) struct Open {
    pub(crate) memory: Memory,
    pub(crate) flags: c_int,
}

impl Open {
    pub(crate) fn raw(&self) -> Raw {
        Raw(self.memory.file())
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        if !self.memory.methods().is_null() {
            self.raw().close();
        }
    }
}

/// Calls a method of the file.
macro_rules! call {
    ($self:ident . $method:ident ( $($arg:expr),* )) => {
        // SAFETY: an open file, and arguments as SQLite's.
        unsafe { $self.methods().$method.expect(stringify!($method))($self.0 $(, $arg)*) }
    };
}

impl Raw {
    /// The file of a connection's database.
    fn of(conn: &Connection) -> Self {
        let mut file: *mut ffi::sqlite3_file = std::ptr::null_mut();
        // SAFETY: an open connection; that is what this op's argument is.
        let code = unsafe {
            ffi::sqlite3_file_control(
                conn.handle(),
                c"main".as_ptr(),
                ffi::SQLITE_FCNTL_FILE_POINTER,
                (&raw mut file).cast(),
            )
        };
        assert_eq!(code, ffi::SQLITE_OK);
        Self(file)
    }

    pub(crate) fn methods(self) -> &'static ffi::sqlite3_io_methods {
        // SAFETY: open, so there are methods, which are static.
        unsafe { &*(*self.0).pMethods }
    }

    /// Reads into poison.
    pub(crate) fn read(self, len: usize, offset: i64) -> (c_int, Vec<u8>) {
        let mut buf = vec![POISON; len];
        let code = call!(self.xRead(buf.as_mut_ptr().cast(), len as c_int, offset));
        (code, buf)
    }

    pub(crate) fn write(self, data: &[u8], offset: i64) -> c_int {
        call!(self.xWrite(data.as_ptr().cast(), data.len() as c_int, offset))
    }

    pub(crate) fn size(self) -> (c_int, i64) {
        let mut size = -7;
        (call!(self.xFileSize(&raw mut size)), size)
    }

    pub(crate) fn lock(self, level: c_int) -> c_int {
        call!(self.xLock(level))
    }

    pub(crate) fn unlock(self, level: c_int) -> c_int {
        call!(self.xUnlock(level))
    }

    pub(crate) fn control(self, op: c_int, arg: *mut std::ffi::c_void) -> c_int {
        call!(self.xFileControl(op, arg))
    }

    pub(crate) fn close(self) -> c_int {
        call!(self.xClose())
    }
}
