//! Files that are made anew: page size, auto-vacuum, salt, whose file it is.

use pageseal::Settings;

use super::{FILL, contents, filled};
use crate::support::open::{code, number, open_keyed, text};
use crate::support::plaintext::{codec, open_pages};

/// As on a plain database it takes effect if it comes before the first page. (Before
/// the key it would make the file: SQLite stores it at once.)
#[test]
fn auto_vacuum() {
    for (word, stored) in [("NONE", 0), ("FULL", 1), ("INCREMENTAL", 2)] {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("a.db");
        let connection =
            open_keyed(&path, &format!("PRAGMA auto_vacuum = {word}")).expect("opened");
        connection.execute_batch(FILL).expect("filled");
        assert_eq!(
            number(&connection, "PRAGMA auto_vacuum").expect("a value"),
            stored
        );
        drop(connection);
        // SQLite file format: byte 55 is non-zero with auto-vacuum, 67 if it is
        // incremental.
        let file = std::fs::read(&path).expect("the file");
        let (pages, _) = open_pages(&codec(&Settings::default(), &file), &file);
        assert_eq!(pages[0][55] != 0, stored != 0, "{word}");
        assert_eq!(pages[0][67] != 0, stored == 2, "{word}");
    }
}

#[test]
fn page_size_by_either_pragma() {
    for pragma in ["page_size", "cipher_page_size"] {
        for size in [1024, 8192, 65536] {
            let dir = tempfile::tempdir().expect("a directory");
            let path = dir.path().join("a.db");
            let connection =
                open_keyed(&path, &format!("PRAGMA {pragma} = {size}")).expect("opened");
            connection.execute_batch(FILL).expect("filled");
            // Integers come back as text.
            assert_eq!(
                text(&connection, "PRAGMA page_size").expect("a value"),
                size.to_string()
            );
            drop(connection);
            let mut settings = Settings::default();
            settings.page_size = size;
            assert_eq!(contents(&path, &settings), filled());
            let len = std::fs::metadata(&path).expect("the file").len();
            assert_eq!(len % u64::from(size), 0);
        }
    }
}

/// Once there are pages it is ignored, and VACUUM keeps what there is.
#[test]
fn page_size_of_a_database_in_use_stays() {
    for mode in ["DELETE", "WAL"] {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("a.db");
        let connection =
            open_keyed(&path, &format!("PRAGMA journal_mode = {mode}")).expect("opened");
        connection.execute_batch(FILL).expect("filled");
        for pragma in ["page_size", "cipher_page_size"] {
            connection
                .execute_batch(&format!("PRAGMA {pragma} = 1024; VACUUM;"))
                .expect("ignored");
            assert_eq!(
                text(&connection, "PRAGMA page_size").expect("a value"),
                "4096"
            );
        }
        drop(connection);
        assert_eq!(contents(&path, &Settings::default()), filled());
    }
}

/// Two connections are keyed on a file that does not exist yet: one creates it, the
/// other reads and writes it.
#[test]
fn two_connections_on_a_file_that_does_not_exist() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("a.db");
    let a = open_keyed(&path, "").expect("opened");
    let b = open_keyed(&path, "").expect("opened");
    // Both have looked at the empty file.
    for connection in [&a, &b] {
        let count = number(connection, "SELECT count(*) FROM sqlite_schema").expect("a count");
        assert_eq!(count, 0);
    }
    b.execute_batch(FILL).expect("filled");
    assert_eq!(number(&a, "SELECT count(*) FROM t").expect("a count"), 2);
    a.execute_batch("INSERT INTO t VALUES(3, 'three')")
        .expect("inserted");
    assert_eq!(number(&b, "SELECT count(*) FROM t").expect("a count"), 3);
    a.execute_batch("DELETE FROM t WHERE a = 3")
        .expect("deleted");
    drop((a, b));
    assert_eq!(contents(&path, &Settings::default()), filled());
}

/// The second connection has chosen other settings: they do not go with the file
/// that the first has made.
#[test]
fn two_connections_with_other_settings() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("a.db");
    let a = open_keyed(&path, "").expect("opened");
    let b = open_keyed(&path, "PRAGMA cipher_page_size = 1024").expect("opened");
    assert_eq!(
        number(&b, "SELECT count(*) FROM sqlite_schema").expect("a count"),
        0
    );
    a.execute_batch(FILL).expect("filled");
    let before = std::fs::read(&path).expect("the file");
    assert_eq!(code(b.execute_batch("CREATE TABLE u(a)")), 26);
    assert_eq!(std::fs::read(&path).expect("the file"), before);
    assert_eq!(number(&a, "SELECT count(*) FROM t").expect("a count"), 2);
}

/// A creation that is rolled back leaves an empty file, which anyone may create.
#[test]
fn a_creation_rolled_back() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("a.db");
    let connection = open_keyed(&path, "PRAGMA cache_size = 2").expect("opened");
    connection
        .execute_batch(&format!(
            "BEGIN; {FILL} INSERT INTO t VALUES(0, zeroblob(90000)); ROLLBACK"
        ))
        .expect("rolled back");
    assert_eq!(std::fs::metadata(&path).expect("the file").len(), 0);
    let other = open_keyed(&path, "").expect("opened");
    other.execute_batch(FILL).expect("filled");
    assert_eq!(
        number(&connection, "SELECT count(*) FROM t").expect("a count"),
        2
    );
    drop((connection, other));
    assert_eq!(contents(&path, &Settings::default()), filled());
}

/// `cipher_salt` before any read on a new file makes the salt, which is then used.
#[test]
fn a_salt_is_made_when_it_is_asked_for() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("a.db");
    let connection = open_keyed(&path, "").expect("opened");
    let salt = text(&connection, "PRAGMA cipher_salt").expect("a salt");
    assert_eq!(salt.len(), 32);
    assert_eq!(
        text(&connection, "PRAGMA cipher_salt").expect("a salt"),
        salt
    );
    connection.execute_batch(FILL).expect("filled");
    assert_eq!(
        text(&connection, "PRAGMA cipher_salt").expect("a salt"),
        salt
    );
    let file = std::fs::read(&path).expect("the file");
    assert_eq!(hex::encode(&file[..16]), salt);
    // Another file has another.
    let other = open_keyed(dir.path().join("b.db"), "").expect("opened");
    assert_ne!(text(&other, "PRAGMA cipher_salt").expect("a salt"), salt);
}

#[test]
fn a_salt_that_is_given() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("a.db");
    let connection = open_keyed(
        &path,
        "PRAGMA cipher_salt = \"x'00112233445566778899AABBCCDDEEFF'\"",
    )
    .expect("opened");
    connection.execute_batch(FILL).expect("filled");
    drop(connection);
    let file = std::fs::read(&path).expect("the file");
    assert_eq!(hex::encode(&file[..16]), "00112233445566778899aabbccddeeff");
    assert_eq!(contents(&path, &Settings::default()), filled());
}

/// With the page size left open, a new file gets SQLite's own and is found again.
#[test]
fn page_size_left_open() {
    for size in [None, Some(1024), Some(16384)] {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("a.db");
        let pragma = size.map_or(String::new(), |size| {
            format!("PRAGMA cipher_page_size = {size}")
        });
        let connection = open_keyed(&path, &pragma).expect("opened");
        connection.execute_batch(FILL).expect("filled");
        drop(connection);
        let connection = open_keyed(&path, "PRAGMA cipher_page_size = auto").expect("opened");
        assert_eq!(
            number(&connection, "SELECT count(*) FROM t").expect("a count"),
            2
        );
        let found = text(&connection, "PRAGMA page_size").expect("a value");
        assert_eq!(found, size.unwrap_or(4096).to_string());
        connection
            .execute_batch("INSERT INTO t VALUES(3, 3)")
            .expect("inserted");
        drop(connection);
        // And with nothing there yet.
        let path = dir.path().join("new.db");
        let connection = open_keyed(&path, "PRAGMA cipher_page_size = auto").expect("opened");
        connection.execute_batch(FILL).expect("filled");
        drop(connection);
        assert_eq!(contents(&path, &Settings::default()), filled());
    }
}
