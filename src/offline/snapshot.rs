//! A database as its last commit left it, page by page in plaintext.

use core::fmt;

use crate::error::PageError;
use crate::format::layout::lock_page;
use crate::format::{DerivedKeys, PageCodec, PageRef};
use crate::secret::PageBuffer;

use super::access::{self, Access};
use super::error::{OfflineError, Result};
use super::files::Files;
use super::header::Header;

/// What is wrong with a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// Its HMAC does not verify.
    Hmac,
    /// It does not decrypt to a database header (page 1, with HMAC off).
    Header,
    /// It is all zeros, in a database where no page may be.
    Zeros,
    /// The file ends before it, or within it.
    Missing,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Hmac => "its HMAC does not verify",
            Self::Header => "it does not decrypt to a database header",
            Self::Zeros => "it is all zeros",
            Self::Missing => "the file ends before its end",
        })
    }
}

impl From<PageError> for Fault {
    fn from(error: PageError) -> Self {
        match error {
            PageError::Zeros { .. } => Self::Zeros,
            PageError::Header => Self::Header,
            _ => Self::Hmac,
        }
    }
}

/// A page and what is wrong with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BadPage {
    /// 1-based page number.
    pub pgno: u32,
    /// What is wrong.
    pub fault: Fault,
}

impl BadPage {
    /// A page that no file holds, or not all of it.
    pub(super) fn missing(pgno: u32) -> Self {
        Self {
            pgno,
            fault: Fault::Missing,
        }
    }
}

/// A database as its last commit left it: with the committed frames of its log and
/// with its hot journal rolled back, without a byte of the files being changed.
#[derive(Debug)]
pub struct Snapshot {
    files: Files,
    sealed: Option<Sealed>,
    header: Option<Header>,
    page_size: u32,
    pages: u32,
}

struct Sealed {
    codec: PageCodec,
    keys: DerivedKeys,
}

impl fmt::Debug for Sealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.codec.fmt(f)
    }
}

impl Snapshot {
    /// Opens a database, with a key or, if it is plaintext, without.
    ///
    /// # Errors
    /// Key and settings don't open it, or page 1 is damaged.
    pub fn open(files: Files, access: Option<&Access>) -> Result<Self> {
        let snapshot = Self::open_damaged(files, access)?;
        match snapshot.header {
            Some(_) => Ok(snapshot),
            None => Err(OfflineError::DamagedFirstPage(
                snapshot.files.path().to_owned(),
            )),
        }
    }

    /// As [`Snapshot::open`], but page 1 may be damaged where others show that key
    /// and settings are right: there is no header then.
    ///
    /// # Errors
    /// Key and settings don't open it.
    pub fn open_damaged(files: Files, access: Option<&Access>) -> Result<Self> {
        match access {
            Some(access) => {
                let unlocked = files.unless_changed(access::unlock(&files, access))?;
                let page_size = unlocked.codec.layout().page_size() as u32;
                let header = unlocked.page1.and_then(|page| Header::parse(&page));
                let sealed = Sealed {
                    codec: unlocked.codec,
                    keys: unlocked.keys,
                };
                Self::assemble(files, Some(sealed), header, page_size)
            }
            None => {
                if files.database().is_empty() {
                    return Err(OfflineError::Empty(files.path().to_owned()));
                }
                let header = Header::parse(&files.head()?)
                    .ok_or_else(|| OfflineError::NotPlaintext(files.path().to_owned()))?;
                Self::assemble(files, None, Some(header), header.page_size)
            }
        }
    }

    fn assemble(
        files: Files,
        sealed: Option<Sealed>,
        header: Option<Header>,
        page_size: u32,
    ) -> Result<Self> {
        files.check_page_size(page_size)?;
        let wal = files
            .wal()
            .valid()
            .map(|wal| wal.pages())
            .filter(|&pages| pages > 0);
        let journal = files.journal().hot().map(|journal| journal.pages());
        let pages = match wal.or(journal) {
            Some(pages) => pages,
            None => header
                .and_then(|header| header.trusted_page_count())
                .map_or_else(|| files.file_pages(page_size), Ok)?,
        };
        Ok(Self {
            files,
            sealed,
            header,
            page_size,
            pages,
        })
    }

    /// The files.
    #[must_use]
    pub fn files(&self) -> &Files {
        &self.files
    }

    /// The codec; `None` for a plaintext database.
    #[must_use]
    pub fn codec(&self) -> Option<&PageCodec> {
        self.sealed.as_ref().map(|sealed| &sealed.codec)
    }

    /// The derived keys; `None` for a plaintext database.
    #[must_use]
    pub fn keys(&self) -> Option<&DerivedKeys> {
        self.sealed.as_ref().map(|sealed| &sealed.keys)
    }

    /// The header; `None` where page 1 is damaged.
    #[must_use]
    pub fn header(&self) -> Option<&Header> {
        self.header.as_ref()
    }

    /// Bytes of a page.
    #[must_use]
    pub fn page_size(&self) -> u32 {
        self.page_size
    }

    /// Pages of the database after its last commit.
    #[must_use]
    pub fn pages(&self) -> u32 {
        self.pages
    }

    /// Bytes of all its pages.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        u64::from(self.pages) * u64::from(self.page_size)
    }

    /// The page that holds SQLite's lock bytes, which is never written.
    #[must_use]
    pub fn lock_page(&self) -> u32 {
        lock_page(self.page_size.into())
    }

    /// Whether a page of zeros is taken for an empty one, as SQLCipher takes it
    /// where auto-vacuum is on. Without a header nobody knows: no.
    #[must_use]
    pub fn allows_zeros(&self) -> bool {
        self.header.is_some_and(|header| header.largest_root != 0)
    }

    /// Whether a fault of a page is one, here.
    #[must_use]
    pub fn counts(&self, bad: BadPage) -> bool {
        !(bad.pgno == self.lock_page()
            || bad.fault == Fault::Zeros && bad.pgno > 1 && self.allows_zeros())
    }

    /// Reads consecutive pages in plaintext. Bad ones are left zero and given to
    /// `bad`; the lock page is zero and fine.
    ///
    /// # Errors
    /// Something can't be read.
    pub fn load(&self, first: u32, buf: &mut [u8], mut bad: impl FnMut(BadPage)) -> Result<()> {
        let page_size = self.page_size as usize;
        let mut missing = Vec::new();
        self.files
            .read_pages(page_size, first, buf, |pgno| missing.push(pgno))?;
        for &pgno in &missing {
            let page = BadPage::missing(pgno);
            if self.counts(page) {
                bad(page);
            }
        }
        let Some(sealed) = &self.sealed else {
            return Ok(());
        };
        let mut pages: Vec<_> = buf
            .chunks_exact_mut(page_size)
            .enumerate()
            .map(|(index, bytes)| PageRef {
                pgno: first + index as u32,
                bytes,
            })
            .filter(|page| !missing.contains(&page.pgno) && page.pgno != self.lock_page())
            .collect();
        let mut results = Vec::new();
        sealed.codec.open_batch(&mut pages, &mut results);
        for (page, result) in pages.iter_mut().zip(results) {
            if let Err(error) = result {
                page.bytes.fill(0);
                let page = BadPage {
                    pgno: page.pgno,
                    fault: error.into(),
                };
                if self.counts(page) {
                    bad(page);
                }
            }
        }
        Ok(())
    }

    /// Reads one page in plaintext.
    ///
    /// # Errors
    /// It can't be read, or it is bad.
    pub fn page(&self, pgno: u32) -> Result<PageBuffer> {
        let mut page = PageBuffer::zeros(self.page_size as usize);
        let mut found = None;
        self.load(pgno, &mut page, |bad| found = Some(bad))?;
        match found {
            Some(bad) => Err(self.damaged(bad)),
            None => Ok(page),
        }
    }

    /// The error for a bad page.
    #[must_use]
    pub fn damaged(&self, bad: BadPage) -> OfflineError {
        let path = self.files.path().to_owned();
        match bad {
            BadPage {
                pgno,
                fault: Fault::Missing,
            } => OfflineError::Truncated {
                path,
                pgno,
                pages: self.pages,
            },
            BadPage { pgno, fault } => OfflineError::DamagedPage {
                path,
                pgno,
                reason: fault.to_string(),
            },
        }
    }
}
