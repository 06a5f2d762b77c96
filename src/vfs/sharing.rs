//! The shared index of a log that SQLCipher may be writing too: see
//! [`crate::session::shared_log`] for what this is about.
//!
//! ```text
//! write lock taken                      somebody else's commit is noted, for the log
//!                                       to look at before it is added to
//! checkpoint starts                     somebody else's commit is looked at, if the write
//!                                       lock is free; if not, and it is SQLCipher's, there
//!                                       is no checkpoint
//! write lock about to be given back     the index gets the log's checksum, if that is
//!                                       wanted and no statement reads on: SQLite would
//!                                       take the index for changed, and the reader
//!                                       could not go on to write
//! read lock given back                  what could not be done then is done now, and where
//!                                       the index is kept right, others' commits are
//!                                       looked at, if the write lock is free
//! ```

use core::ffi::c_int;

use crate::session::Session;
use crate::sys as ffi;
use crate::translate::wal_index::IndexHeader;

use super::code::{Code, Result};
use super::ffi::host::Host;
use super::ffi::index::SharedIndex;
use super::lower::LowerFile;
use super::mend::{is_sqlciphers, meet_others};

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
    /// SQLite holds the write lock.
    writing: bool,
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
        open_log: impl Fn() -> Result<LowerFile>,
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
                self.writing = true;
                self.look(session);
                Ok(())
            }
            WRITE_LOCK => {
                self.leave(lower, session, host);
                self.writing = false;
                lock()
            }
            // (A recovery takes it together with others.)
            CHECKPOINT_LOCK if takes && n == 1 => {
                lock()?;
                if !self.catch_up(lower, session, &open_log) && self.is_sqlciphers(open_log) {
                    // Its frames may not continue ours, and can't be mended now; once
                    // copied, a crash would leave the database half new, half old.
                    let unlock = flags & !ffi::SQLITE_SHM_LOCK | ffi::SQLITE_SHM_UNLOCK;
                    lower.shm_lock(offset, n, unlock)?;
                    return Err(Code::BUSY);
                }
                Ok(())
            }
            FIRST_READ_LOCK.. if !takes => {
                lock()?;
                if self.due || session.shared_log(|log| log.is_kept()) {
                    self.catch_up(lower, session, &open_log);
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

    /// Looks at what others have committed, and corrects the index, if the write lock is
    /// free. If it is not, somebody is adding to the log: nothing in it may be changed
    /// then, and the next lock brings another chance. Returns whether it was free, or
    /// not needed.
    fn catch_up(
        &mut self,
        lower: &LowerFile,
        session: &Session,
        open_log: &impl Fn() -> Result<LowerFile>,
    ) -> bool {
        // (SQLite moves read locks while it writes, and must keep its lock.)
        if self.writing {
            return true;
        }
        let changed = self
            .header()
            .is_some_and(|header| self.left != Some(header));
        let open = changed || session.shared_log(|log| log.found.is_some());
        if !open && !self.due && !self.is_wrong(session) {
            return true;
        }
        let exclusive = |flags| lower.shm_lock(WRITE_LOCK, 1, flags | ffi::SQLITE_SHM_EXCLUSIVE);
        if exclusive(ffi::SQLITE_SHM_LOCK).is_err() {
            return false;
        }
        self.look(session);
        self.left = self.header();
        // What fails here is still to be looked at, before anything is added.
        let looked = match session.shared_log(|log| log.found.is_some()) {
            true => open_log().and_then(|log| meet_others(&log, session)),
            false => Ok(()),
        };
        if looked.is_ok() {
            self.correct(lower, session);
        }
        let _ = exclusive(ffi::SQLITE_SHM_UNLOCK);
        looked.is_ok()
    }

    fn is_sqlciphers(&self, open_log: impl Fn() -> Result<LowerFile>) -> bool {
        self.header().is_some_and(|header| {
            // Whoever can't tell must not copy.
            open_log()
                .and_then(|log| is_sqlciphers(&log, &header))
                .unwrap_or(true)
        })
    }
}
