//! A `-journal` beside a database: what a rollback would put back.
//!
//! As SQLite's `pager_playback` decides it, over the bytes on the disk, which need
//! no key. Whether another process is in the middle of the transaction is not
//! asked: with or without it, what is committed is what the journal restores.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::format::layout::lock_page;
use crate::translate::journal::{COUNT_BY_LENGTH, HEADER, Header, MAGIC, WORD, page_sum};

use super::error::Result;
use super::file::ReadFile;

/// SQLite's longest super-journal name.
const MAX_NAME: u64 = 4096;

/// A rollback journal that is hot: it must be played back.
#[derive(Debug)]
pub struct Journal {
    file: ReadFile,
    page_size: u32,
    pages: u32,
    segments: u32,
    original: HashMap<u32, u64>,
}

/// What a journal file turned out to be.
#[derive(Debug)]
pub enum JournalState {
    /// There is none.
    Absent,
    /// It is cold: no bytes, or a header of zeros. Its transaction has ended.
    Finished,
    /// It does not begin with a journal's header, so that SQLite ignores it.
    Invalid,
    /// It belongs to a transaction over several databases whose super-journal is
    /// gone, which is how such a transaction commits.
    Committed {
        /// The super-journal that it names.
        super_journal: PathBuf,
    },
    /// It must be played back.
    Hot(Journal),
}

impl JournalState {
    /// Reads the journal `path`, if there is one.
    ///
    /// # Errors
    /// It can't be read.
    pub fn read(path: &Path) -> Result<Self> {
        let Some(file) = ReadFile::open_if_there(path)? else {
            return Ok(Self::Absent);
        };
        let mut first = [0];
        if !file.read(&mut first, 0)? || first == [0] {
            return Ok(Self::Finished);
        }
        let Some(first) = header_at(&file, 0)?.filter(Header::is_sane) else {
            return Ok(Self::Invalid);
        };
        if let Some(super_journal) = super_journal(&file)?
            && !super_journal.exists()
        {
            return Ok(Self::Committed { super_journal });
        }
        Journal::scan(file, first).map(Self::Hot)
    }

    /// The journal, where it must be played back.
    #[must_use]
    pub fn hot(&self) -> Option<&Journal> {
        match self {
            Self::Hot(journal) => Some(journal),
            _ => None,
        }
    }
}

/// The header at `offset`, if there is one.
fn header_at(file: &ReadFile, offset: u64) -> Result<Option<Header>> {
    let mut bytes = [0; HEADER];
    let there = file.read(&mut bytes, offset)?;
    Ok(there.then(|| Header::parse(&bytes)).flatten())
}

impl Journal {
    fn scan(file: ReadFile, first: Header) -> Result<Self> {
        let mut journal = Self {
            page_size: first.page_size,
            pages: first.pages,
            segments: 0,
            original: HashMap::new(),
            file,
        };
        let sector = u64::from(first.sector);
        let mut at = 0;
        loop {
            // A header must fit whole, padding included.
            if at + sector > journal.file.len() {
                return Ok(journal);
            }
            let Some(header) = header_at(&journal.file, at)? else {
                return Ok(journal);
            };
            journal.segments += 1;
            match journal.scan_records(at + sector, &header)? {
                Some(end) => at = end.next_multiple_of(sector),
                None => return Ok(journal),
            }
        }
    }

    /// Reads a segment's records; returns its end, or `None` where the journal
    /// ends within it.
    fn scan_records(&mut self, start: u64, header: &Header) -> Result<Option<u64>> {
        let page_size = u64::from(self.page_size);
        let record_len = WORD + page_size + WORD;
        let room = self.file.len().saturating_sub(start) / record_len;
        let count = match header.records {
            COUNT_BY_LENGTH => room,
            count => u64::from(count),
        };
        let lock_page = lock_page(page_size);
        let mut record = vec![0; record_len as usize];
        for index in 0..count {
            let at = start + index * record_len;
            if !self.file.read(&mut record, at)? {
                return Ok(None);
            }
            let (pgno, rest) = record.split_at(WORD as usize);
            let (page, sum) = rest.split_at(page_size as usize);
            let number =
                |bytes: &[u8]| u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
            let pgno = number(pgno);
            if pgno == 0
                || pgno == lock_page
                || number(sum) != header.seed.wrapping_add(page_sum(page))
            {
                return Ok(None);
            }
            // The first record of a page is the oldest, and what is put back.
            if pgno <= self.pages {
                self.original.entry(pgno).or_insert(at + WORD);
            }
        }
        Ok(Some(start + count * record_len))
    }

    /// The file.
    #[must_use]
    pub fn file(&self) -> &ReadFile {
        &self.file
    }

    /// Bytes of a page.
    #[must_use]
    pub fn page_size(&self) -> u32 {
        self.page_size
    }

    /// Pages of the database before the transaction.
    #[must_use]
    pub fn pages(&self) -> u32 {
        self.pages
    }

    /// How many segments it has.
    #[must_use]
    pub fn segments(&self) -> u32 {
        self.segments
    }

    /// How many pages it puts back.
    #[must_use]
    pub fn records(&self) -> usize {
        self.original.len()
    }

    /// The pages that it puts back, in order, with their byte offsets in it.
    #[must_use]
    pub fn restored(&self) -> Vec<(u32, u64)> {
        let mut pages: Vec<_> = self
            .original
            .iter()
            .map(|(&pgno, &at)| (pgno, at))
            .collect();
        pages.sort_unstable();
        pages
    }

    /// Byte offset in the journal of the original of a page.
    #[must_use]
    pub fn find(&self, pgno: u32) -> Option<u64> {
        self.original.get(&pgno).copied()
    }
}

/// The super-journal that a journal's end names (`readSuperJournal`).
fn super_journal(file: &ReadFile) -> Result<Option<PathBuf>> {
    let mut tail = [0; 16];
    let Some(end) = file.len().checked_sub(16) else {
        return Ok(None);
    };
    if !file.read(&mut tail, end)? || tail[8..] != MAGIC {
        return Ok(None);
    }
    let len = u32::from_be_bytes([tail[0], tail[1], tail[2], tail[3]]);
    let sum = u32::from_be_bytes([tail[4], tail[5], tail[6], tail[7]]);
    if len == 0 || u64::from(len) > MAX_NAME || u64::from(len) > end {
        return Ok(None);
    }
    let mut name = vec![0; len as usize];
    if !file.read(&mut name, end - u64::from(len))? {
        return Ok(None);
    }
    // SQLite adds C's `char`s, whose sign is the machine's affair.
    let unsigned = name
        .iter()
        .fold(0u32, |sum, &byte| sum.wrapping_add(byte.into()));
    let signed = name.iter().fold(0u32, |sum, &byte| {
        sum.wrapping_add_signed(byte.cast_signed().into())
    });
    let fine = (sum == unsigned || sum == signed) && is_super_journal_name(&name);
    Ok(fine.then(|| path_from(name)))
}

/// `…-mjXXXXXX9XX` in hexadecimal digits (`pagerIsSuperJrnlName`).
fn is_super_journal_name(name: &[u8]) -> bool {
    name.split_last_chunk::<12>().is_some_and(|(_, tail)| {
        tail.starts_with(b"-mj") && tail[9] == b'9' && tail[3..].iter().all(u8::is_ascii_hexdigit)
    })
}

#[cfg(unix)]
fn path_from(name: Vec<u8>) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;
    std::ffi::OsString::from_vec(name).into()
}

#[cfg(not(unix))]
fn path_from(name: Vec<u8>) -> PathBuf {
    String::from_utf8_lossy(&name).into_owned().into()
}
