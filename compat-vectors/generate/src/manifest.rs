//! The manifest's shape; its fields are explained in `compat-vectors/README.md`.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::settings::Settings;

#[derive(Serialize)]
pub struct Manifest {
    pub format: u32,
    pub vectors: Vec<Entry>,
}

#[derive(Clone, Serialize)]
pub struct Entry {
    pub name: String,
    pub group: &'static str,
    pub note: String,
    pub files: Vec<File>,
    /// `PRAGMA cipher_version` of the writer.
    pub written_by: String,
    pub open: Open,
    pub settings: Settings,
    pub expect: Expect,
}

#[derive(Clone, Serialize)]
pub struct File {
    /// `db`, `wal` or `journal`.
    pub role: &'static str,
    pub file: String,
    pub bytes: u64,
    pub sha256: String,
}

#[derive(Clone, Serialize)]
pub struct Open {
    pub key_hex: Option<String>,
    /// The same as text, when it is UTF-8 without control characters.
    pub key_text: Option<String>,
    /// `none`, `passphrase` or `raw`.
    pub key_form: &'static str,
    /// Needed by SQLCipher only.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pragmas_before_key: Vec<String>,
    pub pragmas: Vec<String>,
}

#[derive(Clone, Serialize)]
pub struct Expect {
    /// `ok`, `wrong_key_or_settings`, `damaged_pages` or `truncated`.
    pub class: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pages: Vec<u32>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub content: Option<Content>,
    pub observed: Observed,
}

/// What a whole database holds, as SQLCipher reads it.
#[derive(Clone, PartialEq, Serialize)]
pub struct Content {
    pub content_hash: String,
    pub tables: BTreeMap<String, u64>,
    pub page_count: i64,
    pub freelist_count: i64,
    pub auto_vacuum: i64,
    pub user_version: i64,
    pub application_id: i64,
}

/// SQLCipher's answers, each on a connection of its own: a number of rows, or
/// an error.
#[derive(Clone, Serialize)]
pub struct Observed {
    /// `SELECT count(*) FROM sqlite_schema`
    pub schema_count: Answer,
    /// Every table, as for the content hash.
    pub full_read: Answer,
    /// `PRAGMA cipher_integrity_check`
    pub cipher_integrity_check: Vec<String>,
    /// `SELECT * FROM table NOT INDEXED`, when something cannot be read.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub table_reads: BTreeMap<String, Answer>,
}

#[derive(Clone, Serialize)]
#[serde(untagged)]
pub enum Answer {
    Rows(i64),
    Error {
        code: i32,
        extended: i32,
        message: String,
    },
}

impl Answer {
    pub fn is_error(&self) -> bool {
        self.code() != 0
    }

    /// The primary result code; 0 without an error.
    pub fn code(&self) -> i32 {
        match self {
            Answer::Rows(_) => 0,
            Answer::Error { code, .. } => *code,
        }
    }
}
