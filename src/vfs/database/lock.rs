//! Locks: at the first one the key is proved, or a new file gets its shape, before
//! SQLite looks at journal, log or pages.

use core::ffi::c_int;
use std::sync::Arc;

use crate::error::{Failure, Refusal};
use crate::format::layout::PAGE_SIZES;
use crate::format::{Layout, PageCodec};
use crate::session::Plain;
use crate::sys as ffi;

use super::super::code::{Code, Result};
use super::super::ffi::host::Host;
use super::super::sharing::Sharing;
use super::{Database, Page1};

impl Database {
    /// Takes a lock. What SQLite is to be told about the file's pages is returned: the
    /// caller does that, since it calls back into this file.
    pub(crate) fn lock(&mut self, level: c_int) -> Result<Option<Shape>> {
        self.flush()?;
        self.ahead.forget();
        if level > ffi::SQLITE_LOCK_SHARED {
            // Behind this lock SQLite settles a new file's page size and reserve: a
            // write that is refused later would leave them to a good key.
            self.check_key_given()?;
        }
        self.lower.lock(level)?;
        let first = self.level == ffi::SQLITE_LOCK_NONE;
        self.set_level(level);
        if !first {
            return Ok(None);
        }
        self.first_lock().inspect_err(|_| {
            let _ = self.unlock(ffi::SQLITE_LOCK_NONE);
        })
    }

    /// From the reserved lock on, pages are read to be saved in the journal and written.
    fn set_level(&mut self, level: c_int) {
        let writes = |level| level > ffi::SQLITE_LOCK_SHARED;
        if writes(level) != writes(self.level)
            && let Some(codec) = self.session.codec()
        {
            codec.set_writing(writes(level));
        }
        self.level = level;
    }

    pub(crate) fn unlock(&mut self, level: c_int) -> Result {
        // Whoever takes the lock next may write these pages.
        let flushed = self.flush().inspect_err(|_| self.behind.forget());
        self.set_level(level);
        self.known_size = 0;
        self.ahead.forget();
        self.lower.unlock(level).and(flushed)
    }

    /// A lock of the log's index moves: with it goes what this reader may rely on.
    pub(crate) fn shm_lock(&mut self, offset: c_int, n: c_int, flags: c_int) -> Result {
        self.ahead.forget();
        let (vfs, log) = (self.vfs, self.side.log);
        let open_log = || {
            let name = log.ok_or(Code::CANT_OPEN)?;
            vfs.open_side(name, ffi::SQLITE_OPEN_READWRITE | ffi::SQLITE_OPEN_WAL)
        };
        self.sharing.lock(
            &self.lower,
            &self.session,
            self.host,
            open_log,
            (offset, n, flags),
        )
    }

    /// What is done about others who write the log.
    pub(crate) fn sharing(&mut self) -> &mut Sharing {
        &mut self.sharing
    }

    /// What must be settled before SQLite looks at journal, log or pages.
    fn first_lock(&mut self) -> Result<Option<Shape>> {
        if self.session.is_settled() {
            return Ok(None);
        }
        if let Some(failure) = self.session.refused() {
            return self.fail(failure);
        }
        if !self.session.is_keyed() {
            if self.session.plain() == Plain::Yes || self.look_plain()? {
                return Ok(None);
            }
            return self.fail(Failure::NoKey);
        }
        let Some(codec) = self.bound()? else {
            return self.new_shape().map(|shape| Some(Shape::New(shape)));
        };
        if self.lower.size()? < u64::from(*PAGE_SIZES.start()) && !self.side_file_exists() {
            return self.fail(Failure::NotADatabase);
        }
        match self.try_page(&codec) {
            Ok(Ok(())) => {
                let page_size = codec.layout().page_size();
                Ok((page_size != SQLITE_PAGE_SIZE).then_some(Shape::Pages(page_size)))
            }
            // Half a page 1 is what a crash leaves, and these mend it.
            _ if self.side_file_exists() => Ok(None),
            Ok(Err(failure)) => self.fail(failure),
            // What can't be read says nothing of the key.
            Err(code) => Err(code),
        }
    }

    /// Opens the first page that proves the key: page 1, or where all of it is in
    /// the clear, page 2. Whether it opens is known only where it could be read.
    pub(super) fn try_page(
        &mut self,
        codec: &Arc<PageCodec>,
    ) -> Result<core::result::Result<(), Failure>> {
        let layout = codec.layout();
        let pgno = if layout.start(1) == layout.body_end() {
            2
        } else {
            1
        };
        let mut tried = Page1::in_place_of(self.page1.take(), codec);
        tried.plain.resize(layout.page_size(), 0);
        match self.lower.read(&mut tried.plain, layout.offset(pgno)) {
            Ok(()) => {}
            // A database of one page in the clear has nothing to prove a key by.
            Err(Code::SHORT_READ) if pgno == 2 => return Ok(Ok(())),
            Err(Code::SHORT_READ) => return Ok(Err(Failure::WrongKey)),
            Err(code) => return Err(code),
        }
        tried.sealed.extend_from_slice(&tried.plain);
        if codec.open(pgno, &mut tried.plain).is_err() {
            return Ok(Err(Failure::WrongKey));
        }
        if pgno == 1 {
            self.session.note_page1(&tried.plain);
            // SQLite reads it next.
            self.page1 = Some(tried);
        }
        self.session.prove();
        Ok(Ok(()))
    }

    /// The page layout of a file that is still empty, which SQLite is then told.
    fn new_shape(&mut self) -> Result<NewShape> {
        let layout = Layout::new(&self.session.settings())
            .and_then(|layout| self.session.check_salt().map(|()| layout));
        match layout {
            Ok(layout) => {
                self.telling = true;
                Ok(NewShape {
                    page_size: (!self.session.is_page_size_open()).then(|| layout.page_size()),
                    reserve: layout.reserve(),
                })
            }
            Err(error) => self.fail(error.into()),
        }
    }

    /// SQLite has been told.
    pub(crate) fn end_shape(&mut self) {
        self.telling = false;
    }

    /// As [`Database::bind_if_locked`], for a file that is still empty: what SQLite
    /// must be told about it, since no first lock will come to do that.
    pub(crate) fn shape_if_locked(&mut self) -> Option<(Host, NewShape)> {
        let locked = self.level != ffi::SQLITE_LOCK_NONE && self.session.is_keyed();
        if !locked || self.telling || self.session.is_proved() || self.lower.size() != Ok(0) {
            return None;
        }
        Some((self.host, self.new_shape().ok()?))
    }

    /// As [`Database::shape_if_locked`], for a file that SQLite takes no locks of.
    /// Taken, since telling it makes it ask again.
    pub(crate) fn take_lockless_shape(&mut self) -> Option<(Host, NewShape)> {
        let due = self.is_lockless()
            && self.session.is_keyed()
            && !self.session.is_proved()
            && self.lower.size() == Ok(0);
        if !due {
            return None;
        }
        let shape = self.new_shape().ok()?;
        self.opened.nolock = false;
        Some((self.host, shape))
    }

    /// The end of what [`Database::take_lockless_shape`] began.
    pub(crate) fn end_lockless_shape(&mut self) {
        self.opened.nolock = true;
    }

    /// After a pragma may have changed key or settings: where the lock is held
    /// already (SQLite keeps it as long as a log is open) no first lock will come
    /// to put the new ones together, and the log can't do it.
    pub(crate) fn bind_if_locked(&mut self) {
        if self.level != ffi::SQLITE_LOCK_NONE
            && self.session.is_keyed()
            && self.session.codec().is_none()
        {
            // What is wrong with them will be said when a page is read.
            let _ = self.bound();
        }
    }

    /// Where SQLite takes no locks, what the first lock refuses is refused here.
    pub(crate) fn check_refused(&self) -> Result {
        if !self.is_lockless() {
            return Ok(());
        }
        self.session
            .refused()
            .map_or(Ok(()), |failure| self.fail(failure))
    }

    /// Refuses to create a file after a key that can't be used: it would be plaintext.
    pub(super) fn check_key_given(&self) -> Result {
        let plaintext = !self.session.is_keyed() && self.session.plain() != Plain::Yes;
        if plaintext && self.session.key_failed() && self.lower.size()? == 0 {
            return self.fail(Failure::Refused(Refusal::KeyFailed));
        }
        Ok(())
    }

    /// Whether SQLite has opened the file, and will take no locks.
    pub(crate) fn is_lockless(&self) -> bool {
        self.opened.nolock && !self.opening
    }
}

/// What SQLite starts with, unless it was compiled otherwise.
const SQLITE_PAGE_SIZE: usize = 4096;

/// What SQLite is to be told about a database's pages.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Shape {
    /// They are this large. (SQLite finds that out from page 1, too; but then it gives
    /// its lock back and starts over.)
    Pages(usize),
    /// It is empty.
    New(NewShape),
}

/// What SQLite must be told about a new database's pages. The first shared lock
/// on the empty file is the last moment at which it listens, and comes after all
/// the pragmas.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NewShape {
    /// Bytes of a page; `None`: as SQLite likes.
    pub(crate) page_size: Option<usize>,
    pub(crate) reserve: usize,
}
