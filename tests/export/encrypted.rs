//! Encrypting, decrypting and re-encrypting by way of an export.

use std::path::Path;

use pageseal::{Key, OpenOptions, Preset};
use rusqlite::Connection;
use tempfile::tempdir;

use crate::fixture::{EVERYTHING, contents, export, open, open_everything, schema, value};

const MAGIC: &[u8] = b"SQLite format 3\0";

/// An encrypted database.
fn open_sealed(path: &Path, preset: Preset) -> Connection {
    let options = OpenOptions::new(Key::passphrase("old"))
        .preset(preset)
        .kdf_iter(10);
    let db = options.open(path).unwrap();
    pageseal::functions::register(&db).unwrap();
    db
}

/// A plaintext database on a connection that can attach encrypted ones.
fn open_plain(path: &Path) -> Connection {
    pageseal::register().unwrap();
    open(format!("file:{}?vfs=pageseal", path.display()))
}

#[test]
fn to_plaintext_and_back() {
    let dir = tempdir().unwrap();
    let [sealed, plain, again] = ["sealed.db", "plain.db", "again.db"].map(|f| dir.path().join(f));
    let db = open_sealed(&sealed, Preset::V4);
    db.execute_batch(EVERYTHING).unwrap();
    let before = contents(&db, "main");
    db.execute("ATTACH DATABASE ?1 AS plaintext KEY ''", [plain.to_str()])
        .unwrap();
    db.query_row("SELECT sqlcipher_export('plaintext')", [], |_| Ok(()))
        .unwrap();
    db.execute_batch("DETACH DATABASE plaintext").unwrap();
    assert!(std::fs::read(&plain).unwrap().starts_with(MAGIC));
    assert_eq!(contents(&open(&plain), "main"), before);

    let db = open_plain(&plain);
    db.execute(
        "ATTACH DATABASE ?1 AS encrypted KEY 'new'",
        [again.to_str()],
    )
    .unwrap();
    db.query_row("SELECT sqlcipher_export('encrypted')", [], |_| Ok(()))
        .unwrap();
    assert_eq!(contents(&db, "encrypted"), before);
    drop(db);
    assert!(!std::fs::read(&again).unwrap().starts_with(MAGIC));
    let copy = OpenOptions::new(Key::passphrase("new"))
        .open(&again)
        .unwrap();
    assert_eq!(contents(&copy, "main"), before);
    let reserve = std::fs::read(&again).unwrap().len() % 4096;
    assert_eq!(reserve, 0);
}

#[test]
fn to_other_settings() {
    let dir = tempdir().unwrap();
    let db = open_sealed(&dir.path().join("v4.db"), Preset::V4);
    db.execute_batch(EVERYTHING).unwrap();
    let before = contents(&db, "main");
    for (name, preset) in [("v1", Preset::V1), ("v2", Preset::V2), ("v3", Preset::V3)] {
        let path = dir.path().join(name);
        db.execute(
            "ATTACH DATABASE ?1 AS ?2 KEY 'old'",
            [path.to_str(), Some(name)],
        )
        .unwrap();
        let settings = format!(
            "PRAGMA {name}.cipher_compatibility = {}; PRAGMA {name}.kdf_iter = 10; \
             PRAGMA {name}.auto_vacuum = INCREMENTAL",
            &name[1..]
        );
        db.execute_batch(&settings).unwrap();
        export(&db, name, "main").unwrap();
        let copy = open_sealed(&path, preset);
        assert_eq!(contents(&copy, "main"), before, "{name}");
        assert_eq!(value::<String>(&copy, "PRAGMA page_size"), "1024");
        assert_eq!(value::<i64>(&copy, "PRAGMA auto_vacuum"), 2);
    }
}

#[test]
fn without_a_key_the_target_has_that_of_main() {
    let dir = tempdir().unwrap();
    let db = open_sealed(&dir.path().join("one.db"), Preset::V4);
    db.execute_batch(EVERYTHING).unwrap();
    let path = dir.path().join("two.db");
    db.execute("ATTACH DATABASE ?1 AS two", [path.to_str()])
        .unwrap();
    export(&db, "two", "main").unwrap();
    let copy = open_sealed(&path, Preset::V4);
    assert_eq!(contents(&copy, "main"), contents(&db, "main"));
}

#[test]
fn in_wal_mode_and_within_a_transaction() {
    let dir = tempdir().unwrap();
    let db = open_sealed(&dir.path().join("one.db"), Preset::V4);
    db.execute_batch("PRAGMA journal_mode = WAL").unwrap();
    db.execute_batch(EVERYTHING).unwrap();
    let path = dir.path().join("two.db");
    db.execute("ATTACH DATABASE ?1 AS two KEY 'x'", [path.to_str()])
        .unwrap();
    db.execute_batch("BEGIN; INSERT INTO log VALUES ('mine')")
        .unwrap();
    export(&db, "two", "main").unwrap();
    db.execute_batch("COMMIT").unwrap();
    let copy = OpenOptions::new(Key::passphrase("x")).open(&path).unwrap();
    assert_eq!(contents(&copy, "main"), contents(&db, "main"));
}

#[test]
fn a_full_disk_leaves_no_encrypted_target() {
    let dir = tempdir().unwrap();
    let db = open_everything(dir.path().join("plain.db"));
    drop(db);
    let db = open_plain(&dir.path().join("plain.db"));
    let path = dir.path().join("sealed.db");
    db.execute("ATTACH DATABASE ?1 AS sealed KEY 'x'", [path.to_str()])
        .unwrap();
    db.execute_batch("PRAGMA sealed.max_page_count = 20")
        .unwrap();
    let error = export(&db, "sealed", "main").unwrap_err().to_string();
    assert!(error.contains("full"), "{error}");
    assert_eq!(schema(&db, "sealed"), []);
    assert_eq!(path.metadata().unwrap().len(), 0);
    db.execute_batch("PRAGMA sealed.max_page_count = 100000")
        .unwrap();
    export(&db, "sealed", "main").unwrap();
    assert_eq!(contents(&db, "sealed"), contents(&db, "main"));
}

#[test]
fn a_damaged_source() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("sealed.db");
    let db = open_sealed(&path, Preset::V4);
    db.execute_batch(EVERYTHING).unwrap();
    let damaged: u32 = value(&db, "SELECT max(pageno) FROM dbstat WHERE name = 'large'");
    drop(db);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[(damaged as usize - 1) * 4096 + 100] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let db = open_sealed(&path, Preset::V4);
    let target = dir.path().join("plain.db");
    db.execute("ATTACH DATABASE ?1 AS plaintext KEY ''", [target.to_str()])
        .unwrap();
    let error = export(&db, "plaintext", "main").unwrap_err().to_string();
    assert_eq!(
        error,
        "export failed (copying table \"large\"): database disk image is malformed"
    );
    assert_eq!(schema(&db, "plaintext"), []);
    assert_eq!(target.metadata().unwrap().len(), 0);
}

#[test]
fn a_wrong_key_for_the_target() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("one.db");
    open_sealed(&path, Preset::V4)
        .execute_batch("CREATE TABLE t(a)")
        .unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let db = open_plain(&dir.path().join("plain.db"));
    db.execute_batch("CREATE TABLE u(a)").unwrap();
    let attached = db.execute("ATTACH DATABASE ?1 AS one KEY 'wrong'", [path.to_str()]);
    assert!(attached.is_err() || export(&db, "one", "main").is_err());
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
}
