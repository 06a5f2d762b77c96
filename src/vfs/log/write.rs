//! Writing: the pieces in which SQLite writes a frame are put together.

use crate::error::{Failure, Refusal};
use crate::format::PageCodec;
use crate::translate::wal::{FRAME_HEADER, HEADER, Place, frame_len, frame_offset, place};

use super::super::code::Result;
use super::super::mend::meet_others;
use super::{Assembly, Log, same_frame};

impl Log {
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

    pub(super) fn is_assembling(&self, frame: u64, within: usize) -> bool {
        self.assembly
            .as_ref()
            .is_some_and(|assembly| assembly.frame == frame && assembly.bytes.len() == within)
    }

    /// Takes the next piece of a frame, and writes the frame when it is whole.
    pub(super) fn assemble(&mut self, codec: &PageCodec, at: Place, data: &[u8]) -> Result {
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
}
