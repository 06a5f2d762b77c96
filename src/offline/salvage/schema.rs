//! The schema of a damaged database: from its tree where page 1 is whole, else from
//! whatever pages look like a part of it.

use super::super::error::{OfflineError, Result};
use super::super::header::Encoding;
use super::btree::Kind;
use super::pages::Pages;
use super::record::Value;
use super::rows::{Row, Walker};
use super::survey::{Content, Survey};

/// A row of `sqlite_schema`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaEntry {
    /// `table`, `index`, `view` or `trigger`.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// The table that it belongs to.
    pub table: String,
    /// The root page; 0 where there is none.
    pub root: u32,
    /// How it was made; automatic indexes have none.
    pub sql: Option<String>,
}

/// A schema, and how much can be relied on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Schema {
    /// Its rows.
    pub entries: Vec<SchemaEntry>,
    /// Whether these are all.
    pub is_whole: bool,
    /// How its text, and the database's, is stored.
    pub encoding: Option<Encoding>,
}

const KINDS: [&str; 4] = ["table", "index", "view", "trigger"];

/// Reads the schema.
pub(super) fn read(pages: &Pages, survey: &Survey) -> Result<Schema> {
    if let Some(header) = pages.header() {
        return from_tree(pages, survey, header.encoding);
    }
    let encodings = [Encoding::Utf8, Encoding::Utf16Le, Encoding::Utf16Be];
    for encoding in encodings {
        let entries = from_pages(pages, survey, encoding)?;
        if !entries.is_empty() {
            return Ok(Schema {
                entries,
                is_whole: false,
                encoding: Some(encoding),
            });
        }
    }
    Ok(Schema::default())
}

fn from_tree(pages: &Pages, survey: &Survey, encoding: Encoding) -> Result<Schema> {
    let mut entries = Vec::new();
    let mut strange = false;
    let walked = Walker::new(pages, survey).walk::<OfflineError>(1, &mut |row| {
        match entry(&row, encoding) {
            Some(entry) => entries.push(entry),
            None => strange = true,
        }
        Ok(())
    })?;
    Ok(Schema {
        entries,
        is_whole: walked.lost.is_empty() && walked.bad_cells == 0 && !strange,
        encoding: Some(encoding),
    })
}

/// Rows that look like a schema's, from pages that hold nothing else.
fn from_pages(pages: &Pages, survey: &Survey, encoding: Encoding) -> Result<Vec<SchemaEntry>> {
    let mut found = Vec::new();
    for pgno in 2..=survey.content.len() as u32 {
        if survey.of(pgno) != Content::Tree(Kind::TableLeaf) {
            continue;
        }
        let mut entries = Vec::new();
        let mut strange = false;
        Walker::new(pages, survey).walk::<OfflineError>(pgno, &mut |row| {
            match entry(&row, encoding) {
                Some(entry) => entries.push(entry),
                None => strange = true,
            }
            Ok(())
        })?;
        if !strange {
            found.append(&mut entries);
        }
    }
    Ok(found)
}

fn entry(row: &Row, encoding: Encoding) -> Option<SchemaEntry> {
    let text = |value: &Value| match value {
        Value::Text(bytes) => encoding.decode(bytes),
        _ => None,
    };
    let [kind, name, table, root, sql] = &row.values[..] else {
        return None;
    };
    let kind = text(kind).filter(|kind| KINDS.contains(&kind.as_str()))?;
    Some(SchemaEntry {
        kind,
        name: text(name)?,
        table: text(table)?,
        root: match root {
            Value::Integer(root) => u32::try_from(*root).ok()?,
            Value::Null => 0,
            _ => return None,
        },
        sql: match sql {
            Value::Null => None,
            sql => Some(text(sql)?),
        },
    })
}
