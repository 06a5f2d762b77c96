//! The files of one database, and which of them holds a page.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::format::layout::PAGE_SIZES;
use crate::secret::{SALT_LEN, Salt};
use crate::translate::wal::FRAME_HEADER;

use super::error::{OfflineError, Result};
use super::file::ReadFile;
use super::journal::JournalState;
use super::wal::WalState;

/// A database file, its rollback journal and its log, as they lie on the disk.
/// They are only ever read: no lock is taken and nothing is created beside them.
#[derive(Debug)]
pub struct Files {
    db: ReadFile,
    journal: JournalState,
    wal: WalState,
}

/// Where the committed content of a page lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In the database file.
    Database,
    /// In the journal, which will be rolled back, at this offset.
    Journal(u64),
    /// In the log, at this offset.
    Wal(u64),
}

impl Files {
    /// Opens them and reads journal and log through.
    ///
    /// # Errors
    /// The database can't be opened, or one of them not be read.
    pub fn open(path: &Path) -> Result<Self> {
        let db = ReadFile::open(path)?;
        let beside = real_path(path);
        // Of an empty database SQLite deletes both without a look.
        let (journal, wal) = if db.is_empty() {
            (JournalState::Absent, WalState::Absent)
        } else {
            (
                JournalState::read(&side_path(&beside, "-journal"))?,
                WalState::read(&side_path(&beside, "-wal"))?,
            )
        };
        Ok(Self { db, journal, wal })
    }

    /// The database's path.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.db.path()
    }

    /// The database file.
    #[must_use]
    pub fn database(&self) -> &ReadFile {
        &self.db
    }

    /// The rollback journal.
    #[must_use]
    pub fn journal(&self) -> &JournalState {
        &self.journal
    }

    /// The write-ahead log.
    #[must_use]
    pub fn wal(&self) -> &WalState {
        &self.wal
    }

    /// The page size that log or journal state, without any key; `None` where there
    /// is neither.
    #[must_use]
    pub fn side_page_size(&self) -> Option<u32> {
        let wal = self.wal.valid().map(|wal| wal.page_size());
        wal.or_else(|| self.journal.hot().map(|journal| journal.page_size()))
    }

    /// Refuses side files with pages of another size than the database's.
    ///
    /// # Errors
    /// [`OfflineError::SidePageSize`].
    pub fn check_page_size(&self, expected: u32) -> Result<()> {
        let wal = self.wal.valid().map(|wal| (wal.file(), wal.page_size()));
        let journal = self
            .journal
            .hot()
            .map(|journal| (journal.file(), journal.page_size()));
        match [wal, journal]
            .into_iter()
            .flatten()
            .find(|(_, found)| *found != expected)
        {
            Some((file, found)) => Err(OfflineError::SidePageSize {
                path: file.path().to_owned(),
                found,
                expected,
            }),
            None => Ok(()),
        }
    }

    /// Where the committed content of a page lies: in the log if it is there, else
    /// where a rollback of the journal would put it back from, else in the database.
    #[must_use]
    pub fn locate(&self, pgno: u32) -> Place {
        if let Some(at) = self.wal.valid().and_then(|wal| wal.find(pgno)) {
            return Place::Wal(at);
        }
        match self.journal.hot().and_then(|journal| journal.find(pgno)) {
            Some(at) => Place::Journal(at),
            None => Place::Database,
        }
    }

    /// Reads what lies at a place into `buf`; returns how much there was.
    ///
    /// # Errors
    /// It can't be read.
    pub fn read_place(&self, place: Place, pgno: u32, buf: &mut [u8]) -> Result<usize> {
        match (place, self.wal.valid(), self.journal.hot()) {
            (Place::Wal(at), Some(wal), _) => wal.file().read_some(buf, at),
            (Place::Journal(at), _, Some(journal)) => journal.file().read_some(buf, at),
            _ => {
                let at = u64::from(pgno - 1) * buf.len() as u64;
                self.db.read_some(buf, at)
            }
        }
    }

    /// The start of the committed page 1, up to the largest page.
    ///
    /// # Errors
    /// It can't be read.
    pub fn head(&self) -> Result<Vec<u8>> {
        let place = self.locate(1);
        let len = match place {
            Place::Database => *PAGE_SIZES.end(),
            _ => self.side_page_size().unwrap_or(*PAGE_SIZES.end()),
        };
        let mut head = vec![0; len as usize];
        let n = self.read_place(place, 1, &mut head)?;
        head.truncate(n);
        Ok(head)
    }

    /// Reads consecutive committed pages, from whichever file holds each. Pages
    /// that no file holds, or not all of, are left zero and given to `missing`.
    ///
    /// # Errors
    /// Something can't be read.
    pub fn read_pages(
        &self,
        page_size: usize,
        first: u32,
        buf: &mut [u8],
        mut missing: impl FnMut(u32),
    ) -> Result<()> {
        let offset = u64::from(first - 1) * page_size as u64;
        let there = self.db.read_some(buf, offset)?;
        for (index, page) in buf.chunks_exact_mut(page_size).enumerate() {
            let pgno = first + index as u32;
            let whole = match self.locate(pgno) {
                Place::Database => (index + 1) * page_size <= there,
                place => self.read_place(place, pgno, page)? == page_size,
            };
            if !whole {
                page.fill(0);
                missing(pgno);
            }
        }
        Ok(())
    }

    /// Salts that stand elsewhere than at the committed start of the database: in
    /// copies of page 1, in the database file itself. Any may be the right one where
    /// that start is damaged.
    ///
    /// # Errors
    /// Something can't be read.
    pub fn other_salts(&self) -> Result<Vec<Salt>> {
        let mut salts: Vec<Salt> = Vec::new();
        let mut add = |file: &ReadFile, offset: u64| -> Result<()> {
            let mut salt = [0; SALT_LEN];
            if file.read(&mut salt, offset)? && !salts.contains(&salt) {
                salts.push(salt);
            }
            Ok(())
        };
        add(&self.db, 0)?;
        if let Some(wal) = self.wal.valid() {
            let mut number = [0; 4];
            for frame in 1..=wal.frames_in_file() {
                let page = wal.page_offset(frame);
                if wal.file().read(&mut number, page - FRAME_HEADER as u64)?
                    && u32::from_be_bytes(number) == 1
                {
                    add(wal.file(), page)?;
                }
            }
        }
        if let Some(journal) = self.journal.hot()
            && let Some(page) = journal.find(1)
        {
            add(journal.file(), page)?;
        }
        Ok(salts)
    }

    /// Pages in the database file, counting a last one that is cut short.
    ///
    /// # Errors
    /// [`OfflineError::TooLarge`].
    pub fn file_pages(&self, page_size: u32) -> Result<u32> {
        match u32::try_from(self.db.len().div_ceil(page_size.into())) {
            Ok(pages) if pages < u32::MAX => Ok(pages),
            _ => Err(OfflineError::TooLarge(self.path().to_owned())),
        }
    }

    /// The result of a reading, unless it is an error that is none: somebody who wrote
    /// meanwhile makes pages look damaged, and a key wrong.
    ///
    /// # Errors
    /// [`OfflineError::Changed`], or the result's.
    pub(super) fn unless_changed<T>(&self, result: Result<T>) -> Result<T> {
        if result.is_err() {
            self.check_unchanged()?;
        }
        result
    }

    /// Refuses to call a reading good during which somebody wrote: nothing holds
    /// writers off.
    ///
    /// # Errors
    /// [`OfflineError::Changed`].
    pub fn check_unchanged(&self) -> Result<()> {
        let journal = self.journal.hot().map(|journal| journal.file());
        let wal = self.wal.valid().map(|wal| wal.file());
        for file in [Some(&self.db), journal, wal].into_iter().flatten() {
            if !file.is_unchanged()? {
                return Err(OfflineError::Changed(self.path().to_owned()));
            }
        }
        // A side file that has only appeared since.
        let beside = real_path(self.path());
        let appeared = match (&self.journal, &self.wal) {
            _ if self.db.is_empty() => false,
            (JournalState::Absent, _) if side_path(&beside, "-journal").exists() => true,
            (_, WalState::Absent) => side_path(&beside, "-wal").exists(),
            _ => false,
        };
        match appeared {
            true => Err(OfflineError::Changed(self.path().to_owned())),
            false => Ok(()),
        }
    }
}

/// The name of a side file.
#[must_use]
pub fn side_path(database: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(database);
    name.push(suffix);
    name.into()
}

/// SQLite keeps side files beside the file itself, not beside a link to it.
fn real_path(path: &Path) -> PathBuf {
    if path.is_symlink() {
        std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
    } else {
        path.to_owned()
    }
}
