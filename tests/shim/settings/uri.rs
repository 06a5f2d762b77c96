//! Key and settings in the URI.

use pageseal::{HashAlgorithm, Settings};

use super::{FILL, contents, filled};
use crate::support::open::{RAW_KEY, code, number, open, open_keyed};

const KEY: &str = "key=x'2DD29CA851E7B56E4697B0E1F08507293D761A05CE4D1B628663F411A8086D99'";

#[test]
fn every_setting() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("a.db");
    let uri = format!(
        "file:{}?{KEY}&cipher_compatibility=3&cipher_page_size=2048&kdf_iter=3\
         &cipher_hmac_algorithm=HMAC_SHA256&cipher_kdf_algorithm=PBKDF2_HMAC_SHA512\
         &cipher_use_hmac=ON&fast_kdf_iter=4&cipher_hmac_salt_mask=x'11'&cipher_hmac_pgno=be",
        path.display()
    );
    let connection = open(&uri).expect("opened");
    connection.execute_batch(FILL).expect("filled");
    drop(connection);
    let mut settings = Settings::preset(pageseal::Preset::V3);
    settings.page_size = 2048;
    settings.kdf_iter = 3;
    settings.fast_kdf_iter = 4;
    settings.hmac_algorithm = HashAlgorithm::Sha256;
    settings.kdf_algorithm = HashAlgorithm::Sha512;
    settings.hmac_salt_mask = 0x11;
    settings.hmac_pgno = pageseal::PgnoOrder::Big;
    assert_eq!(contents(&path, &settings), filled());
    let connection = open(&uri).expect("opened");
    assert_eq!(
        number(&connection, "SELECT count(*) FROM t").expect("a count"),
        2
    );
}

/// Hexadecimal, percent signs, either name.
#[test]
fn spellings_of_a_key() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("a.db");
    let path = file.display();
    let made = open(format!("file:{path}?key=a%20b%26%C3%A9&kdf_iter=1")).expect("opened");
    made.execute_batch(FILL).expect("filled");
    drop(made);
    for key in [
        "key=a%20b%26%c3%a9",
        "textkey=a%20b%26%C3%A9",
        "hexkey=61206226c3a9",
        "hexkey=61206226C3A9",
    ] {
        let connection = open(format!("file:{path}?{key}&kdf_iter=1")).expect("opened");
        assert_eq!(
            number(&connection, "SELECT count(*) FROM t").expect("a count"),
            2,
            "{key}"
        );
    }
    let connection = open(format!("file:{path}?key=a%20b&kdf_iter=1")).expect("opened");
    assert_eq!(code(number(&connection, "SELECT count(*) FROM t")), 26);
}

/// Settings without a key, then the key by pragma: the URI's settings are what it
/// starts from.
#[test]
fn settings_for_a_key_that_follows() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("a.db");
    let uri = format!(
        "file:{}?cipher_page_size=1024&cipher_use_hmac=OFF",
        path.display()
    );
    let connection = open_keyed(&uri, "").expect("opened");
    connection.execute_batch(FILL).expect("filled");
    drop(connection);
    let mut settings = Settings::default();
    settings.page_size = 1024;
    settings.use_hmac = false;
    assert_eq!(contents(&path, &settings), filled());
}

/// A file of another version is attached without changing the process's defaults.
#[test]
fn of_an_attached_file() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("old.db");
    let connection = open_keyed(dir.path().join("new.db"), "").expect("opened");
    connection
        .execute_batch(&format!(
            "{FILL} ATTACH 'file:{}?cipher_compatibility=3&kdf_iter=5' AS old KEY \"{RAW_KEY}\";
             CREATE TABLE old.t AS SELECT * FROM main.t; DETACH old;",
            path.display()
        ))
        .expect("attached");
    let mut settings = Settings::preset(pageseal::Preset::V3);
    settings.kdf_iter = 5;
    // The same rows, in a table that CREATE TABLE AS has made.
    assert_eq!(contents(&path, &settings).tables, filled().tables);
    drop(connection);
    assert_eq!(
        contents(&dir.path().join("new.db"), &Settings::default()),
        filled()
    );
}
