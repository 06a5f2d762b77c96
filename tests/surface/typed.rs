//! The typed API: rekey with settings, key material for pools, the key cache.

use pageseal::{Failure, HashAlgorithm, Key, KeyMaterial, OpenOptions, Rekey};
use rusqlite::Connection;

fn text(db: &Connection, sql: &str) -> String {
    db.query_row(sql, [], |row| row.get(0)).unwrap()
}

#[test]
fn rekey_with_other_derivation_settings_and_to_raw_keys() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.db");
    let first = OpenOptions::new(Key::passphrase("one")).kdf_iter(1000);
    let db = first.open(&path).unwrap();
    db.execute_batch("CREATE TABLE t(a); INSERT INTO t VALUES('kept')")
        .unwrap();
    Rekey::new(Key::passphrase("two"))
        .kdf_iter(2000)
        .kdf_algorithm(HashAlgorithm::Sha256)
        .run(&db, "main")
        .unwrap();
    drop(db);
    let error = first.open(&path).unwrap_err();
    assert_eq!(error.failure(), Some(&Failure::WrongKey));
    let second = OpenOptions::new(Key::passphrase("two"))
        .kdf_iter(2000)
        .kdf_algorithm(HashAlgorithm::Sha256);
    let db = second.open(&path).unwrap();
    assert_eq!(text(&db, "SELECT a FROM t"), "kept");

    let raw = Key::from_raw_bytes(&[7; 48]).unwrap();
    Rekey::new(raw.clone()).run(&db, "main").unwrap();
    drop(db);
    // A raw key with a salt makes that the file's.
    assert_eq!(std::fs::read(&path).unwrap()[..16], [7; 16]);
    let db = OpenOptions::new(raw)
        .kdf_algorithm(HashAlgorithm::Sha256)
        .open(&path)
        .unwrap();
    assert_eq!(text(&db, "SELECT a FROM t"), "kept");
}

#[test]
fn key_material_opens_elsewhere_without_deriving() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.db");
    let db = OpenOptions::new(Key::passphrase("one"))
        .page_size(1024)
        .kdf_iter(1000)
        .open(&path)
        .unwrap();
    db.execute_batch("CREATE TABLE t(a); INSERT INTO t VALUES('kept')")
        .unwrap();
    let material = KeyMaterial::of(&db, "main").unwrap();
    // The passphrase is not in it, so nothing can be derived again, and no byte of
    // what is in it is shown.
    let shown = format!("{material:?}");
    assert!(
        shown.contains("Key::Full(..)") && !shown.contains('['),
        "{shown}"
    );
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let db = material.options().open(&path).unwrap();
                assert_eq!(text(&db, "SELECT a FROM t"), "kept");
            });
        }
    });
}

#[test]
fn a_keyed_database_overwrites_what_is_deleted() {
    let dir = tempfile::tempdir().unwrap();
    let db = OpenOptions::new(Key::passphrase("one"))
        .kdf_iter(1)
        .open(dir.path().join("x.db"))
        .unwrap();
    let on: i64 = db
        .query_row("PRAGMA secure_delete", [], |row| row.get(0))
        .unwrap();
    assert_eq!(on, 1);
    // As SQLCipher, which turns it on with the key; it can be turned off again.
    db.execute_batch("PRAGMA secure_delete=OFF; CREATE TABLE t(a)")
        .unwrap();
    let on: i64 = db
        .query_row("PRAGMA secure_delete", [], |row| row.get(0))
        .unwrap();
    assert_eq!(on, 0);
}

#[test]
fn vacuum_into_of_an_attached_database_takes_its_key() {
    let dir = tempfile::tempdir().unwrap();
    let plain = dir.path().join("plain.db");
    let sealed = dir.path().join("sealed.db");
    let copy = dir.path().join("copy.db");
    pageseal::register().unwrap();
    let db = Connection::open_with_flags_and_vfs(&plain, Default::default(), c"pageseal").unwrap();
    db.execute_batch("CREATE TABLE p(a)").unwrap();
    db.execute("ATTACH ?1 AS s KEY 'k'", [sealed.to_str().unwrap()])
        .unwrap();
    db.execute_batch("CREATE TABLE s.t(a); INSERT INTO s.t VALUES('kept')")
        .unwrap();
    db.execute("VACUUM s INTO ?1", [copy.to_str().unwrap()])
        .unwrap();
    drop(db);
    let bytes = std::fs::read(&copy).unwrap();
    assert_ne!(bytes[..15], *b"SQLite format 3");
    // Same key, same salt.
    assert_eq!(bytes[..16], std::fs::read(&sealed).unwrap()[..16]);
    let db = OpenOptions::new(Key::passphrase("k")).open(&copy).unwrap();
    assert_eq!(text(&db, "SELECT a FROM t"), "kept");
}
