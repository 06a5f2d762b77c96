//! A database with one of everything that SQLite knows, and what makes two
//! databases the same.
#![allow(dead_code)]

use rusqlite::Connection;
use rusqlite::types::Value;

use crate::content_hash::content_hash;

/// Of everything that a schema can hold.
pub(crate) const EVERYTHING: &str = include_str!("everything.sql");

/// Number of different triggers, views and so on that make up a schema.
pub(crate) type Schema = Vec<(String, String, String, Option<String>)>;

/// A connection to `path` that knows `sqlcipher_export`.
pub(crate) fn open(path: impl AsRef<std::path::Path>) -> Connection {
    let db = Connection::open(path).unwrap();
    pageseal::functions::register(&db).unwrap();
    db
}

/// As [`open`], filled with [`EVERYTHING`].
pub(crate) fn open_everything(path: impl AsRef<std::path::Path>) -> Connection {
    let db = open(path);
    db.execute_batch(EVERYTHING).unwrap();
    db
}

/// Attaches a file under a name.
pub(crate) fn attach(db: &Connection, path: impl AsRef<std::path::Path>, name: &str) {
    let path = path.as_ref().to_str().unwrap();
    db.execute("ATTACH ?1 AS ?2", [path, name]).unwrap();
}

/// Runs `SELECT sqlcipher_export(target, source)`, which returns NULL.
pub(crate) fn export(db: &Connection, target: &str, source: &str) -> rusqlite::Result<()> {
    let sql = "SELECT sqlcipher_export(?1, ?2)";
    let value: Value = db.query_row(sql, [target, source], |row| row.get(0))?;
    assert_eq!(value, Value::Null);
    Ok(())
}

/// All rows of a query.
pub(crate) fn rows(db: &Connection, sql: &str) -> Vec<Vec<Value>> {
    let mut statement = db.prepare(sql).unwrap();
    let columns = statement.column_count();
    let rows = statement.query_map([], |row| (0..columns).map(|i| row.get(i)).collect());
    rows.unwrap().collect::<rusqlite::Result<_>>().unwrap()
}

/// The first value of a query.
pub(crate) fn value<T: rusqlite::types::FromSql>(db: &Connection, sql: &str) -> T {
    db.query_row(sql, [], |row| row.get(0)).unwrap()
}

pub(crate) fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// What a schema's table holds, but for the page numbers.
pub(crate) fn schema(db: &Connection, name: &str) -> Schema {
    let sql = format!(
        "SELECT type, name, tbl_name, sql FROM {}.sqlite_schema ORDER BY type, name",
        quote(name)
    );
    db.prepare(&sql)
        .unwrap()
        .query_map([], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
        })
        .unwrap()
        .collect::<rusqlite::Result<_>>()
        .unwrap()
}

/// Everything of a database that an export of [`EVERYTHING`] must keep.
#[derive(Debug, PartialEq)]
pub(crate) struct Contents {
    hash: String,
    schema: Schema,
    rowids: Vec<Vec<Vec<Value>>>,
    extras: Vec<Vec<Vec<Value>>>,
    searches: Vec<Vec<Vec<Value>>>,
}

/// Reads all of it, and checks that SQLite finds no fault.
pub(crate) fn contents(db: &Connection, name: &str) -> Contents {
    let quoted = quote(name);
    let check = rows(db, &format!("PRAGMA {quoted}.integrity_check"));
    // One row breaks its CHECK on purpose.
    assert_eq!(
        check,
        [[Value::Text("CHECK constraint failed in checked".into())]]
    );
    let all = |queries: &[&str]| {
        let query = |sql: &&str| rows(db, &sql.replace("{}", &quoted));
        queries.iter().map(query).collect()
    };
    Contents {
        hash: content_hash(db, name).unwrap().sha256,
        schema: schema(db, name),
        rowids: all(&[
            "SELECT rowid, * FROM {}.plain ORDER BY rowid",
            "SELECT _rowid_, * FROM {}.hiding ORDER BY _rowid_",
            "SELECT rowid, * FROM {}.descending ORDER BY rowid",
            "SELECT rowid, * FROM {}.computed ORDER BY rowid",
            "SELECT rowid, * FROM {}.keyed ORDER BY rowid",
            "SELECT rowid, * FROM {}.\"odd \"\"name\" ORDER BY rowid",
        ]),
        extras: all(&[
            "PRAGMA {}.user_version",
            "PRAGMA {}.application_id",
            "PRAGMA {}.encoding",
            "SELECT * FROM {}.sqlite_sequence ORDER BY name",
            "SELECT * FROM {}.sqlite_stat1 ORDER BY tbl, idx",
            "SELECT * FROM {}.sqlite_stat4 ORDER BY tbl, idx, sample",
            "PRAGMA {}.foreign_key_check",
        ]),
        searches: all(&[
            "SELECT rowid, body FROM {}.search WHERE search MATCH 'walrus'",
            "SELECT rowid, b FROM {}.outside WHERE outside MATCH 'hidden'",
            "SELECT docid, body FROM {}.old_search WHERE old_search MATCH 'walrus'",
            "SELECT id FROM {}.area WHERE left >= 2 AND right <= 8",
            "SELECT * FROM {}.both ORDER BY 1",
        ]),
    }
}
