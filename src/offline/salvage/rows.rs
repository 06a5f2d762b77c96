//! Walks b-trees and reads rows, as far as pages are whole.

use super::super::error::Result;
use super::btree::{Kind, Node, Payload, word};
use super::pages::Pages;
use super::record::{Record, Value};
use super::survey::{Content, Survey};
use crate::secret::PageBuffer;

/// A row, or an entry of an index or `WITHOUT ROWID` table.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The root page of its b-tree, as far as that could be followed up.
    pub root: u32,
    /// The page that it lies on.
    pub pgno: u32,
    /// Its rowid, in tables that have them.
    pub rowid: Option<i64>,
    /// Its values; not all of them if it is not complete.
    pub values: Vec<Value>,
    /// Whether all of it was there: if not, an overflow page is lost.
    pub complete: bool,
}

/// A place where a b-tree goes on in a page that is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LostLink {
    /// The lost page.
    pub(super) pgno: u32,
    /// Rowids below it are above this one, and
    pub(super) above: Option<i64>,
    /// at most this one.
    pub(super) at_most: Option<i64>,
}

/// What happened on a walk, besides rows.
#[derive(Debug, Default)]
pub(super) struct Walked {
    /// Where it could not go on.
    pub(super) lost: Vec<LostLink>,
    /// Cells that made no sense.
    pub(super) bad_cells: u64,
}

/// One page still to be visited.
struct Todo {
    pgno: u32,
    above: Option<i64>,
    at_most: Option<i64>,
    /// The interior cell that follows it, in an index: it is an entry too.
    then: Option<(Vec<u8>, bool)>,
}

/// Walks trees through whole pages, each page once.
pub(super) struct Walker<'a> {
    pub(super) pages: &'a Pages,
    pub(super) survey: &'a Survey,
    visited: Vec<bool>,
}

impl<'a> Walker<'a> {
    pub(super) fn new(pages: &'a Pages, survey: &'a Survey) -> Self {
        Self {
            pages,
            survey,
            visited: vec![false; survey.content.len() + 1],
        }
    }

    /// Whether a page has been visited.
    pub(super) fn has_visited(&self, pgno: u32) -> bool {
        self.visited.get(pgno as usize).copied().unwrap_or(true)
    }

    fn visit(&mut self, pgno: u32) -> bool {
        match self.visited.get_mut(pgno as usize) {
            Some(visited) => !core::mem::replace(visited, true),
            None => false,
        }
    }

    /// Walks the tree below `root` in order, and hands its rows on.
    pub(super) fn walk<E: From<super::super::error::OfflineError>>(
        &mut self,
        root: u32,
        row: &mut dyn FnMut(Row) -> Result<(), E>,
    ) -> Result<Walked, E> {
        let mut walked = Walked::default();
        let mut todo = vec![Todo {
            pgno: root,
            above: None,
            at_most: None,
            then: None,
        }];
        let mut is_table = None;
        while let Some(next) = todo.pop() {
            let lost = LostLink {
                pgno: next.pgno,
                above: next.above,
                at_most: next.at_most,
            };
            match self.survey.of(next.pgno) {
                Content::Tree(kind) if self.visit(next.pgno) => {
                    let table = matches!(kind, Kind::TableLeaf | Kind::TableInterior);
                    // A tree is of one kind throughout: a page of another is stale.
                    if *is_table.get_or_insert(table) == table
                        && let Some(page) = self.pages.get(next.pgno)?
                    {
                        self.page(root, &next, &page, &mut todo, &mut walked, row)?;
                    }
                }
                Content::Tree(_) => {}
                Content::Lost | Content::Other => walked.lost.push(lost),
            }
            if let Some((payload, whole)) = next.then {
                self.entry(root, next.pgno, None, &payload, whole, row)?;
            }
        }
        Ok(walked)
    }

    fn page<E: From<super::super::error::OfflineError>>(
        &self,
        root: u32,
        at: &Todo,
        page: &[u8],
        todo: &mut Vec<Todo>,
        walked: &mut Walked,
        row: &mut dyn FnMut(Row) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(node) = Node::parse(at.pgno, page, self.pages.usable()) else {
            walked.bad_cells += 1;
            return Ok(());
        };
        let mut children = Vec::new();
        let mut above = at.above;
        for cell in node.cells() {
            let Some(cell) = cell else {
                walked.bad_cells += 1;
                continue;
            };
            let payload = match cell.payload {
                Some(payload) => Some(self.payload(&payload)?),
                None => None,
            };
            match (cell.child, payload) {
                (Some(pgno), payload) => {
                    children.push(Todo {
                        pgno,
                        above,
                        at_most: cell.rowid.or(at.at_most),
                        then: payload,
                    });
                    above = cell.rowid.or(above);
                }
                (None, Some((bytes, whole))) => {
                    self.entry(root, at.pgno, cell.rowid, &bytes, whole, row)?;
                }
                (None, None) => {}
            }
        }
        if let Some(pgno) = node.right_child() {
            children.push(Todo {
                pgno,
                above,
                at_most: at.at_most,
                then: None,
            });
        }
        // The first child is visited first.
        todo.extend(children.into_iter().rev());
        Ok(())
    }

    fn entry<E: From<super::super::error::OfflineError>>(
        &self,
        root: u32,
        pgno: u32,
        rowid: Option<i64>,
        payload: &[u8],
        whole: bool,
        row: &mut dyn FnMut(Row) -> Result<(), E>,
    ) -> Result<(), E> {
        let len = if whole {
            payload.len() as u64
        } else {
            u64::MAX
        };
        match Record::parse(payload, len) {
            Some(record) => row(Row {
                root,
                pgno,
                rowid,
                values: record.values,
                complete: record.complete && whole,
            }),
            None => Ok(()),
        }
    }

    /// All of a payload, or as much of it as there is; and whether that is all.
    fn payload(&self, payload: &Payload<'_>) -> Result<(Vec<u8>, bool)> {
        let mut bytes = payload.local.to_vec();
        let mut next = payload.overflow;
        let most = self.pages.snapshot().bytes();
        while let Some(pgno) = next.filter(|_| (bytes.len() as u64) < payload.len) {
            if payload.len > most {
                return Ok((bytes, false));
            }
            let Some(page) = self.overflow(pgno)? else {
                return Ok((bytes, false));
            };
            let room = self.pages.usable() - 4;
            let take = room.min((payload.len - bytes.len() as u64) as usize);
            bytes.extend_from_slice(&page[4..4 + take]);
            next = Some(word(&page, 0));
        }
        let whole = bytes.len() as u64 == payload.len;
        Ok((bytes, whole))
    }

    fn overflow(&self, pgno: u32) -> Result<Option<PageBuffer>> {
        match self.survey.of(pgno) {
            Content::Lost => Ok(None),
            _ => self.pages.get(pgno),
        }
    }
}
