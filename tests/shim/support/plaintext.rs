//! A database's pages in plaintext, made with the page codec alone: no VFS.

use std::collections::BTreeMap;

use pageseal::Settings;
use pageseal::error::PageError;
use pageseal::format::{self, PageCodec};
use pageseal::secret::Key;
use rusqlite::Connection;

use super::open::RAW_KEY;
use super::{journal, wal};

/// The codec of a file that was made with [`RAW_KEY`]: its salt stands at its start.
pub(crate) fn codec(settings: &Settings, file: &[u8]) -> PageCodec {
    let digits = RAW_KEY.trim_start_matches("x'").trim_end_matches('\'');
    let key = Key::from_raw_hex(digits).expect("a raw key");
    let salt = file.first_chunk().expect("a salt");
    let keys = format::derive(&key, settings, salt).expect("keys");
    PageCodec::new(settings, &keys).expect("settings")
}

/// The pages that did not open, with the reason.
pub(crate) type Faults = BTreeMap<u32, PageError>;

/// Opens every page of a database file. Pages that do not open are zeros. As in
/// SQLCipher, a page of zeros is an empty page where auto-vacuum is on.
pub(crate) fn open_pages(codec: &PageCodec, file: &[u8]) -> (Vec<Vec<u8>>, Faults) {
    let mut pages = Vec::new();
    let mut faults = Faults::new();
    let mut auto_vacuum = false;
    for (index, page) in file.chunks_exact(codec.layout().page_size()).enumerate() {
        let pgno = index as u32 + 1;
        let mut page = page.to_vec();
        match codec.open(pgno, &mut page) {
            Ok(()) if pgno == 1 => auto_vacuum = page[52..56] != [0; 4],
            Ok(()) => {}
            Err(PageError::Zeros { .. }) if auto_vacuum => {}
            Err(error) => {
                page.fill(0);
                faults.insert(pgno, error);
            }
        }
        pages.push(page);
    }
    (pages, faults)
}

/// The database that SQLite recovers from a file and its log.
pub(crate) fn with_log(codec: &PageCodec, file: &[u8], log: &[u8]) -> (Vec<Vec<u8>>, Faults) {
    let (mut pages, mut faults) = open_pages(codec, file);
    let Some(log) = wal::read(log) else {
        return (pages, faults);
    };
    assert_eq!(log.page_size, codec.layout().page_size());
    for frame in log.committed() {
        let mut page = frame.page.to_vec();
        faults.remove(&frame.pgno);
        if let Err(error) = codec.open(frame.pgno, &mut page) {
            page.fill(0);
            faults.insert(frame.pgno, error);
        }
        put(&mut pages, frame.pgno, page);
        if frame.commit != 0 {
            pages.resize_with(frame.commit as usize, || vec![0; log.page_size]);
        }
    }
    (pages, faults)
}

/// The database that a hot journal rolls a file back to.
pub(crate) fn rolled_back(
    codec: &PageCodec,
    file: &[u8],
    journal: &[u8],
) -> (Vec<Vec<u8>>, Faults) {
    let (mut pages, mut faults) = open_pages(codec, file);
    let segments = journal::segments(journal);
    for segment in &segments {
        assert_eq!(segment.page_size, codec.layout().page_size());
        for record in &segment.records {
            assert!(record.intact, "the journal's copy of page {}", record.pgno);
            let mut page = record.page.to_vec();
            faults.remove(&record.pgno);
            if let Err(error) = codec.open(record.pgno, &mut page) {
                faults.insert(record.pgno, error);
            }
            put(&mut pages, record.pgno, page);
        }
    }
    if let Some(first) = segments.first() {
        pages.truncate(first.initial_pages as usize);
    }
    faults.retain(|&pgno, _| pgno as usize <= pages.len());
    (pages, faults)
}

fn put(pages: &mut Vec<Vec<u8>>, pgno: u32, page: Vec<u8>) {
    let index = pgno as usize - 1;
    if index >= pages.len() {
        pages.resize_with(index + 1, || vec![0; page.len()]);
    }
    pages[index] = page;
}

/// Opens plaintext pages with stock SQLite, in memory.
pub(crate) fn connect(pages: &[Vec<u8>]) -> Connection {
    let mut bytes = pages.concat();
    // SQLite opens no log in memory: as far as this copy goes there is none.
    if let Some(versions) = bytes.get_mut(18..20) {
        versions.fill(1);
    }
    let mut connection = Connection::open_in_memory().expect("a database in memory");
    if !bytes.is_empty() {
        connection
            .deserialize_read_exact("main", &bytes[..], bytes.len(), true)
            .expect("a database image");
    }
    connection
}
