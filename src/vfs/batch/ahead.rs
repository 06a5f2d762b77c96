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
//! moves, and each when it is written. A batch that could not be read and a page that
//! did not open are dropped without a word: if SQLite wants a page of them, it is read
//! again, alone, and then its failure counts.
//! A batch that was dropped before half of it was used was no scan's, and the next
//! one has to show itself anew.
//!
//! With [`set_read_ahead_thread`] a long scan's next two batches are read as soon as the
//! last one is there, and opened by a thread of its own (see [`worker`]) while SQLite
//! works. If SQLite is faster than the thread, the scan takes part instead of waiting:
//!
//! ```text
//! scan       37..68 handed out;  101..132 opened;  69..100 handed out; 101..132 handed out
//! thread     69..100 opened                        133..164 opened ...
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::format::PageCodec;
use crate::pragma::command::ReadAhead as Mode;

use super::super::lower::LowerFile;
use super::pages::Pages;
use super::worker::{self, Job};

/// Reads in a row, each close behind the last, that make a scan.
const RUN: u32 = 2;

/// A scan skips a page now and then: interior pages of the tree, overflow pages.
const GAP: u32 = 4;

const FIRST_BATCH: u32 = 4;
const LARGEST_BATCH: u32 = 32;
const LARGEST_BYTES: usize = 256 << 10;

/// Pages of a batch from which on a thread is worth its trouble.
const LONG: u32 = 8;

/// Batches that the thread is given beforehand.
const JOBS: usize = 2;

static ENABLED: AtomicBool = AtomicBool::new(true);
static THREADED: AtomicBool = AtomicBool::new(false);

/// Turns read-ahead on (as it is at first) or off, for the whole process.
pub fn set_read_ahead(on: bool) {
    ENABLED.store(on, Ordering::Relaxed);
}

/// Has a thread authenticate and decrypt the pages that a long scan will want next, for
/// the whole process, or not (as it is at first).
///
/// The thread is there for scans alone: it starts with one and ends some seconds after
/// the last. It touches no file. A library that starts threads is not welcome in every
/// program, so that this is for the program to say.
pub fn set_read_ahead_thread(on: bool) {
    THREADED.store(on, Ordering::Relaxed);
}

/// What `PRAGMA cipher_read_ahead` answers.
pub(crate) fn read_ahead() -> Mode {
    match (
        ENABLED.load(Ordering::Relaxed),
        THREADED.load(Ordering::Relaxed),
    ) {
        (false, _) => Mode::Off,
        (true, false) => Mode::On,
        (true, true) => Mode::Thread,
    }
}

/// What `PRAGMA cipher_read_ahead = …` does.
pub(crate) fn read_ahead_as(mode: Mode) {
    set_read_ahead(mode != Mode::Off);
    set_read_ahead_thread(mode == Mode::Thread);
}

#[derive(Default)]
pub(crate) struct ReadAhead {
    last: u32,
    run: u32,
    size: u32,
    /// What is there, opened.
    now: Pages,
    /// How many of them have been handed out.
    used: usize,
    /// What the thread has been given, in order.
    next: Vec<Job>,
    /// Memory for the next ones.
    spare: Pages,
}

impl ReadAhead {
    /// Forgets what was read.
    pub(crate) fn forget(&mut self) {
        if self.used < self.now.len() / 2 {
            self.run = 0;
            self.size = 0;
        }
        self.now.clear();
        self.used = 0;
        self.next.clear();
    }

    /// Forgets one page, which is being written.
    pub(crate) fn forget_page(&mut self, pgno: u32) {
        self.now.forget(pgno);
        self.next.retain(|job| !job.numbers().contains(&pgno));
    }

    /// Hands out a page, if it is there, or if a scan makes it worth reading it
    /// together with those behind it. `false`: the page is to be read alone.
    pub(crate) fn read(
        &mut self,
        lower: &LowerFile,
        codec: &Arc<PageCodec>,
        pgno: u32,
        out: &mut [u8],
    ) -> bool {
        let in_run = pgno > self.last && pgno - self.last <= GAP;
        self.last = pgno;
        if self.hand_out(codec, pgno, out) {
            return true;
        }
        if !in_run {
            self.run = 0;
            self.size = 0;
            return false;
        }
        self.run = self.run.saturating_add(1);
        if self.run < RUN || !ENABLED.load(Ordering::Relaxed) {
            return false;
        }
        self.grow(out.len());
        if self.size < 2 {
            return false;
        }
        match self.take_next(pgno) {
            Some(job) => {
                if let (true, Some(later)) = (job.is_begun(), self.next.first()) {
                    later.open();
                }
                self.spare = core::mem::replace(&mut self.now, job.opened());
                self.used = 0;
            }
            None => {
                self.forget();
                if self.now.read(lower, codec, pgno, self.size).is_err() {
                    return false;
                }
                self.now.open();
            }
        }
        self.prepare_next(lower, codec);
        self.hand_out(codec, pgno, out)
    }

    fn grow(&mut self, page_size: usize) {
        let largest = LARGEST_BATCH.min((LARGEST_BYTES / page_size) as u32);
        self.size = (self.size * 2)
            .clamp(FIRST_BATCH, LARGEST_BATCH)
            .min(largest);
    }

    fn hand_out(&mut self, codec: &Arc<PageCodec>, pgno: u32, out: &mut [u8]) -> bool {
        let found = self.now.copy(codec, pgno, out);
        self.used += usize::from(found);
        found
    }

    /// The batch that this page is in, and none of those before it.
    fn take_next(&mut self, pgno: u32) -> Option<Job> {
        let index = self
            .next
            .iter()
            .position(|job| job.numbers().contains(&pgno))?;
        self.next.drain(..=index).next_back()
    }

    /// Reads the batches behind this one and gives them to the thread, if there is to be
    /// one.
    fn prepare_next(&mut self, lower: &LowerFile, codec: &Arc<PageCodec>) {
        if self.size < LONG || !THREADED.load(Ordering::Relaxed) {
            return;
        }
        while self.next.len() < JOBS {
            let last = self.next.last().map(Job::numbers);
            let first = last.unwrap_or_else(|| self.now.numbers()).end;
            let mut pages = core::mem::take(&mut self.spare);
            if pages.read(lower, codec, first, self.size).is_err() || pages.len() == 0 {
                return;
            }
            let Some(job) = worker::open(pages) else {
                return;
            };
            self.next.push(job);
        }
    }
}
