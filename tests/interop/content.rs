//! What the databases hold: three scripts that build on each other, and the
//! content that SQLCipher has after each of them.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::configuration::Configuration;
use crate::peer::Peer;

const CREATE: &str = "
    BEGIN;
    CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT NOT NULL, price REAL, extra, data BLOB);
    CREATE INDEX item_name ON item(name, price);
    CREATE INDEX item_lower ON item(lower(name)) WHERE price > 5;
    CREATE TABLE pair(area TEXT, n INTEGER, value BLOB, PRIMARY KEY(n, area)) WITHOUT ROWID;
    CREATE UNIQUE INDEX pair_value ON pair(area, n DESC);
    CREATE TABLE log(id INTEGER PRIMARY KEY AUTOINCREMENT, what TEXT);
    CREATE TRIGGER item_new AFTER INSERT ON item BEGIN
        INSERT INTO log(what) VALUES('new ' || new.id || ' ' || new.name); END;
    CREATE TRIGGER item_gone AFTER DELETE ON item BEGIN
        INSERT INTO log(what) VALUES('gone ' || old.id); END;
    CREATE VIEW cheap AS SELECT id, name FROM item WHERE price < 9;
    CREATE VIRTUAL TABLE note USING fts5(title, body);
    INSERT INTO item VALUES
        (1, 'apple', 0.25, 9223372036854775807, x'00'),
        (2, 'grüße ☕ 日本', -1.5e300, -9223372036854775808, x''),
        (3, '', 1e-300, 'text', NULL),
        (4, 'it''s \"quoted\"', NULL, x'ff00ff', 'text in a blob column');
    -- Up to 1 KB each, and two that overflow the largest page.
    WITH RECURSIVE n(i) AS (SELECT 5 UNION ALL SELECT i + 1 FROM n WHERE i < 120)
        INSERT INTO item SELECT i, 'item ' || (i * 7919 % 1000), i / 8.0, i % 3,
            CAST(replace(hex(zeroblob(i)), '00', printf('%08x', i * 40503)) AS BLOB) FROM n;
    INSERT INTO item SELECT i, 'large ' || i, i, NULL,
            CAST(replace(hex(zeroblob(i * 37)), '00', printf('%08x', i * 40503)) AS BLOB)
        FROM (SELECT 200 AS i UNION ALL SELECT 250);
    INSERT INTO pair SELECT 'area ' || (id % 7), id, substr(data, 1, 300) FROM item;
    INSERT INTO note SELECT name, 'sealed page ' || id || ' keeps the words of ' || name FROM item;
    PRAGMA user_version = 7;
    COMMIT;";

/// Tables with and without rowid, indexes (partial, on an expression, unique),
/// triggers, a view, full-text search, every storage class, blobs that overflow
/// pages of every size.
pub(crate) fn create(how: &Configuration) -> String {
    CREATE.replace("fts5", how.full_text)
}

/// Changes of every kind, some of them taken back.
pub(crate) const CHANGE: &str = "
    UPDATE item SET data = CAST(data || data AS BLOB), price = price + 1 WHERE id % 10 = 0;
    DELETE FROM item WHERE id % 4 = 1;
    BEGIN;
    DELETE FROM pair; UPDATE item SET data = zeroblob(3000), name = 'lost ' || id;
    DELETE FROM note; DROP TABLE log; CREATE TABLE lost(a);
    ROLLBACK;
    BEGIN;
    UPDATE pair SET value = hex(value) WHERE n % 2;
    SAVEPOINT inner; DELETE FROM item; UPDATE pair SET value = zeroblob(999); ROLLBACK TO inner;
    INSERT INTO pair SELECT 'again', id, data FROM item WHERE id > 80;
    RELEASE inner;
    ALTER TABLE log ADD COLUMN at INTEGER DEFAULT 5;
    DELETE FROM note WHERE rowid % 3 = 0;
    UPDATE note SET body = body || ' changed' WHERE note MATCH 'large';
    COMMIT;
    PRAGMA incremental_vacuum(7);
    INSERT INTO item(name, data) VALUES('after', zeroblob(70000));
    PRAGMA user_version = 8;";

/// More changes, with the whole database rewritten between them.
pub(crate) const REWRITE: &str = "
    DROP INDEX item_name;
    DELETE FROM item WHERE id BETWEEN 50 AND 90;
    VACUUM;
    CREATE INDEX item_price ON item(price);
    INSERT INTO note(note) VALUES('optimize');
    BEGIN; DELETE FROM item; DELETE FROM pair; ROLLBACK;
    INSERT INTO item(name, price, data) SELECT 'copy of ' || name, price, data FROM item;
    REINDEX; PRAGMA incremental_vacuum;
    PRAGMA user_version = 9;";

/// The contents' hashes after [`create`], then [`CHANGE`], then [`REWRITE`].
#[derive(Clone, Debug)]
pub(crate) struct Hashes {
    pub(crate) created: String,
    pub(crate) changed: String,
    pub(crate) rewritten: String,
}

type Known = BTreeMap<(String, &'static str, u32), Hashes>;

/// As SQLCipher computes them, in a database that is in its memory. (Settings
/// count only where they change what SQL sees: the encoding shows in blobs that
/// are made of text, the page size in the nodes of an FTS4 index.)
pub(crate) fn hashes(how: &Configuration) -> Hashes {
    static KNOWN: Mutex<Known> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let entry = known.entry((how.creation.clone(), how.full_text, how.page_size));
    entry.or_insert_with(|| compute(how)).clone()
}

fn compute(how: &Configuration) -> Hashes {
    let mut peer = Peer::spawn();
    peer.open("memory", ":memory:", None).expect("opens");
    let page_size = format!("PRAGMA page_size = {};", how.page_size);
    peer.exec("memory", &page_size).expect("runs");
    peer.exec("memory", &how.creation).expect("runs");
    let [created, changed, rewritten] = [&create(how), CHANGE, REWRITE].map(|script| {
        peer.exec("memory", script).expect("runs");
        peer.content_hash("memory").expect("a hash").0
    });
    Hashes {
        created,
        changed,
        rewritten,
    }
}
