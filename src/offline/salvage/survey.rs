//! The first look at every page: which are whole, and what they are.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use zeroize::Zeroizing;

use super::super::error::Result;
use super::super::lanes;
use super::super::progress::Progress;
use super::super::snapshot::BadPage;
use super::btree::{Kind, Node, word};
use super::pages::{Origin, Pages};

/// What a page is, as far as its own bytes say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    /// It can't be had.
    Lost,
    /// It is a b-tree page.
    Tree(Kind),
    /// An overflow page, a page of the free list or of the pointer map, or empty.
    Other,
}

/// What every page is.
pub(super) struct Survey {
    /// By page number less one.
    pub(super) content: Vec<Content>,
    /// Bad pages, in order.
    pub(super) bad: Vec<BadPage>,
    /// Bad pages of which an older or newer copy was found.
    pub(super) substituted: Vec<(u32, Origin)>,
    /// Pages on the free list.
    pub(super) free: HashSet<u32>,
    /// Whether the free list could be followed to its end.
    pub(super) free_is_known: bool,
}

impl Survey {
    /// What a page is.
    pub(super) fn of(&self, pgno: u32) -> Content {
        match pgno
            .checked_sub(1)
            .map(|index| self.content.get(index as usize))
        {
            Some(Some(content)) => *content,
            _ => Content::Lost,
        }
    }

    pub(super) fn take(pages: &Pages, threads: usize, progress: &dyn Progress) -> Result<Self> {
        let snapshot = pages.snapshot();
        let page_size = snapshot.page_size() as usize;
        let count = snapshot.pages() as usize;
        progress.begin(snapshot.bytes());
        let state = Mutex::new((vec![Content::Other; count], Vec::new(), Vec::new()));
        lanes::work(
            threads,
            (1, count as u64),
            page_size,
            progress,
            || Zeroizing::new(Vec::new()),
            |buf, piece| {
                let first = piece.first as u32;
                buf.resize(piece.count * page_size, 0);
                let mut bad = Vec::new();
                snapshot.load(first, buf, |page| bad.push(page))?;
                let mut content: Vec<_> = buf
                    .chunks_exact(page_size)
                    .enumerate()
                    .map(|(index, page)| pages.classify(first + index as u32, page))
                    .collect();
                let mut substituted = Vec::new();
                for page in &bad {
                    let index = (page.pgno - first) as usize;
                    content[index] = match pages.substitute(page.pgno)? {
                        Some((copy, origin)) => {
                            substituted.push((page.pgno, origin));
                            pages.classify(page.pgno, &copy)
                        }
                        None => Content::Lost,
                    };
                }
                let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
                let start = first as usize - 1;
                state.0[start..start + content.len()].copy_from_slice(&content);
                state.1.extend(bad);
                state.2.extend(substituted);
                Ok(())
            },
        )?;
        let (content, mut bad, mut substituted) =
            state.into_inner().unwrap_or_else(PoisonError::into_inner);
        bad.sort_by_key(|page: &BadPage| page.pgno);
        substituted.sort_by_key(|(pgno, _): &(u32, Origin)| *pgno);
        let mut survey = Self {
            content,
            bad,
            substituted,
            free: HashSet::new(),
            free_is_known: false,
        };
        survey.follow_free_list(pages)?;
        Ok(survey)
    }

    /// Follows the free list: trunk pages, each with the numbers of leaf pages
    /// (SQLite file format, section 1.5).
    fn follow_free_list(&mut self, pages: &Pages) -> Result<()> {
        let Some(header) = pages.header() else {
            return Ok(());
        };
        let mut trunk = header.first_freelist_trunk;
        while trunk != 0 {
            if self.of(trunk) == Content::Lost || !self.free.insert(trunk) {
                return Ok(());
            }
            let Some(page) = pages.get(trunk)? else {
                return Ok(());
            };
            let count = word(&page, 4) as usize;
            if count > (pages.usable() - 8) / 4 {
                return Ok(());
            }
            for index in 0..count {
                self.free.insert(word(&page, 8 + 4 * index));
            }
            trunk = word(&page, 0);
        }
        self.free_is_known = true;
        Ok(())
    }
}

impl Pages {
    /// What a page is by its own bytes.
    fn classify(&self, pgno: u32, page: &[u8]) -> Content {
        if self.is_pointer_map(pgno) {
            return Content::Other;
        }
        match Node::parse(pgno, page, self.usable()) {
            Some(node) => Content::Tree(node.kind),
            None => Content::Other,
        }
    }
}
