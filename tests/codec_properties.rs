//! What the page codec must do for every setting, page number and content.

use std::sync::atomic::{AtomicUsize, Ordering};

use pageseal::crypto::Backend;
use pageseal::error::PageError;
use pageseal::format::{
    DerivedKeys, HashAlgorithm, PageCodec, PageRef, PgnoOrder, Settings, derive,
};
use pageseal::secret::{Key, SecretKey};
use proptest::prelude::*;

fn hash() -> impl Strategy<Value = HashAlgorithm> {
    prop_oneof![
        Just(HashAlgorithm::Sha1),
        Just(HashAlgorithm::Sha256),
        Just(HashAlgorithm::Sha512),
    ]
}

/// All settings that make a valid page.
fn settings() -> impl Strategy<Value = Settings> {
    let order = prop_oneof![
        Just(PgnoOrder::Little),
        Just(PgnoOrder::Big),
        Just(PgnoOrder::Native)
    ];
    let header = prop_oneof![4 => Just(0u32), 1 => Just(1), 1 => Just(2), 1 => any::<u32>()];
    (9u32..=16, any::<bool>(), hash(), hash(), order, header)
        .prop_map(|(log, use_hmac, mac, kdf, order, header)| {
            let mut settings = Settings::default();
            settings.page_size = 1 << log;
            settings.use_hmac = use_hmac;
            settings.hmac_algorithm = mac;
            settings.kdf_algorithm = kdf;
            settings.hmac_pgno = order;
            settings.plaintext_header = header % (settings.page_size / 16) * 16;
            settings
        })
        .prop_filter("a valid page", |settings| settings.validate().is_ok())
}

fn pgno() -> impl Strategy<Value = u32> {
    prop_oneof![2 => Just(1), 2 => 2u32..100, 1 => 1u32..=u32::MAX]
}

/// A codec on one of the backends, another one with each call.
fn codec(settings: &Settings, key: u8) -> PageCodec {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    let call = CALLS.fetch_add(1, Ordering::Relaxed);
    let backends: Vec<_> = Backend::available().collect();
    let key = Key::Raw(SecretKey::new([key; 32]));
    let keys = derive(&key, settings, &[3; 16]).unwrap();
    PageCodec::with_backend(backends[call % backends.len()], settings, &keys).unwrap()
}

/// A page as SQLite would write it: any content, zeros in the reserve, and on
/// page 1 a header that fits.
fn page(codec: &PageCodec, pgno: u32, seed: u64) -> Vec<u8> {
    let layout = codec.layout();
    let mut state = seed | 1;
    let mut page: Vec<u8> = (0..layout.page_size())
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 32) as u8
        })
        .collect();
    page[layout.body_end()..].fill(0);
    if pgno == 1 {
        let size = match layout.page_size() {
            65536 => 1,
            size => size as u16,
        };
        page[..16].copy_from_slice(b"SQLite format 3\0");
        page[16..18].copy_from_slice(&size.to_be_bytes());
        page[18..24].copy_from_slice(&[1, 2, layout.reserve() as u8, 64, 32, 32]);
    }
    page
}

/// Bytes that the MAC covers, or the MAC itself.
fn authenticated(codec: &PageCodec, pgno: u32) -> core::ops::Range<usize> {
    let layout = codec.layout();
    if layout.start(pgno) == layout.body_end() {
        return 0..0;
    }
    layout.start(pgno)..layout.mac_start() + layout.mac_len()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn what_is_sealed_opens(settings in settings(), pgno in pgno(), seed: u64) {
        let codec = codec(&settings, 1);
        let plain = page(&codec, pgno, seed);
        let mut sealed = plain.clone();
        codec.seal(pgno, &mut sealed).unwrap();
        let start = codec.layout().start(pgno);
        let end = codec.layout().body_end();
        if start < end {
            prop_assert_ne!(&sealed[start..end], &plain[start..end]);
            // A second time, under another IV, nothing is the same.
            let mut again = plain.clone();
            codec.seal(pgno, &mut again).unwrap();
            for at in (start..codec.layout().mac_start()).step_by(16) {
                prop_assert_ne!(&sealed[at..at + 16], &again[at..at + 16]);
            }
        }
        if pgno == 1 && settings.plaintext_header == 0 {
            prop_assert_eq!(&sealed[..16], &[3; 16]);
        } else {
            prop_assert_eq!(&sealed[..start], &plain[..start]);
        }
        prop_assert_eq!(codec.verify(pgno, &sealed), Ok(()));
        codec.open(pgno, &mut sealed).unwrap();
        prop_assert_eq!(sealed, plain);
    }

    #[test]
    fn a_flipped_bit_is_refused(settings in settings(), pgno in pgno(), seed: u64, picks: [u32; 16]) {
        let codec = codec(&settings, 1);
        let mut sealed = page(&codec, pgno, seed);
        codec.seal(pgno, &mut sealed).unwrap();
        let covered = authenticated(&codec, pgno);
        prop_assume!(settings.use_hmac && !covered.is_empty());
        let edges = [covered.start * 8, covered.end * 8 - 1];
        let any = picks.map(|pick| covered.start * 8 + pick as usize % (covered.len() * 8));
        for bit in edges.into_iter().chain(any) {
            let mut bad = sealed.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            let before = bad.clone();
            prop_assert_eq!(codec.open(pgno, &mut bad), Err(PageError::Mac { pgno }));
            prop_assert_eq!(bad, before);
        }
    }

    #[test]
    fn another_number_or_key_is_refused(
        settings in settings(), pgno in 2u32.., other in 2u32.., seed: u64,
    ) {
        prop_assume!(settings.use_hmac && pgno != other);
        let codec = codec(&settings, 1);
        let mut sealed = page(&codec, pgno, seed);
        codec.seal(pgno, &mut sealed).unwrap();
        let before = sealed.clone();
        prop_assert_eq!(codec.open(other, &mut sealed), Err(PageError::Mac { pgno: other }));
        prop_assert!(self::codec(&settings, 2).open(pgno, &mut sealed).is_err());
        prop_assert_eq!(&sealed, &before);
    }

    /// A batch does what the single calls do, whatever is wrong with some pages.
    #[test]
    fn a_batch_is_its_pages(
        settings in settings(),
        numbers in proptest::collection::vec((pgno(), any::<u64>(), 0u8..4), 0..40),
    ) {
        prop_assume!(settings.page_size <= 4096);
        let codec = codec(&settings, 1);
        let plain: Vec<_> = numbers.iter().map(|&(n, seed, _)| page(&codec, n, seed)).collect();
        let mut sealed = plain.clone();
        let mut refs: Vec<_> = sealed.iter_mut().zip(&numbers)
            .map(|(bytes, &(pgno, ..))| PageRef { pgno, bytes })
            .collect();
        codec.seal_batch(&mut refs).unwrap();
        for (page, &(pgno, _, damage)) in sealed.iter_mut().zip(&numbers) {
            prop_assert_eq!(codec.verify(pgno, page), Ok(()));
            match damage {
                1 => page[100] ^= 1,
                2 => page.fill(0),
                _ => {}
            }
        }
        let verified: Vec<_> = sealed.iter().zip(&numbers)
            .map(|(page, &(pgno, ..))| codec.verify(pgno, page))
            .collect();
        let mut single = sealed.clone();
        let expected: Vec<_> = single.iter_mut().zip(&numbers)
            .map(|(page, &(pgno, ..))| codec.open(pgno, page))
            .collect();
        let mut refs: Vec<_> = sealed.iter_mut().zip(&numbers)
            .map(|(bytes, &(pgno, ..))| PageRef { pgno, bytes })
            .collect();
        let mut results = vec![Ok(()); 3];
        codec.verify_batch(&refs, &mut results);
        prop_assert_eq!(&results, &verified);
        codec.open_batch(&mut refs, &mut results);
        prop_assert_eq!(&results, &expected);
        prop_assert_eq!(&sealed, &single);
        for ((page, plain), &(.., damage)) in sealed.iter().zip(&plain).zip(&numbers) {
            if damage == 0 {
                prop_assert_eq!(page, plain);
            }
        }
    }
}

/// Every single bit of one page, under each algorithm.
#[test]
fn no_bit_of_a_page_can_be_flipped() {
    for algorithm in [
        HashAlgorithm::Sha1,
        HashAlgorithm::Sha256,
        HashAlgorithm::Sha512,
    ] {
        let mut settings = Settings::default();
        settings.page_size = 1024;
        settings.hmac_algorithm = algorithm;
        let codec = codec(&settings, 1);
        for pgno in [1, 2] {
            let mut sealed = page(&codec, pgno, 7);
            codec.seal(pgno, &mut sealed).unwrap();
            let covered = authenticated(&codec, pgno);
            for bit in 0..sealed.len() * 8 {
                sealed[bit / 8] ^= 1 << (bit % 8);
                let verdict = codec.verify(pgno, &sealed);
                assert_eq!(verdict.is_err(), covered.contains(&(bit / 8)), "{bit}");
                sealed[bit / 8] ^= 1 << (bit % 8);
            }
        }
    }
}

#[test]
fn zeros_are_told_from_damage() {
    for use_hmac in [true, false] {
        let mut settings = Settings::default();
        settings.use_hmac = use_hmac;
        let codec = codec(&settings, 1);
        let mut page = vec![0; 4096];
        for pgno in [1, 2] {
            let zeros = Err(PageError::Zeros { pgno });
            assert_eq!(codec.open(pgno, &mut page), zeros);
            assert_eq!(codec.verify(pgno, &page), zeros);
        }
        assert_eq!(page, vec![0; 4096]);
    }
}

/// With HMAC off, page 1 must decrypt to a header of these settings.
#[test]
fn headers_are_checked_where_there_is_no_mac() {
    for (page_size, header) in [(512, 0), (4096, 0), (4096, 16), (4096, 32), (65536, 0)] {
        let mut settings = Settings::default();
        settings.use_hmac = false;
        settings.page_size = page_size;
        settings.plaintext_header = header;
        let codec = codec(&settings, 1);
        let good = page(&codec, 1, 1);
        let mut sealed = good.clone();
        codec.seal(1, &mut sealed).unwrap();
        assert_eq!(codec.open(1, &mut sealed), Ok(()));
        let wrong: [(usize, u8); 9] = [
            (16, 3),
            (17, 7),
            (18, 0),
            (18, 3),
            (19, 3),
            (20, 15),
            (21, 65),
            (22, 31),
            (23, 0),
        ];
        for (at, value) in wrong {
            let mut bad = good.clone();
            bad[at] = value;
            codec.seal(1, &mut bad).unwrap();
            let before = bad.clone();
            assert_eq!(codec.open(1, &mut bad), Err(PageError::Header), "{at}");
            assert_eq!(bad, before);
        }
    }
}

#[test]
#[should_panic(expected = "one page")]
fn a_slice_of_another_length_panics() {
    let _ = codec(&Settings::default(), 1).open(1, &mut [0; 512]);
}

#[test]
#[should_panic(expected = "start at 1")]
fn page_zero_panics() {
    let _ = codec(&Settings::default(), 1).seal(0, &mut [0; 4096]);
}

#[test]
fn codecs_are_shared_and_print_no_key() {
    fn shared<T: Send + Sync>(_: &T) {}
    let codec = codec(&Settings::default(), 0xAB);
    shared(&codec);
    let text = format!("{codec:?}");
    assert!(text.contains("page_size: 4096"), "{text}");
    for leak in ["171", "ab", "AB"] {
        assert!(!text.contains(leak), "{text}");
    }
}

/// Dropped keys are gone: looked for in the place where they stood.
#[test]
fn keys_wipe_themselves() {
    use zeroize::Zeroize;
    fn wiped<T: zeroize::ZeroizeOnDrop>() {}
    wiped::<DerivedKeys>();
    wiped::<SecretKey>();
    let mut key = SecretKey::new([7; 32]);
    key.zeroize();
    assert_eq!(key.expose(), &[0; 32]);
}
