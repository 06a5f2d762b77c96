//! `PRAGMA cipher_integrity_check`: authenticates every page of the database file.
//!
//! It is the file that is checked, as in SQLCipher. Where the write-ahead log holds a
//! newer copy of a page that fails, that copy is what counts, and what is checked
//! instead: a checkpoint that was cut short leaves half a page behind which nobody
//! will ever read, since the next one writes it again.

use std::collections::HashMap;
use std::sync::Arc;

use crate::error::{Failure, PageError};
use crate::format::codec::is_zeros;
use crate::format::{PageCodec, PageRef};
use crate::sys as ffi;
use crate::translate::wal::{self, Chain, FRAME_HEADER, HEADER, Header};

use super::code::{Code, Result};
use super::lower::LowerFile;

/// Bytes that are read at once: whole pages, of any size.
const PIECE: usize = 1 << 20;

/// How often a page that fails is read again: a checkpoint of another process may
/// have been writing it.
const TRIES: usize = 3;

/// A check on its way through a file.
pub(crate) struct Check {
    codec: Arc<PageCodec>,
    /// The shared lock is this check's own.
    locked: bool,
    offset: u64,
    piece: Vec<u8>,
    results: Vec<core::result::Result<(), PageError>>,
    suspects: Vec<(u32, String)>,
    found: Found,
}

/// What a check has found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// One line a fault, in SQLCipher's words.
    pub(crate) faults: Vec<String>,
    /// How many pages were authentic.
    pub(crate) good: u64,
}

impl Check {
    /// Starts a check, under a shared lock, which it takes if `locked` says that
    /// there is none.
    pub(crate) fn start(lower: &LowerFile, codec: Arc<PageCodec>, locked: bool) -> Result<Self> {
        if !locked {
            lower.lock(ffi::SQLITE_LOCK_SHARED)?;
        }
        Ok(Self {
            codec,
            locked: !locked,
            offset: 0,
            piece: vec![0; PIECE],
            results: Vec::new(),
            suspects: Vec::new(),
            found: Found::default(),
        })
    }

    /// Checks the next pages. Returns whether there are more.
    pub(crate) fn step(&mut self, lower: &LowerFile) -> Result<bool> {
        let layout = *self.codec.layout();
        if layout.mac_len() == 0 {
            let line = "HMAC is not enabled, unable to integrity check";
            self.found.faults.push(line.to_owned());
            return Ok(false);
        }
        let page_size = layout.page_size();
        let left = lower.size()?.saturating_sub(self.offset);
        let len = left.min(self.piece.len() as u64) as usize;
        let piece = &mut self.piece[..len];
        lower.read(piece, self.offset)?;
        let number = |index: usize| {
            let number = self.offset / page_size as u64 + index as u64 + 1;
            u32::try_from(number).map_err(|_| Code::IOERR)
        };
        let mut batch = Vec::with_capacity(len / page_size);
        for (index, bytes) in piece.chunks_mut(page_size).enumerate() {
            let pgno = number(index)?;
            if bytes.len() < page_size {
                let len = bytes.len();
                self.suspects.push((
                    pgno,
                    format!(
                        "page {pgno} has an invalid size of {len} bytes (expected {page_size} bytes)"
                    ),
                ));
            } else if pgno != layout.lock_page() {
                batch.push(PageRef { pgno, bytes });
            }
        }
        self.codec.verify_batch(&batch, &mut self.results);
        for (page, result) in batch.iter().zip(&self.results) {
            match result {
                Ok(()) => self.found.good += 1,
                Err(_) => {
                    let pgno = page.pgno;
                    let line = PageError::Mac { pgno }.to_string();
                    self.suspects.push((pgno, line));
                }
            }
        }
        // What is short was the end of the file.
        self.suspects.sort_by_key(|&(pgno, _)| pgno);
        self.offset += len as u64;
        Ok(len as u64 != left)
    }

    /// Looks again at what failed: in the file, and then in the log.
    pub(crate) fn judge(&mut self, lower: &LowerFile, log: Option<&LowerFile>) -> Result {
        let layout = *self.codec.layout();
        let mut page = vec![0; layout.page_size()];
        let mut good_at = |file: &LowerFile, pgno, offset| {
            // A hole takes no second look, and there may be many.
            let there = file.read(&mut page, offset).is_ok() && !is_zeros(&page);
            there && self.codec.verify(pgno, &page).is_ok()
        };
        let mut in_log = None;
        for (pgno, line) in core::mem::take(&mut self.suspects) {
            let mut good = (1..TRIES).any(|_| good_at(lower, pgno, layout.offset(pgno)));
            if !good && let Some(log) = log {
                if in_log.is_none() {
                    in_log = Some(pages_in_log(log, layout.page_size())?);
                }
                let at = in_log.as_ref().and_then(|pages| pages.get(&pgno));
                good = at.is_some_and(|&at| good_at(log, pgno, at));
            }
            if good {
                self.found.good += 1;
            } else {
                self.found.faults.push(line);
            }
        }
        Ok(())
    }

    /// Whether anything has failed so far.
    pub(crate) fn has_suspects(&self) -> bool {
        !self.suspects.is_empty()
    }

    /// Gives the lock back, and says what was found.
    pub(crate) fn end(self, lower: &LowerFile) -> Result<Found> {
        if self.locked {
            lower.unlock(ffi::SQLITE_LOCK_NONE)?;
        }
        Ok(self.found)
    }
}

/// The pages that a log's committed frames hold, and where it has the newest of each.
fn pages_in_log(log: &LowerFile, page_size: usize) -> Result<HashMap<u32, u64>> {
    let mut pages = HashMap::new();
    let mut header = [0; HEADER as usize];
    match log.read(&mut header, 0) {
        Ok(()) => {}
        Err(Code::SHORT_READ) => return Ok(pages),
        Err(code) => return Err(code),
    }
    let Some(header) = Header::parse(&header).filter(|it| it.page_size as usize == page_size)
    else {
        return Ok(pages);
    };
    let mut chain = Chain::new(&header);
    let mut bytes = vec![0; wal::frame_len(page_size)];
    let mut uncommitted = Vec::new();
    for number in 1.. {
        let at = wal::frame_offset(number, page_size);
        if log.read(&mut bytes, at).is_err() {
            break;
        }
        let Some(frame) = chain.next(&bytes) else {
            break;
        };
        uncommitted.push((frame.pgno, at + FRAME_HEADER as u64));
        if frame.commit != 0 {
            pages.extend(uncommitted.drain(..));
        }
    }
    Ok(pages)
}

impl Found {
    /// The answer; a key that opens no page at all is the wrong one.
    pub(crate) fn lines(self) -> core::result::Result<Vec<String>, Failure> {
        if self.good == 0 && self.faults.iter().any(|line| line.starts_with("HMAC ver")) {
            Err(Failure::WrongKey)
        } else {
            Ok(self.faults)
        }
    }
}
