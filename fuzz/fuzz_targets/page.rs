//! Any bytes as a page: a codec never opens what it has not sealed, whatever the
//! settings, and never panics; what it seals, it opens.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pageseal::format::keys::derive;
use pageseal::format::PageCodec;
use pageseal::{HashAlgorithm, Key, PgnoOrder, Settings};

const HASHES: [HashAlgorithm; 3] = [
    HashAlgorithm::Sha1,
    HashAlgorithm::Sha256,
    HashAlgorithm::Sha512,
];

fuzz_target!(|input: &[u8]| {
    let Some((&[size, hash, header, flags], rest)) = input.split_first_chunk() else {
        return;
    };
    let mut settings = Settings::default();
    settings.page_size = 512 << (size % 5);
    settings.hmac_algorithm = HASHES[usize::from(hash % 3)];
    settings.kdf_algorithm = HASHES[usize::from(hash / 3 % 3)];
    settings.use_hmac = flags & 1 != 0;
    settings.plaintext_header = u32::from(header) * 16;
    settings.hmac_pgno = if flags & 2 == 0 {
        PgnoOrder::Little
    } else {
        PgnoOrder::Big
    };
    let Ok(key) = Key::from_raw_bytes(&[7; 80]) else {
        return;
    };
    let Ok(keys) = derive(&key, &settings, &[0; 16]) else {
        return;
    };
    let Ok(codec) = PageCodec::new(&settings, &keys) else {
        return;
    };
    let layout = *codec.layout();
    let mut page = vec![0; layout.page_size()];
    let len = rest.len().min(page.len());
    page[..len].copy_from_slice(&rest[..len]);
    let pgno = u32::from(flags >> 2) + 1;

    let mut opened = page.clone();
    let result = codec.open(pgno, &mut opened);
    let in_the_clear = layout.start(pgno) == layout.body_end();
    if settings.use_hmac && !in_the_clear {
        assert!(result.is_err(), "opened a page that nobody sealed");
        assert_eq!(opened, page, "changed a page that it did not open");
    }

    // What SQLite would hand over: nothing in the reserve, its magic on page 1.
    page[layout.body_end()..].fill(0);
    if pgno == 1 && layout.plaintext_header() == 0 {
        page[..16].copy_from_slice(b"SQLite format 3\0");
    }
    let plain = page.clone();
    if codec.seal(pgno, &mut page).is_ok() && (settings.use_hmac || pgno > 1) {
        codec.open(pgno, &mut page).expect("opens what it sealed");
        assert_eq!(page, plain);
    }
});
