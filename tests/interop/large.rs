//! A file of 1.5 GiB: past the page that SQLite leaves to its locks, the one that
//! holds byte 2^30.

use crate::configuration::Configuration;
use crate::database::Side::{Pageseal, SqlCipher};
use crate::database::assert_sound;

#[test]
fn past_the_lock_page_with_large_pages() {
    past_the_lock_page(&Configuration::preset("large pages", 4, 65536).with_page_size(65536));
}

/// Where pages are automatically moved, every 820th of them says where its
/// followers are used; their numbers must not count the lock page in.
#[test]
fn past_the_lock_page_with_pointer_map() {
    let how = Configuration::preset("pointer map", 4, 4096);
    past_the_lock_page(&how.created_with("auto_vacuum = INCREMENTAL"));
}

fn past_the_lock_page(how: &Configuration) {
    let how = how.clone().keyed(format!("x'{}'", "17".repeat(32)));
    // In memory there may be no room.
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("large.db");

    let mut database = Pageseal.create(&path, &how);
    database.exec(
        "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
         CREATE TABLE large(id INTEGER PRIMARY KEY, data BLOB, note TEXT);
         BEGIN;
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 192)
             INSERT INTO large SELECT i, zeroblob(1 << 23), 'behind ' || i FROM n;
         COMMIT;",
    );
    database.close();
    assert!(path.metadata().expect("a file").len() > 3 << 29);

    let mut database = SqlCipher.open(&path, &how);
    assert_sound(&mut *database, &how);
    let summary = "SELECT count(*) || ' ' || sum(length(data)) || ' ' || sum(note = 'behind ' || id) FROM large";
    assert_eq!(database.get(summary), format!("192 {} 192", 192 << 23));
    // Free pages on both sides of the lock page are used again.
    database.exec(
        "PRAGMA synchronous = OFF;
         DELETE FROM large WHERE id BETWEEN 120 AND 140;
         INSERT INTO large SELECT id + 1000, zeroblob(1 << 23), 'behind ' || (id + 1000)
             FROM large WHERE id BETWEEN 10 AND 35;",
    );
    database.close();

    let mut database = Pageseal.open(&path, &how);
    assert_sound(&mut *database, &how);
    assert_eq!(database.get(summary), format!("197 {} 197", 197 << 23));
    database.close();
}
