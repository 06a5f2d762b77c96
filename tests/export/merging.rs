//! Exports to a database that holds something already.

use rusqlite::types::Value;

use crate::fixture::{attach, contents, export, open, open_everything, rows, schema, value};

#[test]
fn two_sources_in_one_target() {
    let db = open(":memory:");
    for name in ["one", "two", "target"] {
        attach(&db, ":memory:", name);
    }
    for name in ["one", "two"] {
        db.execute_batch(&format!(
            "CREATE TABLE {name}.t_{name}(id INTEGER PRIMARY KEY AUTOINCREMENT, v UNIQUE);
             INSERT INTO {name}.t_{name}(v) VALUES ('{name} a'), ('{name} b');
             DELETE FROM {name}.t_{name} WHERE id = 2;
             CREATE VIEW {name}.v_{name} AS SELECT v FROM t_{name};
             ANALYZE {name}"
        ))
        .unwrap();
        export(&db, "target", name).unwrap();
    }
    let text = |s: &str| Value::Text(s.to_owned());
    assert_eq!(
        rows(
            &db,
            "SELECT * FROM target.v_one UNION ALL SELECT * FROM target.v_two"
        ),
        [[text("one a")], [text("two a")]]
    );
    assert_eq!(
        rows(&db, "SELECT name, seq FROM target.sqlite_sequence"),
        [
            [text("t_one"), Value::Integer(2)],
            [text("t_two"), Value::Integer(2)]
        ]
    );
    assert_eq!(
        value::<i64>(&db, "SELECT count(*) FROM target.sqlite_stat1"),
        2
    );
}

#[test]
fn what_the_target_has_is_kept() {
    let db = open_everything(":memory:");
    attach(&db, ":memory:", "target");
    db.execute_batch(
        "PRAGMA target.user_version = 3;
         CREATE TABLE target.own(id INTEGER PRIMARY KEY AUTOINCREMENT);
         INSERT INTO target.own VALUES (10)",
    )
    .unwrap();
    export(&db, "target", "main").unwrap();
    assert_eq!(value::<i64>(&db, "PRAGMA target.user_version"), 3);
    assert_eq!(value::<i64>(&db, "PRAGMA target.application_id"), -17);
    let own = "SELECT seq FROM target.sqlite_sequence WHERE name = 'own'";
    assert_eq!(value::<i64>(&db, own), 10);
    db.execute_batch(
        "DELETE FROM target.sqlite_sequence WHERE name = 'own'; DROP TABLE target.own;
         PRAGMA target.user_version = 4711",
    )
    .unwrap();
    assert_eq!(contents(&db, "target"), contents(&db, "main"));
}

#[test]
fn a_name_that_is_taken() {
    for (taken, message) in [
        (
            "CREATE TABLE target.LARGE(a)",
            "has that name already (table)",
        ),
        (
            "CREATE VIEW target.large AS SELECT 1",
            "has that name already (view)",
        ),
        (
            "CREATE TABLE target.t(a); CREATE INDEX target.large ON t(a)",
            "has that name already (index)",
        ),
        (
            "CREATE TABLE target.plain_b(a)",
            "has that name already (table)",
        ),
        (
            "CREATE TABLE target.both(a)",
            "has that name already (table)",
        ),
        (
            "CREATE VIRTUAL TABLE target.search USING fts5(a)",
            "has that name already (table)",
        ),
        (
            "CREATE TABLE target.t(a); CREATE TRIGGER target.plain_in AFTER INSERT ON t BEGIN SELECT 1; END",
            "has that name already (trigger)",
        ),
    ] {
        let db = open_everything(":memory:");
        attach(&db, ":memory:", "target");
        db.execute_batch(taken).unwrap();
        let before = schema(&db, "target");
        let error = export(&db, "target", "main").unwrap_err().to_string();
        assert!(error.contains(message), "{taken}: {error}");
        assert_eq!(schema(&db, "target"), before, "{taken}");
    }
}

#[test]
fn a_trigger_may_be_called_like_a_table() {
    let db = open(":memory:");
    attach(&db, ":memory:", "target");
    db.execute_batch(
        "CREATE TABLE t(a); CREATE TRIGGER u AFTER INSERT ON t BEGIN SELECT 1; END;
         CREATE TABLE target.u(a)",
    )
    .unwrap();
    export(&db, "target", "main").unwrap();
    db.execute_batch("INSERT INTO target.t VALUES (1); INSERT INTO target.u VALUES (1)")
        .unwrap();
}

#[test]
fn a_second_export_is_refused() {
    let db = open_everything(":memory:");
    attach(&db, ":memory:", "target");
    export(&db, "target", "main").unwrap();
    assert!(export(&db, "target", "main").is_err());
    assert_eq!(contents(&db, "target"), contents(&db, "main"));
}
