//! The write-ahead log: frames' pages are sealed like the database's, and the
//! running checksum covers what is on disk, so that SQLCipher recovers what we
//! logged and we what it did.
//!
//! When bytes move:
//!
//! ```text
//! SQLite writes            on disk
//! file header              at once, as it is
//! frame header, page       when the page is complete the frame joins those that wait;
//!                          at 16 frames, and with the frame that commits, they are
//!                          sealed together and go out in one write
//! page alone (overwrite)   at once, sealed, or in the frame that waits; SQLite
//!                          rewrites the checksums at commit
//! header alone (rewrite)   at once, with the checksum of what is on disk
//! ```
//!
//! Frames that wait also go out before the log is read, measured, truncated or
//! synced. The frame that commits is the one with a database size in its header: its
//! page write returns the result of all that waited, so an error fails the commit.
//! An error loses none of those that wait but the one whose own write reports it:
//! SQLite believes the others written, and may go on with the transaction.
//! What waits is never committed; so where the write lock has been given away since
//! (a rollback), or the transaction goes back behind it, it is dropped.
//!
//! A checkpoint is given pages as they are on disk, which is how they go into the
//! database. The first page of each is authenticated, so that another database's
//! log, which SQLite takes for this one's, never overwrites anything.

mod append;
mod overwrite;
mod read;
mod write;

use std::sync::Arc;

use crate::error::{Failure, Refusal};
use crate::secret::PageBuffer;
use crate::session::Session;
use crate::translate::wal::{Checksum, FRAME_HEADER, FRAME_SUM};

use super::code::Result;
use super::ffi::host;
use super::lower::LowerFile;

/// A frame that SQLite is writing, in plaintext.
struct Assembly {
    frame: u64,
    bytes: PageBuffer,
    /// It is on disk already, completed from its predecessor before a sync.
    written: Option<PageBuffer>,
}

/// The running checksum after a frame that this handle wrote.
#[derive(Clone, Copy)]
struct Tail {
    salts: [u8; 8],
    frame: u64,
    sum: Checksum,
    epoch: u64,
}

/// SQLite is rewriting the checksums of frames whose pages it overwrote: it reads
/// the checksum before the first, then each frame, and writes its header back.
struct Rewrite {
    salts: [u8; 8],
    frame: u64,
    sum: Checksum,
    /// The frame as it is on disk, once read.
    raw: Vec<u8>,
}

/// Frames that wait to be written, in plaintext, one after the other.
#[derive(Default)]
struct Waiting {
    first: u64,
    count: u64,
    frames: PageBuffer,
    epoch: u64,
}

pub(crate) struct Log {
    lower: LowerFile,
    session: Arc<Session>,
    waiting: Waiting,
    assembly: Option<Assembly>,
    tail: Option<Tail>,
    rewrite: Option<Rewrite>,
    /// The last whole frame in plaintext: SQLite pads a commit with copies of it
    /// where overwriting a sector is not safe, and wants a sync within the copy.
    /// (Whether that is so, it asks the database's file; this one may not know.)
    last_frame: Option<PageBuffer>,
    /// Memory for the next frame.
    spare: PageBuffer,
    /// The last checkpoint whose first page has been authenticated.
    checked: u64,
    buffer: PageBuffer,
}

impl Log {
    pub(crate) fn new(lower: LowerFile, session: Arc<Session>) -> Self {
        Self {
            lower,
            session,
            waiting: Waiting::default(),
            assembly: None,
            tail: None,
            rewrite: None,
            last_frame: None,
            spare: PageBuffer::default(),
            checked: 0,
            buffer: PageBuffer::default(),
        }
    }

    pub(crate) fn lower(&self) -> &LowerFile {
        &self.lower
    }

    pub(crate) fn into_lower(self) -> LowerFile {
        self.lower
    }

    fn fail<T>(&self, failure: Failure) -> Result<T> {
        host::fail(&self.session, failure)
    }

    fn refuse<T>(&self, offset: u64, len: usize) -> Result<T> {
        self.fail(Failure::Refused(Refusal::NotARecord {
            file: "write-ahead log",
            offset,
            len,
        }))
    }

    pub(crate) fn size(&mut self) -> Result<u64> {
        self.flush()?;
        self.lower.size()
    }

    pub(crate) fn truncate(&mut self, size: i64) -> Result {
        self.flush()?;
        self.forget();
        self.lower.truncate(size)
    }

    pub(crate) fn sync(&mut self, flags: i32) -> Result {
        self.flush()?;
        self.complete_padding()?;
        self.lower.sync(flags)
    }

    /// A sync in the middle of a frame: SQLite has padded the log to a sector's
    /// end with copies of the last frame, and what is before that end must be
    /// safe. The copy is known, so it is completed and written before the sync.
    fn complete_padding(&mut self) -> Result {
        let (Some(assembly), Some(last), Some(codec)) =
            (&self.assembly, &self.last_frame, self.session.codec())
        else {
            return Ok(());
        };
        let is_copy = last
            .get(..assembly.bytes.len())
            .is_some_and(|start| same_frame(&assembly.bytes, start));
        if is_copy && assembly.written.is_none() {
            let (frame, last) = (assembly.frame, last.clone());
            self.seal_and_append(&codec, frame, &mut last.clone())?;
            if let Some(assembly) = &mut self.assembly {
                assembly.written = Some(last);
            }
        }
        Ok(())
    }

    fn forget(&mut self) {
        self.assembly = None;
        self.tail = None;
        self.rewrite = None;
        self.last_frame = None;
    }
}

impl Waiting {
    /// Forgets a frame, if it is the last one.
    fn forget_last(&mut self, frame: u64, len: usize) {
        if self.count > 0 && self.first + self.count - 1 == frame {
            self.count -= 1;
            self.frames.truncate(self.count as usize * len);
        }
    }
}

impl Rewrite {
    fn is_ready(&self, frame: u64) -> bool {
        self.frame == frame && !self.raw.is_empty()
    }
}

/// Whether two frames, or beginnings of frames, are the same but for the running
/// checksum, which counts on from one to the next.
fn same_frame(a: &[u8], b: &[u8]) -> bool {
    let head = a.len().min(FRAME_SUM);
    let body = a.len().min(FRAME_HEADER);
    a.len() == b.len() && a[..head] == b[..head] && a[body..] == b[body..]
}
