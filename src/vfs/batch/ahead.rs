//! Read-ahead: the strategy. A scan that asks for one page after the other gets
//! them from a batch that was read in one piece and opened together.
//!
//! ```text
//! reads so far       what happens
//! 7                  read alone
//! 7 8                read alone
//! 7 8 9              9..12 are read and opened; 9 is handed out
//! 10 11 12           handed out, without touching the file
//! 13                 13..20 are read, and so on up to 32 pages or 256 KiB
//! 40                 read alone; the next run has to show itself first
//! ```
//!
//! Pages that were read ahead are as good as the lock that they were read under
//! (nobody changes the file under a shared lock; in WAL mode a checkpoint may, but
//! only pages that this reader finds in the log): they are dropped whenever a lock
//! moves, and each when it is written. A page that did not open is dropped without
//! a word: if SQLite wants it, it is read again, alone, and then its failure counts.
//! A batch that was dropped before half of it was used was no scan's, and the next
//! one has to show itself anew.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use zeroize::Zeroizing;

use crate::format::{PageCodec, PageRef};

use super::super::code::{Code, Result};
use super::super::lower::LowerFile;

/// Reads in a row, each close behind the last, that make a scan.
const RUN: u32 = 2;

/// A scan skips a page now and then: interior pages of the tree, overflow pages.
const GAP: u32 = 4;

const FIRST_BATCH: u32 = 4;
const LARGEST_BATCH: u32 = 32;
const LARGEST_BYTES: usize = 256 << 10;

static ENABLED: AtomicBool = AtomicBool::new(true);

/// Turns read-ahead on (as it is at first) or off, for the whole process.
pub fn set_read_ahead(on: bool) {
    ENABLED.store(on, Ordering::Relaxed);
}

#[derive(Default)]
pub(crate) struct ReadAhead {
    last: u32,
    run: u32,
    size: u32,
    /// Pages that are there, opened, from `first` on.
    first: u32,
    pages: Zeroizing<Vec<u8>>,
    /// Which of them opened and have not been written since.
    good: Vec<bool>,
    /// How many have been handed out.
    used: usize,
    /// What they were opened with.
    codec: Option<Arc<PageCodec>>,
}

impl ReadAhead {
    /// Forgets what was read.
    pub(crate) fn forget(&mut self) {
        if self.used < self.good.len() / 2 {
            self.run = 0;
            self.size = 0;
        }
        self.good.clear();
        self.used = 0;
        self.codec = None;
    }

    /// Forgets one page, which is being written.
    pub(crate) fn forget_page(&mut self, pgno: u32) {
        if let Some(index) = pgno.checked_sub(self.first)
            && let Some(good) = self.good.get_mut(index as usize)
        {
            *good = false;
        }
    }

    /// Hands out a page, if it is there, or if a scan makes it worth reading it
    /// together with those behind it. `false`: the page is to be read alone.
    pub(crate) fn read(
        &mut self,
        lower: &LowerFile,
        codec: &Arc<PageCodec>,
        pgno: u32,
        out: &mut [u8],
    ) -> Result<bool> {
        let in_run = pgno > self.last && pgno - self.last <= GAP;
        self.last = pgno;
        if self.hand_out(codec, pgno, out) {
            return Ok(true);
        }
        if !in_run {
            self.run = 0;
            self.size = 0;
            return Ok(false);
        }
        self.run = self.run.saturating_add(1);
        if self.run < RUN || !ENABLED.load(Ordering::Relaxed) {
            return Ok(false);
        }
        let largest = LARGEST_BATCH.min((LARGEST_BYTES / out.len()) as u32);
        self.size = (self.size * 2)
            .clamp(FIRST_BATCH, LARGEST_BATCH)
            .min(largest);
        if self.size < 2 {
            return Ok(false);
        }
        self.fill(lower, codec, pgno)?;
        Ok(self.hand_out(codec, pgno, out))
    }

    fn hand_out(&mut self, codec: &Arc<PageCodec>, pgno: u32, out: &mut [u8]) -> bool {
        let Some(index) = pgno.checked_sub(self.first).map(|index| index as usize) else {
            return false;
        };
        if !self.good.get(index).is_some_and(|&good| good)
            || !self
                .codec
                .as_ref()
                .is_some_and(|with| Arc::ptr_eq(with, codec))
        {
            return false;
        }
        out.copy_from_slice(&self.pages[index * out.len()..][..out.len()]);
        self.used += 1;
        true
    }

    /// Reads and opens up to `self.size` pages from `pgno` on.
    fn fill(&mut self, lower: &LowerFile, codec: &Arc<PageCodec>, pgno: u32) -> Result {
        self.forget();
        let layout = codec.layout();
        let page_size = layout.page_size();
        let mut count = self.size as usize;
        if pgno <= layout.lock_page() {
            // Nothing is behind the lock page that a run would not find again.
            count = count.min((layout.lock_page() - pgno) as usize);
        }
        self.pages.resize(count * page_size, 0);
        match lower.read(&mut self.pages, layout.offset(pgno)) {
            Ok(()) => {}
            Err(Code::SHORT_READ) => {
                let there = lower.size()?.saturating_sub(layout.offset(pgno));
                count = count.min((there / page_size as u64) as usize);
            }
            Err(code) => return Err(code),
        }
        self.pages.truncate(count * page_size);
        let mut pages: Vec<PageRef<'_>> = (pgno..)
            .zip(self.pages.chunks_exact_mut(page_size))
            .map(|(pgno, bytes)| PageRef { pgno, bytes })
            .collect();
        let mut results = Vec::new();
        codec.open_batch(&mut pages, &mut results);
        self.first = pgno;
        self.good = results.iter().map(core::result::Result::is_ok).collect();
        self.codec = Some(Arc::clone(codec));
        Ok(())
    }
}
