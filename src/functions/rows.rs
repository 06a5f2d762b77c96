//! What the table-valued functions answer.

use crate::pragma::sql::quote_name;
use crate::stats;
use crate::vfs::{Db, SqlError, session_in};

use super::scalar::Value;
use super::table::{Row, TableFunction};

/// The table-valued functions.
pub(crate) static TABLES: [TableFunction; 3] = [
    TableFunction {
        name: c"cipher_settings",
        declaration: c"CREATE TABLE x(pragma TEXT, schema HIDDEN)",
        argument: 1,
        rows: |db, schema| pragma(db, schema, "cipher_settings"),
    },
    TableFunction {
        name: c"cipher_integrity_check",
        declaration: c"CREATE TABLE x(cipher_integrity_check TEXT, schema HIDDEN)",
        argument: 1,
        rows: |db, schema| pragma(db, schema, "cipher_integrity_check"),
    },
    TableFunction {
        name: c"cipher_stats",
        declaration: c"CREATE TABLE x(name TEXT, value INTEGER, schema HIDDEN)",
        argument: 2,
        rows: counters,
    },
];

/// The lines that a pragma answers in one text, as rows.
fn pragma(db: Db<'_>, schema: Option<&str>, name: &str) -> Result<Vec<Row>, SqlError> {
    let schema = quote_name(schema.unwrap_or("main").as_bytes());
    let sql = format!("PRAGMA {}.{name}", String::from_utf8_lossy(&schema));
    let answers = db.first_column(&sql)?;
    Ok(answers
        .iter()
        .flatten()
        .flat_map(|text| text.lines())
        .map(|line| vec![Value::Text(line.to_owned())])
        .collect())
}

/// The counters of one database, or of the process.
fn counters(db: Db<'_>, schema: Option<&str>) -> Result<Vec<Row>, SqlError> {
    let snapshot = match schema {
        None => stats::process(),
        Some(schema) => match session_in(db, schema) {
            Some(session) => session.counters().snapshot(),
            None => return Ok(Vec::new()),
        },
    };
    Ok(snapshot.named().map(counter).collect())
}

fn counter((name, value): (&'static str, u64)) -> Row {
    vec![
        Value::Text(name.to_owned()),
        Value::Integer(i64::try_from(value).unwrap_or(i64::MAX)),
    ]
}
