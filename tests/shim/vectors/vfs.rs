//! The good vectors through the VFS, in each way to give the key.

use rusqlite::Connection;

use super::assert_contents;
use crate::support::disk::{beside, snapshot};
use crate::support::manifest::{Vector, vectors};
use crate::support::open::{open, register, text};
use crate::support::plaintext::{Faults, connect, open_pages};

fn good() -> impl Iterator<Item = &'static Vector> {
    vectors().iter().filter(|vector| vector.class() == "ok")
}

fn assert_good(connection: &Connection, vector: &Vector) {
    assert_contents(connection, vector);
    let check = text(connection, "PRAGMA integrity_check").expect("a check");
    assert_eq!(check, "ok", "{}", vector.name());
}

/// As the manifest says that SQLCipher opens them: key, then settings.
#[test]
fn open_by_pragma() {
    for vector in good() {
        let dir = tempfile::tempdir().expect("a directory");
        let Some(connection) = vector.open_copy(dir.path()) else {
            // Keys that SQL can't spell: the typed test has them.
            continue;
        };
        let path = connection.path().expect("a path").to_owned();
        assert_good(&connection, vector);
        // What the log or journal held is in the file now, sealed as before.
        drop(connection);
        for suffix in ["-wal", "-journal"] {
            let len = std::fs::metadata(beside(path.as_ref(), suffix)).map_or(0, |file| file.len());
            assert_eq!(len, 0, "{}: {suffix} is left", vector.name());
        }
        if let Some(codec) = vector.codec() {
            let file = std::fs::read(&path).expect("the file");
            let (pages, faults) = open_pages(&codec, &file);
            assert_eq!(faults, Faults::new(), "{}", vector.name());
            assert_contents(&connect(&pages), vector);
        }
    }
}

/// Through the typed API, whose settings come from the manifest's fields.
#[test]
fn open_by_options() {
    register();
    let mut odd_keys = 0;
    for vector in good() {
        let Some(options) = vector.options() else {
            continue;
        };
        let dir = tempfile::tempdir().expect("a directory");
        let path = vector.copy_to(dir.path());
        let connection = options
            .open(&path)
            .unwrap_or_else(|error| panic!("{}: {error}", vector.name()));
        assert_good(&connection, vector);
        odd_keys += usize::from(vector.pragmas().is_none());
    }
    assert_eq!(
        odd_keys, 2,
        "a key with a NUL byte, and one that is not UTF-8"
    );
}

/// From one string, as a connection pool opens them.
#[test]
fn open_by_uri() {
    for vector in good() {
        let Some(key) = vector.key_bytes() else {
            continue;
        };
        if key.contains(&0) {
            // A URI can't hold one: SQLite ends the value there.
            continue;
        }
        let dir = tempfile::tempdir().expect("a directory");
        let path = vector.copy_to(dir.path());
        let escaped: String = key.iter().map(|byte| format!("%{byte:02X}")).collect();
        let settings = vector.settings();
        let mut uri = format!("file:{}?key={escaped}", path.display());
        let pragmas = [
            ("cipher_page_size", settings.page_size.to_string()),
            ("kdf_iter", settings.kdf_iter.to_string()),
            ("fast_kdf_iter", settings.fast_kdf_iter.to_string()),
            ("cipher_use_hmac", settings.use_hmac.to_string()),
            (
                "cipher_hmac_algorithm",
                format!("HMAC_{}", settings.hmac_algorithm),
            ),
            (
                "cipher_kdf_algorithm",
                format!("PBKDF2_HMAC_{}", settings.kdf_algorithm),
            ),
            (
                "cipher_plaintext_header_size",
                settings.plaintext_header.to_string(),
            ),
            (
                "cipher_hmac_pgno",
                match settings.hmac_pgno {
                    pageseal::PgnoOrder::Big => "be",
                    _ => "le",
                }
                .to_owned(),
            ),
            (
                "cipher_hmac_salt_mask",
                format!("x'{:02x}'", settings.hmac_salt_mask),
            ),
        ];
        for (name, value) in pragmas {
            uri.push_str(&format!("&{name}={value}"));
        }
        if let Some(salt) = vector.salt() {
            uri.push_str(&format!("&cipher_salt=x'{}'", hex::encode(salt)));
        }
        let connection = open(&uri).unwrap_or_else(|error| panic!("{uri}: {error}"));
        assert_good(&connection, vector);
    }
}

/// With `cipher_page_size=auto` the key and the algorithms suffice.
#[test]
fn open_with_the_page_size_left_open() {
    register();
    for vector in good() {
        let Some(options) = vector.options() else {
            continue;
        };
        // Nothing to tell a page size by: an empty file; all of page 1 in clear.
        if ["empty", "plain-header-page"].contains(&vector.name()) {
            continue;
        }
        let dir = tempfile::tempdir().expect("a directory");
        let path = vector.copy_to(dir.path());
        // Half-written pages that a journal will mend prove nothing either.
        if vector.bytes("journal").is_some() {
            continue;
        }
        let connection = options
            .auto_page_size()
            .open(&path)
            .unwrap_or_else(|error| panic!("{}: {error}", vector.name()));
        assert_good(&connection, vector);
    }
}

/// Reading a database changes no byte of it.
#[test]
fn reading_changes_nothing() {
    for vector in good() {
        // A log or hot journal is worked into the file: that is not reading.
        if vector.files().count() > 1 || vector.pragmas().is_none() {
            continue;
        }
        let dir = tempfile::tempdir().expect("a directory");
        let connection = vector.open_copy(dir.path()).expect("a key");
        let before = snapshot(dir.path());
        assert_good(&connection, vector);
        drop(connection);
        assert!(snapshot(dir.path()) == before, "{}", vector.name());
    }
}
