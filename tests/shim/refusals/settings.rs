//! Keys and settings that make no database.

use pageseal::connection::failure;
use pageseal::error::{Failure, KeyError, SettingsError};
use pageseal::{Key, OpenOptions};

use super::{FILL, make, make_plain, nothing_written, unchanged};
use crate::support::open::{RAW_KEY, code, key, number, open, register};

/// An empty key is an error in each way to give one. Whoever overlooks the error
/// gets no file.
#[test]
fn empty_keys() {
    register();
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("a.db");
    for pragma in [
        "key = ''",
        "textkey = ''",
        "hexkey = ''",
        "key = \"\"",
        "hexkey = 'abc'",
        "hexkey = 'zz'",
    ] {
        nothing_written(dir.path(), pragma, || {
            let connection = open(&path).expect("opened");
            assert_eq!(
                code(connection.execute_batch(&format!("PRAGMA {pragma}"))),
                1
            );
            let overlooked = connection.execute_batch(FILL);
            assert_ne!(code(overlooked), 0, "{pragma}");
            drop(connection);
        });
        // A good key makes good for it.
        let connection = open(&path).expect("opened");
        assert_eq!(
            code(connection.execute_batch(&format!("PRAGMA {pragma}"))),
            1
        );
        key(&connection, RAW_KEY).expect("an answer");
        connection.execute_batch(FILL).expect("filled");
        drop(connection);
        let bytes = std::fs::read(&path).expect("the file");
        assert!(!bytes.starts_with(b"SQLite format 3\0"), "{pragma}");
        std::fs::remove_file(&path).expect("removed");
    }
    for parameter in [
        "key=",
        "textkey=",
        "hexkey=",
        "hexkey=abc",
        "hexkey=0x12",
        "key=a&key=b",
    ] {
        nothing_written(dir.path(), parameter, || {
            let uri = format!("file:{}?{parameter}", path.display());
            assert_eq!(code(open(uri)), 14, "{parameter}");
        });
    }
    nothing_written(dir.path(), "the typed API", || {
        let error = OpenOptions::new(Key::passphrase(""))
            .open(&path)
            .expect_err("refused");
        assert!(matches!(error, pageseal::OpenError::Key(KeyError::Empty)));
    });
}

/// A plaintext database stays readable after a failed attempt to key it.
#[test]
fn empty_key_on_a_plaintext_database() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("a.db");
    make_plain(&path, 4096, 0);
    let connection = open(&path).expect("opened");
    assert_eq!(code(connection.execute_batch("PRAGMA key = ''")), 1);
    assert_eq!(
        number(&connection, "SELECT count(*) FROM t").expect("a count"),
        2
    );
}

/// Settings that a new file can't have.
#[test]
fn impossible_settings() {
    register();
    type Expected = fn(&SettingsError) -> bool;
    let cases: [(&str, Expected); 7] = [
        ("PRAGMA cipher_page_size = 512", |error| {
            matches!(
                error,
                SettingsError::PageTooSmall {
                    page_size: 512,
                    reserve: 80
                }
            )
        }),
        (
            "PRAGMA cipher_page_size = 512; PRAGMA cipher_hmac_algorithm = HMAC_SHA1",
            |error| {
                matches!(
                    error,
                    SettingsError::PageTooSmall {
                        page_size: 512,
                        reserve: 48
                    }
                )
            },
        ),
        ("PRAGMA cipher_plaintext_header_size = 32", |error| {
            matches!(error, SettingsError::SaltMissing)
        }),
        ("PRAGMA cipher_plaintext_header_size = 20", |error| {
            matches!(error, SettingsError::PlaintextHeader { size: 20, .. })
        }),
        ("PRAGMA cipher_plaintext_header_size = 4096", |error| {
            matches!(
                error,
                SettingsError::PlaintextHeader {
                    size: 4096,
                    max: 4016
                }
            )
        }),
        ("PRAGMA cipher_plaintext_header_size = 1000000", |error| {
            matches!(error, SettingsError::PlaintextHeader { .. })
        }),
        ("PRAGMA page_size = 512", |error| {
            matches!(error, SettingsError::PageTooSmall { .. })
        }),
    ];
    for (pragmas, expected) in cases {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("a.db");
        nothing_written(dir.path(), pragmas, || {
            let connection = open(&path).expect("opened");
            key(&connection, RAW_KEY).expect("keyed");
            connection.execute_batch(pragmas).expect("noted");
            for sql in [
                FILL,
                "SELECT * FROM sqlite_schema",
                "PRAGMA journal_mode = WAL",
                "VACUUM",
            ] {
                assert_ne!(code(connection.execute_batch(sql)), 0, "{pragmas}: {sql}");
            }
            match failure(&connection, "main").expect("a session") {
                Some(Failure::Settings(error)) => assert!(expected(&error), "{error}"),
                other => panic!("{pragmas}: {other:?}"),
            }
        });
        // Nor does an existing file change, whatever is tried on it.
        make(&path, "");
        unchanged(dir.path(), pragmas, || {
            let connection = open(&path).expect("opened");
            key(&connection, RAW_KEY).expect("keyed");
            connection.execute_batch(pragmas).expect("noted");
            assert_ne!(
                code(connection.execute_batch("INSERT INTO t VALUES(3, 3)")),
                0
            );
            assert_ne!(code(connection.execute_batch("VACUUM")), 0);
        });
    }
}

/// Values that a setting does not have: refused at once, by pragma and by URI.
#[test]
fn values_that_mean_nothing() {
    register();
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("a.db");
    for (name, value) in [
        ("cipher_page_size", "1000"),
        ("cipher_page_size", "256"),
        ("cipher_page_size", "131072"),
        ("cipher_page_size", "-4096"),
        ("cipher_page_size", "big"),
        ("page_size", "1000"),
        ("kdf_iter", "0"),
        ("kdf_iter", "many"),
        ("cipher_use_hmac", "perhaps"),
        ("cipher_hmac_algorithm", "HMAC_MD5"),
        ("cipher_kdf_algorithm", "PBKDF2_HMAC_MD5"),
        ("cipher_compatibility", "5"),
        ("cipher_salt", "x'00'"),
        ("cipher_hmac_pgno", "middle"),
    ] {
        nothing_written(dir.path(), name, || {
            let connection = open(&path).expect("opened");
            key(&connection, RAW_KEY).expect("keyed");
            let sql = format!("PRAGMA {name} = \"{value}\"");
            assert_eq!(code(connection.execute_batch(&sql)), 1, "{sql}");
            drop(connection);
            let uri = format!("file:{}?key=k&{name}={value}", path.display());
            assert_eq!(code(open(&uri)), 14, "{uri}");
        });
    }
    nothing_written(dir.path(), "misspelt", || {
        let uri = format!("file:{}?key=k&cipher_pagesize=4096", path.display());
        assert_eq!(code(open(&uri)), 14);
    });
}

/// The typed API refuses before it opens anything.
#[test]
fn typed() {
    register();
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("a.db");
    let options = || OpenOptions::new(Key::passphrase("k"));
    unchanged(dir.path(), "typed", || {
        for options in [
            options().page_size(512),
            options().page_size(1000),
            options().page_size(0),
            options().kdf_iter(0),
            options().plaintext_header(32),
            options().plaintext_header(33).salt([1; 16]),
        ] {
            let error = options.open(&path).expect_err("refused");
            assert!(matches!(error, pageseal::OpenError::Settings(_)), "{error}");
        }
        assert_eq!(
            Key::from_raw_hex("12").expect_err("refused"),
            KeyError::RawLength(1)
        );
        assert_eq!(
            Key::from_raw_hex("1").expect_err("refused"),
            KeyError::NotHex
        );
        assert_eq!(
            Key::from_raw_hex(&"zz".repeat(32)).expect_err("refused"),
            KeyError::NotHex
        );
    });
}

/// Keying a plaintext file: `ok`, then error 26, and the file is as it was, in any
/// journal mode.
#[test]
fn plaintext_files() {
    for mode in ["DELETE", "WAL"] {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("a.db");
        make_plain(&path, 4096, 0);
        open(&path)
            .expect("opened")
            .execute_batch(&format!("PRAGMA journal_mode = {mode}"))
            .expect("set");
        unchanged(dir.path(), mode, || {
            let connection = open(&path).expect("opened");
            key(&connection, RAW_KEY).expect("an answer");
            for sql in [
                "SELECT * FROM t",
                "INSERT INTO t VALUES(3, 3)",
                "VACUUM",
                "PRAGMA journal_mode = TRUNCATE",
                "PRAGMA wal_checkpoint(TRUNCATE)",
            ] {
                assert_eq!(code(connection.execute_batch(sql)), 26, "{mode}: {sql}");
            }
            let reason = failure(&connection, "main").expect("a session");
            assert_eq!(reason, Some(Failure::NotEncrypted));
        });
    }
}
