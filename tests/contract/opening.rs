//! `xOpen` and `xClose`.

use std::ffi::c_int;

use rusqlite::ffi;

use crate::below::Orders;
use crate::raw::{Name, Shim};

/// Every kind of file, by its flags.
pub(crate) const KINDS: [(&str, c_int); 8] = [
    ("a database", ffi::SQLITE_OPEN_MAIN_DB),
    ("a journal", ffi::SQLITE_OPEN_MAIN_JOURNAL),
    ("a log", ffi::SQLITE_OPEN_WAL),
    ("a temporary database", ffi::SQLITE_OPEN_TEMP_DB),
    ("a transient database", ffi::SQLITE_OPEN_TRANSIENT_DB),
    ("a temporary journal", ffi::SQLITE_OPEN_TEMP_JOURNAL),
    ("a statement journal", ffi::SQLITE_OPEN_SUBJOURNAL),
    ("a super-journal", ffi::SQLITE_OPEN_SUPER_JOURNAL),
];

pub(crate) const FLAGS: c_int = ffi::SQLITE_OPEN_READWRITE | ffi::SQLITE_OPEN_CREATE;

#[test]
fn a_failed_open_leaves_no_methods_and_no_file() {
    let shim = Shim::new("failing");
    let name = Name::new("/x", &[]);
    for (what, kind) in KINDS {
        for but_set_methods in [false, true] {
            shim.below.order(Orders {
                fail_open: true,
                but_set_methods,
                ..Orders::default()
            });
            let (code, memory) = shim.open(Some(&name), kind | FLAGS).err().expect(what);
            assert_eq!(
                code,
                ffi::SQLITE_CANTOPEN_ISDIR,
                "{what}: the code is passed up"
            );
            assert!(memory.methods().is_null(), "{what}");
            assert!(memory.margin_is_untouched(), "{what}");
            // A file that has methods is owed an xClose, also where xOpen failed.
            let calls = shim.below.calls();
            let closed = calls.iter().filter(|call| *call == "xClose /x").count();
            assert_eq!(closed, usize::from(but_set_methods), "{what}: {calls:?}");
        }
    }
}

/// It fails above, when the file below is open already, or before.
#[test]
fn a_file_that_is_not_taken_is_closed_again() {
    let shim = Shim::new("not-taken");
    shim.below.order(Orders {
        fail_size: true,
        ..Orders::default()
    });
    let temporary = ffi::SQLITE_OPEN_TEMP_DB | FLAGS;
    let (code, memory) = shim.open(None, temporary).err().expect("refused");
    assert_eq!(code, ffi::SQLITE_IOERR_FSTAT);
    assert!(memory.methods().is_null());
    assert_eq!(shim.below.calls().last().expect("calls"), "xClose NULL");

    shim.below.order(Orders::default());
    let name = Name::new("/x", &[("key", "k"), ("cipher_page_size", "17")]);
    let (code, memory) = shim
        .open(Some(&name), ffi::SQLITE_OPEN_MAIN_DB | FLAGS)
        .err()
        .expect("refused");
    assert_eq!(code, ffi::SQLITE_CANTOPEN);
    assert!(memory.methods().is_null());
    let opened = |call: &String| call.starts_with("xOpen");
    assert!(!shim.below.calls().iter().any(opened), "nothing was opened");
}

/// SQLite keeps a database's name and its URI parameters around the pointer.
#[test]
fn names_and_flags_are_passed_on_as_they_are() {
    let shim = Shim::new("names");
    let name = Name::new("/x", &[("psow", "0")]);
    for (what, kind) in KINDS {
        shim.below.calls();
        let file = shim.open(Some(&name), kind | FLAGS).ok().expect(what);
        assert_eq!(
            file.flags,
            kind | FLAGS | 0x4000_0000,
            "{what}: flags come back"
        );
        assert!(file.memory.margin_is_untouched(), "{what}");
        let expected = format!("xOpen {:p} {:#x}", name.as_ptr(), kind | FLAGS);
        // (Of a database it is asked first whether it is there.)
        let calls = shim.below.calls();
        let first = calls.iter().find(|call| !call.starts_with("xAccess"));
        assert_eq!(first, Some(&expected), "{what}");
    }
    let unnamed = shim
        .open(None, ffi::SQLITE_OPEN_TRANSIENT_DB | FLAGS)
        .ok()
        .expect("opened");
    drop(unnamed);
    assert!(
        shim.below
            .calls()
            .iter()
            .any(|call| call.starts_with("xOpen 0x0 "))
    );
    // Who does not want to know the flags gives no place for them.
    let memory = vec![0u64; 64];
    let open = shim.table().xOpen.expect("xOpen");
    // SAFETY: as SQLite would.
    unsafe {
        let file = memory.as_ptr().cast_mut().cast::<ffi::sqlite3_file>();
        let flags = ffi::SQLITE_OPEN_SUPER_JOURNAL | FLAGS;
        assert_eq!(
            open(shim.vfs, name.as_ptr(), file, flags, std::ptr::null_mut()),
            0
        );
        assert_eq!((*(*file).pMethods).xClose.expect("xClose")(file), 0);
    }
}

#[test]
fn close_passes_its_code_up_and_leaves_no_methods() {
    let shim = Shim::new("closing");
    let name = Name::new("/x", &[]);
    for (what, kind) in KINDS {
        for fail_close in [false, true] {
            shim.below.order(Orders {
                fail_close,
                ..Orders::default()
            });
            let file = shim.open(Some(&name), kind | FLAGS).ok().expect(what);
            shim.below.calls();
            let expected = if fail_close {
                ffi::SQLITE_IOERR_CLOSE
            } else {
                ffi::SQLITE_OK
            };
            assert_eq!(file.raw().close(), expected, "{what}");
            assert!(file.memory.methods().is_null(), "{what}");
            assert_eq!(shim.below.calls(), ["xClose /x"], "{what}");
        }
    }
}
