//! The database file: pages sealed on the way down and opened on the way up.
//!
//! What is read is proved before anything is done with it: taking the first
//! lock, a keyed connection opens page 1, and until a page has opened nothing is
//! written. Two files may have no page 1 that opens although the key is right:
//! one whose crash left it half written, and one whose checkpoint did. A
//! rollback journal or log then lies beside it, and proves the key instead.
//!
//! `read` opens pages, `write` seals them, `lock` settles what must be known first.

mod lock;
mod read;
mod write;

use core::ffi::c_int;
use std::sync::Arc;

use crate::error::Failure;
use crate::format::PageCodec;
use crate::format::layout::PAGE_SIZES;
use crate::format::page1::MAGIC;
use crate::pragma::Facts;
use crate::secret::{PageBuffer, SALT_LEN};
use crate::session::Session;
use crate::sys as ffi;

pub(crate) use lock::{NewShape, Shape};
pub(crate) use write::check_plain_page;

use super::batch::{ReadAhead, WriteBehind};
use super::check::Check;
use super::code::{Code, Result};
use super::ffi::host::{self, Host};
use super::lower::{LowerFile, LowerVfs, SideName};
use super::rewrite::{Broken, Done, Rewrite};
use super::sharing::Sharing;

/// How a database file was opened.
#[derive(Clone, Copy, Default)]
pub(crate) struct Opened {
    /// Its name, if it was not there before.
    pub(crate) created: Option<SideName>,
    /// SQLite will take no locks (`nolock=1`, `immutable=1`).
    pub(crate) nolock: bool,
}

/// Names of the files beside a database, as SQLite gives them.
pub(crate) struct SideNames {
    pub(crate) journal: Option<SideName>,
    pub(crate) log: Option<SideName>,
}

pub(crate) struct Database {
    lower: LowerFile,
    vfs: LowerVfs,
    session: Arc<Session>,
    side: SideNames,
    opened: Opened,
    host: Host,
    /// SQLite is still opening the file: it peeks at the header without a lock.
    opening: bool,
    /// Whether an ATTACH has a key for it is not known yet.
    unsettled: bool,
    /// SQLite is being told of the new file's pages, which leads back here.
    telling: bool,
    /// SQLite has been told to overwrite what is deleted.
    secure_delete: bool,
    level: c_int,
    /// The file is at least this long; 0 where that is not known.
    known_size: u64,
    page: PageBuffer,
    page1: Option<Page1>,
    ahead: ReadAhead,
    behind: WriteBehind,
    sharing: Sharing,
    /// What is written is as far into the file as something says that nothing
    /// authenticates.
    doubtful: bool,
}

/// Page 1 as it was last opened or sealed. SQLite looks at it whenever a transaction
/// starts, and as long as its bytes on disk are the same, so is what they open to.
struct Page1 {
    codec: Arc<PageCodec>,
    sealed: Vec<u8>,
    plain: PageBuffer,
}

impl Page1 {
    /// To be filled, in the memory of the last one: to wipe that takes as long as to
    /// decrypt a page.
    fn in_place_of(last: Option<Self>, codec: &Arc<PageCodec>) -> Self {
        let (mut sealed, mut plain) = match last {
            Some(last) => (last.sealed, last.plain),
            None => Default::default(),
        };
        sealed.clear();
        plain.clear();
        Self {
            codec: Arc::clone(codec),
            sealed,
            plain,
        }
    }
}

impl Database {
    pub(crate) fn new(
        lower: LowerFile,
        vfs: LowerVfs,
        session: Arc<Session>,
        side: SideNames,
        opened: Opened,
    ) -> Self {
        Self {
            lower,
            vfs,
            session,
            side,
            opened,
            host: Host::none(),
            opening: true,
            unsettled: false,
            telling: false,
            secure_delete: false,
            level: ffi::SQLITE_LOCK_NONE,
            known_size: 0,
            page: PageBuffer::default(),
            page1: None,
            ahead: ReadAhead::default(),
            behind: WriteBehind::default(),
            sharing: Sharing::default(),
            doubtful: false,
        }
    }

    pub(crate) fn lower(&self) -> &LowerFile {
        &self.lower
    }

    pub(crate) fn into_lower(self) -> LowerFile {
        self.discard_if_refused();
        self.lower
    }

    /// An ATTACH that was refused leaves no file behind that was not there before. (It
    /// is still empty, and under our lock nobody is about to fill it.)
    fn discard_if_refused(&self) {
        let (Some(name), Some(_)) = (self.opened.created, self.session.refused()) else {
            return;
        };
        let alone = [
            ffi::SQLITE_LOCK_SHARED,
            ffi::SQLITE_LOCK_RESERVED,
            ffi::SQLITE_LOCK_EXCLUSIVE,
        ]
        .into_iter()
        .all(|level| self.lower.lock(level).is_ok());
        if alone && self.lower.size() == Ok(0) {
            // That it could not be deleted is no news worth the refusal's place.
            let _ = self.vfs.delete(name.as_c_str());
        }
    }

    pub(crate) fn session(&self) -> &Arc<Session> {
        &self.session
    }

    pub(crate) fn vfs(&self) -> LowerVfs {
        self.vfs
    }

    pub(crate) fn host(&self) -> Host {
        self.host
    }

    /// SQLite has opened the file for the connection behind `host`.
    pub(crate) fn opened_by(&mut self, host: Host) {
        self.host = host;
        self.opening = false;
        self.unsettled = true;
    }

    /// The connection, if the database has a key and SQLite has not been told yet to
    /// overwrite what is deleted from it; taken, since telling it comes back here.
    pub(crate) fn take_secure_delete_wish(&mut self) -> Option<Host> {
        if self.secure_delete || !self.session.is_keyed() {
            return None;
        }
        self.secure_delete = true;
        Some(self.host)
    }

    /// SQLite could not be told.
    pub(crate) fn wish_secure_delete(&mut self) {
        self.secure_delete = false;
    }

    /// The connection, the first time that this is asked for after opening.
    pub(crate) fn take_unsettled(&mut self) -> Option<Host> {
        core::mem::take(&mut self.unsettled).then_some(self.host)
    }

    fn fail<T>(&self, failure: Failure) -> Result<T> {
        host::fail(&self.session, failure)
    }

    /// Whether an unkeyed file is a plaintext database, or empty. A file that
    /// starts with zeros is one whose first page never arrived.
    fn look_plain(&mut self) -> Result<bool> {
        let Some(head) = self.head()? else {
            return Ok(self.lower.size()? == 0);
        };
        let plain = head == *MAGIC || head == [0; SALT_LEN];
        if plain {
            self.session.set_plain();
        }
        Ok(plain)
    }

    /// The file's first 16 bytes; `None` where it has fewer.
    fn head(&self) -> Result<Option<[u8; SALT_LEN]>> {
        let mut head = [0; SALT_LEN];
        match self.lower.read(&mut head, 0) {
            Ok(()) => Ok(Some(head)),
            Err(Code::SHORT_READ) => Ok(None),
            Err(code) => Err(code),
        }
    }

    /// The codec of a keyed file; `None` while the file is empty.
    fn bound(&mut self) -> Result<Option<Arc<PageCodec>>> {
        if let Some(codec) = self.session.proved_codec() {
            return Ok(Some(codec));
        }
        let Some(head) = self.head()? else {
            // Less than a salt: nothing, or what a crash left of a creation that
            // the journal beside it will undo.
            return if self.lower.size()? == 0 || self.side_file_exists() {
                Ok(None)
            } else {
                self.fail(Failure::WrongKey)
            };
        };
        if head == *MAGIC && self.session.settings().plaintext_header == 0 {
            return self.fail(Failure::NotEncrypted);
        }
        if self.session.is_page_size_open() {
            self.find_page_size()?;
        }
        match self.session.bind(&head) {
            Ok(codec) => Ok(Some(codec)),
            Err(failure) => self.fail(failure),
        }
    }

    fn find_page_size(&self) -> Result {
        let len = self.lower.size()?.min((*PAGE_SIZES.end()).into());
        let mut head = vec![0; len as usize];
        self.lower.read(&mut head, 0)?;
        match self.session.find_page_size(&head) {
            Ok(_) => Ok(()),
            Err(failure) => self.fail(failure),
        }
    }

    /// What the file starts with, and whether there is anything in it.
    pub(crate) fn facts(&self) -> Result<Facts> {
        let empty = self.lower.size()? == 0;
        let head = if empty { None } else { self.head()? };
        Ok(Facts { head, empty })
    }

    /// Starts the authentication of all pages; `None` while the file is empty.
    pub(crate) fn start_check(&mut self) -> Result<Option<Check>> {
        self.flush()?;
        let Some(codec) = self.bound()? else {
            return Ok(None);
        };
        let locked = self.level != ffi::SQLITE_LOCK_NONE;
        Check::start(&self.lower, codec, locked).map(Some)
    }

    /// Ends it; where it was `complete`, one line a fault.
    pub(crate) fn end_check(&self, mut check: Check, complete: bool) -> Result<Vec<String>> {
        let judged = if complete && check.has_suspects() {
            let flags = ffi::SQLITE_OPEN_WAL | ffi::SQLITE_OPEN_READONLY;
            let log = self
                .side
                .log
                .filter(|name| self.vfs.exists(name.as_c_str()));
            let log = log.and_then(|name| self.vfs.open_side(name, flags).ok());
            check.judge(&self.lower, log.as_ref())
        } else {
            Ok(())
        };
        let found = check.end(&self.lower)?;
        judged?;
        match found.lines() {
            Ok(lines) => Ok(lines),
            Err(failure) => self.fail(failure),
        }
    }

    /// Does `rewrite` with the whole database, whose exclusive lock is held.
    pub(crate) fn rewrite(
        &mut self,
        rewrite: impl FnOnce(&Rewrite<'_>) -> core::result::Result<Done, Broken>,
    ) -> Result<Done> {
        let (Some(codec), Some(journal)) = (self.session.codec(), self.side.journal) else {
            return Err(Code::ERROR);
        };
        if self.level != ffi::SQLITE_LOCK_EXCLUSIVE {
            // A log that could not be deleted is in use again, and with it BEGIN
            // EXCLUSIVE takes another lock.
            return Err(Code(ffi::SQLITE_BUSY));
        }
        self.flush()?;
        self.known_size = 0;
        self.ahead.forget();
        let done = rewrite(&Rewrite {
            lower: &self.lower,
            vfs: self.vfs,
            journal,
            keeps_journal: self.session.has_open_journal(),
            codec: &codec,
            faults: &self.session.faults(),
        });
        match done {
            Ok(done) => Ok(done),
            Err(Broken::Code(code)) => Err(code),
            Err(Broken::Failure(failure)) => self.fail(failure),
        }
    }

    fn side_file_exists(&self) -> bool {
        [self.side.journal, self.side.log]
            .into_iter()
            .flatten()
            .any(|name| self.vfs.exists(name.as_c_str()))
    }
}

/// The 1-based number of the page that starts at `offset`.
fn page_number(offset: u64, page_size: u64) -> Result<u32> {
    u32::try_from(offset / page_size + 1).map_err(|_| Code::IOERR)
}
