//! What the program has set on its connection stays, and does not matter.

use rusqlite::Connection;
use rusqlite::config::DbConfig;

use crate::fixture::{attach, contents, export, open, open_everything, value};

const SWITCHES: [DbConfig; 5] = [
    DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY,
    DbConfig::SQLITE_DBCONFIG_DEFENSIVE,
    DbConfig::SQLITE_DBCONFIG_DQS_DDL,
    DbConfig::SQLITE_DBCONFIG_WRITABLE_SCHEMA,
    DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER,
];

const PRAGMAS: [&str; 4] = [
    "ignore_check_constraints",
    "reverse_unordered_selects",
    "foreign_keys",
    "count_changes",
];

pub(crate) fn set_all(db: &Connection, on: bool) {
    for pragma in PRAGMAS {
        db.execute_batch(&format!("PRAGMA {pragma} = {on}"))
            .unwrap();
    }
    for switch in SWITCHES {
        db.set_db_config(switch, on).unwrap();
    }
}

pub(crate) fn all(db: &Connection) -> Vec<bool> {
    let pragma = |name: &&str| value(db, &format!("PRAGMA {name}"));
    let switch = |switch: &DbConfig| db.db_config(*switch).unwrap();
    let pragmas = PRAGMAS.iter().map(pragma);
    pragmas.chain(SWITCHES.iter().map(switch)).collect()
}

#[test]
fn switches_are_put_back() {
    for on in [false, true] {
        for transaction in [false, true] {
            let db = open_everything(":memory:");
            attach(&db, ":memory:", "target");
            attach(&db, ":memory:", "full");
            db.execute_batch("PRAGMA full.max_page_count = 2").unwrap();
            set_all(&db, on);
            let before = all(&db);
            if transaction {
                db.execute_batch("BEGIN").unwrap();
            }
            export(&db, "target", "main").unwrap();
            assert_eq!(all(&db), before);
            export(&db, "full", "main").unwrap_err();
            assert_eq!(all(&db), before);
        }
    }
}

#[test]
fn switches_do_not_matter() {
    for on in [false, true] {
        let db = open_everything(":memory:");
        attach(&db, ":memory:", "target");
        let before = contents(&db, "main");
        set_all(&db, on);
        export(&db, "target", "main").unwrap();
        set_all(&db, false);
        assert_eq!(contents(&db, "target"), before);
    }
}

#[test]
fn the_program_s_foreign_keys_are_still_checked() {
    let db = open(":memory:");
    attach(&db, ":memory:", "target");
    db.execute_batch(
        "PRAGMA foreign_keys = ON;
         CREATE TABLE p(id INTEGER PRIMARY KEY);
         CREATE TABLE c(p REFERENCES p DEFERRABLE INITIALLY DEFERRED);
         BEGIN; INSERT INTO c VALUES (9)",
    )
    .unwrap();
    export(&db, "target", "main").unwrap();
    assert!(db.execute_batch("COMMIT").is_err());
    db.execute_batch("INSERT INTO p VALUES (9); COMMIT")
        .unwrap();
    assert!(db.execute_batch("INSERT INTO target.c VALUES (1)").is_err());
    assert_eq!(value::<i64>(&db, "SELECT p FROM target.c"), 9);
}

#[test]
fn the_last_rowid_stays() {
    let db = open_everything(":memory:");
    attach(&db, ":memory:", "target");
    db.execute_batch("INSERT INTO log(rowid, line) VALUES (123, 'x')")
        .unwrap();
    export(&db, "target", "main").unwrap();
    assert_eq!(db.last_insert_rowid(), 123);
    export(&db, "target", "main").unwrap_err();
    assert_eq!(db.last_insert_rowid(), 123);
}
