//! Write-behind: pages that SQLite has written and that wait to be sealed and
//! written together.
//!
//! ```text
//! SQLite                                      pages that wait
//! xWrite of a whole page                      one more; at 16 pages they go out
//! xRead, xFileSize, xTruncate, xSync,         go out first; an error is the error of
//!   xLock, xUnlock, SQLITE_FCNTL_SYNC           that call
//! xWrite of a page as it is (rollback,        go out first
//!   checkpoint)
//! xClose, an xUnlock that fails               are dropped: they belong to no commit
//! ```
//!
//! SQLite has been told that these pages are written, so an error does not lose
//! them: they go on waiting, all but the one whose own xWrite reports it. SQLite
//! gives up the transaction after most errors, but after `SQLITE_FULL` it may take
//! back one statement and commit the rest, and after an error in a pragma nothing.
//!
//! Every commit in a rollback mode, also with `synchronous=OFF`, and the end of
//! every rollback pass the file control `SQLITE_FCNTL_SYNC`, whose result counts;
//! so nothing that was committed ever waits, and no error is lost. (Other controls
//! are hints, whose results SQLite overlooks: they leave the pages waiting.) Until then the
//! journal holds what the pages replace: it is the older file on disk at every
//! moment, and a crash finds either no page changed or a hot journal.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::secret::PageBuffer;

/// Most pages that wait: as many as the widest kernels seal at once, twice.
pub(crate) const MOST_PAGES: usize = 16;

static ENABLED: AtomicBool = AtomicBool::new(true);

/// Turns write-behind on (as it is at first) or off, for the whole process.
pub fn set_write_behind(on: bool) {
    ENABLED.store(on, Ordering::Relaxed);
}

/// Whether pages may wait.
pub(crate) fn is_write_behind() -> bool {
    ENABLED.load(Ordering::Relaxed)
}

/// Pages of the database that wait, in plaintext.
#[derive(Default)]
pub(crate) struct WriteBehind {
    numbers: Vec<u32>,
    pages: PageBuffer,
}

impl WriteBehind {
    pub(crate) fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Adds a page. Returns whether it is time for them to go out.
    pub(crate) fn push(&mut self, pgno: u32, page: &[u8]) -> bool {
        self.numbers.push(pgno);
        self.pages.extend_from_slice(page);
        self.numbers.len() >= MOST_PAGES || !is_write_behind()
    }

    /// Takes what waits: numbers and pages, in the order in which they came.
    pub(crate) fn take(&mut self) -> (Vec<u32>, PageBuffer) {
        (
            core::mem::take(&mut self.numbers),
            core::mem::take(&mut self.pages),
        )
    }

    /// Puts back what could not be written, to wait further.
    pub(crate) fn put_back(&mut self, numbers: Vec<u32>, pages: PageBuffer) {
        self.numbers = numbers;
        self.pages = pages;
    }

    /// Forgets the page that came last, if it still waits.
    pub(crate) fn forget_last(&mut self, pgno: u32, page_size: usize) {
        if self.numbers.last() == Some(&pgno) {
            self.numbers.pop();
            self.pages.truncate(self.numbers.len() * page_size);
        }
    }

    /// Forgets all pages.
    pub(crate) fn forget(&mut self) {
        self.numbers.clear();
        self.pages.clear();
    }

    /// Gives the memory back to be used again.
    pub(crate) fn reuse(&mut self, mut numbers: Vec<u32>, mut pages: PageBuffer) {
        numbers.clear();
        pages.clear();
        self.numbers = numbers;
        self.pages = pages;
    }
}
