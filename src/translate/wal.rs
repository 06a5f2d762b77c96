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

/// The running checksum of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checksum {
    words: [u32; 2],
    big_endian: bool,
}

impl Checksum {
    /// Continues from a stored checksum, in a log whose words have that order.
    #[must_use]
    pub fn resume(stored: [u8; 8], big_endian: bool) -> Self {
        let [a, b, c, d, e, f, g, h] = stored;
        Self {
            words: [
                u32::from_be_bytes([a, b, c, d]),
                u32::from_be_bytes([e, f, g, h]),
            ],
            big_endian,
        }
    }

    /// The same log's checksum somewhere else, where it is stored like that.
    #[must_use]
    pub fn at(self, stored: [u8; 8]) -> Self {
        Self::resume(stored, self.big_endian)
    }

    /// Adds bytes: a multiple of eight of them.
    ///
    /// # Panics
    /// If the length is not a multiple of eight.
    pub fn update(&mut self, bytes: &[u8]) {
        assert_eq!(bytes.len() % 8, 0, "the checksum takes pairs of words");
        let word = |bytes: &[u8]| {
            let bytes = [bytes[0], bytes[1], bytes[2], bytes[3]];
            if self.big_endian {
                u32::from_be_bytes(bytes)
            } else {
                u32::from_le_bytes(bytes)
            }
        };
        let [mut s0, mut s1] = self.words;
        for pair in bytes.chunks_exact(8) {
            s0 = s0.wrapping_add(word(pair)).wrapping_add(s1);
            s1 = s1.wrapping_add(word(&pair[4..])).wrapping_add(s0);
        }
        self.words = [s0, s1];
    }

    /// Adds a frame: the first eight bytes of its header, and its page.
    pub fn add_frame(&mut self, header: &[u8; FRAME_HEADER], page: &[u8]) {
        self.update(&header[..8]);
        self.update(page);
    }

    /// The checksum as it is stored.
    #[must_use]
    pub fn stored(&self) -> [u8; 8] {
        let mut out = [0; 8];
        out[..4].copy_from_slice(&self.words[0].to_be_bytes());
        out[4..].copy_from_slice(&self.words[1].to_be_bytes());
        out
    }

    /// Whether the log's words are big endian.
    #[must_use]
    pub fn big_endian(&self) -> bool {
        self.big_endian
    }
}

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
        let mut checksum = Checksum {
            words: [0, 0],
            big_endian: word(0) & 1 != 0,
        };
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

    /// By hand from the definition: words 1, 2 then 3, 4.
    #[test]
    fn checksum_by_hand() {
        let mut sum = Checksum::resume([0; 8], false);
        sum.update(&[1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0]);
        // s0 = 1, s1 = 2 + 1 = 3; s0 = 1 + 3 + 3 = 7, s1 = 3 + 4 + 7 = 14.
        assert_eq!(sum.stored(), [0, 0, 0, 7, 0, 0, 0, 14]);
        let mut sum = Checksum::resume([0; 8], true);
        sum.update(&[0, 0, 0, 1, 0, 0, 0, 2]);
        assert_eq!(sum.stored(), [0, 0, 0, 1, 0, 0, 0, 3]);
    }
}
