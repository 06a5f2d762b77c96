//! The table of the VFS itself.

use std::ffi::{CStr, c_char};

use rusqlite::ffi;

use crate::below::LIBRARY;
use crate::raw::{POISON, Shim};

#[test]
fn its_own_fields() {
    for version in 1..=3 {
        let shim = Shim::over(&format!("fields-{version}"), version, 3, false);
        let table = shim.table();
        assert_eq!(table.iVersion, version, "no more than what is below");
        assert_eq!(table.mxPathname, 300);
        assert!(table.szOsFile >= size_of::<ffi::sqlite3_file>() as i32);
        // SAFETY: a registered VFS has a name.
        let name = unsafe { CStr::from_ptr(table.zName) };
        assert_eq!(name.to_str(), Ok(&*shim.name));
    }
    // A version that is not known yet.
    let shim = Shim::over("fields-4", 4, 3, false);
    assert_eq!(shim.table().iVersion, 3);
}

/// A method is there if it is there below. What a table of that version does not
/// have yet is not looked at: in an old one it is whatever follows in memory.
#[test]
fn optional_methods_are_as_below() {
    for (version, bare) in [(1, false), (2, false), (3, false), (3, true)] {
        let shim = Shim::over(&format!("optional-{version}-{bare}"), version, 3, bare);
        let table = shim.table();
        let loading = [
            table.xDlOpen.is_some(),
            table.xDlError.is_some(),
            table.xDlSym.is_some(),
            table.xDlClose.is_some(),
        ];
        assert_eq!(loading, [!bare; 4]);
        assert_eq!(table.xCurrentTimeInt64.is_some(), version >= 2 && !bare);
        let calls = [
            table.xSetSystemCall.is_some(),
            table.xGetSystemCall.is_some(),
            table.xNextSystemCall.is_some(),
        ];
        assert_eq!(calls, [version >= 3 && !bare; 3], "version {version}");
    }
}

#[test]
fn every_call_reaches_the_vfs_below() {
    let shim = Shim::new("passed-on");
    let (vfs, table) = (shim.vfs, shim.table());
    let name = c"/file".as_ptr();
    shim.below.put("/file", b"x");
    let mut number = -1;
    let mut text = [POISON as c_char; 400];
    let mut time = 0.0;
    let mut milliseconds = 0;
    // SAFETY: our table, with the arguments that SQLite's documentation asks for.
    unsafe {
        assert_eq!(table.xAccess.unwrap()(vfs, name, 1, &raw mut number), 0);
        assert_eq!(number, 1);
        assert_eq!(
            table.xFullPathname.unwrap()(vfs, name, 400, text.as_mut_ptr()),
            0
        );
        assert_eq!(CStr::from_ptr(text.as_ptr()), c"/file");
        assert_eq!(table.xDelete.unwrap()(vfs, name, 1), 0);
        let gone = table.xDelete.unwrap()(vfs, name, 0);
        assert_eq!(gone, ffi::SQLITE_IOERR_DELETE_NOENT, "codes are passed up");
        assert_eq!(table.xDlOpen.unwrap()(vfs, name), LIBRARY);
        table.xDlError.unwrap()(vfs, 400, text.as_mut_ptr());
        assert_eq!(text[0], 0);
        assert!(table.xDlSym.unwrap()(vfs, LIBRARY, name).is_none());
        table.xDlClose.unwrap()(vfs, LIBRARY);
        assert_eq!(table.xRandomness.unwrap()(vfs, 5, text.as_mut_ptr()), 5);
        assert_eq!(text[..6], [9, 9, 9, 9, 9, 0]);
        assert_eq!(table.xSleep.unwrap()(vfs, 11), 11);
        assert_eq!(table.xCurrentTime.unwrap()(vfs, &raw mut time), 0);
        assert!(time > 2_460_000.0);
        assert_eq!(table.xGetLastError.unwrap()(vfs, 0, text.as_mut_ptr()), 77);
        assert_eq!(
            table.xCurrentTimeInt64.unwrap()(vfs, &raw mut milliseconds),
            0
        );
        assert_eq!(milliseconds, 212_630_400_000_000);
        assert_eq!(table.xSetSystemCall.unwrap()(vfs, name, None), 0);
        assert!(table.xGetSystemCall.unwrap()(vfs, name).is_none());
        let next = table.xNextSystemCall.unwrap()(vfs, name);
        assert_eq!(CStr::from_ptr(next), c"next");
    }
    assert_eq!(
        shim.below.calls(),
        [
            "xAccess /file 1",
            "xFullPathname /file 400",
            "xDelete /file 1",
            "xDelete /file 0",
            "xDlOpen /file",
            "xDlError 400",
            "xDlSym 0x1234 /file",
            "xDlClose 0x1234",
            "xRandomness 5",
            "xSleep 11",
            "xCurrentTime",
            "xGetLastError 0",
            "xCurrentTimeInt64",
            "xSetSystemCall /file",
            "xGetSystemCall /file",
            "xNextSystemCall /file",
        ]
    );
}
