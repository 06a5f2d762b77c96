//! The database header, the first 100 bytes of page 1 (SQLite file format,
//! section 1.3).

use crate::format::page1;

/// Bytes of the header.
const LEN: usize = 100;

/// How text is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8, and what an empty database says.
    Utf8,
    /// UTF-16, little endian.
    Utf16Le,
    /// UTF-16, big endian.
    Utf16Be,
}

impl Encoding {
    /// Its name, as `PRAGMA encoding` gives it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "UTF-8",
            Self::Utf16Le => "UTF-16le",
            Self::Utf16Be => "UTF-16be",
        }
    }
}

impl Encoding {
    /// Text of this encoding; `None` where it is malformed.
    #[must_use]
    pub fn decode(self, bytes: &[u8]) -> Option<String> {
        let unit = match self {
            Self::Utf8 => return core::str::from_utf8(bytes).ok().map(str::to_owned),
            Self::Utf16Le => u16::from_le_bytes,
            Self::Utf16Be => u16::from_be_bytes,
        };
        let (units, rest) = bytes.as_chunks::<2>();
        let text = char::decode_utf16(units.iter().map(|&pair| unit(pair)));
        text.collect::<Result<String, _>>()
            .ok()
            .filter(|_| rest.is_empty())
    }
}

/// The header's fields, by the names of the file format document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Header {
    /// Offset 16: bytes of a page.
    pub page_size: u32,
    /// Offset 18: 1 rollback journal, 2 WAL.
    pub write_version: u8,
    /// Offset 19: 1 rollback journal, 2 WAL.
    pub read_version: u8,
    /// Offset 20: bytes at the end of each page that SQLite leaves alone.
    pub reserve: u8,
    /// Offset 24: transactions, outside WAL mode.
    pub change_counter: u32,
    /// Offset 28: pages of the database.
    pub page_count: u32,
    /// Offset 32: first trunk page of the free list.
    pub first_freelist_trunk: u32,
    /// Offset 36: free pages.
    pub freelist_pages: u32,
    /// Offset 40: counts changes of the schema.
    pub schema_cookie: u32,
    /// Offset 44: 1 to 4; 0 in an empty database.
    pub schema_format: u32,
    /// Offset 48: `PRAGMA default_cache_size`.
    pub default_cache_size: u32,
    /// Offset 52: not 0 with auto-vacuum.
    pub largest_root: u32,
    /// Offset 56: how text is stored.
    pub encoding: Encoding,
    /// Offset 60: `PRAGMA user_version`.
    pub user_version: i32,
    /// Offset 64: whether auto-vacuum is incremental.
    pub incremental_vacuum: bool,
    /// Offset 68: `PRAGMA application_id`.
    pub application_id: i32,
    /// Offset 92: the change counter for which `page_count` holds.
    pub version_valid_for: u32,
    /// Offset 96: the SQLite that wrote last, as 3045001 for 3.45.1.
    pub sqlite_version: u32,
}

impl Header {
    /// Reads the header of a decrypted page 1; `None` where it is none.
    #[must_use]
    pub fn parse(page: &[u8]) -> Option<Self> {
        let page: &[u8; LEN] = page.first_chunk()?;
        let word =
            |at: usize| u32::from_be_bytes([page[at], page[at + 1], page[at + 2], page[at + 3]]);
        let page_size = page1::declared_page_size([page[16], page[17]]);
        if !page.starts_with(page1::MAGIC)
            || !page_size.is_power_of_two()
            || page_size < 512
            || page[21..24] != [64, 32, 32]
        {
            return None;
        }
        Some(Self {
            page_size,
            write_version: page[18],
            read_version: page[19],
            reserve: page[20],
            change_counter: word(24),
            page_count: word(28),
            first_freelist_trunk: word(32),
            freelist_pages: word(36),
            schema_cookie: word(40),
            schema_format: word(44),
            default_cache_size: word(48),
            largest_root: word(52),
            encoding: match word(56) {
                2 => Encoding::Utf16Le,
                3 => Encoding::Utf16Be,
                _ => Encoding::Utf8,
            },
            user_version: word(60).cast_signed(),
            incremental_vacuum: word(64) != 0,
            application_id: word(68).cast_signed(),
            version_valid_for: word(92),
            sqlite_version: word(96),
        })
    }

    /// The number of pages that the header vouches for; `None` where it was last
    /// written by an SQLite older than 3.7.0, which left the field alone.
    #[must_use]
    pub fn trusted_page_count(&self) -> Option<u32> {
        (self.page_count > 0 && self.change_counter == self.version_valid_for)
            .then_some(self.page_count)
    }

    /// `journal_mode` as far as the file says it: WAL, or one of the rollback
    /// journals.
    #[must_use]
    pub fn journal_mode(&self) -> &'static str {
        if self.write_version == 2 {
            "wal"
        } else {
            "rollback journal"
        }
    }

    /// `PRAGMA auto_vacuum`.
    #[must_use]
    pub fn auto_vacuum(&self) -> &'static str {
        match (self.largest_root, self.incremental_vacuum) {
            (0, _) => "none",
            (_, false) => "full",
            (_, true) => "incremental",
        }
    }

    /// The SQLite that wrote last, as `3.45.1`.
    #[must_use]
    pub fn sqlite_version(&self) -> String {
        let v = self.sqlite_version;
        format!("{}.{}.{}", v / 1_000_000, v / 1000 % 1000, v % 1000)
    }
}
