//! The shared index of a log that SQLCipher may be writing too: see
//! [`crate::session::shared_log`] for what this is about.
//!
//! ```text
//! write lock taken                      somebody else's commit is noted, for the log
//!                                       to look at before it is added to
//! checkpoint starts                     somebody else's commit is looked at
//! write lock about to be given back     the index gets the log's checksum, if that is
//!                                       wanted and no statement reads on: SQLite would
//!                                       take the index for changed, and the reader
//!                                       could not go on to write
//! read lock, checkpoint lock given back what could not be done then is done now, if
//!                                       the write lock is free
//! ```

use core::ffi::c_int;

use crate::session::Session;
use crate::sys as ffi;
use crate::translate::wal_index::IndexHeader;

use super::code::Result;
use super::ffi::host::Host;
use super::ffi::index::SharedIndex;
use super::lower::LowerFile;
use super::mend::meet_others;

/// The locks of the index (SQLite, "WAL-mode file format", section 2.3.1).
const WRITE_LOCK: c_int = 0;
const CHECKPOINT_LOCK: c_int = 1;
const FIRST_READ_LOCK: c_int = 3;

/// One database's view of its log's shared index.
#[derive(Default)]
pub(crate) struct Sharing {
    index: Option<SharedIndex>,
    /// The index as it was when we last left it.
    left: Option<IndexHeader>,
    /// It is still to be corrected.
    due: bool,
}

impl Sharing {
    /// SQLite has mapped the index's first region; `None`: it has let go of it.
    pub(crate) fn set_index(&mut self, index: Option<SharedIndex>) {
        *self = Self {
            index,
            ..Self::default()
        };
    }

    fn header(&self) -> Option<IndexHeader> {
        self.index.as_ref().and_then(SharedIndex::header)
    }

    /// Takes or gives back a lock of the index.
    pub(crate) fn lock(
        &mut self,
        lower: &LowerFile,
        session: &Session,
        host: Host,
        open_log: impl FnOnce() -> Result<LowerFile>,
        (offset, n, flags): (c_int, c_int, c_int),
    ) -> Result {
        let lock = || lower.shm_lock(offset, n, flags);
        if self.index.is_none() || !session.is_keyed() {
            return lock();
        }
        let takes = flags & ffi::SQLITE_SHM_LOCK != 0;
        match offset {
            WRITE_LOCK if takes => {
                lock()?;
                self.look(session);
                Ok(())
            }
            WRITE_LOCK => {
                self.leave(lower, session, host);
                lock()
            }
            // (A recovery takes it together with others.)
            CHECKPOINT_LOCK if takes && n == 1 => {
                lock()?;
                self.look(session);
                self.left = self.header();
                if session.shared_log(|log| log.found.is_some()) {
                    // What keeps it from being mended may pass before the next
                    // checkpoint or commit; this one can go on.
                    let _ = open_log().and_then(|log| meet_others(&log, session));
                }
                Ok(())
            }
            CHECKPOINT_LOCK | FIRST_READ_LOCK.. if !takes => {
                lock()?;
                if self.due || (offset == CHECKPOINT_LOCK && self.is_wrong(session)) {
                    self.correct_if_free(lower, session);
                }
                Ok(())
            }
            _ => lock(),
        }
    }

    /// A lock has been taken under which somebody else's frames count.
    fn look(&mut self, session: &Session) {
        let header = self.header();
        if header.is_some() && header == self.left {
            return;
        }
        self.due = false;
        session.shared_log(|log| {
            log.tail = None;
            log.found = header;
        });
    }

    /// The write lock is about to be given back.
    fn leave(&mut self, lower: &LowerFile, session: &Session, host: Host) {
        self.left = self.header();
        self.due = self.is_wrong(session);
        if self.due && !host.reads_on() {
            self.correct(lower, session);
        }
    }

    fn is_wrong(&self, session: &Session) -> bool {
        self.header()
            .is_some_and(|header| session.shared_log(|log| log.corrected(&header)).is_some())
    }

    /// The write lock must be held.
    fn correct(&mut self, lower: &LowerFile, session: &Session) {
        self.due = false;
        let (Some(index), Some(header)) = (&self.index, self.header()) else {
            return;
        };
        if let Some(corrected) = session.shared_log(|log| log.corrected(&header)) {
            index.set_header(&corrected, || lower.shm_barrier());
            self.left = Some(corrected);
        }
    }

    fn correct_if_free(&mut self, lower: &LowerFile, session: &Session) {
        let exclusive = |flags| lower.shm_lock(WRITE_LOCK, 1, flags | ffi::SQLITE_SHM_EXCLUSIVE);
        if exclusive(ffi::SQLITE_SHM_LOCK).is_err() {
            // Whoever writes now continues the wrong checksum, and mends that, or has
            // it mended.
            return;
        }
        self.correct(lower, session);
        let _ = exclusive(ffi::SQLITE_SHM_UNLOCK);
    }
}
