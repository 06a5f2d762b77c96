//! Rows into the new database: those with a home into their tables, the others into
//! `lost_and_found`.

use std::collections::HashMap;

use pageseal::offline::Encoding;
use pageseal::offline::salvage::{Row, Schema, TableShape, Value};
use rusqlite::types::{ToSqlOutput, Value as SqlValue, ValueRef};
use rusqlite::{Connection, ErrorCode, Statement, ToSql};

use crate::error::Result;

/// What became of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    Inserted,
    /// The table has no place for it: too many values, or it is no table's.
    NoPlace,
    /// Another row has its key, or a constraint refuses it.
    Conflict,
}

/// A salvaged value, ready to be bound.
enum Bound {
    Value(SqlValue),
    /// Text that is malformed: bytes that become text in SQL.
    Malformed(Vec<u8>),
}

impl Bound {
    fn new(value: &Value, encoding: Option<Encoding>) -> Self {
        Self::Value(match value {
            Value::Null => SqlValue::Null,
            Value::Integer(number) => SqlValue::Integer(*number),
            Value::Real(number) => SqlValue::Real(*number),
            Value::Blob(bytes) => SqlValue::Blob(bytes.clone()),
            Value::Text(bytes) => match encoding.unwrap_or(Encoding::Utf8).decode(bytes) {
                Some(text) => SqlValue::Text(text),
                None => return Self::Malformed(bytes.clone()),
            },
        })
    }

    fn parameter(&self) -> &'static str {
        match self {
            Self::Value(_) => "?",
            Self::Malformed(_) => "CAST(? AS TEXT)",
        }
    }
}

impl ToSql for Bound {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Value(value) => ValueRef::from(value),
            Self::Malformed(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

/// Statements that insert into a table, by the values that they take.
struct Inserts<'db> {
    db: &'db Connection,
    into: String,
    statements: HashMap<usize, Statement<'db>>,
}

impl<'db> Inserts<'db> {
    fn new(db: &'db Connection, table: &str) -> Self {
        Self {
            db,
            into: format!("INSERT OR IGNORE INTO {}", quote(table)),
            statements: HashMap::new(),
        }
    }

    /// Inserts values; `false` where a constraint refuses them.
    fn insert(&mut self, columns: &[&str], values: &[Bound]) -> Result<bool> {
        let sql = |values: &[Bound]| {
            let parameters: Vec<_> = values.iter().map(Bound::parameter).collect();
            let columns: Vec<_> = columns.iter().map(|name| quote(name)).collect();
            match columns.is_empty() {
                true => format!("{} DEFAULT VALUES", self.into),
                false => format!(
                    "{} ({}) VALUES ({})",
                    self.into,
                    columns.join(","),
                    parameters.join(",")
                ),
            }
        };
        let plain = values.iter().all(|value| matches!(value, Bound::Value(_)));
        let parameters = rusqlite::params_from_iter(values);
        let result = if plain {
            let statement = match self.statements.entry(values.len()) {
                std::collections::hash_map::Entry::Occupied(entry) => entry.into_mut(),
                std::collections::hash_map::Entry::Vacant(entry) => {
                    entry.insert(self.db.prepare(&sql(values))?)
                }
            };
            statement.execute(parameters)
        } else {
            self.db.prepare(&sql(values))?.execute(parameters)
        };
        match result {
            Ok(rows) => Ok(rows > 0),
            Err(error) if is_refusal(&error) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

fn is_refusal(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::ConstraintViolation | ErrorCode::TypeMismatch | ErrorCode::Unknown)
    )
}

/// A table of the new database.
pub(super) struct Table<'db> {
    name: String,
    root: u32,
    without_rowid: bool,
    /// What a rowid goes by, if there is a name for it.
    rowid: Option<String>,
    /// For each value of a record, the column that takes it; `None` for those that
    /// are computed, or that the rowid stands for.
    fields: Vec<Option<String>>,
    encoding: Option<Encoding>,
    inserts: Inserts<'db>,
    rows: u64,
}

impl<'db> Table<'db> {
    /// Asks SQLite how the table is stored.
    pub(super) fn new(
        db: &'db Connection,
        name: &str,
        root: u32,
        encoding: Option<Encoding>,
    ) -> Result<Self> {
        let without_rowid: bool = db.query_row(
            "SELECT wr FROM pragma_table_list WHERE schema = 'main' AND name = ?1",
            [name],
            |row| row.get(0),
        )?;
        // Name, kind (2 and 3 are generated), place in the primary key.
        let columns = db
            .prepare("SELECT name, hidden, pk FROM pragma_table_xinfo(?1) ORDER BY cid")?
            .query_map([name], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
            .collect::<rusqlite::Result<Vec<(String, i64, i64)>>>()?;
        let is_named = |alias: &&str| {
            columns
                .iter()
                .any(|(name, ..)| name.eq_ignore_ascii_case(alias))
        };
        let alias = ["rowid", "_rowid_", "oid"]
            .into_iter()
            .find(|alias| !is_named(alias));
        let mut table = Self {
            name: name.to_owned(),
            root,
            without_rowid,
            // SQLite counts in `sqlite_sequence` already: its rowids are taken.
            rowid: alias
                .filter(|_| !without_rowid && name != "sqlite_sequence")
                .map(str::to_owned),
            fields: Vec::new(),
            encoding,
            inserts: Inserts::new(db, name),
            rows: 0,
        };
        if without_rowid {
            table.fields = stored_order(db, name)?;
            return Ok(table);
        }
        let key = rowid_column(db, name, &columns)?;
        let stored = columns.iter().filter(|(_, hidden, _)| *hidden != 2);
        table.fields = stored
            .map(|(name, hidden, _)| {
                (*hidden == 0 && Some(name) != key.as_ref()).then(|| name.clone())
            })
            .collect();
        table.rowid = key.or(table.rowid);
        Ok(table)
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    pub(super) fn shape(&self) -> TableShape {
        TableShape {
            root: self.root,
            columns: self.fields.len(),
            without_rowid: self.without_rowid,
        }
    }

    /// Inserts a row.
    pub(super) fn insert(&mut self, row: &Row) -> Result<Found> {
        if row.values.len() > self.fields.len() || row.rowid.is_none() != self.without_rowid {
            return Ok(Found::NoPlace);
        }
        let mut columns = Vec::new();
        let mut values = Vec::new();
        if let (Some(name), Some(rowid)) = (&self.rowid, row.rowid) {
            columns.push(name.as_str());
            values.push(Bound::Value(SqlValue::Integer(rowid)));
        }
        for (field, value) in self.fields.iter().zip(&row.values) {
            if let Some(name) = field {
                columns.push(name);
                values.push(Bound::new(value, self.encoding));
            }
        }
        match self.inserts.insert(&columns, &values)? {
            true => {
                self.rows += 1;
                Ok(Found::Inserted)
            }
            false => Ok(Found::Conflict),
        }
    }
}

/// The column that is another name of the rowid: the whole primary key, and without
/// an index.
fn rowid_column(
    db: &Connection,
    table: &str,
    columns: &[(String, i64, i64)],
) -> Result<Option<String>> {
    let mut key = columns.iter().filter(|(.., pk)| *pk > 0);
    let (Some((name, ..)), None) = (key.next(), key.next()) else {
        return Ok(None);
    };
    let indexes: i64 = db.query_row(
        "SELECT count(*) FROM pragma_index_list(?1) WHERE origin = 'pk'",
        [table],
        |row| row.get(0),
    )?;
    Ok((indexes == 0).then(|| name.clone()))
}

/// The columns of a `WITHOUT ROWID` table as they are stored: the key first.
fn stored_order(db: &Connection, table: &str) -> Result<Vec<Option<String>>> {
    let mut statement = db.prepare(
        "SELECT i.name, c.hidden FROM pragma_index_list(?1) AS l \
         JOIN pragma_index_xinfo(l.name) AS i \
         JOIN pragma_table_xinfo(?1) AS c ON c.cid = i.cid \
         WHERE l.origin = 'pk' ORDER BY i.seqno",
    )?;
    let columns = statement.query_map([table], |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?))
    })?;
    let columns = columns.collect::<rusqlite::Result<Vec<_>>>()?;
    Ok(columns
        .into_iter()
        .map(|(name, hidden)| (hidden == 0).then_some(name))
        .collect())
}

/// The table for rows without a home, as SQLite's own recovery makes it.
pub(super) struct LostAndFound<'db> {
    db: &'db Connection,
    name: String,
    /// How many value columns it has; `None`: it has not been made.
    width: Option<usize>,
    inserts: Inserts<'db>,
    encoding: Option<Encoding>,
    rows: u64,
}

impl<'db> LostAndFound<'db> {
    pub(super) fn new(db: &'db Connection, schema: &Schema, encoding: Option<Encoding>) -> Self {
        let is_taken = |name: &String| {
            schema
                .entries
                .iter()
                .any(|entry| entry.name.eq_ignore_ascii_case(name))
        };
        let numbered = (0..).map(|number| format!("lost_and_found_{number}"));
        let name = std::iter::once("lost_and_found".to_owned())
            .chain(numbered)
            .find(|name| !is_taken(name))
            .unwrap_or_default();
        Self {
            db,
            inserts: Inserts::new(db, &name),
            name,
            width: None,
            encoding,
            rows: 0,
        }
    }

    pub(super) fn insert(&mut self, row: &Row) -> Result {
        let width = row.values.len();
        if self.width.is_none() {
            self.db.execute_batch(&format!(
                "CREATE TABLE {} (rootpgno INTEGER, pgno INTEGER, nfield INTEGER, id INTEGER)",
                quote(&self.name)
            ))?;
            self.width = Some(0);
        }
        for column in self.width.unwrap_or(0)..width {
            let sql = format!("ALTER TABLE {} ADD COLUMN c{column}", quote(&self.name));
            self.db.execute_batch(&sql)?;
            self.width = Some(column + 1);
        }
        let integer = |number: i64| Bound::Value(SqlValue::Integer(number));
        let mut values = vec![
            integer(row.root.into()),
            integer(row.pgno.into()),
            integer(width as i64),
            row.rowid.map_or(Bound::Value(SqlValue::Null), integer),
        ];
        values.extend(
            row.values
                .iter()
                .map(|value| Bound::new(value, self.encoding)),
        );
        let names: Vec<_> = (0..width).map(|column| format!("c{column}")).collect();
        let mut columns = vec!["rootpgno", "pgno", "nfield", "id"];
        columns.extend(names.iter().map(String::as_str));
        self.inserts.insert(&columns, &values)?;
        self.rows += 1;
        Ok(())
    }

    /// Its name and its rows, if there are any.
    pub(super) fn finish(self) -> Option<(String, u64)> {
        (self.rows > 0).then_some((self.name, self.rows))
    }
}

fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
