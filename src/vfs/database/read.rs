//! Reading: pages are authenticated and opened, or recognised.

use std::sync::Arc;

use crate::error::{Failure, PageError};
use crate::format::PageCodec;
use crate::secret::SALT_LEN;
use crate::session::Plain;
use crate::sys as ffi;

use super::super::code::{Code, Result};
use super::{Database, Page1, page_number};

/// Where SQLite's 16-byte reads at the start of a transaction begin (`dbFileVers`).
const CHANGE_COUNTER: u64 = 24;

impl Database {
    pub(crate) fn read(&mut self, buf: &mut [u8], offset: u64) -> Result {
        self.flush()?;
        self.check_refused()?;
        let proved = self.session.proved_codec().filter(|_| !self.opening);
        let codec = match proved {
            Some(codec) => codec,
            None if !self.session.is_keyed() => return self.read_unkeyed(buf, offset),
            // The peek runs without a lock and before any pragma: whatever it
            // saw could be torn, or of other settings. Page 1 tells SQLite all.
            None if self.opening => return no_header(buf),
            None => match self.bound()? {
                Some(codec) => codec,
                None => return self.lower.read(buf, offset),
            },
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

    fn read_unkeyed(&mut self, buf: &mut [u8], offset: u64) -> Result {
        if self.session.plain() == Plain::Yes || self.look_plain()? {
            return self.lower.read(buf, offset);
        }
        if self.opening {
            return no_header(buf);
        }
        self.fail(Failure::NoKey)
    }

    /// Reads and opens one whole page in place.
    fn read_page(&mut self, codec: Arc<PageCodec>, pgno: u32, buf: &mut [u8]) -> Result {
        if pgno > 1
            && self.level != ffi::SQLITE_LOCK_NONE
            && self.ahead.read(&self.lower, &codec, pgno, buf)
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
        let mut next = Page1::in_place_of(self.page1.take(), &codec);
        next.sealed.extend_from_slice(buf);
        if let Err(error) = codec.open(1, buf) {
            buf.fill(0);
            self.session.unprove();
            return self.fail(self.session.page_failure(error));
        }
        self.session.opened(&codec, 1, buf);
        next.plain.extend_from_slice(buf);
        self.page1 = Some(next);
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
}

/// What SQLite takes for an empty file's header: it keeps its defaults.
fn no_header(buf: &mut [u8]) -> Result {
    buf.fill(0);
    Err(Code::SHORT_READ)
}
