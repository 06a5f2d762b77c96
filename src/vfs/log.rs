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

use std::sync::Arc;

use crate::error::{Failure, PageError, Refusal};
use crate::format::{PageCodec, PageRef};
use crate::secret::PageBuffer;
use crate::session::Session;
use crate::session::shared_log::LogTail;
use crate::translate::wal::{
    Checksum, FRAME_HEADER, FRAME_SUM, HEADER, HEADER_SUM, Header, Place, frame_len, frame_offset,
    frame_page, place,
};

use super::batch::{MOST_PAGES, is_write_behind};
use super::code::{Code, Result};
use super::database::check_plain_page;
use super::ffi::host;
use super::lower::LowerFile;
use super::mend::meet_others;

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

    // Reading.

    pub(crate) fn read(&mut self, buf: &mut [u8], offset: u64) -> Result {
        self.flush()?;
        if !self.session.is_keyed() {
            return self.lower.read(buf, offset);
        }
        let Some(codec) = self.session.codec() else {
            return self.fail(Failure::WrongKey);
        };
        let page_size = codec.layout().page_size();
        let Some(Place { frame, within }) = place(offset, page_size) else {
            return self.read_header(buf, offset, page_size);
        };
        let end = within + buf.len();
        if within == 0 && buf.len() == frame_len(page_size) {
            // Recovery, or a rewrite of checksums: neither looks at the page but
            // to sum it, and the sums are over what is on disk.
            self.lower.read(buf, offset)?;
            match &mut self.rewrite {
                Some(rewrite) if rewrite.frame == frame => {
                    rewrite.raw.clear();
                    rewrite.raw.extend_from_slice(buf);
                    // We sum for ourselves. What SQLite sums here it leaves in the
                    // index, where the log's own checksum is how SQLCipher is known.
                    if !self.session.shared_log(|log| log.is_kept()) {
                        buf[FRAME_HEADER] ^= 1;
                    }
                }
                _ => self.rewrite = None,
            }
            return Ok(());
        }
        if end <= FRAME_HEADER {
            self.lower.read(buf, offset)?;
            if within == FRAME_SUM && buf.len() == 8 {
                self.start_rewrite(frame + 1, buf)?;
            }
            return Ok(());
        }
        if within >= FRAME_HEADER && end <= frame_len(page_size) {
            if self.session.is_checkpointing() {
                let checkpoint = self.session.checkpoints();
                if self.checked != checkpoint {
                    self.read_page(&codec, frame, within - FRAME_HEADER, buf)?;
                    self.checked = checkpoint;
                }
                return self.lower.read(buf, offset);
            }
            return self.read_page(&codec, frame, within - FRAME_HEADER, buf);
        }
        // SQLite reads the log in no other pieces.
        self.fail(Failure::WrongKey)
    }

    fn read_header(&mut self, buf: &mut [u8], offset: u64, page_size: usize) -> Result {
        if offset + buf.len() as u64 > HEADER {
            return self.fail(Failure::WrongKey);
        }
        self.lower.read(buf, offset)?;
        if offset == HEADER_SUM as u64 && buf.len() == 8 {
            self.start_rewrite(1, buf)?;
        } else if let Ok(bytes) = <&[u8; HEADER as usize]>::try_from(&*buf)
            && let Some(header) = Header::parse(bytes)
            && header.page_size as usize != page_size
        {
            return self.fail(Failure::WrongKey);
        }
        Ok(())
    }

    fn start_rewrite(&mut self, frame: u64, stored: &[u8]) -> Result {
        let mut sum = [0; 8];
        sum.copy_from_slice(stored);
        let header = self.header()?;
        self.rewrite = Some(Rewrite {
            salts: header.salts,
            frame,
            sum: header.checksum.at(sum),
            raw: Vec::new(),
        });
        Ok(())
    }

    /// The log's header, from disk.
    fn header(&self) -> Result<Header> {
        let mut bytes = [0; HEADER as usize];
        self.lower.read(&mut bytes, 0)?;
        Header::parse(&bytes).ok_or(Code::IOERR)
    }

    fn read_page(
        &mut self,
        codec: &Arc<PageCodec>,
        frame: u64,
        skip: usize,
        out: &mut [u8],
    ) -> Result {
        let page_size = codec.layout().page_size();
        let mut raw = core::mem::take(&mut self.buffer);
        raw.resize(frame_len(page_size), 0);
        let result = self.open_frame(codec, frame, &mut raw).map(|()| {
            let page = &raw[FRAME_HEADER..];
            out.copy_from_slice(&page[skip..skip + out.len()]);
        });
        if result.is_err() {
            out.fill(0);
        }
        self.buffer = raw;
        result
    }

    /// Reads a frame and opens its page in place.
    fn open_frame(&self, codec: &Arc<PageCodec>, frame: u64, raw: &mut [u8]) -> Result {
        let page_size = codec.layout().page_size();
        // As long as nothing has opened, it may be that frames are of another size, and
        // this is none.
        let proved = self.session.is_proved();
        match self.lower.read(raw, frame_offset(frame, page_size)) {
            Err(Code::SHORT_READ) if !proved => return self.fail(Failure::WrongKey),
            read => read?,
        }
        let pgno = frame_page(raw);
        let page = &mut raw[FRAME_HEADER..];
        if pgno == 0 {
            return self.fail(match proved {
                true => Failure::DamagedLog { pgno },
                false => Failure::WrongKey,
            });
        }
        match codec.open(pgno, page) {
            Ok(()) => {
                self.session.opened(codec, pgno, page);
                Ok(())
            }
            Err(PageError::Zeros { pgno: 2.. }) if self.session.auto_vacuum() => Ok(()),
            Err(_) => {
                if pgno == 1 {
                    self.session.unprove();
                }
                self.fail(match pgno {
                    2.. if proved => Failure::DamagedLog { pgno },
                    _ => Failure::WrongKey,
                })
            }
        }
    }

    // Writing.

    pub(crate) fn write(&mut self, data: &[u8], offset: u64) -> Result {
        if !self.session.is_keyed() {
            return self.lower.write(data, offset);
        }
        let Some(codec) = self.session.proved_codec() else {
            return self.fail(Failure::Refused(Refusal::Unproven));
        };
        let page_size = codec.layout().page_size();
        let Some(Place { frame, within }) = place(offset, page_size) else {
            if offset != 0 || data.len() != HEADER as usize {
                return self.refuse(offset, data.len());
            }
            self.flush()?;
            // Before the log starts over: then it can't be told any more who wrote it.
            meet_others(&self.lower, &self.session)?;
            self.forget();
            return self.lower.write(data, 0);
        };
        if within == 0
            && data.len() == FRAME_HEADER
            && let Some(rewrite) = self.rewrite.take_if(|rewrite| rewrite.is_ready(frame))
        {
            self.flush()?;
            return self.rewrite_header(rewrite, data, offset);
        }
        self.rewrite = None;
        if within == FRAME_HEADER && data.len() == page_size && !self.is_assembling(frame, within) {
            return self.overwrite_page(&codec, frame, data, offset);
        }
        self.assemble(&codec, Place { frame, within }, data)
    }

    fn is_assembling(&self, frame: u64, within: usize) -> bool {
        self.assembly
            .as_ref()
            .is_some_and(|assembly| assembly.frame == frame && assembly.bytes.len() == within)
    }

    /// Takes the next piece of a frame, and writes the frame when it is whole.
    fn assemble(&mut self, codec: &PageCodec, at: Place, data: &[u8]) -> Result {
        let whole = frame_len(codec.layout().page_size());
        if at.within == 0 {
            let mut bytes = core::mem::take(&mut self.spare);
            bytes.clear();
            self.assembly = Some(Assembly {
                frame: at.frame,
                bytes,
                written: None,
            });
        }
        let fits = at.within + data.len() <= whole;
        let next = self.is_assembling(at.frame, at.within) && fits;
        let Some(mut assembly) = self.assembly.take_if(|_| next) else {
            let start = frame_offset(at.frame, whole - FRAME_HEADER);
            return self.refuse(start + at.within as u64, data.len());
        };
        assembly.bytes.extend_from_slice(data);
        if assembly.bytes.len() < whole {
            self.assembly = Some(assembly);
            return Ok(());
        }
        let written = assembly.written.take();
        if !written.is_some_and(|written| same_frame(&written, &assembly.bytes)) {
            self.wait(codec, assembly.frame, &assembly.bytes)?;
        }
        // SQLite pads by the capabilities of the database file, which are not always
        // this one's (the URI parameter psow means that file alone).
        self.spare = self.last_frame.replace(assembly.bytes).unwrap_or_default();
        Ok(())
    }

    /// Adds a whole frame to those that wait, and lets them go when it is time.
    fn wait(&mut self, codec: &PageCodec, frame: u64, plain: &[u8]) -> Result {
        let pgno = frame_page(plain);
        if let Err(refusal) = check_plain_page(codec.layout(), pgno, &plain[FRAME_HEADER..]) {
            return self.fail(Failure::Refused(refusal));
        }
        let epoch = self.session.wal_epoch();
        let waiting = &mut self.waiting;
        // A transaction that was rolled back, or one that goes back.
        let kept = if waiting.epoch == epoch {
            frame.saturating_sub(waiting.first).min(waiting.count)
        } else {
            0
        };
        waiting.count = kept;
        waiting.frames.truncate(kept as usize * plain.len());
        if kept == 0 || waiting.first + kept != frame {
            self.flush()?;
            self.waiting.first = frame;
        }
        let waiting = &mut self.waiting;
        waiting.epoch = epoch;
        waiting.count += 1;
        waiting.frames.extend_from_slice(plain);
        let commits = plain[4..8] != [0; 4];
        if commits || waiting.count >= MOST_PAGES as u64 || !is_write_behind() {
            // A write that fails has not happened.
            self.flush()
                .inspect_err(|_| self.waiting.forget_last(frame, plain.len()))
        } else {
            Ok(())
        }
    }

    /// Seals and writes the frames that wait, with checksums that continue the one
    /// of the frame before them.
    pub(crate) fn flush(&mut self) -> Result {
        if self.waiting.count == 0 {
            return Ok(());
        }
        let Some(codec) = self.session.codec() else {
            return self.fail(Failure::Refused(Refusal::Unproven));
        };
        let mut waiting = core::mem::take(&mut self.waiting);
        if waiting.epoch != self.session.wal_epoch() {
            return Ok(());
        }
        let result = self.seal_and_append(&codec, waiting.first, &mut waiting.frames);
        if result.is_ok() {
            waiting.frames.clear();
        }
        waiting.count = (waiting.frames.len() / frame_len(codec.layout().page_size())) as u64;
        self.waiting = waiting;
        result
    }

    /// After an error they are in plaintext again, to be tried once more.
    fn seal_and_append(&mut self, codec: &PageCodec, first: u64, frames: &mut [u8]) -> Result {
        let page_size = codec.layout().page_size();
        let len = frame_len(page_size);
        meet_others(&self.lower, &self.session)?;
        let (salts, mut sum) = self.sum_before(first, page_size)?;
        let mut batch = Vec::with_capacity(frames.len() / len);
        for frame in frames.chunks_exact_mut(len) {
            let pgno = frame_page(frame);
            let bytes = &mut frame[FRAME_HEADER..];
            if pgno == 1 {
                self.session.note_page1(bytes);
            }
            batch.push(PageRef { pgno, bytes });
        }
        let count = batch.len() as u64;
        if let Err(error) = codec.seal_batch(&mut batch) {
            return self.fail(error.into());
        }
        for frame in frames.chunks_exact_mut(len) {
            let (header, page) = frame.split_at_mut(FRAME_HEADER);
            sum.update(&header[..8]);
            sum.update(page);
            header[FRAME_SUM..].copy_from_slice(&sum.stored());
        }
        let commits = frames[frames.len() - len..][4..8] != [0; 4];
        let result = self.lower.write(frames, frame_offset(first, page_size));
        self.tail = None;
        match result {
            Ok(()) => self.ends_at(salts, first + count - 1, sum, commits),
            Err(_) => {
                for frame in frames.chunks_exact_mut(len) {
                    let pgno = frame_page(frame);
                    // It was sealed just now.
                    let _ = codec.open(pgno, &mut frame[FRAME_HEADER..]);
                }
            }
        }
        result
    }

    /// What has been written ends with this frame.
    fn ends_at(&mut self, salts: [u8; 8], frame: u64, sum: Checksum, commits: bool) {
        self.tail = Some(Tail {
            salts,
            frame,
            sum,
            epoch: self.session.wal_epoch(),
        });
        if commits {
            let sum = sum.stored();
            let tail = LogTail { salts, frame, sum };
            self.session.shared_log(|log| log.is_good_to(tail));
        }
    }

    /// The running checksum before a frame: our own, if nobody can have written
    /// since, otherwise the one that is stored on disk.
    fn sum_before(&self, frame: u64, page_size: usize) -> Result<([u8; 8], Checksum)> {
        if let Some(tail) = self.tail
            && tail.frame + 1 == frame
            && tail.epoch == self.session.wal_epoch()
        {
            return Ok((tail.salts, tail.sum));
        }
        let header = self.header()?;
        if frame == 1 {
            return Ok((header.salts, header.checksum));
        }
        let mut stored = [0; 8];
        self.lower.read(
            &mut stored,
            frame_offset(frame - 1, page_size) + FRAME_SUM as u64,
        )?;
        Ok((header.salts, header.checksum.at(stored)))
    }

    /// A page that this transaction has logged already changes in place.
    fn overwrite_page(
        &mut self,
        codec: &PageCodec,
        frame: u64,
        data: &[u8],
        offset: u64,
    ) -> Result {
        if self.waiting.epoch == self.session.wal_epoch()
            && let Some(index) = frame.checked_sub(self.waiting.first)
            && index < self.waiting.count
        {
            let start = index as usize * frame_len(data.len());
            let bytes = &mut self.waiting.frames[start..][..frame_len(data.len())];
            if let Err(refusal) = check_plain_page(codec.layout(), frame_page(bytes), data) {
                return self.fail(Failure::Refused(refusal));
            }
            bytes[FRAME_HEADER..].copy_from_slice(data);
            return Ok(());
        }
        self.flush()?;
        let mut number = [0; 4];
        self.lower
            .read(&mut number, frame_offset(frame, data.len()))?;
        let pgno = frame_page(&number);
        if pgno == 0 {
            return self.refuse(offset, data.len());
        }
        if let Err(refusal) = check_plain_page(codec.layout(), pgno, data) {
            return self.fail(Failure::Refused(refusal));
        }
        let mut page = core::mem::take(&mut self.buffer);
        page.clear();
        page.extend_from_slice(data);
        if let Err(error) = codec.seal(pgno, &mut page) {
            return self.fail(error.into());
        }
        let result = self.lower.write(&page, offset);
        self.buffer = page;
        result
    }

    fn rewrite_header(&mut self, rewrite: Rewrite, header: &[u8], offset: u64) -> Result {
        let Rewrite {
            salts,
            frame,
            mut sum,
            raw,
        } = rewrite;
        sum.update(&header[..8]);
        sum.update(&raw[FRAME_HEADER..]);
        let mut out = [0; FRAME_HEADER];
        out.copy_from_slice(header);
        out[FRAME_SUM..].copy_from_slice(&sum.stored());
        self.lower.write(&out, offset)?;
        self.ends_at(salts, frame, sum, header[4..8] != [0; 4]);
        self.rewrite = Some(Rewrite {
            salts,
            frame: frame + 1,
            sum,
            raw: Vec::new(),
        });
        Ok(())
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
