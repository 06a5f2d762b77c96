//! Copying the rows of a table as they are, rowids included.

use crate::vfs::{Db, SqlError};

use super::super::execute;
use super::{column, literal, quote};

/// The ways to call the rowid, where no column is called so.
const ROWID_NAMES: [&str; 3] = ["rowid", "_rowid_", "oid"];

/// A table with rows of its own, in the source and empty in the target.
pub(super) struct Table<'c> {
    db: Db<'c>,
    /// Qualified and quoted.
    target: String,
    source: String,
    /// Names of the columns that are stored and not computed.
    columns: Vec<String>,
    /// It has columns that are computed.
    generated: bool,
    /// Its rowid is no column's, and this is how to call it.
    hidden_rowid: Option<&'static str>,
    /// It has an index of its own: a primary key or a UNIQUE.
    indexed: bool,
}

impl<'c> Table<'c> {
    pub(super) fn read(
        db: Db<'c>,
        target: &str,
        source: &str,
        name: &str,
    ) -> Result<Self, SqlError> {
        let (schema, table) = (literal(source), literal(name));
        let list = |sql: &str| db.first_column(sql).map(column);
        let all = list(&format!(
            "SELECT name FROM pragma_table_xinfo({table}, {schema}) ORDER BY cid"
        ))?;
        let columns = list(&format!(
            "SELECT name FROM pragma_table_xinfo({table}, {schema}) WHERE hidden = 0 ORDER BY cid"
        ))?;
        let hidden_rowid = if has_hidden_rowid(db, source, name)? {
            let is_free = |name: &&str| !all.iter().any(|c| c.eq_ignore_ascii_case(name));
            ROWID_NAMES.into_iter().find(is_free)
        } else {
            None
        };
        let indexed = is_true(
            db,
            &format!(
                "EXISTS(SELECT 1 FROM pragma_index_list({table}, {schema}) WHERE origin <> 'c')"
            ),
        )?;
        let qualify = |schema| format!("{}.{}", quote(schema), quote(name));
        Ok(Self {
            db,
            target: qualify(target),
            source: qualify(source),
            generated: columns.len() < all.len(),
            columns,
            hidden_rowid,
            indexed,
        })
    }

    /// Copies the rows.
    ///
    /// `INSERT INTO t SELECT * FROM t` lets SQLite copy without looking into the
    /// rows, which is several times as fast as naming the columns, but keeps hidden
    /// rowids only in a table with an index, and not under every setting.
    pub(super) fn copy(&self) -> Result<(), SqlError> {
        match self.hidden_rowid {
            _ if self.generated => self.copy_named(),
            None => self.copy_all(),
            Some(_) if !self.indexed => self.copy_named(),
            Some(rowid) => {
                self.copy_all()?;
                if self.are_rowids_kept(rowid)? {
                    return Ok(());
                }
                execute(self.db, &format!("DELETE FROM {}", self.target))?;
                self.copy_named()
            }
        }
    }

    /// Copies the columns and lets hidden rowids fall as they may.
    pub(super) fn copy_all(&self) -> Result<(), SqlError> {
        let (target, source) = (&self.target, &self.source);
        execute(
            self.db,
            &format!("INSERT INTO {target} SELECT * FROM {source}"),
        )
    }

    fn copy_named(&self) -> Result<(), SqlError> {
        let (target, source) = (&self.target, &self.source);
        let columns = self.columns.iter().map(|name| quote(name));
        let rowid = self.hidden_rowid.map(str::to_owned);
        let columns: Vec<_> = rowid.into_iter().chain(columns).collect();
        let columns = columns.join(", ");
        let order = self.hidden_rowid.map(|name| format!("ORDER BY {name}"));
        let order = order.unwrap_or_default();
        let sql = format!("INSERT INTO {target}({columns}) SELECT {columns} FROM {source} {order}");
        execute(self.db, &sql)
    }

    /// Rows numbered anew have the numbers from 1 to their count. Where the source
    /// has the same least and greatest, its numbers are these too.
    fn are_rowids_kept(&self, rowid: &str) -> Result<bool, SqlError> {
        let (target, source) = (&self.target, &self.source);
        let same = |end| {
            format!(
                "(SELECT {end}({rowid}) FROM {target}) IS (SELECT {end}({rowid}) FROM {source})"
            )
        };
        is_true(self.db, &format!("{} AND {}", same("min"), same("max")))
    }
}

/// Whether a table has a rowid, and that is none of its columns. A primary key
/// without an index of its own is the rowid itself.
fn has_hidden_rowid(db: Db<'_>, schema: &str, table: &str) -> Result<bool, SqlError> {
    let (schema, table) = (literal(schema), literal(table));
    let sql = format!(
        "NOT EXISTS(SELECT 1 FROM pragma_table_list({table}) \
             WHERE wr AND schema = {schema} COLLATE NOCASE AND name = {table} COLLATE NOCASE) \
         AND (EXISTS(SELECT 1 FROM pragma_index_list({table}, {schema}) WHERE origin = 'pk') \
             OR NOT EXISTS(SELECT 1 FROM pragma_table_xinfo({table}, {schema}) WHERE pk > 0))"
    );
    is_true(db, &sql)
}

/// Whether an expression is true.
pub(super) fn is_true(db: Db<'_>, expression: &str) -> Result<bool, SqlError> {
    let rows = db.first_column(&format!("SELECT {expression}"))?;
    Ok(rows == [Some("1".to_owned())])
}
