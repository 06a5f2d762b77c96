//! The database file: pages sealed on the way down and opened on the way up.
//!
//! What is read is proved before anything is done with it: taking the first
//! lock, a keyed connection opens page 1, and until a page has opened nothing is
//! written. Two files may have no page 1 that opens although the key is right:
//! one whose crash left it half written, and one whose checkpoint did. A
//! rollback journal or log then lies beside it, and proves the key instead.

use core::ffi::c_int;
use std::sync::Arc;

use zeroize::Zeroizing;

use crate::error::{Failure, PageError, Refusal};
use crate::format::layout::PAGE_SIZES;
use crate::format::page1::{self, MAGIC};
use crate::format::{Layout, PageCodec, PageRef};
use crate::pragma::Facts;
use crate::secret::SALT_LEN;
use crate::session::{Plain, Playback, Session};
use crate::sys as ffi;

use super::batch::{ReadAhead, WriteBehind};
use super::check::Check;
use super::code::{Code, Result};
use super::ffi::host::{self, Host};
use super::lower::{LowerFile, LowerVfs, SideName};
use super::rewrite::{Broken, Done, Rewrite};
use super::sharing::Sharing;

/// Where SQLite's 16-byte reads at the start of a transaction begin (`dbFileVers`).
const CHANGE_COUNTER: u64 = 24;

/// Most empty pages that are sealed and written at once to fill a gap.
const GAP_BATCH: u64 = 64;

/// Most bytes of a gap that is filled. The page count in a journal's header is
/// authenticated by nothing; a forged one would have us fill the disk. Where the gap
/// is larger it stays a hole, as SQLite and SQLCipher leave it: pages that no record
/// restores were on the free list, and are never read.
const MOST_GAP: u64 = 64 << 20;

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
    /// SQLite has been told to overwrite what is deleted.
    secure_delete: bool,
    level: c_int,
    /// The file is at least this long; 0 where that is not known.
    known_size: u64,
    page: Zeroizing<Vec<u8>>,
    page1: Option<Page1>,
    ahead: ReadAhead,
    behind: WriteBehind,
    sharing: Sharing,
}

/// Page 1 as it was last opened. SQLite looks at it whenever a transaction starts,
/// and as long as its bytes on disk are the same, so is what they open to.
struct Page1 {
    codec: Arc<PageCodec>,
    sealed: Vec<u8>,
    plain: Zeroizing<Vec<u8>>,
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
            secure_delete: false,
            level: ffi::SQLITE_LOCK_NONE,
            known_size: 0,
            page: Zeroizing::default(),
            page1: None,
            ahead: ReadAhead::default(),
            behind: WriteBehind::default(),
            sharing: Sharing::default(),
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

    /// Whether the key and settings open page 1.
    pub(crate) fn opens(&mut self) -> Result<bool> {
        match self.bound()? {
            Some(codec) => Ok(self.try_page(&codec).is_ok()),
            None => Ok(false),
        }
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

    // Reading.

    pub(crate) fn read(&mut self, buf: &mut [u8], offset: u64) -> Result {
        self.flush()?;
        self.check_refused()?;
        if !self.session.is_keyed() {
            return self.read_unkeyed(buf, offset);
        }
        if self.opening {
            // The peek runs without a lock and before any pragma: whatever it
            // saw could be torn, or of other settings. Page 1 tells SQLite all.
            return no_header(buf);
        }
        let codec = match self.bound()? {
            Some(codec) => codec,
            None => return self.lower.read(buf, offset),
        };
        if self.read_change_counter(&codec, buf, offset)? {
            return Ok(());
        }
        let page_size = codec.layout().page_size() as u64;
        if buf.len() as u64 == page_size && offset.is_multiple_of(page_size) {
            return self.read_page(codec, page_number(offset, page_size)?, buf);
        }
        if offset == 0 && buf.len() as u64 > page_size {
            // SQLite reads page 1 before it knows how large pages are, and starts
            // over with what it says. The pages behind it are not meant: a damaged
            // one must not keep the others from being read.
            let (page1, rest) = buf.split_at_mut(page_size as usize);
            rest.fill(0);
            self.read_page(codec, 1, page1)?;
            return Err(Code::SHORT_READ);
        }
        self.read_pieces(codec, buf, offset)
    }

    /// The 16 bytes by which SQLite sees, whenever it takes the first lock, whether
    /// its cache is still good. As long as page 1 has the IV and MAC with which it was
    /// last opened it is that page, and so they are all that is read of it.
    fn read_change_counter(
        &self,
        codec: &Arc<PageCodec>,
        buf: &mut [u8],
        offset: u64,
    ) -> Result<bool> {
        let Some(page1) = &self.page1 else {
            return Ok(false);
        };
        let asked = offset == CHANGE_COUNTER && buf.len() == 16;
        // In a plaintext header they are not part of what IV and MAC go with.
        let sealed = codec.layout().start(1) as u64 <= CHANGE_COUNTER;
        if !asked || !sealed || !Arc::ptr_eq(&page1.codec, codec) {
            return Ok(false);
        }
        let reserve = &page1.sealed[codec.layout().body_end()..];
        let mut stored = [0; u8::MAX as usize];
        let stored = &mut stored[..reserve.len()];
        match self.lower.read(stored, codec.layout().body_end() as u64) {
            Ok(()) => {}
            Err(Code::SHORT_READ) => return Ok(false),
            Err(code) => return Err(code),
        }
        if stored != reserve {
            return Ok(false);
        }
        buf.copy_from_slice(&page1.plain[offset as usize..][..16]);
        Ok(true)
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

    /// Whether SQLite has opened the file, and will take no locks.
    pub(crate) fn is_lockless(&self) -> bool {
        self.opened.nolock && !self.opening
    }

    fn read_unkeyed(&mut self, buf: &mut [u8], offset: u64) -> Result {
        if self.session.plain() == Plain::Yes || self.look_plain()? {
            return self.lower.read(buf, offset);
        }
        if self.opening {
            return no_header(buf);
        }
        self.fail(Failure::NoKey)
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

    /// As [`Database::bind_if_locked`], for a file that is still empty: what SQLite
    /// must be told about it, since no first lock will come to do that.
    pub(crate) fn shape_if_locked(&mut self) -> Option<(Host, NewShape)> {
        let locked = self.level != ffi::SQLITE_LOCK_NONE && self.session.is_keyed();
        if !locked || self.session.is_proved() || self.lower.size() != Ok(0) {
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
        Ok(Facts {
            head: self.head()?,
            empty: self.lower.size()? == 0,
        })
    }

    /// Reads and opens one whole page in place.
    fn read_page(&mut self, codec: Arc<PageCodec>, pgno: u32, buf: &mut [u8]) -> Result {
        if pgno > 1
            && self.level != ffi::SQLITE_LOCK_NONE
            && self.ahead.read(&self.lower, &codec, pgno, buf)?
        {
            return Ok(());
        }
        let offset = codec.layout().offset(pgno);
        match self.lower.read(buf, offset) {
            Ok(()) => {}
            Err(Code::SHORT_READ) => return self.short_page(pgno, buf, offset),
            Err(code) => return Err(code),
        }
        let codec = if pgno == 1 && !self.session.fits(&buf[..SALT_LEN]) {
            // Another connection has created the file anew since.
            let mut salt = [0; SALT_LEN];
            salt.copy_from_slice(&buf[..SALT_LEN]);
            match self.session.bind(&salt) {
                Ok(codec) => codec,
                Err(failure) => return self.fail(failure),
            }
        } else {
            codec
        };
        if pgno == 1 {
            return self.open_page1(codec, buf);
        }
        match codec.open(pgno, buf) {
            Ok(()) => {
                self.session.opened(&codec, pgno, buf);
                Ok(())
            }
            // SQLCipher reads a hole as an empty page where auto-vacuum is on,
            // and nowhere else.
            Err(PageError::Zeros { .. }) if self.session.auto_vacuum() => {
                buf.fill(0);
                Ok(())
            }
            Err(error) => {
                buf.fill(0);
                self.fail(self.session.page_failure(error))
            }
        }
    }

    fn open_page1(&mut self, codec: Arc<PageCodec>, buf: &mut [u8]) -> Result {
        if let Some(page1) = &self.page1
            && Arc::ptr_eq(&page1.codec, &codec)
            && page1.sealed == buf
        {
            buf.copy_from_slice(&page1.plain);
            return Ok(());
        }
        // Its memory serves the next one: to wipe it takes as long as to decrypt it.
        let (mut sealed, mut plain) = match self.page1.take() {
            Some(page1) => (page1.sealed, page1.plain),
            None => Default::default(),
        };
        sealed.clear();
        sealed.extend_from_slice(buf);
        if let Err(error) = codec.open(1, buf) {
            buf.fill(0);
            self.session.unprove();
            return self.fail(self.session.page_failure(error));
        }
        self.session.opened(&codec, 1, buf);
        plain.clear();
        plain.extend_from_slice(buf);
        self.page1 = Some(Page1 {
            codec,
            sealed,
            plain,
        });
        Ok(())
    }

    /// A page that the file does not hold, or not all of.
    fn short_page(&self, pgno: u32, buf: &mut [u8], offset: u64) -> Result {
        buf.fill(0);
        if self.lower.size()? <= offset {
            return Err(Code::SHORT_READ);
        }
        self.fail(if pgno == 1 {
            Failure::WrongKey
        } else {
            Failure::ShortPage { pgno }
        })
    }

    /// Reads any bytes, by way of the pages that hold them.
    fn read_pieces(&mut self, codec: Arc<PageCodec>, buf: &mut [u8], offset: u64) -> Result {
        let page_size = codec.layout().page_size();
        let mut page = core::mem::take(&mut self.page);
        page.resize(page_size, 0);
        let result = (|| {
            let mut done = 0;
            while done < buf.len() {
                let at = offset + done as u64;
                let within = (at % page_size as u64) as usize;
                let n = (page_size - within).min(buf.len() - done);
                let pgno = page_number(at - within as u64, page_size as u64)?;
                if let Err(code) = self.read_page(Arc::clone(&codec), pgno, &mut page) {
                    buf[done..].fill(0);
                    return Err(code);
                }
                buf[done..done + n].copy_from_slice(&page[within..within + n]);
                done += n;
            }
            Ok(())
        })();
        self.page = page;
        result
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
        let (Some(codec), Some(journal), true) = (
            self.session.codec(),
            self.side.journal,
            self.level == ffi::SQLITE_LOCK_EXCLUSIVE,
        ) else {
            return Err(Code::ERROR);
        };
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

    // Writing.

    pub(crate) fn write(&mut self, data: &[u8], offset: u64) -> Result {
        self.check_refused()?;
        if !self.session.is_keyed() {
            return self.write_unkeyed(data, offset);
        }
        let codec = self.codec_for_write(data.len())?;
        let layout = *codec.layout();
        let page_size = layout.page_size();
        if data.len() != page_size || !offset.is_multiple_of(page_size as u64) {
            return self.fail(Failure::Refused(Refusal::NotAPage {
                offset,
                len: data.len(),
                page_size,
            }));
        }
        let pgno = page_number(offset, page_size as u64)?;
        self.ahead.forget_page(pgno);
        if self.session.is_checkpointing() {
            // The same bytes in log and database: no cryptography (the log gave
            // them out as they are).
            self.flush()?;
            return self.put(&codec, data, offset);
        }
        if let Some(sealed) = self.session.take_restored(pgno, data) {
            self.flush()?;
            return self.put(&codec, &sealed, offset);
        }
        if let Err(refusal) = check_plain_page(&layout, pgno, data) {
            return self.fail(Failure::Refused(refusal));
        }
        if pgno == 1 {
            self.session.note_page1(data);
        }
        if self.behind.push(pgno, data) {
            // A write that fails has not happened.
            self.flush()
                .inspect_err(|_| self.behind.forget_last(pgno, page_size))
        } else {
            Ok(())
        }
    }

    /// Seals and writes the pages that wait; pages next to each other in one piece.
    /// What can't be written goes on waiting.
    pub(crate) fn flush(&mut self) -> Result {
        if self.behind.is_empty() {
            return Ok(());
        }
        let Some(codec) = self.session.codec() else {
            return self.fail(Failure::Refused(Refusal::Unproven));
        };
        let (numbers, mut pages) = self.behind.take();
        let mut batch = page_refs(&codec, &numbers, &mut pages);
        if let Err(error) = codec.seal_batch(&mut batch) {
            // Some are sealed by now and some are not: they are lost.
            return self.fail(error.into());
        }
        let result = self.put_all(&codec, &numbers, &pages);
        if result.is_err() {
            let mut batch = page_refs(&codec, &numbers, &mut pages);
            codec.open_batch(&mut batch, &mut Vec::new());
            self.behind.put_back(numbers, pages);
        } else {
            self.behind.reuse(numbers, pages);
        }
        result
    }

    fn put_all(&mut self, codec: &PageCodec, numbers: &[u32], pages: &[u8]) -> Result {
        let layout = *codec.layout();
        let page_size = layout.page_size();
        let mut start = 0;
        while start < numbers.len() {
            let mut end = start + 1;
            while end < numbers.len() && numbers[end] == numbers[end - 1] + 1 {
                end += 1;
            }
            let piece = &pages[start * page_size..end * page_size];
            self.put(codec, piece, layout.offset(numbers[start]))?;
            start = end;
        }
        Ok(())
    }

    fn write_unkeyed(&mut self, data: &[u8], offset: u64) -> Result {
        if self.session.plain() != Plain::Yes {
            if !self.look_plain()? {
                return self.fail(Failure::Refused(Refusal::Unkeyed));
            }
            if self.session.key_failed() && self.lower.size()? == 0 {
                return self.fail(Failure::Refused(Refusal::KeyFailed));
            }
            self.session.set_plain();
        }
        self.lower.write(data, offset)
    }

    /// The codec to seal with: proved against this file, or new with it.
    fn codec_for_write(&mut self, len: usize) -> Result<Arc<PageCodec>> {
        if let Some(codec) = self.session.proved_codec() {
            return Ok(codec);
        }
        if self.lower.size()? != 0 {
            return self.fail(Failure::Refused(Refusal::Unproven));
        }
        match self.session.bind_new(len) {
            Ok(codec) => {
                self.session.prove();
                Ok(codec)
            }
            Err(failure) => self.fail(failure),
        }
    }

    /// Writes sealed pages, and sealed empty ones before them where they would
    /// leave a hole: a page of zeros in a file is then never something we made.
    fn put(&mut self, codec: &PageCodec, sealed: &[u8], offset: u64) -> Result {
        let end = offset + sealed.len() as u64;
        if end > self.known_size {
            let size = self.lower.size()?;
            if size < offset && offset - size <= MOST_GAP {
                self.fill_gap(codec, size, offset)?;
            }
            self.known_size = size.max(end);
        }
        self.lower.write(sealed, offset)
    }

    fn fill_gap(&mut self, codec: &PageCodec, size: u64, end: u64) -> Result {
        let page_size = codec.layout().page_size() as u64;
        let mut at = size - size % page_size;
        let mut batch = Vec::new();
        while at < end {
            let pages = ((end - at) / page_size).min(GAP_BATCH);
            batch.clear();
            batch.resize((pages * page_size) as usize, 0);
            for (index, page) in batch.chunks_exact_mut(page_size as usize).enumerate() {
                let pgno = page_number(at + index as u64 * page_size, page_size)?;
                if let Err(error) = codec.seal(pgno, page) {
                    return self.fail(error.into());
                }
            }
            self.lower.write(&batch, at)?;
            at += batch.len() as u64;
        }
        Ok(())
    }

    pub(crate) fn sync(&mut self, flags: c_int) -> Result {
        self.flush()?;
        self.lower.sync(flags)
    }

    pub(crate) fn size(&mut self) -> Result<u64> {
        self.flush()?;
        self.lower.size()
    }

    pub(crate) fn truncate(&mut self, size: i64) -> Result {
        self.flush()?;
        self.known_size = 0;
        self.ahead.forget();
        if self.session.is_keyed() && size != 0 && !self.session.is_proved() {
            return self.fail(Failure::Refused(Refusal::Unproven));
        }
        if let Some(playback) = self.session.take_playback() {
            self.check_original_size(playback, u64::try_from(size).unwrap_or(0))?;
        }
        self.lower.truncate(size)?;
        if size == 0 {
            self.session.forget_file();
        }
        Ok(())
    }

    /// Refuses to cut off pages that the database had before the transaction which is
    /// rolled back: then the count in the journal's header is wrong.
    fn check_original_size(&mut self, playback: Playback, size: u64) -> Result {
        let Some(codec) = self.session.proved_codec() else {
            return Ok(());
        };
        let declared = match playback.page1 {
            Some(pages) => Some(pages),
            None => {
                let mut page = Zeroizing::new(vec![0; codec.layout().page_size()]);
                self.lower.read(&mut page, 0)?;
                let opened = codec.open(1, &mut page).is_ok();
                opened.then(|| page1::declared_pages(&page)).flatten()
            }
        };
        let pages = size / codec.layout().page_size() as u64;
        match declared {
            Some(declared) if pages < declared.into() => {
                self.fail(Failure::JournalSize { pages, declared })
            }
            _ => Ok(()),
        }
    }

    // Locks.

    /// Takes a lock. Where the file is new, what SQLite must be told about it is
    /// returned: the caller does that, since it calls back into this file.
    pub(crate) fn lock(&mut self, level: c_int) -> Result<Option<NewShape>> {
        self.flush()?;
        self.ahead.forget();
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
    fn first_lock(&mut self) -> Result<Option<NewShape>> {
        if let Some(failure) = self.session.refused() {
            return self.fail(failure);
        }
        if !self.session.is_keyed() {
            if self.session.plain() == Plain::Yes || self.look_plain()? {
                return Ok(None);
            }
            return self.fail(Failure::NoKey);
        }
        if self.session.is_proved() {
            return Ok(None);
        }
        let Some(codec) = self.bound()? else {
            return self.new_shape().map(Some);
        };
        if self.lower.size()? < u64::from(*PAGE_SIZES.start()) && !self.side_file_exists() {
            return self.fail(Failure::NotADatabase);
        }
        match self.try_page(&codec) {
            Ok(()) => Ok(None),
            // Half a page 1 is what a crash leaves, and these mend it.
            Err(_) if self.side_file_exists() => Ok(None),
            Err(failure) => self.fail(failure),
        }
    }

    /// Opens the first page that proves the key: page 1, or where all of it is in
    /// the clear, page 2.
    fn try_page(&mut self, codec: &Arc<PageCodec>) -> core::result::Result<(), Failure> {
        let layout = codec.layout();
        let pgno = if layout.start(1) == layout.body_end() {
            2
        } else {
            1
        };
        let mut page = Zeroizing::new(vec![0; layout.page_size()]);
        if self.lower.read(&mut page, layout.offset(pgno)).is_err() {
            // A database of one page in the clear has nothing to prove a key by.
            return if pgno == 2 {
                Ok(())
            } else {
                Err(Failure::WrongKey)
            };
        }
        codec.open(pgno, &mut page).map_err(|_| Failure::WrongKey)?;
        if pgno == 1 {
            self.session.note_page1(&page);
        }
        self.session.prove();
        Ok(())
    }

    fn side_file_exists(&self) -> bool {
        [self.side.journal, self.side.log]
            .into_iter()
            .flatten()
            .any(|name| self.vfs.exists(name.as_c_str()))
    }

    /// The page layout of a file that is still empty.
    fn new_shape(&self) -> Result<NewShape> {
        let layout = Layout::new(&self.session.settings())
            .and_then(|layout| self.session.check_salt().map(|()| layout));
        match layout {
            Ok(layout) => Ok(NewShape {
                page_size: (!self.session.is_page_size_open()).then(|| layout.page_size()),
                reserve: layout.reserve(),
            }),
            Err(error) => self.fail(error.into()),
        }
    }
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

/// Pages one after the other, with their numbers.
fn page_refs<'a>(codec: &PageCodec, numbers: &[u32], pages: &'a mut [u8]) -> Vec<PageRef<'a>> {
    let pages = pages.chunks_exact_mut(codec.layout().page_size());
    let numbered = numbers.iter().zip(pages);
    numbered
        .map(|(&pgno, bytes)| PageRef { pgno, bytes })
        .collect()
}

/// What SQLite takes for an empty file's header: it keeps its defaults.
fn no_header(buf: &mut [u8]) -> Result {
    buf.fill(0);
    Err(Code::SHORT_READ)
}

/// The 1-based number of the page that starts at `offset`.
fn page_number(offset: u64, page_size: u64) -> Result<u32> {
    u32::try_from(offset / page_size + 1).map_err(|_| Code::IOERR)
}

/// Refuses a page that does not leave the reserve to us, or a page 1 that says
/// that the database's other pages will not.
pub(crate) fn check_plain_page(
    layout: &Layout,
    pgno: u32,
    data: &[u8],
) -> core::result::Result<(), Refusal> {
    if pgno == 1 {
        let page_size = page1::declared_page_size([data[16], data[17]]);
        let reserve = data[20];
        if page_size as usize != layout.page_size() || (reserve as usize) < layout.reserve() {
            return Err(Refusal::ForeignPage1 {
                page_size,
                reserve,
                needed_page_size: layout.page_size(),
                needed_reserve: layout.reserve(),
            });
        }
    }
    if data[layout.body_end()..].iter().any(|&byte| byte != 0) {
        return Err(Refusal::ReserveInUse { pgno });
    }
    Ok(())
}
