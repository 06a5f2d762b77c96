//! Opening a database: the only place where contestants differ.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};
use serde::{Deserialize, Serialize};

use crate::Result;

/// What makes a contestant of an engine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variant {
    /// The VFS to open with; SQLite's own if none.
    pub vfs: Option<String>,
    /// The value of `PRAGMA key`; no encryption if none. The workloads use raw key
    /// material, so that key derivation is measured by the `open` bench alone.
    pub key: Option<String>,
    /// Pragmas right after the key.
    pub pragmas: Vec<String>,
    /// Make every measurement this much longer (self-check).
    pub slow_percent: u32,
}

impl Variant {
    /// Whether it encrypts.
    #[must_use]
    pub fn encrypts(&self) -> bool {
        self.key.is_some()
    }

    /// The same contestant with another key (or still none), and a few more pragmas.
    #[must_use]
    pub fn keyed(&self, key: &str, pragmas: &[&str]) -> Self {
        let mut other = self.clone();
        if other.key.is_some() {
            other.key = Some(key.to_owned());
            other.pragmas.extend(pragmas.iter().map(|&p| p.to_owned()));
        }
        other
    }
}

/// What is set alike on every side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// `page_size` in bytes.
    pub page_size: u32,
    /// `cache_size` in pages.
    pub cache_pages: u32,
    /// `journal_mode`.
    pub journal: String,
    /// `synchronous`.
    pub synchronous: String,
    /// `temp_store`. SQLCipher is compiled to keep temporary tables in memory, stock
    /// SQLite to keep them in files: set to the same explicitly.
    pub temp_store: String,
    /// `secure_delete`. SQLCipher turns it on for a keyed connection, stock SQLite has
    /// it off: set to the same explicitly.
    pub secure_delete: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            page_size: 4096,
            cache_pages: 2000,
            journal: "DELETE".into(),
            synchronous: "FULL".into(),
            temp_store: "MEMORY".into(),
            secure_delete: true,
        }
    }
}

impl Settings {
    /// The same with another cache.
    #[must_use]
    pub fn with_cache(&self, cache_pages: u32) -> Self {
        Self {
            cache_pages,
            ..self.clone()
        }
    }

    /// The same with another journal mode and `synchronous`.
    #[must_use]
    pub fn with_journal(&self, journal: &str, synchronous: &str) -> Self {
        Self {
            journal: journal.into(),
            synchronous: synchronous.into(),
            ..self.clone()
        }
    }
}

/// Opens (or creates) the database at `path` and keys it, and nothing else.
pub fn connect(variant: &Variant, path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = match &variant.vfs {
        Some(vfs) => Connection::open_with_flags_and_vfs(path, flags, vfs.as_str())?,
        None => Connection::open_with_flags(path, flags)?,
    };
    if let Some(key) = &variant.key {
        run_pragma(&db, &format!("PRAGMA key = \"{key}\""))?;
        for pragma in &variant.pragmas {
            run_pragma(&db, pragma)?;
        }
    }
    Ok(db)
}

/// Opens the database and sets what is alike on every side.
pub fn open(variant: &Variant, path: &Path, settings: &Settings) -> Result<Connection> {
    let db = connect(variant, path)?;
    if !variant.encrypts() {
        // The encrypted ones have their cipher's page size, 4096 as well.
        run_pragma(&db, &format!("PRAGMA page_size = {}", settings.page_size))?;
    }
    for (name, value) in [
        ("locking_mode", "NORMAL"),
        ("mmap_size", "0"),
        ("temp_store", &settings.temp_store),
        (
            "secure_delete",
            if settings.secure_delete { "ON" } else { "OFF" },
        ),
        ("cache_size", &settings.cache_pages.to_string()),
        ("journal_mode", &settings.journal),
        ("synchronous", &settings.synchronous),
    ] {
        run_pragma(&db, &format!("PRAGMA {name} = {value}"))?;
    }
    Ok(db)
}

/// Runs a pragma, whether it answers with rows or not.
pub fn run_pragma(db: &Connection, sql: &str) -> Result<()> {
    let mut statement = db.prepare(sql)?;
    let mut rows = statement.query(())?;
    while rows.next()?.is_some() {}
    Ok(())
}

/// The first column of a pragma's first row, as text; none if there is no row.
pub fn pragma_value(db: &Connection, name: &str) -> Result<Option<String>> {
    let mut statement = db.prepare(&format!("PRAGMA {name}"))?;
    let mut rows = statement.query(())?;
    let Some(row) = rows.next()? else {
        return Ok(None);
    };
    let value: rusqlite::types::Value = row.get(0)?;
    Ok(match value {
        rusqlite::types::Value::Text(text) => Some(text),
        rusqlite::types::Value::Integer(number) => Some(number.to_string()),
        _ => None,
    })
}
