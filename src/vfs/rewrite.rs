//! Replaces the pages of a whole database at once: a rekey, or a migration to
//! another page layout.
//!
//! It is SQLite's own commit, done by hand under an exclusive lock:
//!
//! ```text
//! 1  every page as it is on disk goes into the rollback journal   (authenticated on the way)
//! 2  sync; the number of records goes into the header; sync       from here on the journal is hot
//! 3  the new pages are written over the old, the file cut to size; sync
//! 4  the journal is cut to nothing; sync                          the commit
//! ```
//!
//! A crash before 2 leaves a journal without records, a crash before 4 one that
//! SQLite or SQLCipher plays back for whoever opens the database with the old key,
//! to the last byte; with the new key it is refused, since the journal does not
//! open with it. An error in 3 is undone in the same way by the next transaction
//! of this connection. An error of the last sync undoes nothing: the new pages are
//! the database by then, for everyone but a power cut ([`Done::Unsynced`]).

use core::ffi::c_int;

use crate::crypto::random;
use crate::error::{Failure, PageError};
use crate::faults::{Fault, Faults};
use crate::format::codec::is_zeros;
use crate::format::{PageCodec, PageRef};
use crate::sys as ffi;
use crate::translate::journal::{MAGIC, page_sum};

use super::code::Code;
use super::lower::{LowerFile, LowerVfs, SideName};

/// Pages that are read and written at once.
const BATCH: u32 = 64;

const SYNC: c_int = ffi::SQLITE_SYNC_FULL;

/// Why a rewrite came to nothing.
pub(crate) enum Broken {
    /// A page does not authenticate, or the like.
    Failure(Failure),
    /// The VFS below reported an error.
    Code(Code),
}

/// How a rewrite ended that has put the new pages in place.
#[must_use]
pub(crate) enum Done {
    Safely,
    /// The journal is empty, but that could not be made safe: should the power go
    /// now, the old pages may be back.
    Unsynced(Code),
}

impl From<Code> for Broken {
    fn from(code: Code) -> Self {
        Self::Code(code)
    }
}

/// A database that is to be rewritten, under an exclusive lock that the caller
/// holds.
pub(crate) struct Rewrite<'a> {
    pub(crate) lower: &'a LowerFile,
    pub(crate) vfs: LowerVfs,
    pub(crate) journal: SideName,
    /// Whether SQLite has the journal open, where it keeps its locks: then the file must
    /// stay.
    pub(crate) keeps_journal: bool,
    /// How the pages are sealed now.
    pub(crate) codec: &'a PageCodec,
    pub(crate) faults: &'a Faults,
}

type Outcome<T> = core::result::Result<T, Broken>;

impl Rewrite<'_> {
    /// Seals every page anew. Pages keep their places and contents.
    pub(crate) fn reseal(&self, new: &PageCodec) -> Outcome<Done> {
        let journal = self.save()?;
        let layout = self.codec.layout();
        let pages = self.page_count()?;
        let mut batch = Vec::new();
        let mut opened = Vec::new();
        let mut next = 1;
        while next <= pages {
            let count = self.read_batch(next, pages, &mut batch)?;
            let mut sealed = self.sealed_pages(next, &mut batch);
            self.codec.open_batch(&mut sealed, &mut opened);
            all_good(&opened)?;
            new.seal_batch(&mut sealed)
                .map_err(|error| Broken::Failure(error.into()))?;
            self.lower.write(&batch, layout.offset(next))?;
            next += count;
            if self.faults.is_on(Fault::Rekey) {
                return Err(Broken::Code(Code::IOERR));
            }
        }
        self.commit(journal)
    }

    /// Puts the bytes of another database file in place of this one's.
    pub(crate) fn replace(&self, source: &LowerFile) -> Outcome<Done> {
        let journal = self.save()?;
        let size = source.size()?;
        let mut piece = vec![0; 1 << 18];
        let mut at = 0;
        while at < size {
            let len = (size - at).min(piece.len() as u64) as usize;
            source.read(&mut piece[..len], at)?;
            self.lower.write(&piece[..len], at)?;
            at += len as u64;
            if self.faults.is_on(Fault::Migrate) {
                return Err(Broken::Code(Code::IOERR));
            }
        }
        self.lower
            .truncate(i64::try_from(size).map_err(|_| Code::IOERR)?)?;
        self.commit(journal)
    }

    fn page_count(&self) -> Outcome<u32> {
        let page_size = self.codec.layout().page_size() as u64;
        let size = self.lower.size()?;
        let pages = u32::try_from(size / page_size).map_err(|_| Code::IOERR)?;
        if size.is_multiple_of(page_size) {
            Ok(pages)
        } else {
            Err(Broken::Failure(Failure::ShortPage { pgno: pages + 1 }))
        }
    }

    /// Reads the next pages as they are on disk; returns how many.
    fn read_batch(&self, next: u32, pages: u32, batch: &mut Vec<u8>) -> Outcome<u32> {
        let layout = self.codec.layout();
        let count = (pages - next + 1).min(BATCH);
        batch.resize(count as usize * layout.page_size(), 0);
        self.lower.read(batch, layout.offset(next))?;
        Ok(count)
    }

    /// The pages of a batch that are sealed: not the lock page, and no holes.
    fn sealed_pages<'p>(&self, first: u32, batch: &'p mut [u8]) -> Vec<PageRef<'p>> {
        let layout = self.codec.layout();
        (first..)
            .zip(batch.chunks_exact_mut(layout.page_size()))
            .filter(|(pgno, page)| *pgno != layout.lock_page() && !is_zeros(page))
            .map(|(pgno, bytes)| PageRef { pgno, bytes })
            .collect()
    }

    /// Makes a hot journal of all pages. If that fails there is none: the database has
    /// not been written to.
    fn save(&self) -> Outcome<LowerFile> {
        let flags =
            ffi::SQLITE_OPEN_MAIN_JOURNAL | ffi::SQLITE_OPEN_READWRITE | ffi::SQLITE_OPEN_CREATE;
        let journal = self.vfs.open_side(self.journal, flags)?;
        journal.truncate(0)?;
        match self.save_to(&journal) {
            Ok(()) => Ok(journal),
            Err(error) => {
                if journal.truncate(0).is_ok() {
                    self.delete_empty(journal);
                }
                Err(error)
            }
        }
    }

    /// Writes a hot journal of all pages.
    fn save_to(&self, journal: &LowerFile) -> Outcome<()> {
        let layout = self.codec.layout();
        let pages = self.page_count()?;

        let mut seed = [0; 4];
        random::fill(&mut seed).map_err(|error| Broken::Failure(error.into()))?;
        let sector = self.lower.sector_size().clamp(512, 65536) as u32;
        let mut header = vec![0; sector as usize];
        header[..8].copy_from_slice(&MAGIC);
        // 8: the number of records, which comes last.
        header[12..16].copy_from_slice(&seed);
        header[16..20].copy_from_slice(&pages.to_be_bytes());
        header[20..24].copy_from_slice(&sector.to_be_bytes());
        header[24..28].copy_from_slice(&(layout.page_size() as u32).to_be_bytes());
        journal.write(&header, 0)?;

        let seed = u32::from_be_bytes(seed);
        let mut at = u64::from(sector);
        let mut count: u32 = 0;
        let mut batch = Vec::new();
        let mut records = Vec::new();
        let mut verified = Vec::new();
        let mut next = 1;
        while next <= pages {
            let read = self.read_batch(next, pages, &mut batch)?;
            let sealed = self.sealed_pages(next, &mut batch);
            self.codec.verify_batch(&sealed, &mut verified);
            all_good(&verified)?;
            records.clear();
            for (pgno, page) in (next..).zip(batch.chunks_exact_mut(layout.page_size())) {
                if pgno == layout.lock_page() {
                    continue;
                }
                if is_zeros(page) {
                    // A record of zeros would not authenticate; a sealed empty
                    // page says the same.
                    self.codec
                        .seal(pgno, page)
                        .map_err(|error| Broken::Failure(error.into()))?;
                }
                records.extend_from_slice(&pgno.to_be_bytes());
                records.extend_from_slice(page);
                let sum = seed.wrapping_add(page_sum(page));
                records.extend_from_slice(&sum.to_be_bytes());
                count += 1;
            }
            journal.write(&records, at)?;
            at += records.len() as u64;
            next += read;
        }
        journal.sync(SYNC)?;
        journal.write(&count.to_be_bytes(), RECORDS_OFFSET)?;
        journal.sync(SYNC)?;
        Ok(())
    }

    /// The new pages are in place: makes them safe, and the journal empty.
    fn commit(&self, journal: LowerFile) -> Outcome<Done> {
        self.lower.sync(SYNC)?;
        journal.truncate(0)?;
        let done = match journal.sync(SYNC) {
            Ok(()) => Done::Safely,
            Err(code) => Done::Unsynced(code),
        };
        self.delete_empty(journal);
        Ok(done)
    }

    /// Deletes a journal that is none any more, being empty: this is only neat.
    fn delete_empty(&self, journal: LowerFile) {
        drop(journal);
        if !self.keeps_journal {
            let _ = self.vfs.delete(self.journal.as_c_str());
        }
    }
}

/// Offset of the number of records in a journal header.
const RECORDS_OFFSET: u64 = 8;

/// The first page that does not authenticate is what the rewrite fails with.
fn all_good(results: &[core::result::Result<(), PageError>]) -> Outcome<()> {
    let first = results.iter().find_map(|result| result.err());
    first.map_or(Ok(()), |error| {
        Err(Broken::Failure(Failure::DamagedPage { pgno: error.page() }))
    })
}
