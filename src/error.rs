//! What can go wrong, split by who can act on it. No SQLite result codes here:
//! `vfs::code` maps these to them.

use thiserror::Error;

/// A key that can't be used, whatever the file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum KeyError {
    /// SQLCipher has no empty key, and an empty one is most often a mistake.
    #[error("the key is empty; give a passphrase or a raw key")]
    Empty,
    /// `hexkey` and the typed raw constructors take whole bytes only.
    #[error("the key is not hexadecimal: an even number of the digits 0-9, a-f is needed")]
    NotHex,
    /// Raw key material comes as 32, 48 or 80 bytes.
    #[error(
        "raw key material of {0} bytes; 32 (key), 48 (key, salt) or 80 (key, HMAC key, salt) are needed"
    )]
    RawLength(usize),
}

/// Settings that make no valid database.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// SQLite's page sizes are powers of two.
    #[error("page size {0}: it must be a power of two from 512 to 65536")]
    PageSize(u64),
    /// SQLite needs 480 usable bytes in a page.
    #[error(
        "{page_size}-byte pages with {reserve} reserved bytes leave fewer than the 480 bytes that SQLite needs; use a larger cipher_page_size or a smaller HMAC"
    )]
    PageTooSmall {
        /// Bytes of a page.
        page_size: u32,
        /// Bytes of it that the IV and the MAC take.
        reserve: u32,
    },
    /// A plaintext header covers whole cipher blocks of page 1.
    #[error("plaintext header of {size} bytes: it must be a multiple of 16 from 0 to {max}")]
    PlaintextHeader {
        /// Bytes asked for.
        size: u64,
        /// Most bytes that the page leaves.
        max: u32,
    },
    /// With a plaintext header the salt is not in the file.
    #[error(
        "a plaintext header needs the salt from outside: give cipher_salt=\"x'<32 hex digits>'\" or a raw key with a salt"
    )]
    SaltMissing,
    /// The salt is 16 bytes, as `x'<32 hex digits>'`.
    #[error("the salt must be given as x'<32 hex digits>'")]
    Salt,
    /// PBKDF2 runs at least once; SQLCipher counts its rounds in a C `int`.
    #[error("{name}: a whole number from 1 to 2147483647 is needed")]
    Iterations {
        /// The setting's name as a pragma.
        name: &'static str,
    },
    /// A value that the setting does not know.
    #[error("{name}: {expected} is needed")]
    Value {
        /// The setting's name as a pragma.
        name: &'static str,
        /// The values that it knows.
        expected: &'static str,
    },
    /// A URI parameter that looks like one of ours and is not.
    #[error("unknown setting {0:?}")]
    Unknown(String),
}

/// The operating system gave no random bytes, so nothing can be sealed: an IV
/// that is not random would give plaintext away. Holds its error number, where
/// it gave one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the operating system gave no random bytes (error {0:?})")]
pub struct RandomError(pub Option<i32>);

/// A page that can't be opened. Nothing of it has been decrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PageError {
    /// The stored MAC is not the one that key, page number and bytes give: the
    /// page is damaged, or (most likely where it is page 1) the key or a setting
    /// is wrong.
    #[error("HMAC verification failed for page {pgno}")]
    Mac {
        /// 1-based page number.
        pgno: u32,
    },
    /// Page 1 carries no MAC (HMAC is off) and does not decrypt to a database
    /// header: wrong key or settings, or a damaged page.
    #[error("page 1 does not decrypt to a database header")]
    Header,
    /// The page is all zeros, which nothing that writes SQLCipher pages makes
    /// except a hole in the file.
    #[error("page {pgno} is all zeros")]
    Zeros {
        /// 1-based page number.
        pgno: u32,
    },
}

impl PageError {
    /// The 1-based number of the page that failed.
    #[must_use]
    pub fn page(self) -> u32 {
        match self {
            Self::Mac { pgno } | Self::Zeros { pgno } => pgno,
            Self::Header => 1,
        }
    }
}
