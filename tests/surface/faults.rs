//! What a program is told, and finds on disk, when something was refused.

use std::path::Path;

use pageseal::{Key, OpenError, OpenOptions, connection};
use rusqlite::{Connection, Error};

fn open(path: &Path) -> Connection {
    pageseal::register().unwrap();
    Connection::open(format!("file:{}?vfs=pageseal", path.display())).unwrap()
}

fn keyed(path: &Path) -> Connection {
    let db = open(path);
    db.execute_batch("PRAGMA key='key'; PRAGMA kdf_iter=100; CREATE TABLE IF NOT EXISTS t(a)")
        .unwrap();
    db
}

fn text(db: &Connection, sql: &str) -> Option<String> {
    match db.query_row(sql, [], |row| row.get(0)) {
        Ok(text) => Some(text),
        Err(Error::QueryReturnedNoRows) => None,
        Err(error) => panic!("{sql}: {error}"),
    }
}

/// SQLite has no room for a reason in an ATTACH that a VFS refuses; the connection
/// keeps it, and no file stays behind.
#[test]
fn a_refused_attach_says_why_and_leaves_no_file() {
    let dir = tempfile::tempdir().unwrap();
    let db = keyed(&dir.path().join("main.db"));
    assert_eq!(text(&db, "PRAGMA cipher_attach_status"), None);
    let new = dir.path().join("new.db");
    let name = new.display();
    for (attach, why) in [
        (format!("ATTACH '{name}' AS n KEY 123"), "Invalid key value"),
        (
            format!("ATTACH '{name}' AS n KEY lower('K')"),
            "bound parameter",
        ),
        (
            format!("ATTACH 'file:{name}?nolock=1' AS n KEY 123"),
            "Invalid key value",
        ),
    ] {
        let error = db.execute_batch(&attach).unwrap_err();
        let code = error.sqlite_error().unwrap().extended_code;
        assert_eq!(code, 1, "{attach}: {error}");
        let status = text(&db, "PRAGMA cipher_attach_status").unwrap();
        assert!(status.contains(why), "{attach}: {status}");
        let failure = connection::attach_failure(&db).unwrap().unwrap();
        assert_eq!(failure.to_string(), status);
        assert!(!new.exists(), "{attach} left a file");
        // Main itself is in order.
        assert_eq!(text(&db, "PRAGMA cipher_status").as_deref(), Some("1"));
    }
    // The next one that works is good news.
    db.execute_batch(&format!("ATTACH '{name}' AS n KEY 'k'"))
        .unwrap();
    assert_eq!(text(&db, "PRAGMA cipher_attach_status"), None);
}

/// An ATTACH reads the file at once, and where key or settings do not fit it takes
/// the session that knows so with it.
#[test]
fn an_attach_that_does_not_fit_says_why() {
    let dir = tempfile::tempdir().unwrap();
    let [path, old, plain] = ["main.db", "old.db", "plain.db"].map(|name| dir.path().join(name));
    let db = open(&old);
    db.execute_batch("PRAGMA key='k'; PRAGMA cipher_compatibility=3; CREATE TABLE t(a)")
        .unwrap();
    open(&plain).execute_batch("CREATE TABLE t(a)").unwrap();
    let db = keyed(&path);
    for (file, key, why) in [
        (&old, "KEY 'k'", "wrong key or settings"),
        (&old, "KEY ''", "no key given"),
        (&old, "", "wrong key or settings"),
        (&plain, "KEY 'k'", "a plaintext SQLite database"),
    ] {
        let attach = format!("ATTACH '{}' AS n {key}", file.display());
        let error = db.execute_batch(&attach).unwrap_err();
        let code = error.sqlite_error().unwrap().extended_code;
        assert_eq!(code, 26, "{attach}: {error}");
        let status = text(&db, "PRAGMA cipher_attach_status").unwrap();
        assert!(status.contains(why), "{attach}: {status}");
        assert_eq!(text(&db, "PRAGMA cipher_status").as_deref(), Some("1"));
    }
    db.execute_batch(&format!(
        "ATTACH 'file:{}?cipher_compatibility=3' AS n KEY 'k'",
        old.display()
    ))
    .unwrap();
    assert_eq!(text(&db, "PRAGMA cipher_attach_status"), None);
}

/// A file that was there before is not the refusal's to delete, empty or not.
#[test]
fn a_refused_attach_leaves_files_alone() {
    let dir = tempfile::tempdir().unwrap();
    let db = keyed(&dir.path().join("main.db"));
    let path = dir.path().join("there.db");
    std::fs::write(&path, "").unwrap();
    let attach = format!("ATTACH '{}' AS n KEY 123", path.display());
    db.execute_batch(&attach).unwrap_err();
    assert_eq!(std::fs::read(&path).unwrap(), b"");

    drop(keyed(&path));
    let before = std::fs::read(&path).unwrap();
    assert!(!before.is_empty());
    db.execute_batch(&attach).unwrap_err();
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn a_database_without_a_file_is_refused_by_name() {
    for path in [":memory:", "", "file:x?mode=memory", "file:/x?vfs=memdb"] {
        let error = OpenOptions::new(Key::passphrase("key")).open(path);
        let error = error.unwrap_err();
        assert!(matches!(error, OpenError::NoFile), "{path:?}: {error:?}");
    }
    // An open database, but of another VFS; and none.
    let dir = tempfile::tempdir().unwrap();
    let db = Connection::open(dir.path().join("x.db")).unwrap();
    for schema in ["main", "nosuch"] {
        let error = connection::failure(&db, schema).unwrap_err();
        assert!(matches!(error, OpenError::NotOurs(_)), "{error:?}");
    }
}

/// Without locks the moment in which SQLite must be told of a new file's pages is
/// another one.
#[test]
fn new_files_without_locks() {
    let dir = tempfile::tempdir().unwrap();
    for (n, (parameters, pragmas, reserve)) in [
        ("", "PRAGMA key='key'; PRAGMA kdf_iter=100", 80),
        ("&key=key&kdf_iter=100", "", 80),
        (
            "",
            "PRAGMA key='key'; PRAGMA kdf_iter=100; PRAGMA cipher_page_size=1024;
             PRAGMA cipher_use_hmac=OFF",
            16,
        ),
        ("", "PRAGMA key='key'; PRAGMA cipher_compatibility=1", 16),
    ]
    .into_iter()
    .enumerate()
    {
        let path = dir.path().join(format!("{n}.db"));
        let uri = |lock| {
            pageseal::register().unwrap();
            format!(
                "file:{}?vfs=pageseal&nolock={lock}{parameters}",
                path.display()
            )
        };
        let db = Connection::open(uri(1)).unwrap();
        db.execute_batch(pragmas).unwrap();
        db.execute_batch("CREATE TABLE t(a); INSERT INTO t VALUES('attack at dawn')")
            .unwrap_or_else(|error| panic!("{n}: {error}"));
        drop(db);
        let file = std::fs::read(&path).unwrap();
        assert!(!file.windows(14).any(|w| w == b"attack at dawn"), "{n}");
        // Only the bytes that the settings need are taken from the pages.
        let mut db = Connection::open(uri(0)).unwrap();
        db.execute_batch(pragmas).unwrap();
        assert_eq!(text(&db, "SELECT a FROM t").unwrap(), "attack at dawn");
        let bytes = db.serialize("main").unwrap();
        assert_eq!(bytes[20], reserve, "{n}");
    }

    // Attached, with a key of its own.
    let db = keyed(&dir.path().join("main.db"));
    let other = dir.path().join("other.db");
    let attach = format!(
        "ATTACH 'file:{}?nolock=1' AS o KEY 'other'",
        other.display()
    );
    db.execute_batch(&attach).unwrap();
    db.execute_batch("PRAGMA o.kdf_iter=100; CREATE TABLE o.t(a); INSERT INTO o.t VALUES(7)")
        .unwrap();
    drop(db);
    let db = open(&other);
    db.execute_batch("PRAGMA key='other'; PRAGMA kdf_iter=100")
        .unwrap();
    assert_eq!(text(&db, "SELECT CAST(a AS TEXT) FROM t").unwrap(), "7");
}

/// `cipher_profile`: a line a statement, as SQLCipher writes it.
#[test]
fn profile_to_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let db = keyed(&dir.path().join("x.db"));
    let log = dir.path().join("profile.txt");
    let profile = format!("PRAGMA cipher_profile='{}'", log.display());
    assert_eq!(text(&db, &profile).as_deref(), Some("0"));
    db.execute_batch("INSERT INTO t VALUES(1)").unwrap();
    assert_eq!(text(&db, "PRAGMA cipher_profile=off").as_deref(), Some("0"));
    db.execute_batch("INSERT INTO t VALUES(2)").unwrap();
    let lines = std::fs::read_to_string(&log).unwrap();
    let line = lines
        .lines()
        .find(|line| line.ends_with(" ms - INSERT INTO t VALUES(1)"))
        .unwrap_or_else(|| panic!("{lines}"));
    let time = line.strip_prefix("Elapsed time:").unwrap();
    let time = time.split_once(" ms").unwrap().0;
    assert!(time.parse::<f64>().unwrap() >= 0.0, "{line}");
    assert_eq!(time.split_once('.').unwrap().1.len(), 3, "{line}");
    assert!(!lines.contains("VALUES(2)"), "{lines}");
    // A file that can't be opened is an answer, not an error.
    let nowhere = format!("PRAGMA cipher_profile='{}/no/such'", dir.path().display());
    assert_eq!(text(&db, &nowhere).as_deref(), Some("1"));
}

/// A pragma without an answer has no column either: one without a name is more than
/// Python, sqlx and rusqlite can take.
#[test]
fn no_column_is_without_a_name() {
    pageseal::register().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.db");
    let db = Connection::open(format!("file:{}?vfs=pageseal", path.display())).unwrap();
    for pragma in [
        "key = 'a key'",
        "kdf_iter = 1000",
        "cipher_page_size = 8192",
        "page_size = 2048",
        "cipher_use_hmac = ON",
        "cipher_compatibility = 4",
        "cipher_default_kdf_iter = 256000",
        "cipher_shared_wal = OFF",
        "cipher_attach_status",
        "key",
        "rekey",
        "user_version = 3",
        "cipher_integrity_check",
        // Of a database that has pages.
        "page_size = 512",
        "cipher_page_size = 512",
        "cipher_salt",
    ] {
        let mut statement = db.prepare(&format!("PRAGMA {pragma}")).unwrap();
        let columns = statement.column_names().len();
        let mut rows = statement.query([]).unwrap();
        let mut count = 0;
        while rows.next().unwrap().is_some() {
            count += 1;
        }
        assert!(
            count <= 1 && (count == columns),
            "{pragma}: {columns} columns, {count} rows"
        );
    }
    // The page size stayed as cipher_compatibility had set it, also for a VACUUM.
    db.execute_batch("CREATE TABLE t(a); VACUUM").unwrap();
    let size: i64 = db
        .query_row("PRAGMA page_size", [], |row| row.get::<_, String>(0))
        .unwrap()
        .parse()
        .unwrap();
    assert_eq!(size, 4096);
}

/// SQLite is told the page size of a database that it opens, and is not to remember it
/// for a VACUUM of another.
#[test]
fn a_vacuum_of_an_attached_database_keeps_its_page_size() {
    pageseal::register().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let uri = format!(
        "file:{}?vfs=pageseal&key=x'{}'&cipher_page_size=1024",
        dir.path().join("x.db").display(),
        "05".repeat(32)
    );
    let create = "CREATE TABLE t(a); INSERT INTO t VALUES(1)";
    Connection::open(&uri)
        .unwrap()
        .execute_batch(create)
        .unwrap();
    let plain = dir.path().join("plain.db");
    Connection::open(&plain)
        .unwrap()
        .execute_batch(create)
        .unwrap();
    let db = Connection::open(&uri).unwrap();
    let one: i64 = db
        .query_row("SELECT a FROM t", [], |row| row.get(0))
        .unwrap();
    assert_eq!(one, 1);
    db.execute_batch(&format!(
        "ATTACH '{}' AS a KEY ''; VACUUM a; VACUUM main",
        plain.display()
    ))
    .unwrap();
    for (schema, size) in [("a", "4096"), ("main", "1024")] {
        let found: rusqlite::types::Value = db
            .query_row(&format!("PRAGMA {schema}.page_size"), [], |row| row.get(0))
            .unwrap();
        let found = match found {
            rusqlite::types::Value::Integer(n) => n.to_string(),
            rusqlite::types::Value::Text(text) => text,
            other => panic!("{other:?}"),
        };
        assert_eq!(found, size, "{schema}");
    }
}
