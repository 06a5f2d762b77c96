//! The steps of an export.

mod definition;
mod table;

use crate::vfs::{Db, SqlError};

use super::error::{ExportError, Step};
use super::execute;
use super::hold::WritableSchema;

use definition::qualify;
use table::{Table, is_true};

/// An export about to run: both databases exist.
pub(super) struct Copy<'c> {
    db: Db<'c>,
    target: String,
    source: String,
    /// The names in double quotes.
    quoted_target: String,
    quoted_source: String,
}

impl<'c> Copy<'c> {
    pub(super) fn new(db: Db<'c>, target: &str, source: &str) -> Result<Self, ExportError> {
        for (role, name) in [("source", source), ("target", target)] {
            if !has_database(db, name).step(|| "listing databases".to_owned())? {
                let name = name.to_owned();
                return Err(ExportError::UnknownDatabase { role, name });
            }
        }
        if target.eq_ignore_ascii_case(source) {
            return Err(ExportError::SameDatabase(target.to_owned()));
        }
        Ok(Self {
            db,
            target: target.to_owned(),
            source: source.to_owned(),
            quoted_target: quote(target),
            quoted_source: quote(source),
        })
    }

    /// Does all of it, within a transaction and with the switches held.
    pub(super) fn run(&self) -> Result<(), ExportError> {
        self.refuse_existing()?;
        // Virtual tables have no pages; SQLite makes sqlite_sequence by itself.
        let tables =
            self.definitions("type = 'table' AND rootpage > 0 AND name <> 'sqlite_sequence'")?;
        for (name, sql) in &tables {
            self.create_table(name, sql)?;
        }
        for (name, _) in &tables {
            self.copy_rows(name)?;
        }
        self.copy_sequences()?;
        // Building an index in one go is faster than keeping it up row by row.
        for (name, sql) in self.definitions("type = 'index' AND sql IS NOT NULL")? {
            let step = || format!("creating index {name:?}");
            execute(self.db, &self.qualified(&name, &sql)?).step(step)?;
        }
        self.copy_header("user_version")?;
        self.copy_header("application_id")?;
        self.copy_unstored()
    }

    /// Runs a statement, with the quoted names in place of `{target}` and `{source}`.
    fn execute(&self, template: &str) -> Result<(), SqlError> {
        execute(self.db, &self.sql(template))
    }

    fn sql(&self, template: &str) -> String {
        let parts = template.split("{target}");
        let parts = parts.map(|part| part.replace("{source}", &self.quoted_source));
        parts.collect::<Vec<_>>().join(&self.quoted_target)
    }

    /// The names of one database must differ, except that a trigger may be called
    /// like a table. Statistics are merged.
    fn refuse_existing(&self) -> Result<(), ExportError> {
        let sql = self.sql(
            "SELECT t.type, t.name FROM {source}.sqlite_schema AS s, {target}.sqlite_schema AS t \
             WHERE s.name = t.name COLLATE NOCASE \
             AND (s.type = 'trigger') = (t.type = 'trigger') \
             AND s.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' LIMIT 1",
        );
        match pairs(self.db, &sql).step(reading)?.pop() {
            None => Ok(()),
            Some((kind, name)) => Err(ExportError::Exists {
                target: self.target.clone(),
                kind,
                name,
            }),
        }
    }

    /// Names and texts from the source's schema.
    fn definitions(&self, condition: &str) -> Result<Vec<(String, String)>, ExportError> {
        let sql = "SELECT name, sql FROM {source}.sqlite_schema";
        let sql = self.sql(&format!("{sql} WHERE {condition} ORDER BY rowid"));
        pairs(self.db, &sql).step(reading)
    }

    /// The text that makes this table or index in the target.
    fn qualified(&self, name: &str, sql: &str) -> Result<String, ExportError> {
        qualify(sql, &self.quoted_target).ok_or_else(|| ExportError::Definition(name.to_owned()))
    }

    fn has_table(&self, quoted_schema: &str, name: &str) -> Result<bool, ExportError> {
        let sql = format!(
            "EXISTS(SELECT 1 FROM {quoted_schema}.sqlite_schema \
             WHERE name = {} COLLATE NOCASE)",
            literal(name)
        );
        is_true(self.db, &sql).step(reading)
    }

    fn create_table(&self, name: &str, sql: &str) -> Result<(), ExportError> {
        if is_statistics(name) && self.has_table(&self.quoted_target, name)? {
            return Ok(());
        }
        let sql = self.qualified(name, sql)?;
        // For names that start with sqlite_.
        WritableSchema::new(self.db)
            .and_then(|_writable| execute(self.db, &sql))
            .step(|| format!("creating table {name:?}"))
    }

    fn copy_rows(&self, name: &str) -> Result<(), ExportError> {
        Table::read(self.db, &self.target, &self.source, name)
            .and_then(|table| {
                if is_statistics(name) {
                    // The target may have some already, with rowids of their own.
                    table.copy_all()
                } else {
                    table.copy()
                }
            })
            .step(|| format!("copying table {name:?}"))
    }

    /// Copying the rows has counted up; the source may know of higher numbers.
    fn copy_sequences(&self) -> Result<(), ExportError> {
        for schema in [&self.quoted_target, &self.quoted_source] {
            if !self.has_table(schema, "sqlite_sequence")? {
                return Ok(());
            }
        }
        let copy = || {
            self.execute(
                "DELETE FROM {target}.sqlite_sequence WHERE name IN \
                 (SELECT name FROM {source}.sqlite_schema WHERE type = 'table')",
            )?;
            self.execute(
                "INSERT INTO {target}.sqlite_sequence(name, seq) \
                 SELECT name, seq FROM {source}.sqlite_sequence \
                 WHERE name NOT IN (SELECT name FROM {target}.sqlite_sequence) ORDER BY rowid",
            )
        };
        copy().step(|| "copying sqlite_sequence".to_owned())
    }

    /// Copies a number of the database header, unless the target has one.
    fn copy_header(&self, pragma: &str) -> Result<(), ExportError> {
        let get = |schema: &str| integer(self.db, &format!("PRAGMA {schema}.{pragma}"));
        let copy = || {
            let value = get(&self.quoted_source)?;
            if value == 0 || get(&self.quoted_target)? != 0 {
                return Ok(());
            }
            self.execute(&format!("PRAGMA {{target}}.{pragma} = {value}"))
        };
        copy().step(|| format!("copying {pragma}"))
    }

    /// Copies views, triggers and virtual tables, which are a text in the schema
    /// and nothing else.
    ///
    /// A view that calls its own database by the name `main` is right where that
    /// is its name, but does not load in an attached database: then it is left to
    /// whoever opens the target next.
    fn copy_unstored(&self) -> Result<(), ExportError> {
        let copy = || {
            self.execute("SAVEPOINT pageseal_schema")?;
            self.enter_unstored()?;
            if let Err(error) = self.reload() {
                if !self.source.eq_ignore_ascii_case("main") {
                    return Err(error);
                }
                // There is no such savepoint where SQLite has rolled back all.
                self.execute("ROLLBACK TO pageseal_schema")
                    .map_err(|_| error)?;
                self.enter_unstored()?;
            }
            self.execute("RELEASE pageseal_schema")
        };
        copy().step(|| "copying views, triggers and virtual tables".to_owned())
    }

    fn enter_unstored(&self) -> Result<(), SqlError> {
        let _writable = WritableSchema::new(self.db)?;
        self.execute(
            "INSERT INTO {target}.sqlite_schema(type, name, tbl_name, rootpage, sql) \
             SELECT type, name, tbl_name, 0, sql FROM {source}.sqlite_schema \
             WHERE type IN ('view', 'trigger') OR (type = 'table' AND rootpage = 0) \
             ORDER BY rowid",
        )
    }

    /// Has this connection and all others read the target's schema again.
    fn reload(&self) -> Result<(), SqlError> {
        let version = integer(self.db, &self.sql("PRAGMA {target}.schema_version"))?;
        let next = version.wrapping_add(1);
        self.execute(&format!("PRAGMA {{target}}.schema_version = {next}"))?;
        self.execute("SELECT 1 FROM {target}.sqlite_schema")
    }
}

/// Whether it is a table that `ANALYZE` makes.
fn is_statistics(name: &str) -> bool {
    name.get(.."sqlite_stat".len())
        .is_some_and(|start| start.eq_ignore_ascii_case("sqlite_stat"))
}

/// Whether a connection has a database of that name. `main` and `temp` are always
/// there, and not always listed.
fn has_database(db: Db<'_>, name: &str) -> Result<bool, SqlError> {
    let is = |always: &&str| name.eq_ignore_ascii_case(always);
    if ["main", "temp"].iter().any(is) {
        return Ok(true);
    }
    let sql = format!(
        "EXISTS(SELECT 1 FROM pragma_database_list WHERE name = {} COLLATE NOCASE)",
        literal(name)
    );
    is_true(db, &sql)
}

fn reading() -> String {
    "reading the schema".to_owned()
}

/// The values of a column that holds no NULL.
fn column(rows: Vec<Option<String>>) -> Vec<String> {
    rows.into_iter().flatten().collect()
}

/// The first two columns of a query's rows, which hold no NULL.
fn pairs(db: Db<'_>, sql: &str) -> Result<Vec<(String, String)>, SqlError> {
    let rows = db.rows(sql)?.into_iter();
    let pair = |row: Vec<Option<String>>| {
        let mut values = row.into_iter().map(Option::unwrap_or_default);
        (
            values.next().unwrap_or_default(),
            values.next().unwrap_or_default(),
        )
    };
    Ok(rows.map(pair).collect())
}

/// The number that a pragma answers.
fn integer(db: Db<'_>, sql: &str) -> Result<i32, SqlError> {
    let rows = db.first_column(sql)?;
    let number = rows.first().and_then(|value| value.as_ref()?.parse().ok());
    number.ok_or_else(|| SqlError::new(format!("{sql} gave no number")))
}

/// The name in double quotes.
fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// The text in single quotes.
fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
