//! Damaged files: both sides find the same faults, and answer with the same codes.

use std::path::Path;

use crate::configuration::Configuration;
use crate::content::CREATE;
use crate::database::{Database, Side, text};
use crate::each::scratch;

/// What is done to the bytes of a file with pages of this size.
type Damage = fn(&mut Vec<u8>, usize);

/// One byte after another: page 2's ciphertext, page 3's IV, page 4's MAC, page
/// 5's last byte of the MAC; all of page 7; page 9 in place of page 8; the end.
const SINGLE: [(&str, Damage); 9] = [
    ("page 1", |file, _| file[100] ^= 1),
    ("ciphertext", |file, page| file[page] ^= 1),
    ("IV", |file, page| file[3 * page - 80] ^= 0x80),
    ("MAC", |file, page| file[4 * page - 64] ^= 1),
    ("end of the MAC", |file, page| file[5 * page - 1] ^= 1),
    ("zeros", |file, page| file[6 * page..7 * page].fill(0)),
    ("a page in another's place", |file, page| {
        file.copy_within(8 * page..9 * page, 7 * page);
    }),
    ("half a page at the end", |file, page| {
        file.truncate(file.len() - page + 100);
    }),
    ("many at once", |file, page| {
        for number in [2, 3, 17, 18, 40] {
            file[number * page - 200] ^= 1;
        }
        file.extend([7; 33]);
    }),
];

#[test]
fn integrity_check_finds_the_same() {
    let how = Configuration::new("default");
    for (name, damage) in SINGLE {
        eprintln!("{name}");
        let directory = scratch();
        let path = directory.path().join("a.db");
        make(&path, &how, damage);
        let [ours, theirs] = sides(|side| {
            let mut database = side.open(&path, &how);
            let lines = database.query("PRAGMA cipher_integrity_check");
            let lines: Vec<_> = lines.iter().flatten().map(text).collect();
            // One row here, and one row a line there.
            lines.join("\n")
        });
        assert!(!theirs.is_empty());
        assert_eq!(ours, theirs);
    }
}

#[test]
fn reading_fails_with_the_same_code() {
    let how = Configuration::new("default");
    for (name, damage) in SINGLE {
        let directory = scratch();
        let path = directory.path().join("a.db");
        make(&path, &how, damage);
        // Each table by itself: SQLCipher's connection stays broken after a failure.
        for table in ["item", "pair", "note", "log"] {
            eprintln!("{name}: {table}");
            let query = format!("SELECT * FROM {table} NOT INDEXED");
            let [ours, theirs] = sides(|side| {
                let mut database = side.open(&path, &how);
                let rows = database.try_query(&query);
                rows.map_err(|e| (e.code, e.message))
            });
            assert_eq!(ours, theirs);
        }
    }
}

#[test]
fn a_wrong_key_fails_with_the_same_code() {
    let how = Configuration::new("default");
    let directory = scratch();
    let path = directory.path().join("a.db");
    make(&path, &how, |_, _| ());
    let wrong = [
        how.clone().keyed("another"),
        how.clone().keyed(format!("x'{}'", "00".repeat(32))),
        how.clone().with("kdf_iter", 11),
        how.clone().with("cipher_page_size", 1024),
        how.clone().with("cipher_page_size", 65536),
        how.clone().with("cipher_use_hmac", "OFF"),
        how.clone().with("cipher_hmac_algorithm", "HMAC_SHA1"),
        how.clone()
            .with("cipher_kdf_algorithm", "PBKDF2_HMAC_SHA256"),
        how.clone().with("cipher_compatibility", 3),
        how.clone()
            .with("cipher_salt", format!("\"x'{}'\"", "00".repeat(16))),
    ];
    let before = std::fs::read(&path).expect("a file");
    for how in wrong {
        eprintln!("{}", how.settings());
        let [ours, theirs] = sides(|side| {
            let mut database = side.open(&path, &how);
            let reading = database.try_query("SELECT count(*) FROM item");
            let writing = database.try_query("CREATE TABLE x(a)");
            [reading, writing].map(|result| result.map_err(|e| (e.code, e.message)))
        });
        assert_eq!(ours, theirs);
        assert!(ours.iter().all(Result::is_err));
        assert_eq!(before, std::fs::read(&path).expect("a file"));
    }
}

fn make(path: &Path, how: &Configuration, damage: Damage) {
    let mut database = Side::SqlCipher.create(path, how);
    database.exec(CREATE);
    database.close();
    let mut file = std::fs::read(path).expect("a file");
    damage(&mut file, how.page_size as usize);
    std::fs::write(path, file).expect("written");
}

fn sides<T>(ask: impl Fn(Side) -> T) -> [T; 2] {
    [Side::Pageseal, Side::SqlCipher].map(ask)
}
