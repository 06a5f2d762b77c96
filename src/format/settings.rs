//! The settings that decide a database's bytes, and SQLCipher's four presets.

use crate::error::SettingsError;

pub use crate::crypto::HashAlgorithm;

/// How the page number goes into the page MAC (`cipher_hmac_pgno`).
///
/// SQLCipher writes little endian everywhere; 2.0 betas used the machine's own
/// order, so that files from a big-endian machine need [`PgnoOrder::Big`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PgnoOrder {
    /// Little endian, the default.
    Little,
    /// Big endian.
    Big,
    /// The order of the machine that runs this code.
    Native,
}

impl PgnoOrder {
    /// The four bytes of `pgno` as they enter the MAC.
    #[must_use]
    pub const fn bytes(self, pgno: u32) -> [u8; 4] {
        match self {
            Self::Little => pgno.to_le_bytes(),
            Self::Big => pgno.to_be_bytes(),
            Self::Native => pgno.to_ne_bytes(),
        }
    }
}

/// One of SQLCipher's sets of defaults (`cipher_compatibility`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Preset {
    /// SQLCipher 1: 1024-byte pages, no MAC, 4 000 iterations of HMAC-SHA1.
    V1,
    /// SQLCipher 2: as 1, with HMAC-SHA1 on each page.
    V2,
    /// SQLCipher 3: as 2, with 64 000 iterations.
    V3,
    /// SQLCipher 4: 4096-byte pages, SHA-512 throughout, 256 000 iterations.
    V4,
}

/// Everything but the key that decides a database's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Settings {
    /// Bytes of a page (`cipher_page_size`): a power of two, 512 to 65536.
    pub page_size: u32,
    /// Rounds of PBKDF2 from passphrase to AES key (`kdf_iter`).
    pub kdf_iter: u32,
    /// Rounds of PBKDF2 from AES key to HMAC key (`fast_kdf_iter`).
    pub fast_kdf_iter: u32,
    /// Whether pages carry a MAC (`cipher_use_hmac`).
    pub use_hmac: bool,
    /// Hash of the page MAC (`cipher_hmac_algorithm`).
    pub hmac_algorithm: HashAlgorithm,
    /// Hash of both key derivations (`cipher_kdf_algorithm`).
    pub kdf_algorithm: HashAlgorithm,
    /// Bytes at the start of page 1 that stay in the clear
    /// (`cipher_plaintext_header_size`): a multiple of 16.
    pub plaintext_header: u32,
    /// Byte order of the page number in the MAC (`cipher_hmac_pgno`).
    pub hmac_pgno: PgnoOrder,
    /// XORed to every byte of the salt for the HMAC key (`cipher_hmac_salt_mask`).
    pub hmac_salt_mask: u8,
}

impl Settings {
    /// SQLCipher's defaults of one version.
    #[must_use]
    pub const fn preset(preset: Preset) -> Self {
        let v3 = Self {
            page_size: 1024,
            kdf_iter: 64_000,
            fast_kdf_iter: 2,
            use_hmac: true,
            hmac_algorithm: HashAlgorithm::Sha1,
            kdf_algorithm: HashAlgorithm::Sha1,
            plaintext_header: 0,
            hmac_pgno: PgnoOrder::Little,
            hmac_salt_mask: 0x3a,
        };
        match preset {
            Preset::V1 => Self {
                kdf_iter: 4_000,
                use_hmac: false,
                ..v3
            },
            Preset::V2 => Self {
                kdf_iter: 4_000,
                ..v3
            },
            Preset::V3 => v3,
            Preset::V4 => Self {
                page_size: 4096,
                kdf_iter: 256_000,
                hmac_algorithm: HashAlgorithm::Sha512,
                kdf_algorithm: HashAlgorithm::Sha512,
                ..v3
            },
        }
    }

    /// Checks that these settings make a valid database.
    ///
    /// # Errors
    /// Names the first setting that is wrong and what it must be.
    pub fn validate(&self) -> Result<(), SettingsError> {
        super::layout::Layout::new(self).map(|_| ())
    }
}

impl Default for Settings {
    /// SQLCipher 4.
    fn default() -> Self {
        Self::preset(Preset::V4)
    }
}

/// The settings chosen so far for one database, or as the default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Choice {
    /// The settings.
    pub settings: Settings,
    /// Whether `settings.page_size` gives way to the size that the file has.
    pub auto_page_size: bool,
}
