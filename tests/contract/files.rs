//! The methods of open files that carry no content.

use std::ffi::c_void;
use std::ptr;

use rusqlite::ffi;

use crate::below::Orders;
use crate::opening::{FLAGS, KINDS};
use crate::raw::{Name, PAGE, Shim};

/// Shared memory as below; memory mapping never, which would show the ciphertext.
#[test]
fn optional_methods() {
    for io_version in 1..=3 {
        let shim = Shim::over(&format!("io-{io_version}"), 3, io_version, false);
        for (what, kind) in KINDS {
            let name = Name::new("/x", &[]);
            let file = shim.open(Some(&name), kind | FLAGS).ok().expect(what);
            let methods = file.raw().methods();
            assert_eq!(methods.iVersion, io_version.min(2), "{what}");
            let shared = [
                methods.xShmMap.is_some(),
                methods.xShmLock.is_some(),
                methods.xShmBarrier.is_some(),
                methods.xShmUnmap.is_some(),
            ];
            assert_eq!(shared, [io_version >= 2; 4], "{what}, version {io_version}");
            assert!(
                methods.xFetch.is_none() && methods.xUnfetch.is_none(),
                "{what}"
            );
        }
    }
}

#[test]
fn every_call_reaches_the_file_below() {
    let shim = Shim::new("io-passed-on");
    for (what, kind) in KINDS {
        let name = Name::new("/x", &[]);
        let file = shim.open(Some(&name), kind | FLAGS).ok().expect(what);
        let (methods, raw) = (file.raw().methods(), file.raw().0);
        shim.below.calls();
        let mut held = -1;
        let mut region: *mut c_void = ptr::null_mut();
        // SAFETY: an open file, with arguments as SQLite's.
        unsafe {
            assert_eq!(file.raw().lock(ffi::SQLITE_LOCK_SHARED), 0, "{what}");
            assert_eq!(methods.xCheckReservedLock.unwrap()(raw, &raw mut held), 0);
            assert_eq!(held, 1, "{what}");
            assert_eq!(file.raw().unlock(ffi::SQLITE_LOCK_NONE), 0, "{what}");
            assert_eq!(methods.xSync.unwrap()(raw, ffi::SQLITE_SYNC_FULL), 0);
            assert_eq!(methods.xTruncate.unwrap()(raw, 0), 0);
            assert_eq!(methods.xSectorSize.unwrap()(raw), 2048, "{what}");
            assert_eq!(
                methods.xShmMap.unwrap()(raw, 0, 32768, 1, &raw mut region),
                0
            );
            assert!(!region.is_null());
            assert_eq!(methods.xShmLock.unwrap()(raw, 3, 1, 6), 0);
            methods.xShmBarrier.unwrap()(raw);
            assert_eq!(methods.xShmUnmap.unwrap()(raw, 1), 0);
        }
        let calls = shim.below.calls();
        for expected in [
            "xLock /x 1",
            "xCheckReservedLock /x",
            "xUnlock /x 0",
            "xSync /x 3",
            "xTruncate /x 0",
            "xSectorSize /x",
            "xShmMap /x 0 32768 1",
            "xShmLock /x 3 1 6",
            "xShmBarrier /x",
            "xShmUnmap /x 1",
        ] {
            let n = calls.iter().filter(|call| *call == expected).count();
            assert_eq!(n, 1, "{what}: {expected} in {calls:?}");
        }
    }
}

/// The file below claims everything: only what holds for sealed pages is passed up.
#[test]
fn capabilities_are_an_allow_list() {
    let shim = Shim::new("capabilities");
    shim.below.order(Orders {
        claim_everything: true,
        ..Orders::default()
    });
    let allowed = ffi::SQLITE_IOCAP_POWERSAFE_OVERWRITE
        | ffi::SQLITE_IOCAP_UNDELETABLE_WHEN_OPEN
        | ffi::SQLITE_IOCAP_IMMUTABLE;
    for (what, kind) in KINDS {
        let name = Name::new("/x", &[]);
        let file = shim.open(Some(&name), kind | FLAGS).ok().expect(what);
        let ask = file
            .raw()
            .methods()
            .xDeviceCharacteristics
            .expect("a method");
        // SAFETY: an open file.
        let found = unsafe { ask(file.raw().0) };
        assert_eq!(found, allowed, "{what}");
    }
}

#[test]
fn file_controls() {
    let shim = Shim::new("controls");
    let unknown = 0x7abc;
    let mut argument = 5;
    let pointer: *mut c_void = (&raw mut argument).cast();
    for (what, kind) in KINDS {
        let name = Name::new("/x", &[]);
        let file = shim.open(Some(&name), kind | FLAGS).ok().expect(what);
        shim.below.calls();
        // Asked below, with the very argument, and answered as there.
        assert_eq!(
            file.raw().control(unknown, pointer),
            ffi::SQLITE_NOTFOUND,
            "{what}"
        );
        let asked = format!("xFileControl /x {unknown} {pointer:?}");
        assert_eq!(shim.below.calls(), [asked], "{what}");
        // A sealed page is not the write that SQLite sees: none of these can be.
        for op in [
            ffi::SQLITE_FCNTL_BEGIN_ATOMIC_WRITE,
            ffi::SQLITE_FCNTL_COMMIT_ATOMIC_WRITE,
            ffi::SQLITE_FCNTL_ROLLBACK_ATOMIC_WRITE,
        ] {
            assert_eq!(
                file.raw().control(op, ptr::null_mut()),
                ffi::SQLITE_NOTFOUND,
                "{what}"
            );
        }
        assert!(shim.below.calls().is_empty(), "{what}");
    }
    // Of a database: no memory mapping, no growth by zeros once it is sealed.
    shim.make_database("/sealed");
    let database = shim.open_database("/sealed");
    let mut size: i64 = 1 << 20;
    let pointer: *mut c_void = (&raw mut size).cast();
    for op in [
        ffi::SQLITE_FCNTL_MMAP_SIZE,
        ffi::SQLITE_FCNTL_SIZE_HINT,
        ffi::SQLITE_FCNTL_CHUNK_SIZE,
    ] {
        assert_eq!(database.file.control(op, pointer), ffi::SQLITE_OK);
    }
    assert_eq!(size, 0, "nothing is mapped");
    assert!(shim.below.calls().is_empty());
}

/// The name of the VFS, with what is below it.
#[test]
fn vfs_names() {
    let shim = Shim::new("vfs-names");
    let name = Name::new("/x", &[]);
    let file = shim
        .open(Some(&name), ffi::SQLITE_OPEN_MAIN_DB | FLAGS)
        .ok()
        .expect("opened");
    let mut out: *mut std::ffi::c_char = ptr::null_mut();
    assert_eq!(
        file.raw()
            .control(ffi::SQLITE_FCNTL_VFSNAME, (&raw mut out).cast()),
        0
    );
    // SAFETY: a C string from SQLite's allocator.
    unsafe {
        assert_eq!(std::ffi::CStr::from_ptr(out), c"pageseal");
        ffi::sqlite3_free(out.cast());
    }
}

/// A journal and a log find their database by their names: what is not a record of
/// either is nothing that goes to disk.
#[test]
fn side_files_belong_to_their_database() {
    let shim = Shim::new("side-files");
    shim.make_database("/sealed");
    let database = shim.open_database("/sealed");
    for (side, kind, at) in [
        ("journal", ffi::SQLITE_OPEN_MAIN_JOURNAL, 516),
        ("wal", ffi::SQLITE_OPEN_WAL, 32 + 24),
    ] {
        // SAFETY: an open connection's own names.
        let name = unsafe {
            let main = ffi::sqlite3_db_filename(database.conn.handle(), c"main".as_ptr());
            match side {
                "wal" => ffi::sqlite3_filename_wal(main),
                _ => ffi::sqlite3_filename_journal(main),
            }
        };
        let file = shim.open_raw(name, kind | FLAGS).ok().expect(side);
        assert_ne!(
            file.raw().write(&[0x61; PAGE], at),
            ffi::SQLITE_OK,
            "{side}"
        );
        drop(file);
        assert!(
            shim.below.get(&format!("/sealed-{side}")).is_empty(),
            "{side}"
        );
    }
}
