//! Authenticates every page of a database, every frame of its log and every page
//! in its journal.

use std::sync::{Mutex, PoisonError};

use crate::format::{PageCodec, PageRef};

use super::error::Result;
use super::file::ReadFile;
use super::files::Place;
use super::lanes;
use super::progress::Progress;
use super::snapshot::{BadPage, Fault, Snapshot};

/// A bad page in the database file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finding {
    /// The page.
    pub page: BadPage,
    /// Where its committed content lies: if not in the database file, then the
    /// damage does no harm once the log is checkpointed or the journal rolled back.
    pub content: Place,
}

impl Finding {
    /// Whether something is lost.
    #[must_use]
    pub fn is_loss(&self) -> bool {
        self.content == Place::Database
    }
}

/// A bad page in a side file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BadCopy {
    /// 1-based frame of the log, or record of the journal in page order.
    pub index: u64,
    /// The page that it holds.
    pub page: BadPage,
    /// Whether it is the page's committed content.
    pub is_content: bool,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Verification {
    /// Pages that were looked at in the database file.
    pub pages: u32,
    /// Bad ones among them, in order.
    pub bad: Vec<Finding>,
    /// Pages that the header counts and the file does not hold.
    pub missing: u32,
    /// Valid frames of the log.
    pub frames: u64,
    /// Bad ones among them: right by SQLite's checksum, wrong by their HMAC.
    pub bad_frames: Vec<BadCopy>,
    /// Pages in the hot journal.
    pub records: u64,
    /// Bad ones among them.
    pub bad_records: Vec<BadCopy>,
    /// Whether pages carry a MAC. If not, only page 1 and pages of zeros can be
    /// told to be bad.
    pub authenticated: bool,
    /// Bytes that were looked at.
    pub bytes: u64,
}

impl Verification {
    /// Whether committed content is lost.
    #[must_use]
    pub fn is_damaged(&self) -> bool {
        self.missing > 0
            || self.bad.iter().any(Finding::is_loss)
            || self
                .bad_frames
                .iter()
                .chain(&self.bad_records)
                .any(|copy| copy.is_content)
    }
}

/// Authenticates everything.
///
/// # Errors
/// Something can't be read, or somebody wrote meanwhile. A bad page is no error.
pub fn verify(
    snapshot: &Snapshot,
    threads: usize,
    progress: &dyn Progress,
) -> Result<Verification> {
    let files = snapshot.files();
    let page_size = snapshot.page_size();
    let frames = files
        .wal()
        .valid()
        .map_or(&[][..], |wal| wal.valid_frames());
    let records = files
        .journal()
        .hot()
        .map_or(Vec::new(), |journal| journal.restored());
    let in_file = files.file_pages(page_size)?;
    let copies = frames.len() as u64 + records.len() as u64;
    let mut report = Verification {
        pages: in_file,
        frames: frames.len() as u64,
        records: records.len() as u64,
        authenticated: snapshot
            .codec()
            .is_some_and(|codec| codec.layout().mac_len() > 0),
        bytes: (u64::from(in_file) + copies) * u64::from(page_size),
        ..Verification::default()
    };
    progress.begin(report.bytes);
    for page in pages_in_file(snapshot, in_file, threads, progress)? {
        report.bad.push(Finding {
            page,
            content: files.locate(page.pgno),
        });
    }
    report.missing = missing(snapshot, in_file);
    if let Some(wal) = files.wal().valid() {
        let at = |index: u64| (frames[index as usize], wal.page_offset(index + 1));
        report.bad_frames = copies_in(snapshot, wal.file(), report.frames, at, threads, progress)?;
        for bad in &mut report.bad_frames {
            bad.is_content = wal.find(bad.page.pgno) == Some(wal.page_offset(bad.index));
        }
    }
    if let Some(journal) = files.journal().hot() {
        let at = |index: u64| records[index as usize];
        report.bad_records = copies_in(
            snapshot,
            journal.file(),
            report.records,
            at,
            threads,
            progress,
        )?;
        for bad in &mut report.bad_records {
            bad.is_content = matches!(files.locate(bad.page.pgno), Place::Journal(_));
        }
    }
    files.check_unchanged()?;
    Ok(report)
}

/// Committed pages that no file holds.
fn missing(snapshot: &Snapshot, in_file: u32) -> u32 {
    let files = snapshot.files();
    let lost = (in_file.saturating_add(1)..=snapshot.pages())
        .filter(|&pgno| files.locate(pgno) == Place::Database && pgno != snapshot.lock_page());
    lost.count() as u32
}

fn pages_in_file(
    snapshot: &Snapshot,
    in_file: u32,
    threads: usize,
    progress: &dyn Progress,
) -> Result<Vec<BadPage>> {
    let page_size = snapshot.page_size() as usize;
    let found = Findings::default();
    lanes::work(
        threads,
        (1, in_file.into()),
        page_size,
        progress,
        Vec::new,
        |buf, piece| {
            buf.resize(piece.count * page_size, 0);
            let first = piece.first as u32;
            let offset = (piece.first - 1) * page_size as u64;
            let there = snapshot.files().database().read_some(buf, offset)?;
            let whole = there / page_size;
            let pages = buf[..whole * page_size].chunks_exact_mut(page_size);
            let pages = (first..).zip(pages);
            let pages: Vec<_> = pages.map(|(pgno, bytes)| PageRef { pgno, bytes }).collect();
            let bad = faults(snapshot.codec(), &pages);
            found.add(snapshot, bad.into_iter().map(|(_, bad)| bad));
            let missing = first + whole as u32..first + piece.count as u32;
            found.add(snapshot, missing.map(BadPage::missing));
            Ok(())
        },
    )?;
    Ok(found.sorted(|bad| bad.pgno))
}

/// Checks the copies of pages in a side file.
fn copies_in(
    snapshot: &Snapshot,
    file: &ReadFile,
    count: u64,
    at: impl Fn(u64) -> (u32, u64) + Sync,
    threads: usize,
    progress: &dyn Progress,
) -> Result<Vec<BadCopy>> {
    let page_size = snapshot.page_size() as usize;
    let found = Findings::default();
    let copy = |index, page| BadCopy {
        index: index + 1,
        page,
        is_content: false,
    };
    lanes::work(
        threads,
        (0, count),
        page_size,
        progress,
        Vec::new,
        |buf, piece| {
            buf.resize(piece.count * page_size, 0);
            let mut pages = Vec::new();
            let mut indices = Vec::new();
            for (index, bytes) in (piece.first..).zip(buf.chunks_exact_mut(page_size)) {
                let (pgno, offset) = at(index);
                if file.read(bytes, offset)? {
                    pages.push(PageRef { pgno, bytes });
                    indices.push(index);
                } else {
                    found.add(snapshot, [copy(index, BadPage::missing(pgno))]);
                }
            }
            let bad = faults(snapshot.codec(), &pages);
            found.add(
                snapshot,
                bad.into_iter().map(|(at, bad)| copy(indices[at], bad)),
            );
            Ok(())
        },
    )?;
    Ok(found.sorted(|bad| bad.index))
}

/// What all threads find.
struct Findings<T>(Mutex<Vec<T>>);

impl<T> Default for Findings<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: AsRef<BadPage>> Findings<T> {
    /// Adds the faults that are any in this database.
    fn add(&self, snapshot: &Snapshot, bad: impl IntoIterator<Item = T>) {
        let bad: Vec<T> = bad
            .into_iter()
            .filter(|bad| snapshot.counts(*bad.as_ref()))
            .collect();
        if !bad.is_empty() {
            let mut found = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            found.extend(bad);
        }
    }

    fn sorted<K: Ord>(self, key: impl FnMut(&T) -> K) -> Vec<T> {
        let mut found = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        found.sort_by_key(key);
        found
    }
}

impl AsRef<BadPage> for BadPage {
    fn as_ref(&self) -> &BadPage {
        self
    }
}

impl AsRef<BadPage> for BadCopy {
    fn as_ref(&self) -> &BadPage {
        &self.page
    }
}

/// The bad ones among these pages, with their places in the list. They are checked side
/// by side, by as many lanes as the machine has.
fn faults(codec: Option<&PageCodec>, pages: &[PageRef<'_>]) -> Vec<(usize, BadPage)> {
    let Some(codec) = codec else {
        return Vec::new();
    };
    let mut results = Vec::with_capacity(pages.len());
    codec.verify_batch(pages, &mut results);
    let results = results.into_iter().zip(pages).map(|(result, page)| {
        if page.pgno == 1 && codec.layout().mac_len() == 0 {
            // Without a MAC only decryption tells.
            let mut bytes = zeroize::Zeroizing::new(page.bytes.to_vec());
            return (page.pgno, codec.open(1, &mut bytes));
        }
        (page.pgno, result)
    });
    let bad = results.enumerate().filter_map(|(index, (pgno, result))| {
        let fault = Fault::from(result.err()?);
        Some((index, BadPage { pgno, fault }))
    });
    bad.collect()
}
