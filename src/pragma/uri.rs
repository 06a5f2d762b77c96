//! Key and settings in a file's URI: `file:app.db?key=…&cipher_compatibility=3`.
//!
//! SQLCipher takes the key from there. The settings are ours: with them a file of
//! another version can be attached without changing the defaults of the process.

use crate::error::{KeyError, SettingsError};
use crate::format::key_text::{parse_hex_key, parse_key, parse_salt};
use crate::secret::{Key, Salt};

use super::error::PragmaError;
use super::settings::{Setting, SettingName};
use super::value;

/// What a URI says about a database.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct UriOptions {
    /// `key`, `textkey` or `hexkey`.
    pub key: Option<Key>,
    /// The settings, in the order in which to apply them: `cipher_compatibility`
    /// first, because the parameters of a URI stand side by side and it would
    /// overrule what is given beside it.
    pub settings: Vec<Setting>,
    /// `cipher_shared_wal`.
    pub shared_wal: Option<bool>,
    /// `cipher_salt`.
    pub salt: Option<Salt>,
}

/// What a parameter of ours is.
enum Parameter {
    Key,
    HexKey,
    Salt,
    SharedWal,
    Setting(SettingName),
}

impl Parameter {
    /// `None`: not ours. SQLite tells `key` from `Key`; here both are the key, since
    /// to overlook one would be to write a file without encryption.
    fn from_name(name: &str) -> Result<Option<Self>, SettingsError> {
        let lower = name.to_ascii_lowercase();
        Ok(Some(match lower.as_str() {
            "key" | "textkey" => Self::Key,
            "hexkey" => Self::HexKey,
            "cipher_salt" => Self::Salt,
            "cipher_shared_wal" => Self::SharedWal,
            "page_size" => Self::Setting(SettingName::PageSize),
            _ => match SettingName::from_pragma(&lower) {
                Some(setting) => Self::Setting(setting),
                None if OURS.iter().any(|prefix| lower.starts_with(prefix)) => {
                    return Err(SettingsError::Unknown(name.to_owned()));
                }
                None => return Ok(None),
            },
        }))
    }
}

/// What the names of our parameters begin with, and no name of SQLite's does. A
/// misspelt setting is refused: overlooked, it would make a file of another format.
const OURS: [&str; 4] = ["cipher", "kdf_", "fast_kdf", "hmac_"];

/// Reads the parameters of a URI, names and values as SQLite gives them (percent
/// signs already resolved). Those that are not ours are overlooked.
///
/// # Errors
/// A key that is empty or not hexadecimal, a setting with a value that it does not
/// have, a parameter that looks like a setting and is none, or one given twice.
pub fn parse<'a>(
    parameters: impl IntoIterator<Item = (&'a [u8], &'a [u8])>,
) -> Result<UriOptions, PragmaError> {
    let mut options = UriOptions::default();
    for (name, value) in parameters {
        // Our names are ASCII; what does not look like text is somebody else's.
        let Some(parameter) = core::str::from_utf8(name)
            .ok()
            .map_or(Ok(None), Parameter::from_name)?
        else {
            continue;
        };
        match parameter {
            Parameter::Key => options.set_key(parse_key(value))?,
            Parameter::HexKey => options.set_key(parse_hex_key(value))?,
            Parameter::Salt => {
                if options.salt.replace(parse_salt(value)?).is_some() {
                    return Err(twice("cipher_salt").into());
                }
            }
            Parameter::SharedWal => {
                let on = value::switch("cipher_shared_wal", value)?;
                if options.shared_wal.replace(on).is_some() {
                    return Err(twice("cipher_shared_wal").into());
                }
            }
            Parameter::Setting(name) => {
                if options.settings.iter().any(|other| other.name() == name) {
                    return Err(twice(name.pragma()).into());
                }
                options
                    .settings
                    .push(name.parse_value(name.pragma(), value)?);
            }
        }
    }
    options
        .settings
        .sort_by_key(|setting| setting.name() != SettingName::Compatibility);
    Ok(options)
}

/// Whether a parameter is one of ours, or looks as if it was meant to be one: what
/// [`parse`] takes or refuses, and does not overlook.
#[must_use]
pub fn is_ours(name: &[u8]) -> bool {
    core::str::from_utf8(name).is_ok_and(|name| !matches!(Parameter::from_name(name), Ok(None)))
}

impl UriOptions {
    fn set_key(&mut self, key: Result<Key, KeyError>) -> Result<(), PragmaError> {
        if self.key.replace(key?).is_some() {
            return Err(SettingsError::Value {
                name: "key",
                expected: "only one of key, textkey and hexkey, and that once,",
            }
            .into());
        }
        Ok(())
    }
}

fn twice(name: &'static str) -> SettingsError {
    SettingsError::Value {
        name,
        expected: "one value",
    }
}

#[cfg(test)]
mod tests;
