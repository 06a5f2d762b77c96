//! What is in a buffer when `xRead` returns, whatever it returns.

use rusqlite::ffi;

use crate::below::Orders;
use crate::opening::{FLAGS, KINDS};
use crate::raw::{Name, PAGE, POISON, Shim};

/// "If xRead() returns SQLITE_IOERR_SHORT_READ it must also fill in the unread
/// portions of the buffer with zeros", also where the VFS below does not.
#[test]
fn the_tail_of_a_short_read_is_zeros() {
    for leave_tail in [false, true] {
        let shim = Shim::new(&format!("short-{leave_tail}"));
        shim.below.order(Orders {
            leave_tail,
            ..Orders::default()
        });
        for (what, kind) in KINDS {
            let name = Name::new(&format!("/{kind}"), &[]);
            let file = shim.open(Some(&name), kind | FLAGS).ok().expect(what);
            assert_eq!(file.raw().write(&[7; 10], 0), ffi::SQLITE_OK, "{what}");
            let expected: Vec<u8> = [[7; 6], [0; 6]].concat();
            assert_eq!(
                file.raw().read(12, 4),
                (ffi::SQLITE_IOERR_SHORT_READ, expected),
                "{what}"
            );
            let nothing = (ffi::SQLITE_IOERR_SHORT_READ, vec![0; 5]);
            assert_eq!(file.raw().read(5, 4000), nothing, "{what}");
            assert_eq!(
                file.raw().read(10, 0),
                (ffi::SQLITE_OK, vec![7; 10]),
                "{what}"
            );
            assert_eq!(file.raw().read(0, 0), (ffi::SQLITE_OK, vec![]), "{what}");
        }
    }
}

#[test]
fn an_encrypted_database_past_its_end() {
    let shim = Shim::new("sealed-short");
    shim.make_database("/sealed");
    let size = shim.below.get("/sealed").len();
    let database = shim.open_database("/sealed");
    let file = database.file;
    assert_eq!(file.size(), (ffi::SQLITE_OK, size as i64));
    let (code, page) = file.read(PAGE, 0);
    assert_eq!(code, ffi::SQLITE_OK);
    assert!(page.starts_with(b"SQLite format 3\0"));
    let nothing = (ffi::SQLITE_IOERR_SHORT_READ, vec![0; PAGE]);
    assert_eq!(file.read(PAGE, size as i64), nothing);
    assert_eq!(file.read(PAGE, 1 << 40), nothing);
    // Across the end, in no piece that SQLite would ask for.
    let (code, bytes) = file.read(PAGE, size as i64 - 100);
    assert_eq!(code, ffi::SQLITE_IOERR_SHORT_READ);
    assert!(bytes[100..].iter().all(|&byte| byte == 0));
    // The reserve is SQLite's to see as zeros.
    assert!(page[PAGE - 80..].iter().all(|&byte| byte == 0));
}

/// Neither poison nor ciphertext.
#[test]
fn a_failed_read_leaves_zeros() {
    let shim = Shim::new("sealed-damage");
    shim.make_database("/sealed");
    let mut bytes = shim.below.get("/sealed");
    let database = shim.open_database("/sealed");
    bytes[PAGE + 500] ^= 1;
    bytes.truncate(3 * PAGE + 100);
    shim.below.put("/sealed", &bytes);
    let file = database.file;
    let page2 = PAGE as i64;
    assert_eq!(file.read(PAGE, page2), (ffi::SQLITE_CORRUPT, vec![0; PAGE]));
    assert_eq!(
        file.read(16, page2 + 24),
        (ffi::SQLITE_CORRUPT, vec![0; 16])
    );
    let torn = file.read(PAGE, 3 * page2);
    assert_eq!(
        torn,
        (ffi::SQLITE_CORRUPT, vec![0; PAGE]),
        "a page and no more than its start"
    );
    drop(database);
    // Without the key.
    let name = Name::new("/sealed", &[]);
    let file = shim
        .open(Some(&name), ffi::SQLITE_OPEN_MAIN_DB | FLAGS)
        .ok()
        .expect("opened");
    // While SQLite opens it, it looks like an empty file: no ciphertext is a header.
    let nothing = (ffi::SQLITE_IOERR_SHORT_READ, vec![0; 100]);
    assert_eq!(file.raw().read(100, 0), nothing);
    assert_eq!(file.raw().lock(ffi::SQLITE_LOCK_SHARED), ffi::SQLITE_NOTADB);
}

#[test]
fn lengths_and_offsets_that_are_none() {
    let shim = Shim::new("extents");
    for (what, kind) in KINDS {
        let name = Name::new(&format!("/{kind}"), &[]);
        let file = shim.open(Some(&name), kind | FLAGS).ok().expect(what);
        shim.below.calls();
        let (code, buf) = file.raw().read(8, -1);
        assert_eq!(code & 0xff, ffi::SQLITE_IOERR, "{what}");
        assert!(buf.iter().all(|&byte| byte == POISON || byte == 0));
        assert_eq!(
            file.raw().write(&[1], -1) & 0xff,
            ffi::SQLITE_IOERR,
            "{what}"
        );
        let mut byte = POISON;
        let (read, write) = (file.raw().methods().xRead, file.raw().methods().xWrite);
        // SAFETY: an open file; a negative length is no bytes.
        unsafe {
            let buf = (&raw mut byte).cast();
            let code = read.expect("xRead")(file.raw().0, buf, -1, 0);
            assert_eq!(code & 0xff, ffi::SQLITE_IOERR, "{what}");
            let code = write.expect("xWrite")(file.raw().0, buf, -1, 0);
            assert_eq!(code & 0xff, ffi::SQLITE_IOERR, "{what}");
        }
        assert_eq!(byte, POISON, "{what}");
        assert!(shim.below.calls().is_empty(), "{what}");
    }
}
