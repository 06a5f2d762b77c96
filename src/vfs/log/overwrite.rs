//! Overwriting: pages that a transaction has logged already change in place, and SQLite
//! rewrites the checksums behind them.

use crate::error::Failure;
use crate::format::PageCodec;
use crate::translate::wal::{FRAME_HEADER, FRAME_SUM, frame_len, frame_offset, frame_page};

use super::super::code::Result;
use super::super::database::check_plain_page;
use super::{Log, Rewrite};

impl Log {
    /// A page that this transaction has logged already changes in place.
    pub(super) fn overwrite_page(
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

    pub(super) fn rewrite_header(
        &mut self,
        rewrite: Rewrite,
        header: &[u8],
        offset: u64,
    ) -> Result {
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
}
