//! What is special about page 1: SQLite's database header (SQLite file format,
//! section 1.3).

use super::layout::Layout;

/// The first 16 bytes of a plaintext database; SQLCipher keeps its salt there.
pub const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// Offset of the 16 bytes that [`is_header`] looks at.
pub const CHECKED_AT: usize = 16;

/// The page size that bytes 16 and 17 of page 1 declare; 1 stands for 65536, which
/// they can't hold.
#[must_use]
pub fn declared_page_size(bytes: [u8; 2]) -> u32 {
    match u16::from_be_bytes(bytes) {
        1 => 65536,
        size => size.into(),
    }
}

/// The database's size in pages, as an opened page 1 has it; `None` where the last
/// writer was too old to keep it (bytes 24 to 27 and 92 to 95 then differ).
#[must_use]
pub fn declared_pages(page: &[u8]) -> Option<u32> {
    let pages = u32::from_be_bytes([page[28], page[29], page[30], page[31]]);
    (page[24..28] == page[92..96] && pages != 0).then_some(pages)
}

/// Whether bytes 16 to 31 of page 1 can be a database header of this layout.
///
/// ```text
/// 16-17  page size, see [`declared_page_size`]
/// 18-19  write and read version: 1 (journal) or 2 (WAL)
/// 20     reserved bytes of a page
/// 21-23  payload fractions: always 64, 32, 32
/// ```
///
/// A wrong key passes with a probability of about 2^-54.
#[must_use]
pub fn is_header(block: &[u8; 16], layout: &Layout) -> bool {
    declared_page_size([block[0], block[1]]) as usize == layout.page_size()
        && (1..=2).contains(&block[2])
        && (1..=2).contains(&block[3])
        && usize::from(block[4]) >= layout.reserve()
        && block[5..8] == [64, 32, 32]
}
