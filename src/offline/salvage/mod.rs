//! What can be had from a damaged database: every page that authenticates, and every
//! row on those pages.
//!
//! ```text
//! pages   each page as committed, or from any other copy that authenticates
//! survey  which pages are whole and what they are; the free list     (all cores)
//! schema  from its tree, or from pages that look like it
//! rows    down from the root of each table; then the trees whose parents are lost
//! ```
//!
//! A page that is not reached from any root, and not free, hung below a page that is
//! lost. Where the schema and the free list are whole it must belong to a table with
//! lost pages, and often only one of these has such rowids and that many columns:
//! its rows go home. All others are told with their page and the root of what is
//! left of their tree, for a table like the `lost_and_found` of SQLite's own recovery.

mod btree;
mod pages;
mod record;
mod rows;
mod schema;
mod survey;

use std::collections::HashSet;

use super::error::{OfflineError, Result};
use super::header::Header;
use super::progress::Progress;
use super::snapshot::{BadPage, Snapshot};

use btree::{Kind, Node};
use pages::Pages;
use rows::{LostLink, Walked, Walker};
use survey::{Content, Survey};

pub use pages::Origin;
pub use record::Value;
pub use rows::Row;
pub use schema::{Schema, SchemaEntry};

/// A damaged database, looked through.
pub struct Salvage {
    pages: Pages,
    survey: Survey,
    schema: Schema,
}

/// A table of the schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableShape {
    /// Its root page.
    pub root: u32,
    /// Most values that a row of it has.
    pub columns: usize,
    /// Whether it is a `WITHOUT ROWID` table.
    pub without_rowid: bool,
}

/// Where a row belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Home {
    /// In the table of this index.
    Table(usize),
    /// Nobody knows.
    Unknown,
}

/// What a walk through everything came to, besides rows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Walk {
    /// For each table, the lost pages that its tree points to.
    pub lost_in_tables: Vec<Vec<u32>>,
    /// Lost pages that indexes point to: they are made anew from the rows.
    pub lost_in_indexes: Vec<u32>,
    /// Cells that made no sense.
    pub bad_cells: u64,
}

impl Salvage {
    /// Looks at every page.
    ///
    /// # Errors
    /// The file can't be read. A lost page is no error.
    pub fn open(snapshot: Snapshot, threads: usize, progress: &dyn Progress) -> Result<Self> {
        let pages = Pages::new(snapshot)?;
        let survey = Survey::take(&pages, threads, progress)?;
        let schema = schema::read(&pages, &survey)?;
        Ok(Self {
            pages,
            survey,
            schema,
        })
    }

    /// The database.
    #[must_use]
    pub fn snapshot(&self) -> &Snapshot {
        self.pages.snapshot()
    }

    /// Its header, from page 1 or from a copy of that.
    #[must_use]
    pub fn header(&self) -> Option<&Header> {
        self.pages.header()
    }

    /// Its schema.
    #[must_use]
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Pages that are lost.
    #[must_use]
    pub fn lost(&self) -> Vec<BadPage> {
        let is_lost = |page: &&BadPage| self.survey.of(page.pgno) == Content::Lost;
        self.survey.bad.iter().filter(is_lost).copied().collect()
    }

    /// Pages whose committed content is lost, but not every copy of them.
    #[must_use]
    pub fn substituted(&self) -> &[(u32, Origin)] {
        &self.survey.substituted
    }

    /// Whether a page is on the free list: nothing is lost with it.
    #[must_use]
    pub fn is_free(&self, pgno: u32) -> bool {
        self.survey.free.contains(&pgno)
    }

    /// Whether the free list is whole. If not, rows that were deleted may turn up.
    #[must_use]
    pub fn knows_free_pages(&self) -> bool {
        self.survey.free_is_known
    }

    /// Hands on every row of every whole page: first those of `tables`, then those
    /// that can't be reached from any root.
    ///
    /// # Errors
    /// `row`'s, and what reading comes to.
    pub fn rows<E: From<OfflineError>>(
        &self,
        tables: &[TableShape],
        mut row: impl FnMut(Home, Row) -> Result<(), E>,
    ) -> Result<Walk, E> {
        let mut walker = Walker::new(&self.pages, &self.survey);
        let mut walk = Walk::default();
        let nothing = &mut |_: Row| Ok::<(), OfflineError>(());
        // The schema's own tree, and those of indexes, only so that their pages are
        // not taken for lost ones.
        if self.pages.header().is_some() {
            walker.walk(1, nothing)?;
        }
        let mut links: Vec<(usize, LostLink)> = Vec::new();
        for (index, table) in tables.iter().enumerate() {
            let walked = walker.walk(table.root, &mut |found| row(Home::Table(index), found))?;
            let Walked { lost, bad_cells } = walked;
            walk.lost_in_tables
                .push(lost.iter().map(|link| link.pgno).collect());
            walk.bad_cells += bad_cells;
            links.extend(lost.into_iter().map(|link| (index, link)));
        }
        for root in self.other_roots(tables) {
            let walked = walker.walk(root, nothing)?;
            walk.lost_in_indexes
                .extend(walked.lost.iter().map(|link| link.pgno));
        }
        self.orphans(&mut walker, tables, &links, &walk.lost_in_indexes, &mut row)?;
        Ok(walk)
    }

    /// Roots in the schema that are not of `tables`.
    fn other_roots(&self, tables: &[TableShape]) -> Vec<u32> {
        let is_other = |root: &u32| *root > 0 && !tables.iter().any(|table| table.root == *root);
        let roots = self.schema.entries.iter().map(|entry| entry.root);
        roots.filter(is_other).collect()
    }

    /// The trees that no root leads to.
    fn orphans<E: From<OfflineError>>(
        &self,
        walker: &mut Walker<'_>,
        tables: &[TableShape],
        links: &[(usize, LostLink)],
        lost_in_indexes: &[u32],
        row: &mut impl FnMut(Home, Row) -> Result<(), E>,
    ) -> Result<(), E> {
        let is_certain = self.schema.is_whole && self.survey.free_is_known;
        let entries_matter =
            !is_certain || links.iter().any(|(index, _)| tables[*index].without_rowid);
        let indexes_are_whole = lost_in_indexes.is_empty();
        let candidates: Vec<u32> = (1..=self.survey.content.len() as u32)
            .filter(|&pgno| !walker.has_visited(pgno) && !self.is_free(pgno))
            .filter(|&pgno| match self.survey.of(pgno) {
                Content::Tree(Kind::TableLeaf | Kind::TableInterior) => true,
                Content::Tree(_) => entries_matter,
                _ => false,
            })
            .collect();
        let mut below = HashSet::new();
        for &pgno in &candidates {
            if matches!(
                self.survey.of(pgno),
                Content::Tree(Kind::TableInterior | Kind::IndexInterior)
            ) && let Some(page) = self.pages.get(pgno)?
                && let Some(node) = Node::parse(pgno, &page, self.pages.usable())
            {
                below.extend(node.children().into_iter().filter(|&child| child != pgno));
            }
        }
        // Tops first; then whatever hangs in a ring.
        let (tops, rest): (Vec<u32>, Vec<u32>) = candidates
            .into_iter()
            .partition(|pgno| !below.contains(pgno));
        for pgno in tops.into_iter().chain(rest) {
            if walker.has_visited(pgno) {
                continue;
            }
            walker.walk(pgno, &mut |found: Row| {
                let home = match is_certain {
                    true => home(tables, links, indexes_are_whole, &found),
                    false => Home::Unknown,
                };
                row(home, found)
            })?;
        }
        Ok(())
    }
}

/// The only table with lost pages that a row without parents can belong to.
fn home(
    tables: &[TableShape],
    links: &[(usize, LostLink)],
    indexes_are_whole: bool,
    row: &Row,
) -> Home {
    let fits = |table: &TableShape, link: &LostLink| match row.rowid {
        Some(rowid) => {
            !table.without_rowid
                && row.values.len() <= table.columns
                && link.above.is_none_or(|above| rowid > above)
                && link.at_most.is_none_or(|at_most| rowid <= at_most)
        }
        None => table.without_rowid && indexes_are_whole && row.values.len() <= table.columns,
    };
    let mut homes = links
        .iter()
        .filter(|(index, link)| fits(&tables[*index], link))
        .map(|(index, _)| *index);
    match homes.next() {
        Some(first) if homes.all(|other| other == first) => Home::Table(first),
        _ => Home::Unknown,
    }
}
