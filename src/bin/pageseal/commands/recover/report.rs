//! What was saved and what was lost.

use std::path::Path;

use pageseal::offline::salvage::{Origin, Salvage, SchemaEntry};
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::args::Common;
use crate::error::Result;
use crate::report::{self, count, numbers};

/// Most page numbers that are listed for people.
const MOST: usize = 40;

/// What was saved and what was lost.
#[derive(Default)]
pub(super) struct Report {
    tables: Vec<(String, u64, Vec<u32>)>,
    pub(super) lost_in_indexes: Vec<u32>,
    pub(super) bad_cells: u64,
    pub(super) incomplete: u64,
    pub(super) conflicts: u64,
    pub(super) lost_and_found: Option<(String, u64)>,
    not_made: Vec<(String, String, String)>,
    fault: Option<String>,
}

impl Report {
    pub(super) fn add_table(&mut self, name: &str, rows: u64, lost: Vec<u32>) {
        self.tables.push((name.to_owned(), rows, lost));
    }

    /// Something of the schema could not be made.
    pub(super) fn not_made(&mut self, entry: &SchemaEntry, error: &rusqlite::Error) {
        self.not_made
            .push((entry.kind.clone(), entry.name.clone(), error.to_string()));
    }

    /// Has SQLite look at the new database.
    pub(super) fn check(&mut self, db: &Connection) -> Result {
        let answer: String = db.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
        self.fault = (answer != "ok").then_some(answer);
        Ok(())
    }

    /// What was on a lost page, as far as it is known.
    fn was(&self, salvage: &Salvage, pgno: u32) -> String {
        if salvage.is_free(pgno) {
            return "free, nothing lost".to_owned();
        }
        if self.lost_in_indexes.contains(&pgno) {
            return "of an index, which was made anew".to_owned();
        }
        let table = self.tables.iter().find(|(_, _, lost)| lost.contains(&pgno));
        match table {
            _ if pgno == 1 => "the schema and the header".to_owned(),
            Some((name, ..)) => format!("of table {name}"),
            None => "unknown".to_owned(),
        }
    }

    /// Whether everything was saved that was committed, and went home.
    pub(super) fn is_lossless(&self, salvage: &Salvage) -> bool {
        let harmless = |pgno: &u32| salvage.is_free(*pgno) || self.lost_in_indexes.contains(pgno);
        salvage.lost().iter().all(|page| harmless(&page.pgno))
            && salvage.substituted().is_empty()
            && salvage.schema().is_whole
            && self.lost_and_found.is_none()
            && self.incomplete + self.bad_cells == 0
            && self.not_made.is_empty()
            && self.fault.is_none()
    }

    pub(super) fn print(&self, salvage: &Salvage, out: &Path, common: &Common) -> Result {
        report::print(common, &self.json(salvage, out), || self.text(salvage, out))
    }

    fn json(&self, salvage: &Salvage, out: &Path) -> Value {
        let lost: Vec<_> = salvage
            .lost()
            .iter()
            .map(|page| {
                json!({
                    "page": page.pgno,
                    "fault": page.fault.to_string(),
                    "was": self.was(salvage, page.pgno),
                })
            })
            .collect();
        let substituted: Vec<_> = salvage
            .substituted()
            .iter()
            .map(|(pgno, origin)| json!({ "page": pgno, "from": origin_name(*origin) }))
            .collect();
        let tables: Vec<_> = self
            .tables
            .iter()
            .map(|(name, rows, lost)| json!({ "name": name, "rows": rows, "lost_pages": lost }))
            .collect();
        let not_made: Vec<_> = self
            .not_made
            .iter()
            .map(|(kind, name, error)| json!({ "kind": kind, "name": name, "error": error }))
            .collect();
        json!({
            "file": salvage.snapshot().files().path().to_string_lossy(),
            "output": out.to_string_lossy(),
            "lossless": self.is_lossless(salvage),
            "pages": salvage.snapshot().pages(),
            "lost_pages": lost,
            "substituted_pages": substituted,
            "free_list_known": salvage.knows_free_pages(),
            "schema_whole": salvage.schema().is_whole,
            "tables": tables,
            "lost_and_found": self.lost_and_found.as_ref().map(|(name, rows)| {
                json!({ "table": name, "rows": rows, "incomplete": self.incomplete,
                        "conflicts": self.conflicts })
            }),
            "bad_cells": self.bad_cells,
            "not_recreated": not_made,
            "check": self.fault.as_deref().unwrap_or("ok"),
        })
    }

    fn text(&self, salvage: &Salvage, out: &Path) -> String {
        let lost = salvage.lost();
        let rows: u64 = self.tables.iter().map(|(_, rows, _)| rows).sum();
        let pages = salvage.snapshot().pages();
        let mut text = format!(
            "{}: {} in {}; {} of {pages} pages lost\n",
            out.display(),
            count(rows, "row"),
            count(self.tables.len() as u64, "table"),
            lost.len(),
        );
        for page in lost.iter().take(MOST) {
            text += &format!(
                "  page {} lost ({}): {}\n",
                page.pgno,
                page.fault,
                self.was(salvage, page.pgno)
            );
        }
        if lost.len() > MOST {
            let rest = lost[MOST..].iter().map(|page| page.pgno);
            text += &format!("  pages lost besides: {}\n", numbers(rest, MOST));
        }
        for (pgno, origin) in salvage.substituted().iter().take(MOST) {
            let from = match origin {
                Origin::Wal => "an older or uncommitted copy in -wal",
                _ => "the database file, which the log or journal was to replace",
            };
            text += &format!("  page {pgno} taken from {from}\n");
        }
        if !salvage.schema().is_whole {
            text += match salvage.schema().entries.is_empty() {
                true => "  the schema is lost: there are no tables to put rows into\n",
                false => "  only a part of the schema is there\n",
            };
        }
        if !salvage.knows_free_pages() {
            text += "  the list of free pages is lost: rows that were deleted may be among those saved\n";
        }
        for (name, rows, lost) in &self.tables {
            text += &format!("  {name}: {}", count(*rows, "row"));
            if !lost.is_empty() {
                text += &format!("; lost below page {}", numbers(lost.iter().copied(), MOST));
            }
            text += "\n";
        }
        if let Some((name, rows)) = &self.lost_and_found {
            text += &format!("  {name}: {} without a home", count(*rows, "row"));
            if self.incomplete > 0 {
                text += &format!(", {} of them incomplete", self.incomplete);
            }
            if self.conflicts > 0 {
                text += &format!(", {} of them refused by a constraint", self.conflicts);
            }
            text += "\n";
        }
        if self.bad_cells > 0 {
            text += &format!("  {} could not be read\n", count(self.bad_cells, "cell"));
        }
        for (kind, name, error) in &self.not_made {
            text += &format!("  {kind} {name} could not be made: {error}\n");
        }
        if let Some(fault) = &self.fault {
            text += &format!("  SQLite on the result: {fault}\n");
        }
        text
    }
}

fn origin_name(origin: Origin) -> &'static str {
    match origin {
        Origin::Wal => "wal",
        _ => "database",
    }
}
