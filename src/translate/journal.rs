//! The rollback journal (SQLite file format, section 3).
//!
//! ```text
//! header, padded to the sector size:
//!   0 magic 8 | 8 records 4 | 12 seed 4 | 16 pages 4 | 20 sector size 4 | 24 page size 4
//! record:
//!   0 page number 4 | 4 page | 4 + page checksum 4          (8 + page bytes)
//! end of a multi-database commit:
//!   0 lock page's number 4 | super-journal name | its length 4 | its sum 4 | magic 8
//! ```
//!
//! Everything is big endian. Headers stand at multiples of the sector size and
//! records are a multiple of eight bytes long, so a record's page, and nothing
//! else of that length, starts at an offset of 4 modulo 8; the super-journal's
//! name, which may too, follows the lock page's number.

/// The first eight bytes of a journal header.
pub const MAGIC: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];

/// Offset of the checksum seed in a journal header.
pub const SEED_OFFSET: u64 = 12;

/// Bytes of the page number before a record's page, and of the sum behind it.
pub const WORD: u64 = 4;

/// Distance between the bytes that a record's checksum looks at.
const STRIDE: usize = 200;

/// The part of a record's checksum that comes from its page: every 200th byte
/// from the end (`pager_cksum`; the seed comes on top).
#[must_use]
pub fn page_sum(page: &[u8]) -> u32 {
    let mut sum = 0u32;
    let mut at = page.len().saturating_sub(STRIDE);
    while at > 0 {
        sum = sum.wrapping_add(page[at].into());
        at = at.saturating_sub(STRIDE);
    }
    sum
}

/// Bytes of a header's fields.
pub const HEADER: usize = 28;

/// Stands for "as many records as the file holds".
pub const COUNT_BY_LENGTH: u32 = u32::MAX;

/// A header's fields, which nothing authenticates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Records that follow, or [`COUNT_BY_LENGTH`].
    pub records: u32,
    /// What the records' checksums start from.
    pub seed: u32,
    /// Pages of the database when the transaction began.
    pub pages: u32,
    /// Bytes of a sector: headers stand at multiples of it.
    pub sector: u32,
    /// Bytes of a page.
    pub page_size: u32,
}

impl Header {
    /// `None` if these bytes are no header.
    #[must_use]
    pub fn parse(bytes: &[u8; HEADER]) -> Option<Self> {
        let field = |at: usize| {
            u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        bytes.starts_with(&MAGIC).then(|| Self {
            records: field(8),
            seed: field(12),
            pages: field(16),
            sector: field(20),
            page_size: field(24),
        })
    }

    /// What SQLite asks of the first header (`readJournalHdr`). One that was not
    /// safe before the power went has no sizes: the journal is then ignored.
    #[must_use]
    pub fn is_sane(&self) -> bool {
        self.page_size.is_power_of_two()
            && (512..=65536).contains(&self.page_size)
            && self.sector.is_power_of_two()
            && (32..=65536).contains(&self.sector)
    }
}

/// What a read or write of `len` bytes at `offset` is, by geometry alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Four bytes where a record's page number may stand.
    PageNumber,
    /// A record's page, unless the lock page's number stands before it.
    Page,
    /// A page-like piece of another page size: the journal belongs to a database
    /// with other settings, or it is a super-journal's name of such a length (the
    /// lock page's number stands before it).
    ForeignPage,
    /// A header, a checksum or a super-journal name.
    Other,
}

impl Part {
    /// Whether this is a page, of whatever size.
    #[must_use]
    pub fn is_page(self) -> bool {
        matches!(self, Self::Page | Self::ForeignPage)
    }
}

/// Classifies an access to a journal of `page_size`-byte pages.
#[must_use]
pub fn classify(offset: u64, len: usize, page_size: usize) -> Part {
    match (len, offset % 8) {
        (4, 0) => Part::PageNumber,
        (_, 4) if len == page_size => Part::Page,
        (512.., 4) if len.is_power_of_two() => Part::ForeignPage,
        _ => Part::Other,
    }
}

/// How far a record's checksum moves between plaintext and ciphertext.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SumShift(u32);

impl SumShift {
    /// From a page's two forms.
    #[must_use]
    pub fn between(plain: &[u8], cipher: &[u8]) -> Self {
        Self(page_sum(cipher).wrapping_sub(page_sum(plain)))
    }

    /// SQLite's checksum, as the disk must carry it.
    #[must_use]
    pub fn to_disk(self, plain: [u8; 4]) -> [u8; 4] {
        u32::from_be_bytes(plain).wrapping_add(self.0).to_be_bytes()
    }

    /// The disk's checksum, as SQLite expects it.
    #[must_use]
    pub fn to_plain(self, disk: [u8; 4]) -> [u8; 4] {
        u32::from_be_bytes(disk).wrapping_sub(self.0).to_be_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `pager_cksum` of 512 bytes looks at bytes 312 and 112.
    #[test]
    fn sum_looks_at_every_200th_byte_from_the_end() {
        let mut page = vec![0u8; 512];
        page[312] = 200;
        page[112] = 100;
        page[311] = 77;
        page[0] = 9;
        assert_eq!(page_sum(&page), 300);
        assert_eq!(page_sum(&vec![1; 1024]), 5);
        assert_eq!(page_sum(&vec![1; 4096]), 20);
        // 65536 - 327 * 200 = 136 is the last byte looked at; 0 never is.
        assert_eq!(page_sum(&vec![1; 65536]), 327);
    }

    #[test]
    fn shift_is_its_own_inverse() {
        let plain = vec![0xff; 1024];
        let cipher = vec![0x01; 1024];
        let shift = SumShift::between(&plain, &cipher);
        let seed = 0x1234_5678u32;
        let of = |page: &[u8]| seed.wrapping_add(page_sum(page)).to_be_bytes();
        assert_eq!(shift.to_disk(of(&plain)), of(&cipher));
        assert_eq!(shift.to_plain(of(&cipher)), of(&plain));
    }

    #[test]
    fn classes() {
        assert_eq!(classify(512, 4, 1024), Part::PageNumber);
        assert_eq!(classify(516, 1024, 1024), Part::Page);
        assert_eq!(classify(516 + 1024, 4, 1024), Part::Other);
        assert_eq!(classify(516, 4096, 1024), Part::ForeignPage);
        assert_eq!(classify(0, 512, 512), Part::Other);
        assert_eq!(classify(0, 12, 1024), Part::Other);
    }
}
