//! `ATTACH … KEY`: what one side attaches, the other attaches or opens.

use std::path::Path;

use crate::configuration::Configuration;
use crate::content::{create, hashes};
use crate::database::Side::{Pageseal, SqlCipher};
use crate::database::{BOTH_WAYS, Database, assert_sound, check};
use crate::each::scratch;
use crate::ours::Ours;

use crate::theirs::Theirs;

/// The main database's key: raw, since it is not derivation that is tested. (And
/// SQLCipher attaches with the settings of its process only.)
fn main_key() -> Configuration {
    let key = format!("x'{}'", "a5".repeat(32));
    Configuration::preset("main", 4, 4096).keyed(key)
}

/// A key, as `KEY` is given it and as bytes.
struct Key {
    literal: &'static str,
    bytes: &'static [u8],
}

const KEYS: [Key; 4] = [
    Key {
        literal: "'it''s a passphrase'",
        bytes: b"it's a passphrase",
    },
    // A blob is its bytes, not a raw key.
    Key {
        literal: "x'00ff2780'",
        bytes: b"\x00\xff\x27\x80",
    },
    Key {
        literal: "\"x'2dd29ca851e7b56e4697b0e1f08507293d761a05ce4d1b628663f411a8086d99'\"",
        bytes: b"x'2dd29ca851e7b56e4697b0e1f08507293d761a05ce4d1b628663f411a8086d99'",
    },
    Key {
        literal: "'with ' || 'an expression'",
        bytes: b"with an expression",
    },
];

#[test]
fn attached_files_have_keys_of_their_own() {
    for (maker, taker) in BOTH_WAYS {
        for key in &KEYS {
            eprintln!("attached by {maker:?}, KEY {}", key.literal);
            let directory = scratch();
            let [main, other] = ["main", "other"].map(|name| directory.path().join(name));
            let how = main_key();
            let mut database = maker.create(&main, &how);
            attach(&mut *database, &other, key.literal);
            database.exec(
                "BEGIN; CREATE TABLE main.t(a); CREATE TABLE other.u(a);
                 INSERT INTO t VALUES(1), (2), (3); INSERT INTO u SELECT a * 10 FROM t; COMMIT;",
            );
            database.close();

            let alone = Configuration::preset("other", 4, 4096).keyed(key.bytes);
            let mut database = taker.open(&other, &alone);
            assert_eq!(database.get("SELECT group_concat(a) FROM u"), "10,20,30");
            assert_eq!(database.get("PRAGMA integrity_check"), "ok");
            database.close();

            let mut database = taker.open(&main, &how);
            attach(&mut *database, &other, key.literal);
            database.exec("UPDATE t SET a = a + 5; INSERT INTO u SELECT a FROM t;");
            assert_eq!(database.get("PRAGMA other.integrity_check"), "ok");
            assert!(
                database
                    .query("PRAGMA other.cipher_integrity_check")
                    .is_empty()
            );
            database.close();

            let mut database = maker.open(&main, &how);
            attach(&mut *database, &other, key.literal);
            let sum = "SELECT (SELECT sum(a) FROM t) + (SELECT sum(a) FROM u)";
            assert_eq!(database.get(sum), "102");
            database.close();
        }
    }
}

/// A prepared statement that is used again, each time with another file and key.
#[test]
fn one_statement_for_many_keys() {
    let directory = scratch();
    let ours = Ours::open(&directory.path().join("main"), &main_key());
    let text = |text: &str| rusqlite::types::Value::Text(text.to_owned());
    let mut attach = ours
        .0
        .prepare("ATTACH ?1 AS other KEY ?2")
        .expect("a statement");
    for (n, (key, bytes)) in [
        (text("one"), b"one".as_slice()),
        (text("it's \"two\""), b"it's \"two\""),
        (
            rusqlite::types::Value::Blob(vec![0, 255, 39]),
            &[0, 255, 39],
        ),
        (text("one"), b"one"),
        (text("ключ"), "ключ".as_bytes()),
    ]
    .into_iter()
    .enumerate()
    {
        let path = directory.path().join(n.to_string());
        attach
            .execute((path.to_str().expect("text"), key))
            .expect("attached");
        let fill =
            format!("CREATE TABLE other.u(a); INSERT INTO other.u VALUES({n}); DETACH other");
        ours.0.execute_batch(&fill).expect("filled");
        let alone = Configuration::preset("other", 4, 4096).keyed(bytes);
        let mut database = SqlCipher.open(&path, &alone);
        assert_eq!(database.get("SELECT a FROM u"), n.to_string());
        database.close();
    }
}

#[test]
fn without_key_the_main_databases_is_taken() {
    for (maker, taker) in BOTH_WAYS {
        for clause in ["", "KEY NULL"] {
            eprintln!("attached by {maker:?} {clause}");
            let directory = scratch();
            let [main, other] = ["main", "other"].map(|name| directory.path().join(name));
            let how = main_key();
            let hashes = hashes(&how);
            let mut database = maker.create(&main, &how);
            let statement = format!("ATTACH '{}' AS other {clause}", other.display());
            database.exec("CREATE TABLE t(a)");
            database.exec(&statement);
            database.exec("CREATE TABLE other.u(a)");
            database.exec("DROP TABLE other.u");
            database.close();
            assert_eq!(start(&main), start(&other), "salt");

            let mut database = taker.open(&other, &how);
            database.exec(&create(&how));
            database.close();
            let mut database = taker.open(&main, &how);
            database.exec(&statement);
            assert_eq!(database.get("SELECT count(*) > 0 FROM other.item"), "1");
            database.close();
            let mut database = maker.open(&other, &how);
            check(&mut *database, &how, &hashes.created);
            database.close();
        }
    }
}

#[test]
fn an_empty_key_makes_a_plaintext_file() {
    for (maker, taker) in BOTH_WAYS {
        let directory = scratch();
        let [main, other] = ["main", "other"].map(|name| directory.path().join(name));
        let mut database = maker.create(&main, &main_key());
        attach(&mut *database, &other, "''");
        database.exec("CREATE TABLE other.u(a); INSERT INTO other.u VALUES(7)");
        database.close();
        assert_eq!(&start(&other), b"SQLite format 3\0");

        let mut database: Box<dyn Database> = match taker {
            Pageseal => Box::new(Ours::open_unkeyed(&other)),
            _ => Box::new(Theirs::open_unkeyed(&other)),
        };
        assert_eq!(database.get("SELECT a FROM u"), "7");
        database.close();
        let mut database = taker.open(&main, &main_key());
        attach(&mut *database, &other, "''");
        assert_eq!(database.get("SELECT a FROM other.u"), "7");
        database.close();
    }
}

#[test]
fn both_refuse_the_same() {
    let directory = scratch();
    let [main, other] = ["main", "other"].map(|name| directory.path().join(name));
    for path in [&main, &other] {
        let mut database = SqlCipher.create(path, &main_key());
        database.exec(&create(&main_key()));
        database.close();
    }
    let before = std::fs::read(&other).expect("a file");
    for key in ["'wrong'", "''", "123", "1.5"] {
        let [ours, theirs] = [Pageseal, SqlCipher].map(|side| {
            let mut database = side.open(&main, &main_key());
            let statement = format!("ATTACH '{}' AS other KEY {key}", other.display());
            // SQLite reads an attached file's schema at once, or when it is needed.
            let result = database.try_query(&format!("{statement}; SELECT * FROM other.item"));
            let error = result.expect_err("a refusal");
            assert_eq!(database.get("SELECT count(*) > 0 FROM main.item"), "1");
            database.close();
            (error.code, error.message)
        });
        assert_eq!(ours.0, theirs.0, "KEY {key}");
        // A VFS cannot give an `ATTACH` another text than its code's.
        assert!(ours.1 == theirs.1 || theirs.1 == "Invalid key value");
        assert_eq!(before, std::fs::read(&other).expect("a file"));
    }
}

/// Ours only: SQLCipher attaches with the settings that its process starts with.
#[test]
fn a_file_of_another_version_is_attached_by_uri() {
    let old = Configuration::preset("old", 3, 1024).keyed("old key");
    let hashes = hashes(&old);
    let directory = scratch();
    let [main, other] = ["main", "other"].map(|name| directory.path().join(name));
    let mut database = SqlCipher.create(&other, &old);
    database.exec(&create(&old));
    database.close();

    let mut database = Pageseal.create(&main, &main_key());
    database.exec(&format!("ATTACH '{}' AS other", old.uri(&other)));
    database.exec(
        "CREATE TABLE main.copy AS SELECT * FROM other.item;
         UPDATE other.item SET data = c.data FROM copy AS c WHERE item.id = c.id;",
    );
    database.close();

    let mut database = SqlCipher.open(&other, &old);
    check(&mut *database, &old, &hashes.created);
    database.close();
}

/// A new file has not been read yet when its settings are given.
#[test]
fn a_file_of_another_version_is_made_by_pragma() {
    let old = Configuration::preset("old", 3, 1024).keyed("old key");
    let directory = scratch();
    let [main, other] = ["main", "other"].map(|name| directory.path().join(name));
    let mut database = Pageseal.create(&main, &main_key());
    attach(&mut *database, &other, "'old key'");
    database.exec(&old.settings_of("other"));
    database.exec("CREATE TABLE other.u(a); INSERT INTO u VALUES(7)");
    database.close();

    let mut database = SqlCipher.open(&other, &old);
    assert_eq!(database.get("SELECT a FROM u"), "7");
    assert_sound(&mut *database, &old);
    database.close();
}

fn attach(database: &mut dyn Database, path: &Path, key: &str) {
    database.exec(&format!("ATTACH '{}' AS other KEY {key}", path.display()));
}

fn start(path: &Path) -> [u8; 16] {
    let bytes = std::fs::read(path).expect("a file");
    *bytes.first_chunk().expect("16 bytes")
}
