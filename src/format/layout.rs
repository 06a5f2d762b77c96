//! Where things stand in a page: arithmetic only.
//!
//! ```text
//! offset  0        start                body                    +16       +mac_len  page_size
//!         | clear  | ciphertext ....... | IV (16)               | MAC     | random   |
//!                                       |<------------------ reserve -------------->|
//! ```
//!
//! `start` is 0 but on page 1, where it is the salt (16) or the plaintext header.

use crate::error::SettingsError;
use crate::secret::SALT_LEN;

use super::settings::Settings;

/// Bytes of an AES block, and of a page's IV.
pub const IV_LEN: usize = 16;

/// SQLite's smallest and largest page.
pub const PAGE_SIZES: core::ops::RangeInclusive<u32> = 512..=65536;

/// Fewest usable bytes in a page (SQLite file format, section 1.3.4).
const MIN_USABLE: u32 = 480;

/// Where things stand in a page of one database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    page_size: usize,
    reserve: usize,
    mac_len: usize,
    plaintext_header: usize,
}

impl Layout {
    /// Works the layout out and checks it.
    ///
    /// # Errors
    /// Names the setting that makes no valid page.
    pub fn new(settings: &Settings) -> Result<Self, SettingsError> {
        let page_size = settings.page_size;
        if !page_size.is_power_of_two() || !PAGE_SIZES.contains(&page_size) {
            return Err(SettingsError::PageSize(page_size.into()));
        }
        if settings.kdf_iter == 0 {
            return Err(SettingsError::Iterations { name: "kdf_iter" });
        }
        if settings.fast_kdf_iter == 0 {
            return Err(SettingsError::Iterations {
                name: "fast_kdf_iter",
            });
        }
        let mac_len = if settings.use_hmac {
            settings.hmac_algorithm.output_len()
        } else {
            0
        };
        let reserve = (IV_LEN + mac_len).next_multiple_of(IV_LEN);
        let too_small = SettingsError::PageTooSmall {
            page_size,
            reserve: reserve as u32,
        };
        let usable = page_size - reserve as u32;
        if usable < MIN_USABLE {
            return Err(too_small);
        }
        let header = settings.plaintext_header;
        if !header.is_multiple_of(IV_LEN as u32) || header > usable {
            return Err(SettingsError::PlaintextHeader {
                size: header.into(),
                max: usable,
            });
        }
        Ok(Self {
            page_size: page_size as usize,
            reserve,
            mac_len,
            plaintext_header: header as usize,
        })
    }

    /// Bytes of a page.
    #[must_use]
    pub fn page_size(&self) -> usize {
        self.page_size
    }

    /// Bytes at the end of each page that SQLite leaves to us.
    #[must_use]
    pub fn reserve(&self) -> usize {
        self.reserve
    }

    /// Bytes of the MAC; 0 with HMAC off.
    #[must_use]
    pub fn mac_len(&self) -> usize {
        self.mac_len
    }

    /// Offset of the reserve, and so of the IV, in a page.
    #[must_use]
    pub fn body_end(&self) -> usize {
        self.page_size - self.reserve
    }

    /// Offset of the MAC in a page: also the end of what it covers.
    #[must_use]
    pub fn mac_start(&self) -> usize {
        self.body_end() + IV_LEN
    }

    /// Bytes at the start of page 1 that are stored in the clear by the
    /// plaintext-header setting; 0 where the salt stands there instead.
    #[must_use]
    pub fn plaintext_header(&self) -> usize {
        self.plaintext_header
    }

    /// Offset at which encryption and MAC of page `pgno` (1-based) start.
    #[must_use]
    pub fn start(&self, pgno: u32) -> usize {
        match (pgno, self.plaintext_header) {
            (1, 0) => SALT_LEN,
            (1, header) => header,
            _ => 0,
        }
    }

    /// Byte offset in the database file at which page `pgno` (1-based) starts.
    #[must_use]
    pub fn offset(&self, pgno: u32) -> u64 {
        u64::from(pgno - 1) * self.page_size as u64
    }

    /// Number of the page that holds byte 2^30 of the file, where SQLite keeps
    /// its locks: it is never read and never written.
    #[must_use]
    pub fn lock_page(&self) -> u32 {
        lock_page(self.page_size as u64)
    }
}

/// First byte of SQLite's lock range (`sqlite3.c`, `PENDING_BYTE`).
const PENDING_BYTE: u64 = 1 << 30;

/// As [`Layout::lock_page`], for pages of `page_size` bytes.
#[must_use]
pub fn lock_page(page_size: u64) -> u32 {
    (PENDING_BYTE / page_size) as u32 + 1
}

#[cfg(test)]
mod tests {
    use super::super::settings::{HashAlgorithm, Preset};
    use super::*;

    /// The table of SQLCipher's presets: page size, reserve.
    #[test]
    fn presets_have_sqlciphers_geometry() {
        for (preset, page, reserve) in [
            (Preset::V1, 1024, 16),
            (Preset::V2, 1024, 48),
            (Preset::V3, 1024, 48),
            (Preset::V4, 4096, 80),
        ] {
            let layout = Layout::new(&Settings::preset(preset)).unwrap();
            assert_eq!((layout.page_size(), layout.reserve()), (page, reserve));
        }
    }

    #[test]
    fn impossible_pages_are_refused() {
        let v4 = Settings::default();
        let tiny = Settings {
            page_size: 512,
            ..v4
        };
        assert!(matches!(
            Layout::new(&tiny),
            Err(SettingsError::PageTooSmall { reserve: 80, .. })
        ));
        // 512 - 48 = 464 is below 480 too; only without a MAC does 512 work.
        let sha1 = Settings {
            hmac_algorithm: HashAlgorithm::Sha1,
            ..tiny
        };
        assert!(Layout::new(&sha1).is_err());
        let bare = Settings {
            use_hmac: false,
            ..tiny
        };
        assert_eq!(Layout::new(&bare).unwrap().reserve(), 16);
        for size in [0, 1, 511, 1000, 4095, 131_072] {
            let bad = Settings {
                page_size: size,
                ..v4
            };
            assert!(matches!(Layout::new(&bad), Err(SettingsError::PageSize(_))));
        }
        for header in [1, 8, 24, 4096, 4032] {
            let bad = Settings {
                plaintext_header: header,
                ..v4
            };
            assert!(Layout::new(&bad).is_err(), "{header}");
        }
        let whole = Settings {
            plaintext_header: 4016,
            ..v4
        };
        assert_eq!(Layout::new(&whole).unwrap().start(1), 4016);
    }
}
