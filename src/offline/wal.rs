//! A `-wal` beside a database: which of its frames count.
//!
//! As SQLite's recovery decides it, over the bytes on the disk, which need no key:
//! frames count up to the first whose salts or running checksum are wrong, and of
//! these the ones up to the last that commits.

use std::collections::HashMap;
use std::path::Path;

use crate::format::layout::PAGE_SIZES;
use crate::translate::wal::{self, FRAME_HEADER, HEADER};

use super::error::Result;
use super::file::ReadFile;

/// The only version of the format (SQLite's `WAL_MAX_VERSION`).
const VERSION: u32 = 3_007_000;

/// Bytes that are read at once.
const PIECE: usize = 1 << 20;

/// A write-ahead log.
#[derive(Debug)]
pub struct Wal {
    file: ReadFile,
    page_size: u32,
    checkpoints: u32,
    frames_in_file: u64,
    valid: Vec<u32>,
    committed: u64,
    pages: u32,
    latest: HashMap<u32, u64>,
}

/// What a log file turned out to be.
#[derive(Debug)]
pub enum WalState {
    /// There is none.
    Absent,
    /// It has no bytes.
    Empty,
    /// Its header is wrong, so that SQLite ignores all of it.
    Invalid,
    /// It can be read.
    Valid(Wal),
}

impl WalState {
    /// Reads the log `path`, if there is one, from its start to its end.
    ///
    /// # Errors
    /// It can't be read.
    pub fn read(path: &Path) -> Result<Self> {
        let Some(file) = ReadFile::open_if_there(path)? else {
            return Ok(Self::Absent);
        };
        if file.is_empty() {
            return Ok(Self::Empty);
        }
        Ok(Wal::scan(file)?.map_or(Self::Invalid, Self::Valid))
    }

    /// The log, where there is one that counts.
    #[must_use]
    pub fn valid(&self) -> Option<&Wal> {
        match self {
            Self::Valid(wal) => Some(wal),
            _ => None,
        }
    }
}

impl Wal {
    fn scan(file: ReadFile) -> Result<Option<Self>> {
        let mut bytes = [0; HEADER as usize];
        if !file.read(&mut bytes, 0)? {
            return Ok(None);
        }
        let word = |at: usize| {
            u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        let Some(header) = wal::Header::parse(&bytes) else {
            return Ok(None);
        };
        let page_size = header.page_size;
        if word(4) != VERSION || !page_size.is_power_of_two() || !PAGE_SIZES.contains(&page_size) {
            return Ok(None);
        }
        let frame_len = wal::frame_len(page_size as usize);
        let mut wal = Self {
            page_size,
            checkpoints: word(12),
            frames_in_file: (file.len() - HEADER) / frame_len as u64,
            valid: Vec::new(),
            committed: 0,
            pages: 0,
            latest: HashMap::new(),
            file,
        };
        wal.scan_frames(wal::Chain::new(&header), frame_len)?;
        Ok(Some(wal))
    }

    fn scan_frames(&mut self, mut chain: wal::Chain, frame_len: usize) -> Result<()> {
        let mut buf = vec![0; (PIECE / frame_len).max(1) * frame_len];
        let mut uncommitted = Vec::new();
        let mut at = HEADER;
        loop {
            let n = self.file.read_some(&mut buf, at)?;
            for frame in buf[..n].chunks_exact(frame_len) {
                let Some(frame) = chain.next(frame) else {
                    return Ok(());
                };
                self.valid.push(frame.pgno);
                uncommitted.push(frame.pgno);
                if frame.commit != 0 {
                    for pgno in uncommitted.drain(..) {
                        self.committed += 1;
                        self.latest.insert(pgno, self.committed);
                    }
                    self.pages = frame.commit;
                }
            }
            if n < buf.len() {
                return Ok(());
            }
            at += n as u64;
        }
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

    /// How often the log has been started over.
    #[must_use]
    pub fn checkpoints(&self) -> u32 {
        self.checkpoints
    }

    /// Frames that the file has room for, valid or not.
    #[must_use]
    pub fn frames_in_file(&self) -> u64 {
        self.frames_in_file
    }

    /// The page numbers of the frames whose checksums are right, in order.
    #[must_use]
    pub fn valid_frames(&self) -> &[u32] {
        &self.valid
    }

    /// How many of the valid frames are committed.
    #[must_use]
    pub fn committed_frames(&self) -> u64 {
        self.committed
    }

    /// Pages of the database after the last commit; 0 where there is none.
    #[must_use]
    pub fn pages(&self) -> u32 {
        self.pages
    }

    /// How many different pages the committed frames hold.
    #[must_use]
    pub fn distinct_pages(&self) -> usize {
        self.latest.len()
    }

    /// Byte offset in the log of the committed content of a page.
    #[must_use]
    pub fn find(&self, pgno: u32) -> Option<u64> {
        self.latest.get(&pgno).map(|&frame| self.page_offset(frame))
    }

    /// Byte offset of the page in frame `frame` (1-based).
    #[must_use]
    pub fn page_offset(&self, frame: u64) -> u64 {
        wal::frame_offset(frame, self.page_size as usize) + FRAME_HEADER as u64
    }
}
