//! Writing: pages wait, are sealed together, and go out (see `vfs/batch`).

use core::ffi::c_int;
use std::sync::Arc;

use crate::error::{Failure, Refusal};
use crate::format::codec::is_zeros;
use crate::format::page1;
use crate::format::{Layout, PageCodec, PageRef};
use crate::secret::PageBuffer;
use crate::session::{Plain, Playback};

use super::super::code::Result;
use super::{Database, Page1, page_number};

/// Most empty pages that are sealed and written at once to fill a gap.
const GAP_BATCH: u64 = 64;

/// Most bytes of a gap that is filled where it is a journal's header or a log that
/// makes it: nothing authenticates their page counts, and a forged one would have us
/// fill the disk. Where such a gap is larger it stays a hole, as SQLite and SQLCipher
/// leave it: pages that no record restores were on the free list.
const MOST_GAP: u64 = 64 << 20;

impl Database {
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
            self.doubtful = true;
            let put = self.put(&codec, data, offset);
            self.doubtful = false;
            return put;
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
        // A playback makes the file as long as the journal's header says.
        let doubtful = self.session.take_playback().is_some();
        if !self.behind.push(pgno, data) && !doubtful {
            return Ok(());
        }
        self.doubtful = doubtful;
        let flushed = self.flush();
        self.doubtful = false;
        // A write that fails has not happened.
        flushed.inspect_err(|_| self.behind.forget_last(pgno, page_size))
    }

    /// Seals and writes the pages that wait, if there are any.
    #[inline]
    pub(crate) fn flush(&mut self) -> Result {
        if self.behind.is_empty() {
            return Ok(());
        }
        self.flush_waiting()
    }

    /// Seals and writes the pages that wait; pages next to each other in one piece.
    /// What can't be written goes on waiting.
    #[inline(never)]
    fn flush_waiting(&mut self) -> Result {
        let Some(codec) = self.session.codec() else {
            return self.fail(Failure::Refused(Refusal::Unproven));
        };
        let (numbers, mut pages) = self.behind.take();
        // Where page 1 is among them, as it is in every commit: SQLite will look at it
        // when the next transaction starts.
        let page_size = codec.layout().page_size();
        let page1 = numbers.iter().rposition(|&pgno| pgno == 1);
        let page1 = page1.map(|at| at * page_size..(at + 1) * page_size);
        let next = page1.clone().map(|at| {
            let mut next = Page1::in_place_of(self.page1.take(), &codec);
            next.plain.extend_from_slice(&pages[at]);
            next
        });

        let mut batch = page_refs(&codec, &numbers, &mut pages);
        if let Err(error) = codec.seal_batch(&mut batch) {
            self.behind.put_back(numbers, pages);
            return self.fail(error.into());
        }
        let result = self.put_all(&codec, &numbers, &pages);
        if result.is_err() {
            let mut batch = page_refs(&codec, &numbers, &mut pages);
            codec.open_batch(&mut batch, &mut Vec::new());
            self.behind.put_back(numbers, pages);
        } else {
            if let (Some(mut next), Some(at)) = (next, page1) {
                next.sealed.extend_from_slice(&pages[at]);
                self.page1 = Some(next);
            }
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
            self.check_key_given()?;
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
            if size < offset && (offset - size <= MOST_GAP || !self.doubtful) {
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

    /// A journal that says that there was nothing before it makes the file empty. That
    /// is what a creation leaves that was broken off; but nothing authenticates it, so
    /// the file must look like one: of a database that more than one transaction has
    /// written, and of one that this key does not open, nothing is thrown away.
    fn check_creation(&mut self) -> Result {
        /// Pages that are looked at: what a creation writes first.
        const MOST: u64 = 64;
        let Some(codec) = self.session.codec() else {
            return Ok(());
        };
        let page_size = codec.layout().page_size();
        let pages = self.lower.size()? / page_size as u64;
        let mut page = PageBuffer::zeros(page_size);
        let mut zeros = true;
        for pgno in 1..=pages.min(MOST) as u32 {
            self.lower.read(&mut page, codec.layout().offset(pgno))?;
            zeros &= pgno == 1 || is_zeros(&page);
            if codec.open(pgno, &mut page).is_err() {
                continue;
            }
            let written = u32::from_be_bytes([page[24], page[25], page[26], page[27]]);
            if pgno > 1 || written <= 1 {
                return Ok(());
            }
            let declared = page1::declared_pages(&page).unwrap_or_default();
            return self.fail(Failure::JournalSize { pages: 0, declared });
        }
        // Of a file as small as that every page may be half written.
        if pages <= 2 || zeros {
            return Ok(());
        }
        self.fail(Failure::WrongKey)
    }

    /// Refuses to cut off pages that the database had before the transaction which is
    /// rolled back: then the count in the journal's header is wrong.
    fn check_original_size(&mut self, playback: Playback, size: u64) -> Result {
        if playback.creation && size == 0 {
            return self.check_creation();
        }
        let Some(codec) = self.session.proved_codec() else {
            return Ok(());
        };
        let declared = match playback.page1 {
            Some(pages) => Some(pages),
            None => {
                let mut page = PageBuffer::zeros(codec.layout().page_size());
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
}

/// Pages one after the other, with their numbers.
fn page_refs<'a>(codec: &PageCodec, numbers: &[u32], pages: &'a mut [u8]) -> Vec<PageRef<'a>> {
    let pages = pages.chunks_exact_mut(codec.layout().page_size());
    let numbered = numbers.iter().zip(pages);
    numbered
        .map(|(&pgno, bytes)| PageRef { pgno, bytes })
        .collect()
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
