//! Settings that come when it is too late for them.

use crate::{number, open};

/// In SQLCipher two of these destroy the file.
#[test]
fn settings_after_the_first_use_are_ignored_and_logged() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.db");
    let db = open(&path);
    let log = dir.path().join("log.txt");
    db.execute_batch("CREATE TABLE t(a); INSERT INTO t VALUES(7)")
        .unwrap();
    let start = format!("PRAGMA cipher_log = '{}'", log.display());
    let answer: String = db.query_row(&start, [], |row| row.get(0)).unwrap();
    assert_eq!(answer, "0");
    for setting in [
        "cipher_plaintext_header_size = 32",
        "cipher_hmac_pgno = be",
        "kdf_iter = 5",
        "cipher_page_size = 1024",
        "cipher_use_hmac = off",
        "cipher_compatibility = 3",
    ] {
        db.execute_batch(&format!("PRAGMA {setting}; INSERT INTO t VALUES(8)"))
            .unwrap();
        let lines = std::fs::read_to_string(&log).unwrap();
        let name = setting.split(' ').next().unwrap();
        let wanted = format!("PRAGMA {name} is ignored: the database is in use already");
        // (The log is the process's, and other tests run beside.)
        let last = lines.lines().rfind(|line| line.contains("ignored"));
        let last = last.unwrap_or_default();
        assert!(
            last.starts_with("WARN ") && last.ends_with(&wanted),
            "{lines}"
        );
    }
    // What is so already is nothing to tell.
    db.execute_batch("PRAGMA kdf_iter = 100; PRAGMA cipher_log = off")
        .unwrap();
    let lines = std::fs::read_to_string(&log).unwrap();
    assert_eq!(lines.matches("is ignored").count(), 6, "{lines}");
    drop(db);
    assert_eq!(number(&open(&path), "SELECT sum(a) FROM t"), 7 + 6 * 8);
}
