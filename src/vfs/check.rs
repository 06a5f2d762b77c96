//! `PRAGMA cipher_integrity_check`: authenticates every page of the database file.

use libsqlite3_sys as ffi;

use crate::error::{Failure, PageError};
use crate::format::PageCodec;

use super::code::{Code, Result};
use super::lower::LowerFile;

/// Bytes that are read at once.
const PIECE: usize = 1 << 20;

/// How often a page that fails is read again: a checkpoint of another process may
/// have been writing it.
const TRIES: usize = 3;

/// A file whose pages are to be checked.
pub(crate) struct Check<'a> {
    pub(crate) lower: &'a LowerFile,
    pub(crate) codec: &'a PageCodec,
}

/// What a check has found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// One line a fault, in SQLCipher's words.
    pub(crate) faults: Vec<String>,
    /// How many pages were authentic.
    pub(crate) good: u64,
}

impl Check<'_> {
    /// Checks all pages, under a shared lock, which it takes if `locked` says that
    /// there is none.
    pub(crate) fn run(&self, locked: bool) -> Result<Found> {
        if !locked {
            self.lower.lock(ffi::SQLITE_LOCK_SHARED)?;
        }
        let found = self.pages();
        if !locked {
            self.lower.unlock(ffi::SQLITE_LOCK_NONE)?;
        }
        found
    }

    fn pages(&self) -> Result<Found> {
        let mut found = Found::default();
        let layout = self.codec.layout();
        if layout.mac_len() == 0 {
            found
                .faults
                .push("HMAC is not enabled, unable to integrity check".to_owned());
            return Ok(found);
        }
        let page_size = layout.page_size();
        let size = self.lower.size()?;
        let mut piece = vec![0; PIECE.max(page_size)];
        let mut offset = 0;
        while offset < size {
            let len = (size - offset).min(piece.len() as u64) as usize;
            self.lower.read(&mut piece[..len], offset)?;
            for (index, page) in piece[..len].chunks(page_size).enumerate() {
                let number = offset / page_size as u64 + index as u64 + 1;
                let pgno = u32::try_from(number).map_err(|_| Code::IOERR)?;
                if pgno == layout.lock_page() {
                    continue;
                }
                if page.len() < page_size {
                    found.faults.push(format!(
                        "page {pgno} has an invalid size of {} bytes (expected {page_size} bytes)",
                        page.len()
                    ));
                } else if self.codec.verify(pgno, page).is_ok() || self.verify_again(pgno)? {
                    found.good += 1;
                } else {
                    found.faults.push(PageError::Mac { pgno }.to_string());
                }
            }
            offset += len as u64;
        }
        Ok(found)
    }

    fn verify_again(&self, pgno: u32) -> Result<bool> {
        let layout = self.codec.layout();
        let mut page = vec![0; layout.page_size()];
        for _ in 1..TRIES {
            self.lower.read(&mut page, layout.offset(pgno))?;
            if self.codec.verify(pgno, &page).is_ok() {
                return Ok(true);
            }
        }
        Ok(false)
    }
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
