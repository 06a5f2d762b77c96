//! The pages of a damaged database: each as committed where that is whole, else from
//! any copy of it that authenticates.

use std::collections::HashMap;

use crate::secret::PageBuffer;
use crate::translate::wal::{self, FRAME_HEADER};

use super::super::error::Result;
use super::super::files::Place;
use super::super::header::Header;
use super::super::snapshot::Snapshot;
use super::btree::Node;

/// Pages from which the reserve is inferred where page 1 is lost.
const SAMPLE: u32 = 200;

/// Where a substitute for a bad page comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origin {
    /// A frame of the log other than the committed one: older, or not committed.
    Wal,
    /// The database file, where journal or log should have had it.
    Database,
}

/// The pages of a damaged database.
pub(super) struct Pages {
    snapshot: Snapshot,
    header: Option<Header>,
    usable: usize,
    /// Every frame that lies in the log file, by page, the last one last, whether
    /// or not its checksum is right: their HMAC says more.
    frames: HashMap<u32, Vec<u64>>,
}

impl Pages {
    pub(super) fn new(snapshot: Snapshot) -> Result<Self> {
        let mut pages = Self {
            header: snapshot.header().copied(),
            usable: 0,
            frames: all_frames(&snapshot)?,
            snapshot,
        };
        if pages.header.is_none() {
            pages.header = match pages.substitute(1)? {
                Some((page, _)) => Header::parse(&page),
                None => None,
            };
        }
        pages.usable = match &pages.header {
            Some(header) => pages.snapshot.page_size() as usize - usize::from(header.reserve),
            None => pages.infer_usable()?,
        };
        Ok(pages)
    }

    pub(super) fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// The header, from page 1 or a copy of it.
    pub(super) fn header(&self) -> Option<&Header> {
        self.header.as_ref()
    }

    /// Bytes of a page that SQLite uses.
    pub(super) fn usable(&self) -> usize {
        self.usable
    }

    /// A page in plaintext, as committed or from a copy; `None` where it is lost.
    pub(super) fn get(&self, pgno: u32) -> Result<Option<PageBuffer>> {
        if pgno == 0 || pgno > self.snapshot.pages() || pgno == self.snapshot.lock_page() {
            return Ok(None);
        }
        let mut page = PageBuffer::zeros(self.snapshot.page_size() as usize);
        let mut bad = false;
        self.snapshot.load(pgno, &mut page, |_| bad = true)?;
        match bad {
            false => Ok(Some(page)),
            true => Ok(self.substitute(pgno)?.map(|(page, _)| page)),
        }
    }

    /// Another copy of a page whose committed one is bad.
    pub(super) fn substitute(&self, pgno: u32) -> Result<Option<(PageBuffer, Origin)>> {
        let Some(codec) = self.snapshot.codec() else {
            return Ok(None);
        };
        let files = self.snapshot.files();
        let mut page = PageBuffer::zeros(self.snapshot.page_size() as usize);
        if let Some(wal) = files.wal().valid() {
            let frames = self.frames.get(&pgno).map_or(&[][..], Vec::as_slice);
            for &frame in frames.iter().rev() {
                if wal.file().read(&mut page, wal.page_offset(frame))?
                    && codec.open(pgno, &mut page).is_ok()
                {
                    return Ok(Some((page, Origin::Wal)));
                }
            }
        }
        if files.locate(pgno) != Place::Database
            && files.read_place(Place::Database, pgno, &mut page)? == page.len()
            && codec.open(pgno, &mut page).is_ok()
        {
            return Ok(Some((page, Origin::Database)));
        }
        Ok(None)
    }

    /// Whether a page belongs to the pointer map of an auto-vacuum database (SQLite
    /// file format, section 1.8).
    pub(super) fn is_pointer_map(&self, pgno: u32) -> bool {
        if self.header.is_none_or(|header| header.largest_root == 0) || pgno < 2 {
            return false;
        }
        let per_map = self.usable as u32 / 5 + 1;
        let mut map = (pgno - 2) / per_map * per_map + 2;
        if map == self.snapshot.lock_page() {
            map += 1;
        }
        map == pgno
    }

    /// Where page 1 is lost: the usable bytes of a page, by what the others use. A
    /// page is filled from its end, so that the furthest end of a cell is the end of
    /// what may be used. (More than IV and MAC need may be reserved: SQLCipher leaves
    /// 80 bytes in files that need 48.)
    fn infer_usable(&self) -> Result<usize> {
        let page_size = self.snapshot.page_size() as usize;
        let reserve = self
            .snapshot
            .codec()
            .map_or(0, |codec| codec.layout().reserve());
        let most = page_size - reserve;
        let mut furthest = 0;
        let step = (self.snapshot.pages() / SAMPLE).max(1);
        for pgno in (2..=self.snapshot.pages()).step_by(step as usize) {
            let Some(page) = self.get(pgno)? else {
                continue;
            };
            let Some(node) = Node::parse(pgno, &page, most) else {
                continue;
            };
            // What overflows is divided by the very number that is looked for.
            let ends = node
                .cells()
                .flatten()
                .filter_map(|cell| cell.payload)
                .filter(|payload| payload.len < most as u64 / 8)
                .map(|payload| payload.end);
            furthest = furthest.max(ends.max().unwrap_or(0));
        }
        // Reserves are multiples of 16.
        let spare = (most.saturating_sub(furthest)) / 16 * 16;
        Ok(if furthest == 0 { most } else { most - spare })
    }
}

fn all_frames(snapshot: &Snapshot) -> Result<HashMap<u32, Vec<u64>>> {
    let mut frames: HashMap<u32, Vec<u64>> = HashMap::new();
    if let Some(wal) = snapshot.files().wal().valid() {
        let mut header = [0; FRAME_HEADER];
        for frame in 1..=wal.frames_in_file() {
            let offset = wal.page_offset(frame) - FRAME_HEADER as u64;
            if wal.file().read(&mut header, offset)? {
                frames
                    .entry(wal::frame_page(&header))
                    .or_default()
                    .push(frame);
            }
        }
    }
    Ok(frames)
}
