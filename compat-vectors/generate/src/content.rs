//! What the databases hold: SQL scripts, the same on every run.

use std::fmt::Write;

/// One table of every storage class, an index (below 16 KiB pages) and a blob
/// that overflows its page.
pub fn small(page_size: u32) -> String {
    let mut sql = "BEGIN; CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT NOT NULL, \
                   qty INT, price REAL, data BLOB);"
        .to_owned();
    if page_size < 16384 {
        sql.push_str("CREATE INDEX item_name ON item(name);");
    }
    sql.push_str(
        "INSERT INTO item VALUES
         (1, 'apple', 3, 0.25, x'00'),
         (2, 'grüße ☕ 日本', -1, -1.5e300, NULL),
         (3, '', 0, 0.1, x''),
         (4, 'it''s \"quoted\"', 9223372036854775807, 1e-300, 'text in a blob column'),
         (5, 'minimum', -9223372036854775808, NULL, x'ff00ff00');",
    );
    for id in 6..12 {
        let blob = blob(id, 20);
        write!(
            sql,
            "INSERT INTO item VALUES({id}, 'item {id}', {id}, {id}.5, {blob});"
        )
        .expect("a string");
    }
    let overflowing = blob(12, page_size as usize * 11 / 10);
    write!(
        sql,
        "INSERT INTO item VALUES(12, 'large', NULL, NULL, {overflowing}); COMMIT;"
    )
    .expect("a string");
    sql
}

/// Every kind of schema object.
pub fn rich(page_size: u32) -> String {
    small(page_size)
        + "BEGIN;
        CREATE TABLE kv(area TEXT, key TEXT, value, PRIMARY KEY(key, area)) WITHOUT ROWID;
        INSERT INTO kv VALUES('b', 'x', 1), ('a', 'x', 'two'), ('a', 'w', x'03'), ('c', 'y', NULL);
        CREATE TABLE log(id INTEGER PRIMARY KEY AUTOINCREMENT, what TEXT, at INT DEFAULT 0);
        CREATE TRIGGER item_gone AFTER DELETE ON item BEGIN
            INSERT INTO log(what) VALUES('deleted ' || old.name); END;
        DELETE FROM item WHERE id IN (3, 7);
        CREATE VIEW cheap AS SELECT id, name FROM item WHERE price < 7;
        CREATE UNIQUE INDEX item_partial ON item(qty) WHERE qty > 5;
        CREATE TABLE \"odd \"\"name\"(\"a b\" INT, doubled INT AS (\"a b\" * 2) STORED, half REAL AS (\"a b\" / 2.0));
        INSERT INTO \"odd \"\"name\"(\"a b\") VALUES(21), (NULL);
        CREATE TABLE strict(id INTEGER PRIMARY KEY, n INT CHECK(n > 0), up INT REFERENCES strict(id)) STRICT;
        INSERT INTO strict VALUES(1, 5, NULL), (2, 6, 1);
        CREATE TABLE empty(a);
        CREATE VIRTUAL TABLE note USING fts5(title, body);
        INSERT INTO note VALUES('first', 'a sealed page keeps its words'),
            ('second', 'the quick brown fox seals pages'), ('third', 'nothing of interest');
        ANALYZE;
        COMMIT;"
}

/// A table of `rows` rows that fill about `bytes` bytes each.
pub fn bulk(rows: u64, bytes: usize) -> String {
    let mut sql = "BEGIN; CREATE TABLE bulk(id INTEGER PRIMARY KEY, n INT, data BLOB);".to_owned();
    for id in 1..=rows {
        write!(
            sql,
            "INSERT INTO bulk VALUES({id}, 0, {});",
            blob(id, bytes)
        )
        .expect("a string");
    }
    sql + "COMMIT;"
}

/// A blob literal of `length` pseudo-random bytes (SplitMix64).
pub fn blob(seed: u64, length: usize) -> String {
    let mut state = seed;
    let mut literal = "x'".to_owned();
    for _ in 0..length {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        write!(literal, "{:02x}", (z >> 56) as u8).expect("a string");
    }
    literal + "'"
}
