//! `PRAGMA rekey` and `cipher_migrate`.

use std::path::Path;

use rusqlite::{Connection, Error, ErrorCode, OpenFlags};

fn open(path: &Path) -> Connection {
    pageseal::register().unwrap();
    Connection::open_with_flags_and_vfs(path, OpenFlags::default(), c"pageseal").unwrap()
}

fn ask(db: &Connection, sql: &str) -> Result<String, Error> {
    db.query_row(sql, [], |row| row.get(0))
}

/// Keyed, and still with SQLCipher 4's own number of rounds.
fn keyed_slowly(path: &Path, key: &str) -> Connection {
    let db = open(path);
    assert_eq!(ask(&db, &format!("PRAGMA key='{key}'")).unwrap(), "ok");
    db
}

fn keyed(path: &Path, key: &str) -> Connection {
    let db = keyed_slowly(path, key);
    db.execute_batch("PRAGMA kdf_iter=10").unwrap();
    db
}

fn fill(db: &Connection, rows: i64) {
    db.execute_batch(&format!(
        "CREATE TABLE t(a INTEGER PRIMARY KEY, b, c);
         CREATE INDEX i ON t(b);
         WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM n WHERE x<{rows})
         INSERT INTO t SELECT x, 'row '||x, zeroblob(x%3000) FROM n;"
    ))
    .unwrap();
}

fn count(db: &Connection) -> Result<i64, Error> {
    db.query_row("SELECT count(*) FROM t WHERE b LIKE 'row %'", [], |row| {
        row.get(0)
    })
}

fn code(result: Result<i64, Error>) -> ErrorCode {
    result.unwrap_err().sqlite_error_code().unwrap()
}

#[test]
fn rekey_in_every_journal_mode() {
    for mode in ["delete", "truncate", "persist", "memory", "off", "wal"] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.db");
        let db = keyed(&path, "old");
        assert_eq!(
            ask(&db, &format!("PRAGMA journal_mode={mode}")).unwrap(),
            mode
        );
        fill(&db, 500);
        let rekeyed = ask(&db, "PRAGMA rekey='new'");
        assert_eq!(rekeyed.as_deref(), Ok("ok"), "{mode}");
        assert_eq!(count(&db).unwrap(), 500);
        db.execute_batch("UPDATE t SET b=b||'!'; CREATE TABLE u(a)")
            .unwrap();
        assert_eq!(ask(&db, "PRAGMA journal_mode").unwrap(), mode);
        drop(db);
        assert_eq!(code(count(&keyed(&path, "old"))), ErrorCode::NotADatabase);
        let db = keyed(&path, "new");
        assert_eq!(count(&db).unwrap(), 500);
        assert_eq!(ask(&db, "PRAGMA integrity_check").unwrap(), "ok");
        assert!(matches!(
            ask(&db, "PRAGMA cipher_integrity_check"),
            Err(Error::QueryReturnedNoRows)
        ));
    }
}

#[test]
fn rekey_is_refused_where_it_would_do_harm() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.db");
    let db = keyed(&path, "old");
    assert!(ask(&db, "PRAGMA rekey='new'").is_err(), "an empty database");
    fill(&db, 50);
    assert!(ask(&db, "PRAGMA rekey=''").is_err(), "an empty key");
    db.execute_batch("BEGIN; INSERT INTO t VALUES(1000, 'row x', 1)")
        .unwrap();
    assert!(ask(&db, "PRAGMA rekey='new'").is_err(), "in a transaction");
    assert!(!db.is_autocommit(), "the transaction is untouched");
    db.execute_batch("COMMIT").unwrap();
    assert_eq!(count(&db).unwrap(), 51);
    drop(db);

    let plain = dir.path().join("plain.db");
    let db = open(&plain);
    fill(&db, 5);
    assert!(ask(&db, "PRAGMA rekey='new'").is_err(), "plaintext");
    drop(db);

    let db =
        Connection::open_with_flags_and_vfs(&path, OpenFlags::SQLITE_OPEN_READ_ONLY, c"pageseal")
            .unwrap();
    ask(&db, "PRAGMA key='old'").unwrap();
    db.execute_batch("PRAGMA kdf_iter=10").unwrap();
    assert_eq!(count(&db).unwrap(), 51);
    assert!(ask(&db, "PRAGMA rekey='new'").is_err(), "read-only");
    drop(db);
    assert_eq!(count(&keyed(&path, "old")).unwrap(), 51);
}

#[test]
fn other_connections_are_told_and_can_follow() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.db");
    let db = keyed(&path, "old");
    fill(&db, 50);
    let other = keyed(&path, "old");
    assert_eq!(count(&other).unwrap(), 50);
    assert_eq!(ask(&db, "PRAGMA rekey='new'").unwrap(), "ok");
    assert_eq!(code(count(&other)), ErrorCode::NotADatabase);
    assert_eq!(ask(&other, "PRAGMA key='new'").unwrap(), "ok");
    other.execute_batch("PRAGMA kdf_iter=10").unwrap();
    assert_eq!(count(&other).unwrap(), 50);
    other.execute_batch("DELETE FROM t WHERE a=1").unwrap();
    assert_eq!(count(&db).unwrap(), 49);
}

#[test]
fn attached_databases_are_rekeyed_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let main = dir.path().join("main.db");
    let other = dir.path().join("other.db");
    let db = keyed(&main, "one");
    fill(&db, 10);
    db.execute(
        "ATTACH ?1 AS \"o t h\" KEY 'two'",
        [other.to_str().unwrap()],
    )
    .unwrap();
    db.execute_batch("PRAGMA \"o t h\".kdf_iter=10").unwrap();
    db.execute_batch("CREATE TABLE \"o t h\".t AS SELECT * FROM main.t")
        .unwrap();
    assert_eq!(ask(&db, "PRAGMA \"o t h\".rekey='three'").unwrap(), "ok");
    drop(db);
    assert_eq!(count(&keyed(&main, "one")).unwrap(), 10);
    assert_eq!(count(&keyed(&other, "three")).unwrap(), 10);
    assert_eq!(code(count(&keyed(&other, "two"))), ErrorCode::NotADatabase);
}

#[test]
fn migrate_old_versions() {
    for version in 1..=3 {
        for mode in ["delete", "wal"] {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("x.db");
            let db = keyed_slowly(&path, "key");
            db.execute_batch(&format!("PRAGMA cipher_compatibility={version}"))
                .unwrap();
            assert_eq!(
                ask(&db, &format!("PRAGMA journal_mode={mode}")).unwrap(),
                mode
            );
            fill(&db, 300);
            db.execute_batch("PRAGMA user_version=77; PRAGMA application_id=88")
                .unwrap();
            drop(db);

            let db = keyed_slowly(&path, "wrong");
            assert_eq!(ask(&db, "PRAGMA cipher_migrate").unwrap(), "26");
            // The number alone says nothing to a person.
            let status = ask(&db, "PRAGMA cipher_status").unwrap();
            assert!(status.starts_with("0: wrong key or settings"), "{status}");
            drop(db);

            let db = keyed_slowly(&path, "key");
            assert_eq!(
                ask(&db, "PRAGMA cipher_migrate").unwrap(),
                "0",
                "{version} {mode}"
            );
            assert_eq!(count(&db).unwrap(), 300);
            assert_eq!(ask(&db, "PRAGMA cipher_migrate").unwrap(), "21");
            db.execute_batch("INSERT INTO t VALUES(1000, 'row 1000', 1)")
                .unwrap();
            drop(db);

            let db = keyed_slowly(&path, "key");
            assert_eq!(count(&db).unwrap(), 301);
            let version: i64 = db
                .query_row("PRAGMA user_version", [], |row| row.get(0))
                .unwrap();
            assert_eq!(version, 77);
            assert_eq!(ask(&db, "PRAGMA integrity_check").unwrap(), "ok");
            assert_eq!(ask(&db, "PRAGMA journal_mode").unwrap(), mode);
            drop(db);
            let files: Vec<_> = std::fs::read_dir(dir.path()).unwrap().collect();
            assert_eq!(files.len(), 1, "{files:?}");
        }
    }
}

/// From settings that are no version's, which `PRAGMA cipher_migrate` does not find.
#[test]
fn migration_from_any_settings_to_any() {
    use pageseal::{HashAlgorithm, Key, OpenOptions, Preset, Settings};
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.db");
    let key = Key::passphrase("key");
    let old = OpenOptions::new(key.clone())
        .preset(Preset::V1)
        .page_size(2048)
        .kdf_iter(10);
    let db = old.open(&path).unwrap();
    fill(&db, 500);
    db.execute_batch("PRAGMA user_version=7; DELETE FROM t WHERE a%3=0")
        .unwrap();
    let mut settings = Settings::preset(Preset::V4);
    settings.kdf_iter = 10;
    settings.hmac_algorithm = HashAlgorithm::Sha256;
    pageseal::connection::migrate(&db, "main", settings).unwrap();
    assert_eq!(count(&db).unwrap(), 334);
    db.close().unwrap();
    assert!(old.open(&path).is_err());
    let new = OpenOptions::new(key).settings(settings);
    let db = new.open(&path).unwrap();
    assert_eq!(count(&db).unwrap(), 334);
    assert_eq!(ask(&db, "PRAGMA integrity_check").unwrap(), "ok");
    let version: i64 = db
        .query_row("PRAGMA user_version", [], |row| row.get(0))
        .unwrap();
    assert_eq!(version, 7);
    // Back to smaller pages and no HMAC, in WAL mode.
    assert_eq!(ask(&db, "PRAGMA journal_mode=WAL").unwrap(), "wal");
    let mut settings = Settings::preset(Preset::V1);
    settings.kdf_iter = 10;
    pageseal::connection::migrate(&db, "main", settings).unwrap();
    assert_eq!(count(&db).unwrap(), 334);
    let left: Vec<_> = std::fs::read_dir(dir.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !name.starts_with("x.db") || name.contains("migrate"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}
