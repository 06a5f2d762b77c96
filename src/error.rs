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

/// Why a database could not be opened, read or written, in the terms of whoever
/// holds it. Programs see an SQLite code; this is the reason behind it, as
/// `PRAGMA cipher_status`, SQLite's error log and the typed API tell it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Failure {
    /// The file is not a plaintext database, and no key was given.
    #[error("no key given: the file is encrypted, or it is not a database")]
    NoKey,
    /// Page 1 does not authenticate or decrypt.
    #[error(
        "wrong key or settings (or page 1 is damaged, or the file is not a SQLCipher database)"
    )]
    WrongKey,
    /// The file is too short to be a database.
    #[error("not a database: the file is shorter than the smallest page")]
    NotADatabase,
    /// A key was given for a plaintext database.
    #[error(
        "a key was given, but the file is a plaintext SQLite database; open it without a key, or encrypt a copy of it"
    )]
    NotEncrypted,
    /// A page other than the first does not authenticate.
    #[error("page {pgno} is damaged: its HMAC does not verify")]
    DamagedPage {
        /// 1-based page number.
        pgno: u32,
    },
    /// The file ends within a page.
    #[error("page {pgno} is cut short: the file ends within it")]
    ShortPage {
        /// 1-based page number.
        pgno: u32,
    },
    /// A record of the rollback journal is intact but does not authenticate.
    #[error("the rollback journal's copy of page {pgno} does not authenticate")]
    DamagedJournal {
        /// 1-based page number.
        pgno: u32,
    },
    /// The rollback journal was not made with the key that opens the database.
    #[error(
        "the rollback journal beside the database does not go with its key or page size: it is another database's, or that of a rekey which did not come to its end"
    )]
    ForeignJournal,
    /// The page count in the rollback journal's header would cut off pages that the
    /// database had before the transaction.
    #[error(
        "the rollback journal's header is damaged: it says that the database had {pages} pages, but page 1 says {declared}; playing it back would cut pages off"
    )]
    JournalSize {
        /// Pages by the journal's header.
        pages: u64,
        /// Pages by page 1 as the transaction found it.
        declared: u32,
    },
    /// A page in the write-ahead log does not authenticate, although the key opens
    /// the database.
    #[error(
        "the write-ahead log's copy of page {pgno} does not authenticate; the log is damaged or another database's"
    )]
    DamagedLog {
        /// 1-based page number.
        pgno: u32,
    },
    /// The settings make no valid database.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The key can't be used.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// No random bytes for an IV or a salt.
    #[error(transparent)]
    Random(#[from] RandomError),
    /// The key of an `ATTACH` can't be made out; without it the database would
    /// be written in the clear.
    #[error("ATTACH: {0}")]
    AttachKey(String),
    /// A write that would have destroyed something or stored plaintext.
    #[error("write refused: {0}")]
    Refused(#[from] Refusal),
}

/// Why a write was refused before it reached the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The key has not opened anything in this file yet.
    #[error("the key has not been proved against this file")]
    Unproven,
    /// The write is not one whole page.
    #[error(
        "{len} bytes at offset {offset} are not one {page_size}-byte page; an encrypted database's page size can't be changed in place"
    )]
    NotAPage {
        /// Byte offset of the write.
        offset: u64,
        /// Bytes of it.
        len: usize,
        /// Bytes of the database's pages.
        page_size: usize,
    },
    /// Page 1 is not the first page of a database with our page size and reserve.
    #[error(
        "page 1 declares {page_size}-byte pages with {reserve} reserved bytes, but the encryption needs {needed_page_size} with {needed_reserve}; the source of this backup or VACUUM has another page layout (copy the rows instead, for example with sqlcipher_export), or this connection had begun to create the database before it was given this key or these settings (open it anew)"
    )]
    ForeignPage1 {
        /// Page size that the page declares.
        page_size: u32,
        /// Reserve that it declares.
        reserve: u8,
        /// Page size of the settings in force.
        needed_page_size: usize,
        /// Reserve of the settings in force.
        needed_reserve: usize,
    },
    /// The last bytes of a page, which the IV and MAC need, hold content.
    #[error(
        "page {pgno} has content in the bytes reserved for IV and HMAC; the source of this backup or VACUUM reserves fewer bytes a page"
    )]
    ReserveInUse {
        /// 1-based page number.
        pgno: u32,
    },
    /// A write to a log or journal that is not one of its records.
    #[error("{len} bytes at offset {offset} of the {file} are none of its records")]
    NotARecord {
        /// Which file.
        file: &'static str,
        /// Byte offset of the write.
        offset: u64,
        /// Bytes of it.
        len: usize,
    },
    /// A key was given that can't be used, and the file is new.
    #[error(
        "the key that was given can't be used, so the new database would be plaintext; give a key, or open the file anew without one"
    )]
    KeyFailed,
    /// The file is encrypted or foreign, and the connection has no key.
    #[error("the file is not a plaintext database, and no key was given")]
    Unkeyed,
}
