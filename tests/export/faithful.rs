//! What an export keeps: everything.

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::types::Value;
use tempfile::tempdir;

use crate::fixture::{attach, contents, export, open, open_everything, quote, rows, value};

#[test]
fn everything_is_the_same() {
    let dir = tempdir().unwrap();
    let db = open_everything(dir.path().join("source.db"));
    let before = contents(&db, "main");
    attach(&db, dir.path().join("target.db"), "target");
    export(&db, "target", "main").unwrap();
    // At once, on the same connection,
    assert_eq!(contents(&db, "target"), before);
    assert_eq!(contents(&db, "main"), before);
    db.close().unwrap();
    // and in the file.
    let copy = open(dir.path().join("target.db"));
    assert_eq!(contents(&copy, "main"), before);
}

#[test]
fn and_back_from_the_attached_database() {
    let dir = tempdir().unwrap();
    let before = contents(&open_everything(dir.path().join("source.db")), "main");
    let db = open(dir.path().join("target.db"));
    attach(&db, dir.path().join("source.db"), "source");
    export(&db, "main", "source").unwrap();
    assert_eq!(contents(&db, "main"), before);
    drop(db);
    let copy = open(dir.path().join("target.db"));
    assert_eq!(contents(&copy, "main"), before);
}

#[test]
fn one_argument_exports_main() {
    let db = open_everything(":memory:");
    attach(&db, ":memory:", "target");
    let result: Value = value(&db, "SELECT sqlcipher_export('TARGET')");
    assert_eq!(result, Value::Null);
    assert_eq!(contents(&db, "target"), contents(&db, "main"));
}

#[test]
fn schema_names_that_need_quoting() {
    for name in [
        "odd \"name",
        "it's",
        "se;lect",
        "select",
        "größe",
        "a.b",
        "{source}",
    ] {
        let db = open_everything(":memory:");
        attach(&db, ":memory:", name);
        attach(&db, ":memory:", "back from {target}\"");
        export(&db, name, "main").unwrap();
        export(&db, "back from {target}\"", name).unwrap();
        let before = contents(&db, "main");
        assert_eq!(contents(&db, name), before, "{name}");
        assert_eq!(contents(&db, "back from {target}\""), before, "{name}");
    }
}

#[test]
fn triggers_and_indexes_work_in_the_target_at_once() {
    let db = open_everything(":memory:");
    attach(&db, ":memory:", "target");
    export(&db, "target", "main").unwrap();
    db.execute_batch("INSERT INTO target.plain(a) VALUES ('new')")
        .unwrap();
    assert_eq!(
        rows(&db, "SELECT * FROM target.log"),
        [["in new".to_owned().into()]]
    );
    assert_eq!(rows(&db, "SELECT * FROM main.log"), [[Value::Null; 1]; 0]);
    assert!(db.execute("DELETE FROM target.large", []).is_err());
    let plan = "EXPLAIN QUERY PLAN SELECT * FROM target.plain WHERE b = 'x' COLLATE NOCASE";
    let plan: String = db.query_row(plan, [], |row| row.get(3)).unwrap();
    assert!(plan.contains("plain_b"), "{plan}");
    // The next of an AUTOINCREMENT is never one that was there before.
    db.execute_batch("INSERT INTO target.counted_empty DEFAULT VALUES")
        .unwrap();
    assert_eq!(value::<i64>(&db, "SELECT id FROM target.counted_empty"), 42);
}

#[test]
fn a_view_that_names_main_works_where_the_target_is_main() {
    let dir = tempdir().unwrap();
    let db = open(":memory:");
    db.execute_batch(
        "CREATE TABLE t(a); INSERT INTO t VALUES (5); CREATE VIEW v AS SELECT a FROM main.t",
    )
    .unwrap();
    attach(&db, dir.path().join("target.db"), "target");
    export(&db, "target", "main").unwrap();
    drop(db);
    let copy = open(dir.path().join("target.db"));
    assert_eq!(value::<i64>(&copy, "SELECT a FROM v"), 5);
}

#[test]
fn views_alone_reach_other_connections() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("target.db");
    let other = open(&path);
    other
        .execute_batch("CREATE TABLE t(a); SELECT * FROM t")
        .unwrap();
    let db = open(":memory:");
    db.execute_batch("CREATE VIEW v AS SELECT 6 AS a").unwrap();
    attach(&db, &path, "target");
    export(&db, "target", "main").unwrap();
    assert_eq!(value::<i64>(&other, "SELECT a FROM v"), 6);
}

#[test]
fn text_searches_that_are_not_written_yet() {
    let db = open(":memory:");
    attach(&db, ":memory:", "target");
    db.execute_batch(
        "CREATE VIRTUAL TABLE five USING fts5(body); CREATE VIRTUAL TABLE four USING fts4(body); \
         BEGIN; INSERT INTO five VALUES ('walrus'); INSERT INTO four VALUES ('walrus');",
    )
    .unwrap();
    export(&db, "target", "main").unwrap();
    db.execute_batch("COMMIT").unwrap();
    for table in ["five", "four"] {
        let sql = format!("SELECT count(*) FROM target.{table} WHERE {table} MATCH 'walrus'");
        assert_eq!(value::<i64>(&db, &sql), 1, "{table}");
        db.execute_batch(&format!(
            "INSERT INTO target.{table}({table}) VALUES ('integrity-check')"
        ))
        .unwrap();
    }
}

#[test]
fn from_and_to_temp() {
    let db = open(":memory:");
    db.execute_batch("CREATE TEMP TABLE t(a); INSERT INTO t VALUES (1)")
        .unwrap();
    export(&db, "main", "temp").unwrap();
    db.execute_batch("DROP TABLE temp.t; CREATE VIEW v AS SELECT a + 1 AS a FROM t")
        .unwrap();
    export(&db, "temp", "main").unwrap();
    assert_eq!(value::<i64>(&db, "SELECT a FROM temp.v"), 2);
}

#[test]
fn text_encodings() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("source.db");
    let db = open(&path);
    db.execute_batch(
        "PRAGMA encoding = 'UTF-16be'; CREATE TABLE t(a); INSERT INTO t VALUES ('größe')",
    )
    .unwrap();
    attach(&db, dir.path().join("target.db"), "target");
    export(&db, "target", "main").unwrap();
    drop(db);
    let copy = open(dir.path().join("target.db"));
    assert_eq!(value::<String>(&copy, "PRAGMA encoding"), "UTF-16be");
    assert_eq!(value::<String>(&copy, "SELECT a FROM t"), "größe");
    // SQLite has no two encodings on one connection.
    let db = open(":memory:");
    db.execute_batch("CREATE TABLE t(a)").unwrap();
    let error = db
        .execute("ATTACH ?1 AS source", [path.to_str()])
        .unwrap_err();
    assert!(error.to_string().contains("same text encoding"), "{error}");
}

#[test]
fn page_size_and_auto_vacuum_are_the_target_s() {
    let dir = tempdir().unwrap();
    let db = open_everything(dir.path().join("source.db"));
    let target = quote("target");
    attach(&db, dir.path().join("target.db"), "target");
    db.execute_batch(&format!(
        "PRAGMA {target}.page_size = 1024; PRAGMA {target}.auto_vacuum = FULL"
    ))
    .unwrap();
    export(&db, "target", "main").unwrap();
    assert_eq!(contents(&db, "target"), contents(&db, "main"));
    assert_eq!(value::<i64>(&db, "PRAGMA target.page_size"), 1024);
    assert_eq!(value::<i64>(&db, "PRAGMA target.auto_vacuum"), 1);
}

#[test]
fn from_within_a_statement_that_reads() {
    let db = open_everything(":memory:");
    db.execute_batch("CREATE TABLE name(n); INSERT INTO name VALUES ('one'), ('two')")
        .unwrap();
    attach(&db, ":memory:", "one");
    attach(&db, ":memory:", "two");
    let results = rows(&db, "SELECT n, sqlcipher_export(n) FROM name");
    assert_eq!(results.len(), 2);
    assert_eq!(contents(&db, "one"), contents(&db, "main"));
    assert_eq!(contents(&db, "two"), contents(&db, "main"));
}

/// Where an authorizer hides a column, SQLite looks into every row and numbers them
/// anew, unless it is told the rowids.
#[test]
fn rowids_where_sqlite_does_not_copy_blindly() {
    let mut db = open(":memory:");
    db.execute_batch(
        "CREATE TABLE keyed(name UNIQUE, v);
         INSERT INTO keyed(rowid, name, v) VALUES (8, 'b', 1), (2, 'A', 2), (99, NULL, 3)",
    )
    .unwrap();
    attach(&db, ":memory:", "target");
    let hide = |context: AuthContext<'_>| match (context.action, context.database_name) {
        (
            AuthAction::Read {
                column_name: "v", ..
            },
            Some("main"),
        ) => Authorization::Ignore,
        _ => Authorization::Allow,
    };
    db.authorizer(Some(hide)).unwrap();
    export(&db, "target", "main").unwrap();
    db.authorizer(None::<fn(AuthContext<'_>) -> Authorization>)
        .unwrap();
    let keyed = "SELECT rowid FROM target.keyed WHERE v IS NULL ORDER BY rowid";
    let rowids = [2, 8, 99].map(|rowid| vec![Value::Integer(rowid)]);
    assert_eq!(rows(&db, keyed), rowids);
}
