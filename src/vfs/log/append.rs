//! Appending: whole frames wait, are sealed together, and go out with their checksums.

use crate::error::{Failure, Refusal};
use crate::format::{PageCodec, PageRef};
use crate::session::shared_log::LogTail;
use crate::translate::wal::{
    Checksum, FRAME_HEADER, FRAME_SUM, frame_len, frame_offset, frame_page,
};

use super::super::batch::{MOST_PAGES, is_write_behind};
use super::super::code::Result;
use super::super::database::check_plain_page;
use super::super::mend::meet_others;
use super::{Log, Tail};

impl Log {
    /// Adds a whole frame to those that wait, and lets them go when it is time.
    pub(super) fn wait(&mut self, codec: &PageCodec, frame: u64, plain: &[u8]) -> Result {
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
    pub(super) fn seal_and_append(
        &mut self,
        codec: &PageCodec,
        first: u64,
        frames: &mut [u8],
    ) -> Result {
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
    pub(super) fn ends_at(&mut self, salts: [u8; 8], frame: u64, sum: Checksum, commits: bool) {
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
    pub(super) fn sum_before(&self, frame: u64, page_size: usize) -> Result<([u8; 8], Checksum)> {
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
}
