//! What a contestant says of itself, for the harness to compare.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use rusqlite::Connection;
use serde::{Deserialize, Serialize};

use crate::Result;
use crate::engine::{self, Settings, Variant};

/// The first bytes of a database that nobody encrypted.
const PLAINTEXT: &[u8; 16] = b"SQLite format 3\0";

/// How the program was built.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Build {
    /// The compiler.
    pub rustc: String,
    /// What it was built for.
    pub target: String,
    /// Rust's and SQLite's optimisation level.
    pub opt_level: String,
    /// Whether debug assertions are on.
    pub debug_assertions: bool,
    /// Further flags for the Rust compiler.
    pub rustflags: String,
    /// Further flags for the C compiler, and for SQLite.
    pub cflags: String,
    /// A hash of the workloads' sources.
    pub source: String,
}

/// This program's build.
#[must_use]
pub fn build() -> Build {
    Build {
        rustc: env!("BENCH_RUSTC").into(),
        target: env!("BENCH_TARGET").into(),
        opt_level: env!("BENCH_OPT_LEVEL").into(),
        debug_assertions: cfg!(debug_assertions),
        rustflags: env!("BENCH_RUSTFLAGS").trim().into(),
        cflags: concat!(env!("BENCH_CFLAGS"), " ", env!("BENCH_SQLITE_FLAGS"))
            .trim()
            .into(),
        source: env!("BENCH_SOURCE").into(),
    }
}

/// What a contestant is, as seen on a database of its own.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Facts {
    /// How the program was built.
    pub build: Build,
    /// `sqlite_version()`.
    pub sqlite_version: String,
    /// `sqlite_source_id()`.
    pub source_id: String,
    /// `PRAGMA compile_options`, name and value (empty if it has none).
    pub compile_options: BTreeMap<String, String>,
    /// The settings in force, read back.
    pub settings: BTreeMap<String, String>,
    /// What the cipher says of itself; empty for a plaintext contestant.
    pub cipher: BTreeMap<String, String>,
    /// Whether the file starts like a plaintext database.
    pub plaintext: bool,
}

/// Looks at a database made for this in `dir`.
pub fn gather(variant: &Variant, settings: &Settings, dir: &Path) -> Result<Facts> {
    let path = dir.join("facts.db");
    let db = engine::open(variant, &path, settings)?;
    db.execute_batch("CREATE TABLE t(a); INSERT INTO t VALUES (1)")?;
    let facts = Facts {
        build: build(),
        sqlite_version: db.query_row("SELECT sqlite_version()", (), |row| row.get(0))?,
        source_id: db.query_row("SELECT sqlite_source_id()", (), |row| row.get(0))?,
        compile_options: compile_options(&db)?,
        settings: pragmas(
            &db,
            &[
                "page_size",
                "cache_size",
                "journal_mode",
                "synchronous",
                "temp_store",
                "secure_delete",
                "locking_mode",
                "mmap_size",
                "auto_vacuum",
                "wal_autocheckpoint",
                "foreign_keys",
                "threads",
            ],
        )?,
        cipher: if variant.encrypts() {
            pragmas(
                &db,
                &[
                    "cipher_version",
                    "cipher_provider",
                    "cipher_provider_version",
                    "cipher_use_hmac",
                    "cipher_hmac_algorithm",
                    "cipher_memory_security",
                ],
            )?
        } else {
            BTreeMap::new()
        },
        plaintext: is_plaintext(&path)?,
    };
    drop(db);
    std::fs::remove_file(&path)?;
    Ok(facts)
}

/// Whether the file at `path` starts like a plaintext database.
pub fn is_plaintext(path: &Path) -> Result<bool> {
    let mut start = [0; 16];
    File::open(path)?.read_exact(&mut start)?;
    Ok(&start == PLAINTEXT)
}

fn compile_options(db: &Connection) -> Result<BTreeMap<String, String>> {
    let mut statement = db.prepare("PRAGMA compile_options")?;
    let options = statement
        .query_map((), |row| row.get::<_, String>(0))?
        .map(|option| {
            option.map(|option| match option.split_once('=') {
                Some((name, value)) => (name.to_owned(), value.to_owned()),
                None => (option, String::new()),
            })
        })
        .collect::<Result<_, _>>()?;
    Ok(options)
}

fn pragmas(db: &Connection, names: &[&str]) -> Result<BTreeMap<String, String>> {
    let mut values = BTreeMap::new();
    for &name in names {
        if let Some(value) = engine::pragma_value(db, name)? {
            values.insert(name.to_owned(), value);
        }
    }
    Ok(values)
}
