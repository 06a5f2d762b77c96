//! When a key counts.

use pageseal::Settings;

use super::{FILL, contents, filled};
use crate::support::open::{RAW_KEY, code, key, number, open, open_keyed, text};

const COUNT: &str = "SELECT count(*) FROM t";

fn made() -> (tempfile::TempDir, std::path::PathBuf) {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("a.db");
    open_keyed(&path, "")
        .expect("opened")
        .execute_batch(FILL)
        .expect("filled");
    (dir, path)
}

/// The pragma answers `ok` whatever the key; a wrong one shows at the first read,
/// and the right one may follow on the same connection.
#[test]
fn right_after_wrong() {
    for mode in ["DELETE", "WAL"] {
        let (_dir, path) = made();
        let other = open_keyed(&path, &format!("PRAGMA journal_mode = {mode}")).expect("opened");
        // In WAL mode the log lies beside it while this looks.
        other.execute_batch("UPDATE t SET a = a").expect("updated");
        let connection = open(&path).expect("opened");
        assert_eq!(
            text(&connection, "PRAGMA key = 'wrong'").expect("an answer"),
            "ok"
        );
        assert_eq!(code(number(&connection, COUNT)), 26);
        assert_eq!(
            text(&connection, "PRAGMA key = 'wrong too'").expect("an answer"),
            "ok"
        );
        assert_eq!(code(number(&connection, COUNT)), 26);
        key(&connection, RAW_KEY).expect("an answer");
        assert_eq!(number(&connection, COUNT).expect("a count"), 2, "{mode}");
        connection
            .execute_batch("INSERT INTO t VALUES(3, 3)")
            .expect("inserted");
        assert_eq!(number(&other, COUNT).expect("a count"), 3, "{mode}");
    }
}

/// A creation that was rolled back leaves SQLite's mind made up about the pages: the key
/// that comes then is refused its file, with what to do about it, and nothing is written.
/// (SQLCipher, which has a SQLite of its own, creates it.)
#[test]
fn a_key_after_a_creation_that_was_rolled_back() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("a.db");
    let connection = open(&path).expect("opened");
    connection
        .execute_batch("BEGIN; CREATE TABLE p(a); ROLLBACK")
        .expect("rolled back");
    key(&connection, RAW_KEY).expect("an answer");
    assert_eq!(code(connection.execute_batch(FILL)), 10);
    let status = text(&connection, "PRAGMA cipher_status").expect("a status");
    assert!(status.contains("open it anew"), "{status}");
    drop(connection);
    assert_eq!(std::fs::read(&path).expect("the file"), b"");
    let connection = open_keyed(&path, "").expect("opened");
    connection.execute_batch(FILL).expect("filled");
    drop(connection);
    assert_eq!(contents(&path, &Settings::default()), filled());
}

/// Settings that do not fit, beside a log that is in use: where frames of another size
/// are looked for, there is the middle of one, or nothing.
#[test]
fn right_settings_after_wrong_beside_a_log() {
    const SIZES: [u32; 4] = [1024, 2048, 4096, 16384];
    for right in SIZES {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("a.db");
        let page_size = |size| format!("PRAGMA cipher_page_size = {size}");
        let other = open_keyed(&path, &page_size(right)).expect("opened");
        other
            .execute_batch(&format!("PRAGMA journal_mode = WAL; {FILL}"))
            .expect("filled");
        for rows in [3, 40] {
            let sql = format!(
                "WITH n(i) AS (SELECT count(*) + 1 FROM t UNION ALL SELECT i + 1 FROM n LIMIT {rows})
                 INSERT INTO t SELECT i, zeroblob(3000) FROM n"
            );
            other.execute_batch(&sql).expect("inserted");
            for wrong in SIZES.into_iter().filter(|&size| size != right) {
                let connection = open_keyed(&path, &page_size(wrong)).expect("opened");
                for _ in 0..2 {
                    let count = number(&connection, COUNT);
                    assert_eq!(code(count), 26, "{wrong} instead of {right}");
                    let status = text(&connection, "PRAGMA cipher_status").expect("a status");
                    assert!(status.starts_with("0: wrong key or settings"), "{status}");
                }
                connection.execute_batch(&page_size(right)).expect("set");
                assert_eq!(
                    number(&connection, COUNT).expect("a count"),
                    number(&other, COUNT).expect("a count")
                );
            }
        }
    }
}

/// A key that can't be used, then a good one: what was refused in between, so that no
/// plaintext file comes to be, does no harm. (SQLCipher makes the plaintext file.)
#[test]
fn right_after_refused() {
    for between in [
        "SELECT * FROM sqlite_schema; INVALID",
        FILL,
        "BEGIN IMMEDIATE",
        "BEGIN; SELECT * FROM sqlite_schema; CREATE TABLE p(a)",
        "PRAGMA user_version = 7",
        "PRAGMA journal_mode = WAL",
        "PRAGMA locking_mode = EXCLUSIVE; CREATE TABLE p(a)",
        "PRAGMA page_size = 8192; PRAGMA auto_vacuum = FULL; CREATE TABLE p(a)",
    ] {
        for refused in ["key = ''", "hexkey = 'zz'", "textkey = \"\""] {
            let dir = tempfile::tempdir().expect("a directory");
            let path = dir.path().join("a.db");
            let connection = open(&path).expect("opened");
            let refused = connection.execute_batch(&format!("PRAGMA {refused}"));
            assert_eq!(code(refused), 1);
            assert_ne!(code(connection.execute_batch(between)), 0, "{between}");
            assert_eq!(std::fs::read(&path).expect("the file"), b"", "{between}");
            if !connection.is_autocommit() {
                connection.execute_batch("ROLLBACK").expect("rolled back");
            }
            key(&connection, RAW_KEY).expect("an answer");
            connection
                .execute_batch(FILL)
                .unwrap_or_else(|error| panic!("{between}: {error}"));
            drop(connection);
            assert_eq!(contents(&path, &Settings::default()), filled(), "{between}");
        }
    }
}

/// Without KEY an attached database has the main database's key; where that was
/// refused, it is no plaintext file either.
#[test]
fn a_refused_key_is_refused_for_what_inherits_it() {
    let dir = tempfile::tempdir().expect("a directory");
    let (main, other) = (dir.path().join("main.db"), dir.path().join("other.db"));
    let connection = open(&main).expect("opened");
    assert_eq!(code(connection.execute_batch("PRAGMA key = ''")), 1);
    let attach = format!("ATTACH '{}' AS other", other.display());
    connection.execute_batch(&attach).expect("attached");
    let fill = FILL
        .replace("TABLE t", "TABLE other.t")
        .replace("t VALUES", "other.t VALUES");
    assert_eq!(code(connection.execute_batch(&fill)), 10);
    assert_eq!(std::fs::read(&other).expect("the file"), b"");
    connection
        .execute_batch(&format!("PRAGMA other.key = \"{RAW_KEY}\"; {fill}"))
        .expect("filled");
    drop(connection);
    assert_eq!(contents(&other, &Settings::default()), filled());
}

/// No key, then the key: the first read without one does no harm.
#[test]
fn right_after_none() {
    let (_dir, path) = made();
    let connection = open(&path).expect("opened");
    assert_eq!(code(number(&connection, COUNT)), 26);
    key(&connection, RAW_KEY).expect("an answer");
    assert_eq!(number(&connection, COUNT).expect("a count"), 2);
}

/// A second key after use is ignored, and so are settings.
#[test]
fn a_second_key_is_ignored() {
    let (_dir, path) = made();
    let connection = open_keyed(&path, "").expect("opened");
    assert_eq!(number(&connection, COUNT).expect("a count"), 2);
    assert_eq!(
        text(&connection, "PRAGMA key = 'second'").expect("an answer"),
        "ok"
    );
    connection
        .execute_batch(
            "PRAGMA cipher_use_hmac = OFF; PRAGMA kdf_iter = 7; PRAGMA cipher_page_size = 1024;
             PRAGMA cipher_hmac_algorithm = HMAC_SHA1; PRAGMA cipher_plaintext_header_size = 32;
             PRAGMA cipher_compatibility = 1; PRAGMA cipher_hmac_pgno = be;
             INSERT INTO t VALUES(3, 3); DELETE FROM t WHERE a = 3;",
        )
        .expect("ignored");
    drop(connection);
    assert_eq!(contents(&path, &Settings::default()), filled());
}

/// A second key before use replaces the first.
#[test]
fn a_second_key_before_use_counts() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("a.db");
    let connection = open(&path).expect("opened");
    key(&connection, "first").expect("an answer");
    connection
        .execute_batch("PRAGMA cipher_page_size = 1024")
        .expect("set");
    // Settings start over with a key.
    key(&connection, RAW_KEY).expect("an answer");
    connection.execute_batch(FILL).expect("filled");
    drop(connection);
    assert_eq!(contents(&path, &Settings::default()), filled());
}

/// Settings before the key do nothing.
#[test]
fn settings_before_the_key_do_nothing() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("a.db");
    let connection = open(&path).expect("opened");
    connection
        .execute_batch("PRAGMA cipher_page_size = 1024; PRAGMA cipher_use_hmac = OFF;")
        .expect("ignored");
    key(&connection, RAW_KEY).expect("an answer");
    connection.execute_batch(FILL).expect("filled");
    drop(connection);
    assert_eq!(contents(&path, &Settings::default()), filled());
}

/// The key of a file that has been looked at while it was empty.
#[test]
fn a_key_after_first_use_of_an_empty_file() {
    for before in [
        "SELECT count(*) FROM sqlite_schema",
        "PRAGMA user_version",
        "BEGIN; SELECT count(*) FROM sqlite_schema; COMMIT",
        // It keeps the lock that the shim waits for.
        "PRAGMA locking_mode = EXCLUSIVE; SELECT count(*) FROM sqlite_schema",
    ] {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("a.db");
        let connection = open(&path).expect("opened");
        connection.execute_batch(before).expect("run");
        assert_eq!(
            std::fs::metadata(&path).map_or(0, |file| file.len()),
            0,
            "{before}"
        );
        key(&connection, RAW_KEY).expect("an answer");
        connection
            .execute_batch(FILL)
            .unwrap_or_else(|error| panic!("{before}: {error}"));
        drop(connection);
        assert_eq!(contents(&path, &Settings::default()), filled(), "{before}");
    }
}

/// The same with settings behind the key.
#[test]
fn settings_after_first_use_of_an_empty_file() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("a.db");
    let connection = open(&path).expect("opened");
    connection
        .execute_batch("PRAGMA locking_mode = EXCLUSIVE; SELECT count(*) FROM sqlite_schema")
        .expect("run");
    key(&connection, RAW_KEY).expect("an answer");
    connection
        .execute_batch(&format!("PRAGMA cipher_page_size = 8192; {FILL}"))
        .expect("filled");
    drop(connection);
    let mut settings = Settings::default();
    settings.page_size = 8192;
    assert_eq!(contents(&path, &settings), filled());
}

/// A qualified pragma means that database. (One that is encrypted already needs its
/// key in the ATTACH, which reads the schema.)
#[test]
fn of_an_attached_database() {
    let dir = tempfile::tempdir().expect("a directory");
    let (main, other) = (dir.path().join("main.db"), dir.path().join("other.db"));
    let connection = open(&main).expect("opened");
    connection
        .execute_batch(&format!(
            "CREATE TABLE p(a); ATTACH '{}' AS other; PRAGMA other.key = \"{RAW_KEY}\";
             {} INSERT INTO p VALUES(1); DETACH other;",
            other.display(),
            FILL.replace("t VALUES", "other.t VALUES")
                .replace("TABLE t", "TABLE other.t")
        ))
        .expect("filled");
    assert_eq!(contents(&other, &Settings::default()), filled());
    assert!(
        std::fs::read(&main)
            .expect("the file")
            .starts_with(b"SQLite format 3\0")
    );
    let (_dir, made) = made();
    let attach = format!("ATTACH '{}' AS made", made.display());
    assert_eq!(code(connection.execute_batch(&attach)), 26);
}

/// Settings of a new attached database may follow the ATTACH.
#[test]
fn settings_of_an_attached_database() {
    let dir = tempfile::tempdir().expect("a directory");
    let connection = open_keyed(dir.path().join("main.db"), "").expect("opened");
    connection.execute_batch(FILL).expect("filled");
    let other = dir.path().join("other.db");
    connection
        .execute_batch(&format!(
            "ATTACH '{}' AS other KEY \"{RAW_KEY}\"; PRAGMA other.cipher_page_size = 1024;
             PRAGMA other.cipher_use_hmac = OFF;
             CREATE TABLE other.t(a, b); INSERT INTO other.t SELECT * FROM main.t; DETACH other;",
            other.display()
        ))
        .expect("attached");
    let mut settings = Settings::default();
    settings.page_size = 1024;
    settings.use_hmac = false;
    assert_eq!(contents(&other, &settings), filled());
}
