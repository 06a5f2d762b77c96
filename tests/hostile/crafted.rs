//! Pages that are authentic and say what is not so: made with the key, by someone
//! who wants the reader to fall over.

use pageseal::format::{PageCodec, Settings, derive};
use pageseal::{Key, Preset};

use crate::judge::{judge, report};
use crate::sample::{Sample, V4};

fn codec(database: &[u8]) -> PageCodec {
    let mut settings = Settings::preset(Preset::V4);
    settings.page_size = 1024;
    let mut salt = [0; 16];
    salt.copy_from_slice(&database[..16]);
    let key = Key::from_raw_bytes(&[0x55; 32]).expect("a key");
    let keys = derive(&key, &settings, &salt).expect("keys");
    PageCodec::new(&settings, &keys).expect("a codec")
}

#[test]
fn headers() {
    let sample = Sample::new(V4);
    let good = std::fs::read(sample.path()).expect("a file");
    let codec = codec(&good);
    let mut tried = 0;
    let changes: &[(&str, usize, &[u8])] = &[
        ("2^32 pages", 28, &[0xff; 4]),
        ("one page more", 28, &[0, 0, 0xff, 0xff]),
        ("no pages", 28, &[0; 4]),
        ("page size 512", 16, &[2, 0]),
        ("page size 65536", 16, &[0, 1]),
        ("page size 1000", 16, &[3, 0xe8]),
        ("page size 0", 16, &[0, 0]),
        ("no reserve", 20, &[0]),
        ("reserve 255", 20, &[255]),
        ("reserve 16", 20, &[16]),
        ("schema format 99", 44, &[0, 0, 0, 99]),
        ("auto-vacuum root", 52, &[0xff; 4]),
        ("text encoding 9", 56, &[0, 0, 0, 9]),
        ("write version 7", 18, &[7]),
        ("read version 7", 19, &[7]),
        ("free list in the void", 32, &[0xff; 8]),
        ("a root page without cells", 100, &[0; 12]),
        ("a root page of noise", 100, &[0xa5; 200]),
    ];
    for (what, at, with) in changes {
        let mut page = good[..1024].to_vec();
        codec.open(1, &mut page).expect("page 1");
        page[*at..*at + with.len()].copy_from_slice(with);
        codec.seal(1, &mut page).expect("random bytes");
        let mut bytes = good.clone();
        bytes[..1024].copy_from_slice(&page);
        std::fs::write(sample.path(), &bytes).expect("a file");
        judge(sample.dir.path(), V4, what);
        tried += 1;
    }
    report("authentic headers that lie", tried);
}

/// Each page in turn is noise under a valid MAC.
#[test]
fn pages_of_noise() {
    let sample = Sample::new(V4);
    let good = std::fs::read(sample.path()).expect("a file");
    let codec = codec(&good);
    let mut tried = 0;
    for pgno in 2..=(good.len() / 1024) as u32 {
        for fill in [0x00, 0x0d, 0xff] {
            let at = (pgno as usize - 1) * 1024;
            let mut page = vec![fill; 1024];
            page[944..].fill(0);
            codec.seal(pgno, &mut page).expect("random bytes");
            let mut bytes = good.clone();
            bytes[at..at + 1024].copy_from_slice(&page);
            std::fs::write(sample.path(), &bytes).expect("a file");
            // Rows of noise are SQLite's to find: the MAC vouches for them.
            let no_rows = crate::sample::Kind { mac: 0, ..V4 };
            judge(
                sample.dir.path(),
                no_rows,
                &format!("page {pgno} all {fill:#x}"),
            );
            tried += 1;
        }
    }
    report("authentic pages of noise", tried);
}
