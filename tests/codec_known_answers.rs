//! Pages that genuine SQLCipher wrote, opened by the page codec and read by
//! stock SQLite. `tests/data/codec/README.md` says how they were made.

use std::path::Path;

use pageseal::crypto::Backend;
use pageseal::error::PageError;
use pageseal::format::page1::MAGIC;
use pageseal::format::{HashAlgorithm, PageCodec, PageRef, PgnoOrder, Preset, Settings, derive};
use pageseal::secret::{Key, Salt};

struct Case {
    file: &'static str,
    key: Key,
    settings: Settings,
}

fn raw(len: u8) -> Key {
    Key::from_raw_bytes(&(0..len).collect::<Vec<_>>()).unwrap()
}

fn with(preset: Preset, change: impl FnOnce(&mut Settings)) -> Settings {
    let mut settings = Settings::preset(preset);
    change(&mut settings);
    settings
}

fn cases() -> Vec<Case> {
    let passphrase = || Key::passphrase("tops3cret");
    let case = |file, key, settings| Case {
        file,
        key,
        settings,
    };
    vec![
        case("v1", passphrase(), Settings::preset(Preset::V1)),
        case("v2", passphrase(), Settings::preset(Preset::V2)),
        case("v3", passphrase(), Settings::preset(Preset::V3)),
        case("v4", passphrase(), Settings::preset(Preset::V4)),
        case(
            "v4-raw-sha256",
            raw(32),
            with(Preset::V4, |s| {
                s.hmac_algorithm = HashAlgorithm::Sha256;
                s.page_size = 1024;
            }),
        ),
        case(
            "v4-header32-sha1",
            raw(80),
            with(Preset::V4, |s| {
                s.hmac_algorithm = HashAlgorithm::Sha1;
                s.page_size = 1024;
                s.plaintext_header = 32;
            }),
        ),
        case(
            "v4-full-header",
            raw(80),
            with(Preset::V4, |s| {
                s.page_size = 1024;
                s.plaintext_header = 944;
            }),
        ),
        case(
            "v4-nohmac",
            raw(32),
            with(Preset::V4, |s| {
                s.use_hmac = false;
                s.page_size = 2048;
            }),
        ),
    ]
}

impl Case {
    fn bytes(&self) -> Vec<u8> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/data/codec")
            .join(self.file)
            .with_extension("db");
        std::fs::read(path).unwrap()
    }

    fn codec(&self, file: &[u8]) -> PageCodec {
        self.codecs(file).swap_remove(0)
    }

    /// One for each backend, the best first.
    fn codecs(&self, file: &[u8]) -> Vec<PageCodec> {
        let salt: Salt = file[..16].try_into().unwrap();
        let keys = derive(&self.key, &self.settings, &salt).unwrap();
        Backend::available()
            .map(|backend| PageCodec::with_backend(backend, &self.settings, &keys).unwrap())
            .collect()
    }
}

fn pages(file: &mut [u8], size: usize) -> Vec<PageRef<'_>> {
    file.chunks_mut(size)
        .zip(1..)
        .map(|(bytes, pgno)| PageRef { pgno, bytes })
        .collect()
}

/// Reads a plaintext database image with stock SQLite.
fn rows(image: &[u8]) -> Vec<String> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), image).unwrap();
    let db = rusqlite::Connection::open(file.path()).unwrap();
    let check: String = db
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(check, "ok");
    let mut statement = db.prepare("SELECT b FROM t ORDER BY a").unwrap();
    let rows = statement.query_map([], |row| row.get(0)).unwrap();
    rows.map(Result::unwrap).collect()
}

#[test]
fn sqlciphers_pages_open() {
    for case in cases() {
        for codec in case.codecs(&case.bytes()) {
            pages_open(&case, &codec);
        }
    }
}

fn pages_open(case: &Case, codec: &PageCodec) {
    let mut file = case.bytes();
    let layout = *codec.layout();
    for page in pages(&mut file, layout.page_size()) {
        codec.verify(page.pgno, page.bytes).unwrap();
        codec.open(page.pgno, page.bytes).unwrap();
        assert!(page.bytes[layout.body_end()..].iter().all(|&b| b == 0));
    }
    assert_eq!(&file[..16], MAGIC, "{}", case.file);
    // SQLCipher's reserve never shrinks: settings that need less than the 80 bytes
    // of its defaults are written into files that still reserve 80.
    let reserved = usize::from(file[20]);
    assert!(
        reserved == layout.reserve() || reserved == 80,
        "{}",
        case.file
    );
    assert_eq!(
        rows(&file),
        ["north", "south", "east", "west"],
        "{}",
        case.file
    );

    // The batch calls do the same, and what they seal opens again: also where the
    // batch is large enough for all lanes.
    let mut batched = case.bytes();
    let mut results = Vec::new();
    codec.open_batch(&mut pages(&mut batched, layout.page_size()), &mut results);
    assert!(results.iter().all(Result::is_ok));
    assert_eq!(batched, file);
    codec
        .seal_batch(&mut pages(&mut batched, layout.page_size()))
        .unwrap();
    assert_ne!(batched, case.bytes());
    if layout.plaintext_header() == 0 {
        assert_eq!(batched[..16], case.bytes()[..16]);
    }
    codec.open_batch(&mut pages(&mut batched, layout.page_size()), &mut results);
    assert_eq!(results, [Ok(()), Ok(())]);
    assert_eq!(batched, file);

    let sealed = &case.bytes()[layout.page_size()..];
    let mut copies = sealed.repeat(21);
    let mut same: Vec<_> = copies
        .chunks_mut(layout.page_size())
        .map(|bytes| PageRef { pgno: 2, bytes })
        .collect();
    codec.open_batch(&mut same, &mut results);
    assert!(results.iter().all(Result::is_ok));
    assert_eq!(copies, file[layout.page_size()..].repeat(21));
}

#[test]
fn another_key_opens_nothing_and_leaves_the_page_alone() {
    for case in cases() {
        let mut file = case.bytes();
        let other = Case {
            key: Key::from_raw_bytes(&[0x55; 80]).unwrap(),
            ..case
        };
        let codec = other.codec(&file);
        let size = codec.layout().page_size();
        let (first, second) = file.split_at_mut(size);
        let expected = match (
            other.settings.use_hmac,
            codec.layout().start(1) == codec.layout().body_end(),
        ) {
            (_, true) => Ok(()),
            (true, false) => Err(PageError::Mac { pgno: 1 }),
            (false, false) => Err(PageError::Header),
        };
        assert_eq!(codec.open(1, first), expected, "{}", other.file);
        if other.settings.use_hmac {
            assert_eq!(codec.open(2, second), Err(PageError::Mac { pgno: 2 }));
            assert_eq!(codec.verify(2, second), Err(PageError::Mac { pgno: 2 }));
        }
        if expected.is_err() {
            assert_eq!(first, &other.bytes()[..size], "{}", other.file);
            if other.settings.use_hmac {
                assert_eq!(second, &other.bytes()[size..], "{}", other.file);
            }
        }
    }
}

/// What was sealed under one setting does not open under another.
#[test]
fn another_setting_opens_nothing() {
    const RAW: usize = 4; // No passphrase, so that it is quick.
    let case = cases().remove(RAW);
    let file = case.bytes();
    let with = |change: fn(&mut Settings)| {
        let mut settings = case.settings;
        change(&mut settings);
        settings
    };
    for settings in [
        with(|s| s.fast_kdf_iter = 3),
        with(|s| s.hmac_salt_mask = 0),
        with(|s| s.hmac_pgno = PgnoOrder::Big),
        with(|s| s.hmac_algorithm = HashAlgorithm::Sha512),
        with(|s| s.kdf_algorithm = HashAlgorithm::Sha256),
        with(|s| s.plaintext_header = 32),
        with(|s| s.page_size = 2048),
        with(|s| s.use_hmac = false),
    ] {
        let wrong = Case {
            settings,
            ..cases().remove(RAW)
        };
        let codec = wrong.codec(&file);
        let mut page = file[..codec.layout().page_size()].to_vec();
        let opened = codec.open(1, &mut page);
        // Without the MAC the IV stands elsewhere, which the header shows.
        let expected = match settings.use_hmac {
            true => Err(PageError::Mac { pgno: 1 }),
            false => Err(PageError::Header),
        };
        assert_eq!(opened, expected, "{settings:?}");
    }
}
