//! A hash over the contents of every user table of a schema.
//!
//! Two databases that hold the same tables and rows have the same hash,
//! whatever their page size, key, journal mode or free pages. Computed with
//! SQLCipher for the test vectors, and with stock SQLite for what pageseal reads.
//!
//! # Definition
//!
//! SHA-256 over this byte stream; numbers are 8 bytes little endian.
//!
//! For each table: `type = 'table'` in the schema table, name not starting
//! with `sqlite_`, and not a virtual table (`rootpage = 0`): a virtual table's
//! content lies in its shadow tables, which are hashed like any other. In the
//! order of the names' bytes:
//!
//! - `T`, length of the name, the name (UTF-8).
//! - For each row of `SELECT *`, by rowid, or by the columns of the primary
//!   key in a `WITHOUT ROWID` table: `R`, number of columns, the values:
//!   - NULL: `N`
//!   - INTEGER: `I`, the number (two's complement)
//!   - REAL: `F`, the bits of the IEEE 754 double
//!   - TEXT: `S`, length in bytes, the bytes (UTF-8)
//!   - BLOB: `B`, length, the bytes
//! - `E`, number of rows.
#![allow(dead_code, unreachable_pub)]

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Result};
use sha2::{Digest, Sha256};

/// The hash and the row counts behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContentHash {
    /// Lower-case hexadecimal.
    pub sha256: String,
    /// Name and number of rows of each table, in the order of the hash.
    pub tables: Vec<(String, u64)>,
}

/// Hashes every user table of `schema` (`main`, `temp` or an attached name).
pub fn content_hash(conn: &Connection, schema: &str) -> Result<ContentHash> {
    let mut hash = Sha256::new();
    let mut tables = Vec::new();
    for name in table_names(conn, schema)? {
        hash.update(b"T");
        update_bytes(&mut hash, name.as_bytes());
        let rows = hash_rows(conn, schema, &name, &mut hash)?;
        hash.update(b"E");
        hash.update(rows.to_le_bytes());
        tables.push((name, rows));
    }
    let sha256 = hash.finalize().iter().map(|b| format!("{b:02x}")).collect();
    Ok(ContentHash { sha256, tables })
}

fn table_names(conn: &Connection, schema: &str) -> Result<Vec<String>> {
    let sql = format!(
        "SELECT name FROM {}.sqlite_schema WHERE type = 'table' \
         AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND rootpage > 0",
        quote(schema)
    );
    let mut names = conn
        .prepare(&sql)?
        .query_map([], |row| row.get::<_, String>(0))?
        .collect::<Result<Vec<_>>>()?;
    names.sort();
    Ok(names)
}

fn hash_rows(conn: &Connection, schema: &str, table: &str, hash: &mut Sha256) -> Result<u64> {
    let sql = format!(
        "SELECT * FROM {}.{} ORDER BY {}",
        quote(schema),
        quote(table),
        row_order(conn, schema, table)?
    );
    let mut statement = conn.prepare(&sql)?;
    let columns = statement.column_count();
    let mut rows = statement.query([])?;
    let mut count = 0u64;
    while let Some(row) = rows.next()? {
        count += 1;
        hash.update(b"R");
        hash.update((columns as u64).to_le_bytes());
        for column in 0..columns {
            update_value(hash, row.get_ref(column)?);
        }
    }
    Ok(count)
}

/// The `ORDER BY` terms: a name of the rowid that no column hides, or the
/// columns of the primary key.
fn row_order(conn: &Connection, schema: &str, table: &str) -> Result<String> {
    let without_rowid: bool = conn.query_row(
        "SELECT wr FROM pragma_table_list WHERE schema = ?1 COLLATE NOCASE AND name = ?2",
        [schema, table],
        |row| row.get(0),
    )?;
    let columns = conn
        .prepare("SELECT name, pk FROM pragma_table_xinfo(?1, ?2) ORDER BY pk, cid")?
        .query_map([table, schema], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<Vec<(String, i64)>>>()?;
    if without_rowid {
        let key = columns.iter().filter(|(_, pk)| *pk > 0);
        return Ok(key.map(|(n, _)| quote(n)).collect::<Vec<_>>().join(", "));
    }
    let is_free = |alias: &&str| !columns.iter().any(|(n, _)| n.eq_ignore_ascii_case(alias));
    let alias = ["rowid", "_rowid_", "oid"].into_iter().find(is_free);
    Ok(alias.unwrap_or("1").to_owned())
}

fn update_value(hash: &mut Sha256, value: ValueRef<'_>) {
    match value {
        ValueRef::Null => hash.update(b"N"),
        ValueRef::Integer(i) => {
            hash.update(b"I");
            hash.update(i.to_le_bytes());
        }
        ValueRef::Real(r) => {
            hash.update(b"F");
            hash.update(r.to_bits().to_le_bytes());
        }
        ValueRef::Text(bytes) => {
            hash.update(b"S");
            update_bytes(hash, bytes);
        }
        ValueRef::Blob(bytes) => {
            hash.update(b"B");
            update_bytes(hash, bytes);
        }
    }
}

fn update_bytes(hash: &mut Sha256, bytes: &[u8]) {
    hash.update((bytes.len() as u64).to_le_bytes());
    hash.update(bytes);
}

fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
