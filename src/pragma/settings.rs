//! One setting: its names, its values as text, and what it does to a database's
//! settings. Pragmas and URI parameters share it.
//!
//! | pragma | values | of the default |
//! |---|---|---|
//! | `cipher_compatibility` | 1, 2, 3, 4 | `cipher_default_compatibility` |
//! | `cipher_page_size` | power of two, 512 to 65536; `auto` | `cipher_default_page_size` |
//! | `kdf_iter` | 1 to 2147483647 | `cipher_default_kdf_iter` |
//! | `fast_kdf_iter` | 1 to 2147483647 | |
//! | `cipher_use_hmac` | a switch | `cipher_default_use_hmac` |
//! | `cipher_hmac_algorithm` | `HMAC_SHA1`, `HMAC_SHA256`, `HMAC_SHA512` | `cipher_default_hmac_algorithm` |
//! | `cipher_kdf_algorithm` | `PBKDF2_HMAC_SHA1`, `…SHA256`, `…SHA512` | `cipher_default_kdf_algorithm` |
//! | `cipher_plaintext_header_size` | 0 to the page's usable size, in steps of 16 | `cipher_default_plaintext_header_size` |
//! | `cipher_hmac_pgno` | `le`, `be`, `native` | |
//! | `cipher_hmac_salt_mask` | `x'00'` to `x'ff'` | |
//!
//! SQLCipher overlooks most values that it can't read, and goes on with another
//! format than the one asked for. Here they are refused at once.

use crate::error::SettingsError;
use crate::format::layout::PAGE_SIZES;
use crate::format::{Choice, HashAlgorithm, PgnoOrder, Preset, Settings};

use super::value;

/// The name of a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SettingName {
    /// `cipher_compatibility`: a SQLCipher version's set of settings.
    Compatibility,
    /// `cipher_page_size`.
    PageSize,
    /// `kdf_iter`.
    KdfIter,
    /// `fast_kdf_iter`, deprecated.
    FastKdfIter,
    /// `cipher_use_hmac`.
    UseHmac,
    /// `cipher_hmac_algorithm`.
    HmacAlgorithm,
    /// `cipher_kdf_algorithm`.
    KdfAlgorithm,
    /// `cipher_plaintext_header_size`.
    PlaintextHeaderSize,
    /// `cipher_hmac_pgno`, deprecated.
    HmacPgno,
    /// `cipher_hmac_salt_mask`, deprecated.
    HmacSaltMask,
}

impl SettingName {
    /// Every setting.
    pub const ALL: [Self; 10] = [
        Self::Compatibility,
        Self::PageSize,
        Self::KdfIter,
        Self::FastKdfIter,
        Self::UseHmac,
        Self::HmacAlgorithm,
        Self::KdfAlgorithm,
        Self::PlaintextHeaderSize,
        Self::HmacPgno,
        Self::HmacSaltMask,
    ];

    /// The settings that `cipher_settings` lists, in its order.
    pub const LISTED: [Self; 6] = [
        Self::KdfIter,
        Self::PageSize,
        Self::UseHmac,
        Self::PlaintextHeaderSize,
        Self::HmacAlgorithm,
        Self::KdfAlgorithm,
    ];

    /// The pragma that reads and changes the setting of one database.
    #[must_use]
    pub const fn pragma(self) -> &'static str {
        match self {
            Self::Compatibility => "cipher_compatibility",
            Self::PageSize => "cipher_page_size",
            Self::KdfIter => "kdf_iter",
            Self::FastKdfIter => "fast_kdf_iter",
            Self::UseHmac => "cipher_use_hmac",
            Self::HmacAlgorithm => "cipher_hmac_algorithm",
            Self::KdfAlgorithm => "cipher_kdf_algorithm",
            Self::PlaintextHeaderSize => "cipher_plaintext_header_size",
            Self::HmacPgno => "cipher_hmac_pgno",
            Self::HmacSaltMask => "cipher_hmac_salt_mask",
        }
    }

    /// The pragma that reads and changes what later keys start from, for the
    /// settings that have one.
    #[must_use]
    pub const fn default_pragma(self) -> Option<&'static str> {
        Some(match self {
            Self::Compatibility => "cipher_default_compatibility",
            Self::PageSize => "cipher_default_page_size",
            Self::KdfIter => "cipher_default_kdf_iter",
            Self::UseHmac => "cipher_default_use_hmac",
            Self::HmacAlgorithm => "cipher_default_hmac_algorithm",
            Self::KdfAlgorithm => "cipher_default_kdf_algorithm",
            Self::PlaintextHeaderSize => "cipher_default_plaintext_header_size",
            Self::FastKdfIter | Self::HmacPgno | Self::HmacSaltMask => return None,
        })
    }

    /// The setting that a pragma or URI parameter of this name is about, in either
    /// case. `page_size` is not among them: it is SQLite's as long as the database
    /// has no key.
    #[must_use]
    pub fn from_pragma(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|setting| setting.pragma().eq_ignore_ascii_case(name))
    }

    /// The setting whose default a pragma of this name is about, in either case.
    #[must_use]
    pub fn from_default_pragma(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|setting| {
            setting
                .default_pragma()
                .is_some_and(|pragma| pragma.eq_ignore_ascii_case(name))
        })
    }

    /// What the setter of a deprecated setting answers with; the others answer
    /// nothing.
    #[must_use]
    pub const fn deprecation(self) -> Option<&'static str> {
        Some(match self {
            Self::FastKdfIter => "PRAGMA fast_kdf_iter is deprecated, please remove from use",
            Self::HmacPgno => "PRAGMA cipher_hmac_pgno is deprecated, please remove from use",
            Self::HmacSaltMask => {
                "PRAGMA cipher_hmac_salt_mask is deprecated, please remove from use"
            }
            _ => return None,
        })
    }

    /// What the getter answers with. `cipher_compatibility` answers nothing: it is
    /// not kept, only what it set.
    #[must_use]
    pub fn get(self, settings: &Settings) -> Option<String> {
        Some(match self {
            Self::Compatibility => return None,
            Self::PageSize => settings.page_size.to_string(),
            Self::KdfIter => settings.kdf_iter.to_string(),
            Self::FastKdfIter => settings.fast_kdf_iter.to_string(),
            Self::UseHmac => u8::from(settings.use_hmac).to_string(),
            Self::HmacAlgorithm => format!("HMAC_{}", settings.hmac_algorithm),
            Self::KdfAlgorithm => format!("PBKDF2_HMAC_{}", settings.kdf_algorithm),
            Self::PlaintextHeaderSize => settings.plaintext_header.to_string(),
            Self::HmacPgno => match settings.hmac_pgno {
                PgnoOrder::Little => "le",
                PgnoOrder::Big => "be",
                PgnoOrder::Native => "native",
            }
            .to_owned(),
            Self::HmacSaltMask => format!("{:02x}", settings.hmac_salt_mask),
        })
    }

    /// Reads a value of this setting. `pragma` is the name that an error shows.
    pub(crate) fn parse_value(
        self,
        pragma: &'static str,
        text: &[u8],
    ) -> Result<Setting, SettingsError> {
        let needed = |expected| SettingsError::Value {
            name: pragma,
            expected,
        };
        let is = |word: &str| text.eq_ignore_ascii_case(word.as_bytes());
        Ok(match self {
            Self::Compatibility => Setting::Compatibility(match value::integer(text) {
                Some(1) => Preset::V1,
                Some(2) => Preset::V2,
                Some(3) => Preset::V3,
                Some(4) => Preset::V4,
                _ => return Err(needed("1, 2, 3 or 4")),
            }),
            Self::PageSize if is("auto") => Setting::PageSize(PageSize::Auto),
            Self::PageSize => {
                let size = value::integer(text)
                    .and_then(|size| u64::try_from(size).ok())
                    .ok_or(needed("a power of two from 512 to 65536, or auto,"))?;
                u32::try_from(size)
                    .ok()
                    .filter(|size| size.is_power_of_two() && PAGE_SIZES.contains(size))
                    .map(|size| Setting::PageSize(PageSize::Fixed(size)))
                    .ok_or(SettingsError::PageSize(size))?
            }
            Self::KdfIter => Setting::KdfIter(iterations(pragma, text)?),
            Self::FastKdfIter => Setting::FastKdfIter(iterations(pragma, text)?),
            Self::UseHmac => Setting::UseHmac(
                value::boolean(text)
                    .ok_or(needed("on or off (yes or no, true or false, 1 or 0)"))?,
            ),
            Self::HmacAlgorithm => Setting::HmacAlgorithm(
                hash(text, b"HMAC_").ok_or(needed("HMAC_SHA1, HMAC_SHA256 or HMAC_SHA512"))?,
            ),
            Self::KdfAlgorithm => Setting::KdfAlgorithm(hash(text, b"PBKDF2_HMAC_").ok_or(
                needed("PBKDF2_HMAC_SHA1, PBKDF2_HMAC_SHA256 or PBKDF2_HMAC_SHA512"),
            )?),
            Self::PlaintextHeaderSize => Setting::PlaintextHeaderSize(
                value::integer(text)
                    .and_then(|size| u32::try_from(size).ok())
                    .ok_or(needed("a multiple of 16 within the first page"))?,
            ),
            Self::HmacPgno if is("le") => Setting::HmacPgno(PgnoOrder::Little),
            Self::HmacPgno if is("be") => Setting::HmacPgno(PgnoOrder::Big),
            Self::HmacPgno if is("native") => Setting::HmacPgno(PgnoOrder::Native),
            Self::HmacPgno => return Err(needed("le, be or native")),
            Self::HmacSaltMask => match value::hex_literal(text).as_deref().map(Vec::as_slice) {
                Some(&[mask]) => Setting::HmacSaltMask(mask),
                _ => return Err(needed("one byte as x'<2 hex digits>'")),
            },
        })
    }
}

/// A number of PBKDF2 rounds. SQLCipher keeps it in a C `int`: with more rounds than
/// that it could not open the file.
fn iterations(pragma: &'static str, text: &[u8]) -> Result<u32, SettingsError> {
    match value::integer(text) {
        Some(rounds @ 1..=0x7fff_ffff) => Ok(rounds as u32),
        _ => Err(SettingsError::Iterations { name: pragma }),
    }
}

/// The hash behind SQLCipher's label for an algorithm that is made with it.
fn hash(text: &[u8], prefix: &[u8]) -> Option<HashAlgorithm> {
    let (head, tail) = text.split_at_checked(prefix.len())?;
    if !head.eq_ignore_ascii_case(prefix) {
        return None;
    }
    [
        HashAlgorithm::Sha1,
        HashAlgorithm::Sha256,
        HashAlgorithm::Sha512,
    ]
    .into_iter()
    .find(|hash| tail.eq_ignore_ascii_case(hash.to_string().as_bytes()))
}

/// The value of `cipher_page_size`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PageSize {
    /// Bytes of a page: a power of two from 512 to 65536.
    Fixed(u32),
    /// Whatever size the file turns out to have; a new file gets the size that
    /// stood before.
    Auto,
}

/// One setting with a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Setting {
    /// The settings of a SQLCipher version: page size, HMAC on or off, both hashes
    /// and `kdf_iter`. As in SQLCipher, the plaintext header and the deprecated
    /// settings stay as they are.
    Compatibility(Preset),
    /// `cipher_page_size`.
    PageSize(PageSize),
    /// `kdf_iter`.
    KdfIter(u32),
    /// `fast_kdf_iter`.
    FastKdfIter(u32),
    /// `cipher_use_hmac`.
    UseHmac(bool),
    /// `cipher_hmac_algorithm`.
    HmacAlgorithm(HashAlgorithm),
    /// `cipher_kdf_algorithm`.
    KdfAlgorithm(HashAlgorithm),
    /// `cipher_plaintext_header_size`. Whether the page has room for it depends on
    /// settings that may still change, so that, as in SQLCipher, a size that does
    /// not fit is an error at the first use of the file.
    PlaintextHeaderSize(u32),
    /// `cipher_hmac_pgno`.
    HmacPgno(PgnoOrder),
    /// `cipher_hmac_salt_mask`. SQLCipher's is of the whole process.
    HmacSaltMask(u8),
}

impl Setting {
    /// The setting's name.
    #[must_use]
    pub const fn name(self) -> SettingName {
        match self {
            Self::Compatibility(_) => SettingName::Compatibility,
            Self::PageSize(_) => SettingName::PageSize,
            Self::KdfIter(_) => SettingName::KdfIter,
            Self::FastKdfIter(_) => SettingName::FastKdfIter,
            Self::UseHmac(_) => SettingName::UseHmac,
            Self::HmacAlgorithm(_) => SettingName::HmacAlgorithm,
            Self::KdfAlgorithm(_) => SettingName::KdfAlgorithm,
            Self::PlaintextHeaderSize(_) => SettingName::PlaintextHeaderSize,
            Self::HmacPgno(_) => SettingName::HmacPgno,
            Self::HmacSaltMask(_) => SettingName::HmacSaltMask,
        }
    }

    /// Makes the choice.
    pub fn apply(self, choice: &mut Choice) {
        let settings = &mut choice.settings;
        match self {
            Self::Compatibility(preset) => {
                let preset = Settings::preset(preset);
                choice.auto_page_size = false;
                settings.page_size = preset.page_size;
                settings.kdf_iter = preset.kdf_iter;
                settings.use_hmac = preset.use_hmac;
                settings.hmac_algorithm = preset.hmac_algorithm;
                settings.kdf_algorithm = preset.kdf_algorithm;
            }
            Self::PageSize(PageSize::Fixed(size)) => {
                choice.auto_page_size = false;
                settings.page_size = size;
            }
            Self::PageSize(PageSize::Auto) => choice.auto_page_size = true,
            Self::KdfIter(rounds) => settings.kdf_iter = rounds,
            Self::FastKdfIter(rounds) => settings.fast_kdf_iter = rounds,
            Self::UseHmac(on) => settings.use_hmac = on,
            Self::HmacAlgorithm(hash) => settings.hmac_algorithm = hash,
            Self::KdfAlgorithm(hash) => settings.kdf_algorithm = hash,
            Self::PlaintextHeaderSize(size) => settings.plaintext_header = size,
            Self::HmacPgno(order) => settings.hmac_pgno = order,
            Self::HmacSaltMask(mask) => settings.hmac_salt_mask = mask,
        }
    }
}

/// Reads a setting as a pragma or URI parameter gives it; `None` where the name is
/// no setting's.
///
/// # Errors
/// The name is a setting's, and it has no such value.
pub fn parse_setting(name: &str, value: &[u8]) -> Result<Option<Setting>, SettingsError> {
    SettingName::from_pragma(name)
        .map(|setting| setting.parse_value(setting.pragma(), value))
        .transpose()
}

/// The rows of `PRAGMA cipher_settings`: pragmas that would give these settings.
#[must_use]
pub fn settings_rows(settings: &Settings) -> Vec<String> {
    rows(settings, |name| name.pragma())
}

/// The rows of `PRAGMA cipher_default_settings`.
#[must_use]
pub fn default_settings_rows(settings: &Settings) -> Vec<String> {
    rows(settings, |name| name.default_pragma().unwrap_or_default())
}

fn rows(settings: &Settings, pragma: fn(SettingName) -> &'static str) -> Vec<String> {
    SettingName::LISTED
        .into_iter()
        .filter_map(|name| {
            let value = name.get(settings)?;
            Some(format!("PRAGMA {} = {value};", pragma(name)))
        })
        .collect()
}

#[cfg(test)]
mod tests;
