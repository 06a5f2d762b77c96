//! Digests of what queries return, so that a contestant that answers wrongly cannot win.

use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Params, Row};

use crate::Result;

/// Collects values; two contestants that saw the same values in the same order have the
/// same digest. (`DefaultHasher` starts from the same state in every process; the
/// harness refuses contestants built by different compilers.)
#[derive(Debug, Default)]
pub struct Answer {
    hasher: DefaultHasher,
    rows: u64,
}

impl Answer {
    /// Nothing seen yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one value.
    pub fn add(&mut self, value: impl Hash) {
        value.hash(&mut self.hasher);
    }

    /// Adds every column of a row.
    pub fn add_row(&mut self, row: &Row<'_>, columns: usize) -> Result<(), rusqlite::Error> {
        self.rows += 1;
        for column in 0..columns {
            match row.get_ref(column)? {
                ValueRef::Null => self.add(0_u8),
                ValueRef::Integer(i) => self.add((1_u8, i)),
                ValueRef::Real(r) => self.add((2_u8, r.to_bits())),
                ValueRef::Text(t) => self.add((3_u8, t)),
                ValueRef::Blob(b) => self.add((4_u8, b)),
            }
        }
        Ok(())
    }

    /// Runs a query and adds all its rows.
    pub fn query(&mut self, db: &Connection, sql: &str, params: impl Params) -> Result<()> {
        let mut statement = db.prepare(sql)?;
        let columns = statement.column_count();
        let mut rows = statement.query(params)?;
        while let Some(row) = rows.next()? {
            self.add_row(row, columns)?;
        }
        Ok(())
    }

    /// The digest, with the number of rows in front.
    #[must_use]
    pub fn finish(&self) -> String {
        let mut text = String::new();
        write!(text, "{} rows, {:016x}", self.rows, self.hasher.finish()).expect("a string");
        text
    }
}

/// A digest of the schema and of every row of every table.
pub fn contents(db: &Connection) -> Result<String> {
    let mut answer = Answer::new();
    answer.query(
        db,
        "SELECT type, name, sql FROM sqlite_schema ORDER BY 2, 1",
        (),
    )?;
    let tables: Vec<String> = db
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")?
        .query_map((), |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    for table in tables {
        answer.query(db, &format!("SELECT * FROM \"{table}\""), ())?;
    }
    Ok(answer.finish())
}
