//! What a hot journal must show before it is played back.
//!
//! SQLite reads the journal's header, cuts the database to the page count in it, and
//! only then looks at the first record. Nothing authenticates that header. So when
//! the header is read, the first record must open with the key, and before the
//! database is cut, page 1 as the transaction found it must agree with the count.

use crate::format::{PageCodec, page1};
use crate::secret::PageBuffer;
use crate::translate::journal::{COUNT_BY_LENGTH, HEADER, Header, page_sum};

use super::code::{Code, Result};
use super::lower::LowerFile;

/// What the first record says of the key.
pub(super) enum Proof {
    /// A record has opened.
    Given,
    /// No record can tell: without MACs only page 1's could.
    Untold,
    /// There is no record, so nothing will be put back.
    Empty,
    /// The journal is another key's, another page size's or another database's. If it
    /// was page 1 that did not open: that page.
    Foreign(Option<PageBuffer>),
}

/// The header of a journal that SQLite would play back.
pub(super) fn header(journal: &LowerFile) -> Result<Option<Header>> {
    Ok(header_at(journal, 0)?.filter(Header::is_sane))
}

fn header_at(journal: &LowerFile, at: u64) -> Result<Option<Header>> {
    let mut bytes = [0; HEADER];
    let there = is_there(journal.read(&mut bytes, at))?;
    Ok(there.then(|| Header::parse(&bytes)).flatten())
}

/// Whether a read found all its bytes.
fn is_there(read: Result) -> Result<bool> {
    match read {
        Ok(()) => Ok(true),
        Err(Code::SHORT_READ) => Ok(false),
        Err(code) => Err(code),
    }
}

/// A record's page, opened.
enum Opened {
    Page(PageBuffer),
    /// Its checksum is wrong: power cut it short, and the journal ends here.
    Torn,
    /// It does not open; the page as it is.
    Foreign(PageBuffer),
}

/// Opens the record of `pgno` at `at`.
fn open(journal: &LowerFile, codec: &PageCodec, seed: u32, pgno: u32, at: u64) -> Result<Opened> {
    let page_size = codec.layout().page_size();
    let mut page = PageBuffer::zeros(page_size + 4);
    if !is_there(journal.read(&mut page, at + 4))? {
        return Ok(Opened::Torn);
    }
    let stored = word(&page[page_size..]);
    page.truncate(page_size);
    if stored != seed.wrapping_add(page_sum(&page)) {
        return Ok(Opened::Torn);
    }
    Ok(match codec.open(pgno, &mut page) {
        Ok(()) => Opened::Page(page),
        Err(_) => Opened::Foreign(page),
    })
}

/// Whether the key opens the first record that can tell.
pub(super) fn prove(journal: &LowerFile, codec: &PageCodec, header: &Header) -> Result<Proof> {
    let layout = codec.layout();
    if header.page_size as usize != layout.page_size() {
        return Ok(Proof::Foreign(None));
    }
    let mut at = u64::from(header.sector);
    let mut proof = Proof::Empty;
    for _ in 0..header.records {
        let mut number = [0; 4];
        if !is_there(journal.read(&mut number, at))? {
            break;
        }
        let pgno = u32::from_be_bytes(number);
        if pgno == 0 || pgno == layout.lock_page() {
            break;
        }
        match open(journal, codec, header.seed, pgno, at)? {
            Opened::Torn => break,
            // Without MACs only page 1 can tell.
            _ if layout.mac_len() == 0 && pgno != 1 => proof = Proof::Untold,
            Opened::Page(_) => return Ok(Proof::Given),
            Opened::Foreign(page) => return Ok(Proof::Foreign((pgno == 1).then_some(page))),
        }
        at += layout.page_size() as u64 + 8;
    }
    Ok(proof)
}

/// The database's page count as page 1 declared it before the transaction, if the
/// journal saved that page.
pub(super) fn original_pages(
    journal: &LowerFile,
    codec: &PageCodec,
    header: &Header,
) -> Result<Option<u32>> {
    let record = codec.layout().page_size() as u64 + 8;
    let (mut start, mut segment) = (0, *header);
    loop {
        let mut at = start + u64::from(segment.sector);
        let room = journal.size()?.saturating_sub(at) / record;
        let records = match segment.records {
            COUNT_BY_LENGTH => room,
            // The last segment of a journal that its own connection plays back.
            0 => room,
            records => u64::from(records).min(room),
        };
        for _ in 0..records {
            let mut number = [0; 4];
            journal.read(&mut number, at)?;
            if number == [0, 0, 0, 1] {
                return Ok(match open(journal, codec, segment.seed, 1, at)? {
                    Opened::Page(page) => page1::declared_pages(&page),
                    Opened::Torn | Opened::Foreign(_) => None,
                });
            }
            at += record;
        }
        start = at.next_multiple_of(header.sector.into());
        match header_at(journal, start)? {
            Some(next) => {
                segment = Header {
                    sector: header.sector,
                    ..next
                }
            }
            None => return Ok(None),
        }
    }
}

fn word(bytes: &[u8]) -> u32 {
    u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}
