//! The rollback journal, read by the file format's description alone (SQLite file
//! format, section 3): it is what the crate's own reading is compared with.

/// The first eight bytes of a header.
pub(crate) const MAGIC: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];

/// A header and the records behind it.
pub(crate) struct Segment<'a> {
    /// Pages of the database before the transaction.
    pub(crate) initial_pages: u32,
    pub(crate) page_size: usize,
    pub(crate) records: Vec<Record<'a>>,
}

/// One page as it was before the transaction.
pub(crate) struct Record<'a> {
    pub(crate) pgno: u32,
    pub(crate) page: &'a [u8],
    /// Whether the checksum is that of these bytes.
    pub(crate) intact: bool,
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

/// "Start with the nonce, X = N - 200, add the byte at X, X -= 200, while X > 0."
fn checksum(nonce: u32, page: &[u8]) -> u32 {
    let mut sum = nonce;
    let mut at = page.len() as i64 - 200;
    while at > 0 {
        sum = sum.wrapping_add(u32::from(page[at as usize]));
        at -= 200;
    }
    sum
}

/// All segments of a journal. A record count of -1 (0xffffffff) means as many as
/// the file has room for.
pub(crate) fn segments(bytes: &[u8]) -> Vec<Segment<'_>> {
    let mut segments = Vec::new();
    let mut at = 0;
    while bytes.len() >= at + 28 && bytes[at..at + 8] == MAGIC {
        let count = word(bytes, at + 8);
        let nonce = word(bytes, at + 12);
        let sector = word(bytes, at + 20) as usize;
        let page_size = word(bytes, at + 24) as usize;
        let mut segment = Segment {
            initial_pages: word(bytes, at + 16),
            page_size,
            records: Vec::new(),
        };
        at += sector;
        for _ in 0..count {
            let Some(record) = bytes.get(at..at + page_size + 8) else {
                assert_eq!(count, u32::MAX, "the journal ends before its records do");
                break;
            };
            let page = &record[4..4 + page_size];
            segment.records.push(Record {
                pgno: word(record, 0),
                page,
                intact: checksum(nonce, page) == word(record, 4 + page_size),
            });
            at += page_size + 8;
        }
        segments.push(segment);
        at = at.next_multiple_of(sector);
    }
    segments
}

/// "The sum is over every 200th byte counted from the end": of 512 bytes, 312 and
/// 112.
#[test]
fn checksum_of_the_description() {
    let mut page = [0; 512];
    page[312] = 3;
    page[112] = 4;
    page[311] = 100;
    assert_eq!(checksum(10, &page), 17);
}
