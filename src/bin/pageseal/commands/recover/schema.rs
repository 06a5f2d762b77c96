//! The schema of the new database, made from the statements of the old.

use pageseal::offline::salvage::{Salvage, Schema, SchemaEntry};
use rusqlite::{Connection, params};

use super::report::Report;
use crate::error::Result;

/// Tables that SQLite makes itself.
fn is_internal(name: &str) -> bool {
    name.get(..7)
        .is_some_and(|start| start.eq_ignore_ascii_case("sqlite_"))
}

fn is_virtual(entry: &SchemaEntry) -> bool {
    entry.kind == "table" && entry.root == 0
}

/// Creates the tables; returns their names with their roots in the old database.
pub(super) fn create_tables(
    db: &Connection,
    schema: &Schema,
    report: &mut Report,
) -> Result<Vec<(String, u32)>> {
    let mut made = Vec::new();
    let tables = schema.entries.iter().filter(|entry| entry.kind == "table");
    for entry in tables.clone().filter(|entry| !is_internal(&entry.name)) {
        let Some(sql) = entry.sql.as_deref().filter(|_| !is_virtual(entry)) else {
            continue;
        };
        match db.execute_batch(sql) {
            Ok(()) => made.push((entry.name.clone(), entry.root)),
            Err(error) => report.not_made(entry, &error),
        }
    }
    // Made by SQLite with the first AUTOINCREMENT.
    for entry in tables.filter(|entry| entry.name == "sqlite_sequence") {
        let sql = "SELECT count(*) FROM sqlite_schema WHERE name = 'sqlite_sequence'";
        if db.query_row(sql, [], |row| row.get::<_, i64>(0))? > 0 {
            made.push((entry.name.clone(), entry.root));
        }
    }
    Ok(made)
}

/// Creates everything else, now that the rows are there, and copies what the header
/// says.
pub(super) fn finish(db: &Connection, salvage: &Salvage, report: &mut Report) -> Result {
    let entries = &salvage.schema().entries;
    sequence(db)?;
    for kind in ["index", "view", "trigger"] {
        for entry in entries.iter().filter(|entry| entry.kind == kind) {
            let Some(sql) = &entry.sql else {
                continue;
            };
            if let Err(error) = db.execute_batch(sql) {
                report.not_made(entry, &error);
            }
        }
    }
    // A virtual table is entered as it was: to create it would create its shadow
    // tables, which are there.
    let mut virtual_tables = entries.iter().filter(|entry| is_virtual(entry)).peekable();
    if virtual_tables.peek().is_some() {
        db.execute_batch("PRAGMA writable_schema = ON")?;
        for entry in virtual_tables {
            db.execute(
                "INSERT INTO sqlite_schema VALUES('table', ?1, ?2, 0, ?3)",
                params![entry.name, entry.table, entry.sql],
            )?;
        }
        db.execute_batch("PRAGMA writable_schema = RESET")?;
    }
    if let Some(header) = salvage.header() {
        db.execute_batch(&format!(
            "PRAGMA user_version = {}; PRAGMA application_id = {}",
            header.user_version, header.application_id
        ))?;
    }
    Ok(())
}

/// `sqlite_sequence` has a row from SQLite's own counting and one from the old
/// database for each table: keeps the greater.
fn sequence(db: &Connection) -> Result {
    let there = "SELECT count(*) FROM sqlite_schema WHERE name = 'sqlite_sequence'";
    if db.query_row(there, [], |row| row.get::<_, i64>(0))? > 0 {
        db.execute_batch(
            "DELETE FROM sqlite_sequence WHERE EXISTS (SELECT 1 FROM sqlite_sequence AS other \
             WHERE other.name = sqlite_sequence.name AND (other.seq > sqlite_sequence.seq \
             OR other.seq = sqlite_sequence.seq AND other.rowid < sqlite_sequence.rowid))",
        )?;
    }
    Ok(())
}
