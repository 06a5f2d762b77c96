//! The crate's translators over SQLCipher's own logs and journals, compared with a
//! reading by the format's description alone.

use pageseal::translate::journal::{Part, SumShift, classify, page_sum};
use pageseal::translate::wal::{
    Checksum, FRAME_HEADER, Header, frame_len, frame_offset, frame_page,
};

use crate::support::manifest::vectors;
use crate::support::{journal, wal};

/// Frames up to the first wrong checksum, as the crate sums them.
fn sound_frames(bytes: &[u8]) -> Vec<u32> {
    let header = Header::parse(bytes.first_chunk().expect("a header")).expect("a sound header");
    let page_size = header.page_size as usize;
    let mut sum: Checksum = header.checksum;
    let mut pages = Vec::new();
    for number in 1.. {
        let at = frame_offset(number, page_size) as usize;
        let Some(frame) = bytes.get(at..at + frame_len(page_size)) else {
            break;
        };
        let (head, page) = frame.split_first_chunk::<FRAME_HEADER>().expect("a frame");
        sum.add_frame(head, page);
        if sum.stored() != head[16..] {
            break;
        }
        pages.push(frame_page(head));
    }
    pages
}

#[test]
fn logs_have_the_same_sound_frames() {
    let mut frames = 0;
    for vector in vectors() {
        let Some(bytes) = vector.bytes("wal") else {
            continue;
        };
        let expected: Vec<u32> = wal::read(&bytes)
            .expect("a sound header")
            .frames
            .iter()
            .map(|frame| frame.pgno)
            .collect();
        assert_eq!(sound_frames(&bytes), expected, "{}", vector.name());
        frames += expected.len();
    }
    assert!(frames > 50, "{frames}");
}

/// A record's checksum over ciphertext and over plaintext are one apart by what the
/// translator says; where a page starts is found by offset alone.
#[test]
fn journal_sums_move_between_both_forms() {
    let mut records = 0;
    for vector in vectors() {
        let (Some(bytes), Some(codec)) = (vector.bytes("journal"), vector.codec()) else {
            continue;
        };
        for record in journal::segments(&bytes)
            .iter()
            .flat_map(|segment| &segment.records)
        {
            let at = record.page.as_ptr() as usize - bytes.as_ptr() as usize;
            assert_eq!(
                classify(at as u64, record.page.len(), record.page.len()),
                Part::Page
            );
            assert_eq!(
                classify(at as u64 - 4, 4, record.page.len()),
                Part::PageNumber
            );
            assert!(record.intact);
            let mut plain = record.page.to_vec();
            codec.open(record.pgno, &mut plain).expect("a page");
            // Every 200th byte from the end, as the format says.
            let sum = |page: &[u8]| -> u32 {
                (1..)
                    .map_while(|n| page.len().checked_sub(200 * n).filter(|&at| at > 0))
                    .map(|at| u32::from(page[at]))
                    .sum()
            };
            assert_eq!(page_sum(record.page), sum(record.page));
            let shift = SumShift::between(&plain, record.page);
            let (low, high) = (sum(&plain).to_be_bytes(), sum(record.page).to_be_bytes());
            assert_eq!(shift.to_disk(low), high);
            assert_eq!(shift.to_plain(high), low);
            records += 1;
        }
    }
    assert!(records > 30, "{records}");
}
