//! What a database knows of a log that SQLCipher may be writing too.
//!
//! SQLite's index of the log carries the checksum of the last frame, which the next
//! writer continues. We give SQLite plaintext, so what it leaves there after our
//! commit is not the checksum in the log; SQLCipher would continue it, and a recovery
//! would end before its frame. Two things keep that from losing anything:
//!
//! * whoever takes the write lock after SQLCipher has committed rewrites the
//!   checksums of its frames where they do not continue ours (`vfs::log::mend`);
//! * once SQLCipher has been seen, or where the program says so beforehand, the
//!   checksum in the index is put right after each of our commits (`vfs::sharing`).
//!
//! The second costs SQLite its page cache after each commit of its own, since it
//! takes the index for changed; so it is not done before it is needed.

use crate::translate::wal_index::IndexHeader;

/// The last frame that we know to continue all before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogTail {
    /// The log's salts, which change when it starts over.
    pub salts: [u8; 8],
    /// 1-based frame number.
    pub frame: u64,
    /// Its checksum, as stored.
    pub sum: [u8; 8],
}

/// See the module.
#[derive(Debug, Default)]
pub struct SharedLog {
    /// The program has said that SQLCipher writes to the same log.
    pub always: bool,
    /// SQLCipher has been seen writing to it.
    pub met: bool,
    /// Somebody has committed since we last held a lock, and what they wrote has not
    /// been looked at.
    pub found: Option<IndexHeader>,
    /// Where our own commit, or what we looked at, ended, if that is the log's end.
    pub tail: Option<LogTail>,
    /// The last frame that is known to continue all before it.
    pub good: Option<LogTail>,
}

impl SharedLog {
    /// Whether the index is kept in the log's terms.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        self.always || self.met
    }

    /// The log ends with this frame, and all before it continue each other.
    pub fn is_good_to(&mut self, tail: LogTail) {
        self.tail = Some(tail);
        self.good = Some(tail);
    }

    /// The index with the checksum that is in the log, if it has another one and that
    /// is to be put right.
    #[must_use]
    pub fn corrected(&self, header: &IndexHeader) -> Option<IndexHeader> {
        let tail = self.tail.filter(|_| self.is_kept())?;
        let same = tail.salts == header.salts() && tail.frame == header.last_frame();
        (same && tail.sum != header.frame_sum()).then(|| header.with_frame_sum(tail.sum))
    }
}
