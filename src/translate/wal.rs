//! The write-ahead log (SQLite file format, section 4).
//!
//! ```text
//! header, 32 bytes:
//!   0 magic 4 | 4 version 4 | 8 page size 4 | 12 checkpoints 4 | 16 salts 8 | 24 checksum 8
//! frame, 24 bytes and a page:
//!   0 page number 4 | 4 database pages if a commit, else 0: 4 | 8 salts 8 | 16 checksum 8 | 24 page
//! ```
//!
//! Everything is big endian; the magic's last bit says in which byte order the
//! checksum reads its words.

pub use super::checksum::Checksum;

/// Bytes of the file header.
pub const HEADER: u64 = 32;
/// Bytes of a frame's header.
pub const FRAME_HEADER: usize = 24;
/// Offset of the checksum in the file header.
pub const HEADER_SUM: usize = 24;
/// Offset of the salts in a frame header.
pub const FRAME_SALTS: usize = 8;
/// Offset of the checksum in a frame header; the sum covers the first 8 bytes.
pub const FRAME_SUM: usize = 16;

const MAGIC: u32 = 0x377f_0682;

/// The fields of a log's header that the shim needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Bytes of a page.
    pub page_size: u32,
    /// They change whenever the log starts over; its frames repeat them.
    pub salts: [u8; 8],
    /// Running checksum after the header, as stored there.
    pub checksum: Checksum,
}

impl Header {
    /// Reads a header; `None` if it is none, or if its own checksum is wrong
    /// (SQLite then ignores the whole log).
    #[must_use]
    pub fn parse(bytes: &[u8; HEADER as usize]) -> Option<Self> {
        let word = |at: usize| {
            u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        if word(0) & !1 != MAGIC {
            return None;
        }
        let mut checksum = Checksum::resume([0; 8], word(0) & 1 != 0);
        checksum.update(&bytes[..HEADER_SUM]);
        if checksum.stored() != bytes[HEADER_SUM..] {
            return None;
        }
        Some(Self {
            page_size: word(8),
            salts: core::array::from_fn(|i| bytes[16 + i]),
            checksum,
        })
    }
}

/// Follows a log frame by frame, as SQLite's recovery does: over the bytes on disk,
/// which takes no key.
#[derive(Debug)]
pub struct Chain {
    sum: Checksum,
    salts: [u8; 8],
}

/// What the header of a frame that counts says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame {
    /// 1-based page number.
    pub pgno: u32,
    /// Pages of the database if the frame commits, else 0.
    pub commit: u32,
}

impl Chain {
    /// From a log's header on.
    #[must_use]
    pub fn new(header: &Header) -> Self {
        Self {
            sum: header.checksum,
            salts: header.salts,
        }
    }

    /// The next frame, header and page; `None` if it does not count, and then none
    /// after it does.
    ///
    /// # Panics
    /// If the page's length is not a multiple of eight.
    pub fn next(&mut self, frame: &[u8]) -> Option<Frame> {
        let (header, page) = frame.split_first_chunk::<FRAME_HEADER>()?;
        let pgno = frame_page(header);
        self.sum.add_frame(header, page);
        let fine =
            pgno != 0 && header[8..16] == self.salts && header[FRAME_SUM..] == self.sum.stored();
        fine.then(|| Frame {
            pgno,
            commit: u32::from_be_bytes([header[4], header[5], header[6], header[7]]),
        })
    }
}

/// A place in a log: frame and offset within it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// 1-based frame number.
    pub frame: u64,
    /// Offset in the frame, its header included.
    pub within: usize,
}

/// Bytes of a frame with a page of `page_size` bytes.
#[must_use]
pub fn frame_len(page_size: usize) -> usize {
    FRAME_HEADER + page_size
}

/// Byte offset in the log at which frame `frame` (1-based) starts.
#[must_use]
pub fn frame_offset(frame: u64, page_size: usize) -> u64 {
    HEADER + (frame - 1) * frame_len(page_size) as u64
}

/// The place of a byte of the log; `None` in the file header.
#[must_use]
pub fn place(offset: u64, page_size: usize) -> Option<Place> {
    let frames = offset.checked_sub(HEADER)?;
    let len = frame_len(page_size) as u64;
    Some(Place {
        frame: frames / len + 1,
        within: (frames % len) as usize,
    })
}

/// The page number in a frame's header.
#[must_use]
pub fn frame_page(header: &[u8]) -> u32 {
    u32::from_be_bytes([header[0], header[1], header[2], header[3]])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places() {
        assert_eq!(place(31, 1024), None);
        let first = Place {
            frame: 1,
            within: 0,
        };
        assert_eq!(place(32, 1024), Some(first));
        assert_eq!(frame_offset(1, 1024), 32);
        assert_eq!(frame_offset(3, 1024), 32 + 2 * 1048);
        let page = Place {
            frame: 3,
            within: 24,
        };
        assert_eq!(place(32 + 2 * 1048 + 24, 1024), Some(page));
        // 64-bit: the 2^21st frame of 65536-byte pages is past 2^37.
        assert_eq!(frame_offset(1 << 21, 65536), 32 + ((1 << 21) - 1) * 65560);
    }
}
