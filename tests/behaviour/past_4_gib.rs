//! `cipher_integrity_check` where page offsets need more than 32 bits.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;

use pageseal::format::{PageCodec, keys};
use pageseal::{HashAlgorithm, Key, Settings, connection};

use crate::open;

const PAGE: u64 = 65536;
/// The first page past 4 GiB.
const FAR: u32 = ((1_u64 << 32) / PAGE) as u32 + 1;

const SETTINGS: &str = "PRAGMA cipher_page_size = 65536; PRAGMA cipher_hmac_algorithm = HMAC_SHA1";

/// A sparse file: the holes are no sealed pages, and are named as such; of the last
/// three pages, past 4 GiB, the first and the last are sealed, the one between them
/// with another number.
#[test]
#[ignore = "reads 4 GiB: most of a minute without optimisation"]
fn pages_past_4_gib_are_checked() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.db");
    let mut settings = Settings::default();
    settings.page_size = PAGE as u32;
    settings.kdf_iter = 100;
    // The fastest without optimisation, over 4 GiB.
    settings.hmac_algorithm = HashAlgorithm::Sha1;
    let key = Key::passphrase("key");
    {
        let db = open(&path);
        db.execute_batch(SETTINGS).unwrap();
        db.execute_batch("CREATE TABLE t(a)").unwrap();
        assert_eq!(connection::failure(&db, "main").unwrap(), None);
    }
    let file: File = OpenOptions::new()
        .read(true)
        .write(true)
        .open(&path)
        .unwrap();
    let mut salt = [0; 16];
    file.read_exact_at(&mut salt, 0).unwrap();
    let codec = PageCodec::new(&settings, &keys::derive(&key, &settings, &salt).unwrap()).unwrap();
    for (pgno, at) in [(FAR, FAR), (FAR, FAR + 1), (FAR + 2, FAR + 2)] {
        let mut page = vec![0; PAGE as usize];
        codec.seal(pgno, &mut page).unwrap();
        file.write_all_at(&page, u64::from(at - 1) * PAGE).unwrap();
    }
    assert!(file.metadata().unwrap().len() > 1 << 32);
    drop(file);

    let db = open(&path);
    db.execute_batch(SETTINGS).unwrap();
    let mut faults = db.prepare("SELECT * FROM cipher_integrity_check").unwrap();
    let faults: Vec<String> = faults
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let lock_page = (1 << 30) / PAGE as u32 + 1;
    // Pages 1 and 2 are the schema and the table.
    let wanted: Vec<String> = (3..FAR)
        .chain([FAR + 1])
        .filter(|&pgno| pgno != lock_page)
        .map(|pgno| format!("HMAC verification failed for page {pgno}"))
        .collect();
    assert_eq!(faults.len(), wanted.len());
    assert!(faults == wanted, "{:?}", faults.last());
}
