//! Opening, keying and querying.

use std::ffi::{CString, c_int};

use rusqlite::fallible_iterator::FallibleIterator;
use rusqlite::types::ValueRef;
use rusqlite::{Batch, Connection, OpenFlags, ffi};

use crate::error::Error;
use crate::wire::{Value, encode_text};

/// Opens `path` and, with a key, keys it before anything is read.
pub(crate) fn open(path: &str, key: Option<&[u8]>, read_only: bool) -> Result<Connection, Error> {
    let access = if read_only {
        OpenFlags::SQLITE_OPEN_READ_ONLY
    } else {
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE
    };
    let conn = Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_URI)?;
    if let Some(key) = key {
        set_key(&conn, "main", key)?;
    }
    Ok(conn)
}

/// `sqlite3_key_v2`: the key is bytes, so NUL and non-UTF-8 keys work.
pub(crate) fn set_key(conn: &Connection, schema: &str, key: &[u8]) -> Result<(), Error> {
    call_with_key(conn, schema, key, ffi::sqlite3_key_v2)
}

/// `sqlite3_rekey_v2`.
pub(crate) fn change_key(conn: &Connection, schema: &str, key: &[u8]) -> Result<(), Error> {
    call_with_key(conn, schema, key, ffi::sqlite3_rekey_v2)
}

type KeyFunction = unsafe extern "C" fn(
    *mut ffi::sqlite3,
    *const std::ffi::c_char,
    *const std::ffi::c_void,
    c_int,
) -> c_int;

fn call_with_key(
    conn: &Connection,
    schema: &str,
    key: &[u8],
    function: KeyFunction,
) -> Result<(), Error> {
    let schema = CString::new(schema).map_err(|e| Error::request(e.to_string()))?;
    let length = c_int::try_from(key.len()).map_err(|e| Error::request(e.to_string()))?;
    // SAFETY: the handle is open as long as `conn` lives, the schema name ends
    // with NUL, and `key` is valid for `length` bytes during the call.
    let code = unsafe { function(conn.handle(), schema.as_ptr(), key.as_ptr().cast(), length) };
    match code {
        ffi::SQLITE_OK => Ok(()),
        code => Err(Error::sqlite(code)),
    }
}

/// Runs every statement of `sql`, handing the encoded values of each row on.
pub(crate) fn run(
    conn: &Connection,
    sql: &str,
    mut on_row: impl FnMut(Vec<String>) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut batch = Batch::new(conn, sql);
    while let Some(mut statement) = batch.next()? {
        let columns = statement.column_count();
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let values = (0..columns)
                .map(|column| row.get_ref(column).map(encode))
                .collect::<rusqlite::Result<Vec<_>>>()?;
            on_row(values)?;
        }
    }
    Ok(())
}

fn encode(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => Value::Null.encode(),
        ValueRef::Integer(i) => Value::Integer(i).encode(),
        ValueRef::Real(r) => Value::Real(r).encode(),
        ValueRef::Text(t) => encode_text(t),
        ValueRef::Blob(b) => Value::Blob(b.to_vec()).encode(),
    }
}

/// Turns off SQLCipher's log, which belongs to the process, not to a connection.
pub(crate) fn silence_log() -> Result<(), Error> {
    let conn = Connection::open_in_memory()?;
    run(&conn, "PRAGMA cipher_log_level = NONE", |_| Ok(()))
}
