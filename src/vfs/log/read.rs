//! Reading: frames are opened, and a checkpoint is given them as they are.

use std::sync::Arc;

use crate::error::{Failure, PageError};
use crate::format::PageCodec;
use crate::translate::wal::{
    FRAME_HEADER, FRAME_SUM, HEADER, HEADER_SUM, Header, Place, frame_len, frame_offset,
    frame_page, place,
};

use super::super::code::{Code, Result};
use super::{Log, Rewrite};

impl Log {
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

    pub(super) fn read_header(&mut self, buf: &mut [u8], offset: u64, page_size: usize) -> Result {
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

    pub(super) fn start_rewrite(&mut self, frame: u64, stored: &[u8]) -> Result {
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
    pub(super) fn header(&self) -> Result<Header> {
        let mut bytes = [0; HEADER as usize];
        self.lower.read(&mut bytes, 0)?;
        Header::parse(&bytes).ok_or(Code::IOERR)
    }

    pub(super) fn read_page(
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
    pub(super) fn open_frame(&self, codec: &Arc<PageCodec>, frame: u64, raw: &mut [u8]) -> Result {
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
}
