//! Whoever has asked for encryption does not end up with a plaintext file.
//!
//! Each attempt asks for encryption in some way, and in the end no file in its
//! directory may hold the marker, whether or not there was an error.

use std::path::Path;

use rusqlite::backup::Backup;
use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, MAIN_DB, OpenFlags};

use super::{key_clause, make};
use crate::support::disk::snapshot;
use crate::support::open::{RAW_KEY, code, key, number, open, open_keyed, register, text};

const MARKER: &str = "this must not be found in any file";

fn assert_no_marker(dir: &Path, what: &str) {
    for (path, bytes) in snapshot(dir) {
        let found = bytes
            .windows(MARKER.len())
            .any(|window| window == MARKER.as_bytes());
        assert!(!found, "{what}: {} is in the clear", path.display());
    }
}

fn write(connection: &Connection, schema: &str) -> rusqlite::Result<()> {
    connection.execute_batch(&format!(
        "CREATE TABLE IF NOT EXISTS {schema}.secret(a);
         INSERT INTO {schema}.secret VALUES('{MARKER}');"
    ))
}

/// Statements with DIR, KEY and MARKER filled in; errors are overlooked, as careless
/// programs do.
fn careless(connection: &Connection, dir: &Path, script: &str) -> Vec<i32> {
    script
        .split(';')
        .filter(|sql| !sql.trim().is_empty())
        .map(|sql| {
            let sql = sql
                .replace("DIR", dir.to_str().expect("text"))
                .replace("KEYED", &key_clause())
                .replace("THEKEY", &RAW_KEY.replace('\'', "''"))
                .replace("MARKER", MARKER);
            code(connection.execute_batch(&sql))
        })
        .collect()
}

/// Scripts that must work and be encrypted (`true`), or may fail.
#[test]
fn by_scripts() {
    let write = "CREATE TABLE IF NOT EXISTS main.s(a); INSERT INTO main.s VALUES('MARKER');";
    let write_b = "CREATE TABLE b.s(a); INSERT INTO b.s VALUES('MARKER');";
    for (works, uri, script) in [
        // The key in time.
        (true, "DIR/a.db", format!("PRAGMA key = 'THEKEY'; {write}")),
        (
            true,
            "DIR/a.db",
            format!("SELECT * FROM sqlite_schema; PRAGMA key = 'THEKEY'; {write}"),
        ),
        (
            true,
            "DIR/a.db",
            format!("PRAGMA locking_mode = EXCLUSIVE; PRAGMA key = 'THEKEY'; {write}"),
        ),
        (
            true,
            "DIR/a.db",
            format!(
                "PRAGMA locking_mode = EXCLUSIVE; PRAGMA user_version; PRAGMA key = 'THEKEY'; {write}"
            ),
        ),
        (
            true,
            "DIR/a.db",
            format!("PRAGMA main.key = 'THEKEY'; {write}"),
        ),
        (true, "DIR/a.db", format!("PRAGMA KEY = 'THEKEY'; {write}")),
        (true, "DIR/a.db", format!("PRAGMA key('THEKEY'); {write}")),
        // Too late for the first page, which holds nothing yet: then nothing more.
        (
            false,
            "DIR/a.db",
            format!("PRAGMA journal_mode = WAL; PRAGMA key = 'THEKEY'; {write}"),
        ),
        (
            false,
            "DIR/a.db",
            format!("PRAGMA auto_vacuum = FULL; PRAGMA key = 'THEKEY'; {write}"),
        ),
        (
            false,
            "DIR/a.db",
            format!("VACUUM; PRAGMA key = 'THEKEY'; {write}"),
        ),
        (
            false,
            "DIR/a.db",
            format!("PRAGMA user_version = 3; PRAGMA key = 'THEKEY'; {write}"),
        ),
        // In the middle of a transaction that made plaintext pages in memory.
        (
            false,
            "DIR/a.db",
            format!("BEGIN; CREATE TABLE x(a); PRAGMA key = 'THEKEY'; {write} COMMIT"),
        ),
        (
            false,
            "DIR/a.db",
            format!("BEGIN IMMEDIATE; PRAGMA key = 'THEKEY'; {write} COMMIT"),
        ),
        (
            false,
            "DIR/a.db",
            format!("BEGIN EXCLUSIVE; PRAGMA key = 'THEKEY'; {write} COMMIT"),
        ),
        (
            false,
            "DIR/a.db",
            format!("BEGIN; SELECT * FROM sqlite_schema; PRAGMA key = 'THEKEY'; {write} COMMIT"),
        ),
        // URIs.
        (true, "file:DIR/a.db?key=k", write.to_owned()),
        (true, "file:DIR/a.db?KEY=k", write.to_owned()),
        (false, "file:DIR/a.db?key=k&nolock=1", write.to_owned()),
        (false, "file:DIR/a.db?key=k&immutable=1", write.to_owned()),
        (true, "file:DIR/a.db?key=k&cache=shared", write.to_owned()),
        (true, "file:DIR/a.db?key=k&psow=0", write.to_owned()),
        (true, "file:DIR/a.db?key=k&mode=memory", write.to_owned()),
        (
            true,
            "file:DIR/a.db?key=k&cache=private&modeof=DIR",
            write.to_owned(),
        ),
        (false, "file:DIR/a.db?key=", write.to_owned()),
        (false, "file:DIR/a.db?hexkey=xyz", write.to_owned()),
        // ATTACH.
        (
            true,
            "file:DIR/a.db?key=k",
            format!("ATTACH 'DIR/b.db' AS b; {write_b}"),
        ),
        (
            true,
            "file:DIR/a.db?key=k",
            format!("ATTACH 'DIR/b.db' AS b KEY NULL; {write_b}"),
        ),
        (
            true,
            "DIR/a.db",
            format!("ATTACH 'DIR/b.db' AS b KEYED; {write_b}"),
        ),
        (
            true,
            "DIR/a.db",
            format!("ATTACH 'DIR/b.db' AS b KEY x'616263'; {write_b}"),
        ),
        (
            true,
            "DIR/a.db",
            format!("ATTACH 'file:DIR/b.db?key=k' AS b; {write_b}"),
        ),
        (
            true,
            "DIR/a.db",
            format!("ATTACH 'file:DIR/b.db?key=k' AS b KEY 'other'; {write_b}"),
        ),
        (
            true,
            ":memory:",
            format!("ATTACH 'DIR/b.db' AS b KEYED; {write_b}"),
        ),
        (
            true,
            "DIR/a.db",
            format!("ATTACH 'DIR/b.db' AS b; PRAGMA b.key = 'THEKEY'; {write_b}"),
        ),
        (
            false,
            "DIR/a.db",
            format!("ATTACH 'DIR/b.db' AS b KEY 'a' || 'b'; {write_b}"),
        ),
        (
            false,
            "DIR/a.db",
            format!("ATTACH 'DIR/b.db' AS b KEY (SELECT 'k'); {write_b}"),
        ),
        (
            false,
            "DIR/a.db",
            format!("ATTACH 'DIR/b.db' AS b KEY lower('K'); {write_b}"),
        ),
        (
            false,
            "DIR/a.db",
            format!("ATTACH 'DIR/b.db' AS b KEY 123; {write_b}"),
        ),
        (
            false,
            "DIR/a.db",
            format!("ATTACH 'DIR/b.db' AS b KEY hex(randomblob(4)); {write_b}"),
        ),
        (
            false,
            "DIR/a.db",
            format!("ATTACH 'DIR/b.db' AS b KEY CAST('k' AS BLOB); {write_b}"),
        ),
        (
            false,
            "DIR/a.db",
            format!(
                "ATTACH 'DIR/b.db' AS b KEY 'a' || 'b'; DETACH b; ATTACH 'DIR/b.db' AS b KEY 1; {write_b}"
            ),
        ),
        (
            false,
            "DIR/a.db",
            format!(
                "ATTACH 'DIR/b.db' AS b KEY 'a' || 'b'; PRAGMA b.journal_mode = OFF; {write_b}"
            ),
        ),
        // Copies.
        (
            true,
            "file:DIR/a.db?key=k",
            format!("{write} VACUUM INTO 'DIR/b.db'"),
        ),
        (
            true,
            "file:DIR/a.db?key=k",
            format!("{write} VACUUM INTO 'file:DIR/b.db?key=other'"),
        ),
        (
            true,
            "file:DIR/a.db?key=k",
            format!("{write} VACUUM INTO 'file:DIR/b.db?nolock=0'"),
        ),
        (
            true,
            "file:DIR/a.db?key=k",
            format!("{write} VACUUM; VACUUM INTO 'DIR/b.db'"),
        ),
        (
            true,
            "file:DIR/a.db?key=k",
            format!("{write} ATTACH 'DIR/b.db' AS b; CREATE TABLE b.s AS SELECT * FROM main.s"),
        ),
    ] {
        let dir = tempfile::tempdir().expect("a directory");
        let uri = uri.replace("DIR", dir.path().to_str().expect("text"));
        let what = format!("{uri}: {script}");
        match open(&uri) {
            Ok(connection) => {
                let codes = careless(&connection, dir.path(), &script);
                let worked = codes.iter().all(|&code| code == 0);
                assert!(worked || !works, "{what}: {codes:?}");
                drop(connection);
            }
            Err(error) => assert!(!works, "{what}: {error}"),
        }
        assert_no_marker(dir.path(), &what);
    }
}

/// The same search finds the marker where nobody asked for encryption.
#[test]
fn the_search_can_find_it() {
    let dir = tempfile::tempdir().expect("a directory");
    let connection = open(dir.path().join("a.db")).expect("opened");
    write(&connection, "main").expect("written");
    let found = std::panic::catch_unwind(|| assert_no_marker(dir.path(), "plain"));
    assert!(found.is_err());
}

/// `KEY ?1` takes the bound value.
#[test]
fn by_a_bound_key() {
    for value in ["k", "it's", RAW_KEY] {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("b.db");
        let connection = open(dir.path().join("a.db")).expect("opened");
        connection
            .execute("ATTACH ?1 AS b KEY ?2", (path.to_str(), value))
            .expect("attached");
        write(&connection, "b").expect("written");
        drop(connection);
        assert_no_marker(dir.path(), value);
        let connection = open(&path).expect("opened");
        key(&connection, value).expect("an answer");
        assert_eq!(
            number(&connection, "SELECT count(*) FROM secret").expect("a count"),
            1
        );
    }
    // An empty text says plaintext, a number is no key.
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("b.db");
    let connection = open(dir.path().join("a.db")).expect("opened");
    let attached = connection.execute("ATTACH ?1 AS b KEY ?2", (path.to_str(), 12));
    let written = attached.and_then(|_| write(&connection, "b"));
    assert_ne!(code(written), 0);
    assert_no_marker(dir.path(), "a number");
}

/// An ATTACH that runs inside another statement, from an SQL function.
#[test]
fn by_a_nested_attach() {
    for (sql, works) in [
        (format!("ATTACH 'PATH' AS b {}", key_clause()), true),
        ("ATTACH 'PATH' AS b KEY ?1".to_owned(), false),
        // Texts that are joined are worked out; what needs SQLite is not.
        ("ATTACH 'PATH' AS b KEY 'a' || 'b'".to_owned(), true),
        ("ATTACH 'PATH' AS b KEY hex('a')".to_owned(), false),
    ] {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("b.db");
        let connection = open(dir.path().join("a.db")).expect("opened");
        let inner = sql.replace("PATH", path.to_str().expect("text"));
        connection
            .create_scalar_function("nested", 0, FunctionFlags::default(), move |context| {
                // SAFETY: the connection that calls the function, used while it does.
                let connection = unsafe { context.get_connection()? };
                let mut statement = connection.prepare(&inner)?;
                if statement.parameter_count() == 1 {
                    statement.execute(["bound"])?;
                } else {
                    statement.execute([])?;
                }
                Ok(1)
            })
            .expect("a function");
        let attached = number(&connection, "SELECT nested()").map(drop);
        let written = attached.and_then(|()| write(&connection, "b"));
        assert_eq!(code(written) == 0, works, "{sql}");
        if sql.contains('?') {
            // The advice is not what has just been refused.
            let status = text(&connection, "PRAGMA cipher_attach_status").expect("a reason");
            assert!(status.contains("can't be a parameter"), "{status}");
            assert!(!status.contains("bound parameter"), "{status}");
        }
        drop(connection);
        assert_no_marker(dir.path(), &sql);
    }
}

/// The shared cache: whoever comes second shares the first one's key.
#[test]
fn with_a_shared_cache() {
    let dir = tempfile::tempdir().expect("a directory");
    let uri = format!("file:{}/a.db?cache=shared", dir.path().display());
    let first = open(&uri).expect("opened");
    key(&first, RAW_KEY).expect("an answer");
    let second = open(&uri).expect("opened");
    write(&second, "main").expect("written");
    write(&first, "main").expect("written");
    drop((first, second));
    assert_no_marker(dir.path(), "a shared cache");
    let connection = open_keyed(dir.path().join("a.db"), "").expect("opened");
    assert_eq!(
        number(&connection, "SELECT count(*) FROM secret").expect("a count"),
        2
    );
}

/// A backup of a plaintext database into an encrypted one, page by page.
#[test]
fn by_a_backup() {
    let dir = tempfile::tempdir().expect("a directory");
    let target_dir = dir.path().join("target");
    std::fs::create_dir(&target_dir).expect("a directory");
    let source = Connection::open_in_memory().expect("opened");
    write(&source, "main").expect("written");
    for there_already in [false, true] {
        let path = target_dir.join("a.db");
        if there_already {
            make(&path, "");
        }
        let mut target = open_keyed(&path, "").expect("opened");
        let backup = Backup::new(&source, &mut target).expect("begun");
        // Again and again, as a program that overlooks errors does.
        for _ in 0..3 {
            let _ = backup.step(-1);
        }
        drop(backup);
        drop(target);
        assert_no_marker(&target_dir, "a backup");
    }
}

/// Deserialising takes the connection off its file; what it then writes stays in
/// memory.
#[test]
fn by_deserialising() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("a.db");
    make(&path, "");
    let before = snapshot(dir.path());
    let mut source = Connection::open_in_memory().expect("opened");
    write(&source, "main").expect("written");
    let image = source.serialize(MAIN_DB).expect("an image").to_vec();
    let mut connection = open_keyed(&path, "").expect("opened");
    connection
        .deserialize_read_exact(MAIN_DB, &image[..], image.len(), false)
        .expect("deserialised");
    write(&connection, "main").expect("written");
    drop(connection);
    assert!(snapshot(dir.path()) == before);
    assert_no_marker(dir.path(), "deserialising");
}

/// Flags instead of URI parameters.
#[test]
fn with_flags() {
    register();
    for flags in [
        OpenFlags::SQLITE_OPEN_SHARED_CACHE,
        OpenFlags::SQLITE_OPEN_NO_MUTEX,
        OpenFlags::SQLITE_OPEN_FULL_MUTEX,
        OpenFlags::SQLITE_OPEN_EXRESCODE,
    ] {
        let dir = tempfile::tempdir().expect("a directory");
        let flags = flags | OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let path = dir.path().join("a.db");
        let connection =
            Connection::open_with_flags_and_vfs(&path, flags, "pageseal").expect("opened");
        key(&connection, RAW_KEY).expect("an answer");
        write(&connection, "main").expect("written");
        drop(connection);
        assert_no_marker(dir.path(), &format!("{flags:?}"));
    }
}

/// A journal or log left over from a plaintext database of the same name does not
/// bring plaintext back.
#[test]
fn beside_a_plaintext_journal() {
    for (mode, suffix) in [("DELETE", "-journal"), ("WAL", "-wal")] {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("plain.db");
        let plain = Connection::open(&path).expect("opened");
        plain
            .execute_batch(&format!(
                "PRAGMA journal_mode = {mode}; PRAGMA cache_size = 2"
            ))
            .expect("set");
        write(&plain, "main").expect("written");
        plain
            .execute_batch(
                "BEGIN; INSERT INTO secret SELECT zeroblob(90000); UPDATE secret SET a = 'x'",
            )
            .expect("begun");
        let target = dir.path().join("target");
        std::fs::create_dir(&target).expect("a directory");
        let path_of = |suffix: &str| crate::support::disk::beside(&target.join("a.db"), suffix);
        make(&path_of(""), "");
        std::fs::copy(crate::support::disk::beside(&path, suffix), path_of(suffix))
            .expect("a copy");
        let connection = open_keyed(path_of(""), "").expect("opened");
        let _ = connection.execute_batch("SELECT * FROM t; INSERT INTO t VALUES(4, 4)");
        drop(connection);
        let bytes = std::fs::read(path_of("")).expect("the file");
        let found = bytes
            .windows(MARKER.len())
            .any(|window| window == MARKER.as_bytes());
        assert!(!found, "{mode}");
    }
}
