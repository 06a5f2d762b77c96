//! Constants of SQLite's C interface.

use core::ffi::c_int;

/// Declares the constants, and a list of them for the test that compares them with
/// SQLite's header.
macro_rules! constants {
    ($($(#[$attribute:meta])* $name:ident = $value:expr;)*) => {
        $($(#[$attribute])* pub(crate) const $name: c_int = $value;)*

        #[cfg(all(test, feature = "linked"))]
        pub(super) const ALL: &[(&str, c_int, c_int)] =
            &[$((stringify!($name), $name, libsqlite3_sys::$name),)*];
    };
}

constants! {
    // Result codes.
    SQLITE_BUSY = 5;
    SQLITE_CANTOPEN = 14;
    SQLITE_CONSTRAINT = 19;
    SQLITE_CORRUPT = 11;
    SQLITE_DONE = 101;
    SQLITE_ERROR = 1;
    SQLITE_INTERNAL = 2;
    SQLITE_IOERR = 10;
    SQLITE_MISUSE = 21;
    SQLITE_NOMEM = 7;
    SQLITE_NOTADB = 26;
    SQLITE_NOTFOUND = 12;
    SQLITE_NOTICE = 27;
    SQLITE_OK = 0;
    SQLITE_ROW = 100;
    SQLITE_READONLY = 8;
    SQLITE_WARNING = 28;
    #[cfg(any(test, feature = "loadable-extension"))]
    SQLITE_OK_LOAD_PERMANENTLY = 256;

    // Extended result codes: the code, and 256 times a number.
    SQLITE_IOERR_ACCESS = SQLITE_IOERR | (13 << 8);
    SQLITE_IOERR_DELETE = SQLITE_IOERR | (10 << 8);
    SQLITE_IOERR_FSTAT = SQLITE_IOERR | (7 << 8);
    SQLITE_IOERR_READ = SQLITE_IOERR | (1 << 8);
    SQLITE_IOERR_SHMLOCK = SQLITE_IOERR | (20 << 8);
    SQLITE_IOERR_SHMMAP = SQLITE_IOERR | (21 << 8);
    SQLITE_IOERR_SHORT_READ = SQLITE_IOERR | (2 << 8);
    SQLITE_IOERR_TRUNCATE = SQLITE_IOERR | (6 << 8);
    SQLITE_IOERR_WRITE = SQLITE_IOERR | (3 << 8);

    // Why a file is opened.
    SQLITE_OPEN_CREATE = 0x4;
    SQLITE_OPEN_MAIN_DB = 0x100;
    SQLITE_OPEN_MAIN_JOURNAL = 0x800;
    SQLITE_OPEN_READONLY = 0x1;
    SQLITE_OPEN_READWRITE = 0x2;
    SQLITE_OPEN_SUBJOURNAL = 0x2000;
    SQLITE_OPEN_TEMP_DB = 0x200;
    SQLITE_OPEN_TEMP_JOURNAL = 0x1000;
    SQLITE_OPEN_TRANSIENT_DB = 0x400;
    SQLITE_OPEN_WAL = 0x80000;

    // Locks of a database file.
    SQLITE_LOCK_EXCLUSIVE = 4;
    SQLITE_LOCK_NONE = 0;
    SQLITE_LOCK_RESERVED = 2;
    SQLITE_LOCK_SHARED = 1;

    // How much a sync makes safe.
    SQLITE_SYNC_FULL = 3;
    SQLITE_SYNC_NORMAL = 2;

    // Locks of a log's shared index.
    SQLITE_SHM_EXCLUSIVE = 8;
    SQLITE_SHM_LOCK = 2;
    SQLITE_SHM_UNLOCK = 1;

    // File controls.
    SQLITE_FCNTL_RESET_CACHE = 42;
    SQLITE_FCNTL_SYNC = 21;
    SQLITE_FCNTL_BEGIN_ATOMIC_WRITE = 31;
    SQLITE_FCNTL_CHUNK_SIZE = 6;
    SQLITE_FCNTL_CKPT_DONE = 37;
    SQLITE_FCNTL_CKPT_START = 39;
    SQLITE_FCNTL_COMMIT_ATOMIC_WRITE = 32;
    SQLITE_FCNTL_MMAP_SIZE = 18;
    SQLITE_FCNTL_PDB = 30;
    SQLITE_FCNTL_PRAGMA = 14;
    SQLITE_FCNTL_RESERVE_BYTES = 38;
    SQLITE_FCNTL_ROLLBACK_ATOMIC_WRITE = 33;
    SQLITE_FCNTL_SIZE_HINT = 5;
    SQLITE_FCNTL_VFSNAME = 12;

    // Switches of a connection.
    SQLITE_DBCONFIG_DEFENSIVE = 1010;
    SQLITE_DBCONFIG_DQS_DDL = 1014;
    SQLITE_DBCONFIG_ENABLE_FKEY = 1002;
    SQLITE_DBCONFIG_WRITABLE_SCHEMA = 1011;

    // What `xAccess` is asked, and what a device can do.
    SQLITE_ACCESS_EXISTS = 0;
    SQLITE_ACCESS_READWRITE = 1;
    SQLITE_IOCAP_IMMUTABLE = 0x2000;
    SQLITE_IOCAP_POWERSAFE_OVERWRITE = 0x1000;
    SQLITE_IOCAP_UNDELETABLE_WHEN_OPEN = 0x800;

    // Functions and virtual tables.
    SQLITE_DIRECTONLY = 0x80000;
    SQLITE_INDEX_CONSTRAINT_EQ = 2;
    SQLITE_UTF8 = 1;
    SQLITE_VTAB_DIRECTONLY = 3;
}
