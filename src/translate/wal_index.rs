//! The header of a log's shared index (SQLite, "WAL-mode file format", section 2.2).
//!
//! ```text
//!   0 version 4 | 4 unused 4 | 8 commits 4 | 12 initialised 1 | 13 byte order 1
//!  14 page size 2 | 16 last frame 4 | 20 database pages 4 | 24 that frame's checksum 8
//!  32 salts 8 | 40 checksum of the 40 bytes before 8
//! ```
//!
//! It stands at the index's start twice, in the machine's byte order but for the
//! salts. Whoever appends a frame continues the checksum of the last frame from here
//! and not from the log, so what stands here must be that of the log for two programs
//! to write it by turns.

use super::wal::Checksum;

/// Bytes of a header.
pub const LEN: usize = 48;

const CHANGE: usize = 8;
const LAST_FRAME: usize = 16;
const FRAME_SUM: usize = 24;
const SALTS: usize = 32;
const SUM: usize = 40;

/// One header whose checksum is right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexHeader([u8; LEN]);

impl IndexHeader {
    /// `None` if the checksum is wrong: it is being written, or was never.
    #[must_use]
    pub fn parse(bytes: [u8; LEN]) -> Option<Self> {
        (own_sum(&bytes) == bytes[SUM..]).then_some(Self(bytes))
    }

    /// The header as it stands in the index.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; LEN] {
        &self.0
    }

    fn word(&self, at: usize) -> u32 {
        u32::from_ne_bytes([self.0[at], self.0[at + 1], self.0[at + 2], self.0[at + 3]])
    }

    /// Commits since the index was made from the log; it wraps.
    #[must_use]
    pub fn commits(&self) -> u32 {
        self.word(CHANGE)
    }

    /// 1-based number of the last frame that is committed; 0: the log is empty.
    #[must_use]
    pub fn last_frame(&self) -> u64 {
        self.word(LAST_FRAME).into()
    }

    /// The log's salts.
    #[must_use]
    pub fn salts(&self) -> [u8; 8] {
        let mut salts = [0; 8];
        salts.copy_from_slice(&self.0[SALTS..SUM]);
        salts
    }

    /// The checksum of the last frame, in the form in which the log stores it.
    #[must_use]
    pub fn frame_sum(&self) -> [u8; 8] {
        let mut out = [0; 8];
        out[..4].copy_from_slice(&self.word(FRAME_SUM).to_be_bytes());
        out[4..].copy_from_slice(&self.word(FRAME_SUM + 4).to_be_bytes());
        out
    }

    /// The same header with another checksum of the last frame.
    #[must_use]
    pub fn with_frame_sum(&self, sum: [u8; 8]) -> Self {
        let mut bytes = self.0;
        for (at, word) in [(FRAME_SUM, &sum[..4]), (FRAME_SUM + 4, &sum[4..])] {
            let word = u32::from_be_bytes([word[0], word[1], word[2], word[3]]);
            bytes[at..at + 4].copy_from_slice(&word.to_ne_bytes());
        }
        let sum = own_sum(&bytes);
        bytes[SUM..].copy_from_slice(&sum);
        Self(bytes)
    }
}

/// The log's checksum over machine words, as machine words.
fn own_sum(bytes: &[u8; LEN]) -> [u8; 8] {
    let mut sum = Checksum::resume([0; 8], cfg!(target_endian = "big"));
    sum.update(&bytes[..SUM]);
    let stored = sum.stored();
    let mut out = [0; 8];
    for (out, word) in out.chunks_exact_mut(4).zip(stored.chunks_exact(4)) {
        let word = u32::from_be_bytes([word[0], word[1], word[2], word[3]]);
        out.copy_from_slice(&word.to_ne_bytes());
    }
    out
}

#[cfg(all(test, target_endian = "little"))]
mod tests {
    use super::*;

    /// SQLite 3.40.1 after `CREATE TABLE` and one `INSERT` into a new database of
    /// 512-byte pages, and bytes 8 to 23 of the last frame in its log.
    const INDEX: &str = "18e22d000000000002000000010000020300000002000000\
                         295937e1dcb5489177007a2bb882d0aa0c704995e38d5dc0";
    const FRAME: &str = "77007a2bb882d0aae13759299148b5dc";

    fn header() -> [u8; LEN] {
        hex::decode(INDEX)
            .expect("digits")
            .try_into()
            .expect("48 bytes")
    }

    #[test]
    fn reads_what_sqlite_wrote() {
        let header = IndexHeader::parse(header()).expect("a header");
        assert_eq!(header.last_frame(), 3);
        assert_eq!(header.commits(), 2);
        let frame = [header.salts(), header.frame_sum()].concat();
        assert_eq!(hex::encode(frame), FRAME);
    }

    #[test]
    fn a_changed_sum_leaves_the_rest() {
        let before = IndexHeader::parse(header()).expect("a header");
        let after = before.with_frame_sum([1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(IndexHeader::parse(*after.as_bytes()), Some(after));
        assert_eq!(after.frame_sum(), [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(after.with_frame_sum(before.frame_sum()), before);
    }

    #[test]
    fn a_wrong_bit_is_noticed() {
        for at in 0..LEN {
            let mut bytes = header();
            bytes[at] ^= 1;
            assert_eq!(IndexHeader::parse(bytes), None, "byte {at}");
        }
    }
}
