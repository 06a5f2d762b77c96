//! `PRAGMA name` and `PRAGMA name = value`, as SQLite hands them to a VFS, into a
//! [`Command`].
//!
//! SQLite passes the value dequoted, and a number, a word and a string alike as
//! text. What a command does depends on the state of its database (most settings
//! do nothing before the key and are overlooked after the first use): that is a
//! session's business. Here it is decided what was asked for, and a value that
//! means nothing is refused in every state.

use crate::error::SettingsError;
#[cfg(feature = "fail-on-demand")]
use crate::faults::{self, Fault};
use crate::format::key_text::{parse_hex_key, parse_key, parse_salt};
use crate::secret::{Key, Salt};

use super::error::PragmaError;
use super::log::{LogLevel, LogSourceChange, LogTarget};
use super::settings::{Setting, SettingName};
use super::value;

/// What a pragma of ours asks for.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Command {
    /// Ours, and SQLCipher does and answers nothing: a key without a value, the
    /// getters of the compatibility settings.
    Nothing,

    /// `key`, `hexkey`, `textkey`.
    Key(Key),
    /// `rekey`, `hexrekey`, `textrekey`.
    Rekey(Key),

    /// The getter of a setting: answer [`SettingName::get`].
    Get(SettingName),
    /// The setter of a setting: answer [`SettingName::deprecation`], or nothing.
    Set(Setting),
    /// `cipher_salt`: answer the salt as 32 lower-case digits.
    GetSalt,
    /// `cipher_salt = "x'…'"`.
    SetSalt(Salt),
    /// `page_size`: on a keyed database it means `cipher_page_size`; on any other it
    /// is SQLite's.
    GetPageSize,
    /// `page_size = …`: as above, so that a value which is not good enough for us
    /// is no error as long as there is no key.
    SetPageSize(Result<Setting, SettingsError>),

    /// The getter of a default.
    GetDefault(SettingName),
    /// The setter of a default; answer nothing.
    SetDefault(Setting),

    /// `cipher_settings`.
    Settings,
    /// `cipher_default_settings`.
    DefaultSettings,

    /// `cipher_version`.
    Version,
    /// `cipher_provider`.
    Provider,
    /// `cipher_provider_version`.
    ProviderVersion,
    /// `cipher`: the cipher's name.
    Cipher,
    /// `cipher_status`.
    Status,
    /// `cipher_attach_status`, ours only: answer why the connection's last ATTACH was
    /// refused, or nothing.
    AttachStatus,
    /// `cipher_fips_status`.
    FipsStatus,

    /// `cipher_integrity_check`.
    IntegrityCheck,
    /// `cipher_migrate`.
    Migrate,
    /// `cipher_stats`, ours only: answer the counters.
    Stats,
    /// `cipher_stats = …`: whether times are measured; answer nothing.
    StatsTiming(bool),

    /// `cipher_memory_security`: answer 1 or 0.
    GetMemorySecurity,
    /// `cipher_memory_security = …`: it can be switched on only; answer nothing.
    SetMemorySecurity(bool),
    /// `cipher_store_pass`: answer 1 or 0.
    GetStorePass,
    /// `cipher_store_pass = …`, deprecated: answer [`STORE_PASS_DEPRECATION`].
    SetStorePass(bool),
    /// `cipher_add_random = "x'…'"`: answer 0, or 1 where the value is none. (The
    /// bytes themselves are not handed on: IVs come from the operating system's
    /// randomness, which needs no help.)
    AddRandom {
        /// Whether the value has the form that SQLCipher takes.
        valid: bool,
    },

    /// `cipher_shared_wal`, ours only: answer 1 or 0.
    GetSharedWal,
    /// `cipher_shared_wal = …`: whether SQLCipher writes to the same log; answer nothing.
    SetSharedWal(bool),

    /// `cipher_read_ahead`, ours only, and with a value first set it: answer what scans do
    /// in this process.
    ReadAhead(Option<ReadAhead>),

    /// `cipher_log = …`: answer 0, or 1 where the file can't be opened.
    Log(LogTarget),
    /// `cipher_log_level`, and with a value first set it: answer the level.
    LogLevel(Option<LogLevel>),
    /// `cipher_log_source`, and with a value first change it: answer the sources.
    LogSource(Option<LogSourceChange>),
    /// `cipher_profile = …`: answer 0, or 1 where the file can't be opened.
    Profile(LogTarget),

    /// `cipher_test_on = …`, `cipher_test_off = …`: answer nothing, whatever is named.
    #[cfg(feature = "fail-on-demand")]
    Test(Option<Fault>, bool),

    /// `cipher = …`, `rekey_cipher = …`, `rekey_kdf_iter = …`: do nothing, answer
    /// this text.
    NoLongerSupported(&'static str),
}

/// What a scan does about the pages that it will want next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadAhead {
    /// Nothing.
    Off,
    /// They are read and opened together with the one that it wants.
    On,
    /// A thread of their own opens them.
    Thread,
}

impl ReadAhead {
    /// The value of `cipher_read_ahead`.
    ///
    /// # Errors
    /// It is another word.
    pub fn parse(text: &[u8]) -> Result<Self, SettingsError> {
        match value::boolean(text) {
            Some(false) => Ok(Self::Off),
            Some(true) => Ok(Self::On),
            None if text.eq_ignore_ascii_case(b"thread") => Ok(Self::Thread),
            None => Err(SettingsError::Value {
                name: "cipher_read_ahead",
                expected: "ON, OFF or THREAD",
            }),
        }
    }

    /// The value of `cipher_read_ahead`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::On => "on",
            Self::Thread => "thread",
        }
    }
}

/// The answer to `PRAGMA cipher_store_pass = …`.
pub const STORE_PASS_DEPRECATION: &str =
    "PRAGMA cipher_store_pass is deprecated, please remove from use";

/// Reads a pragma. `None`: it is not ours, SQLite goes on with it (and overlooks
/// what it does not know either).
///
/// # Errors
/// The pragma is ours and the value means nothing; the text does not repeat it.
pub fn parse(name: &str, value: Option<&[u8]>) -> Result<Option<Command>, PragmaError> {
    let lower = name.to_ascii_lowercase();
    if let Some(setting) = SettingName::from_pragma(&lower) {
        return Ok(Some(match value {
            None if setting == SettingName::Compatibility => Command::Nothing,
            None => Command::Get(setting),
            Some(text) => Command::Set(setting.parse_value(setting.pragma(), text)?),
        }));
    }
    if let Some(setting) = SettingName::from_default_pragma(&lower) {
        return Ok(Some(match value {
            None if setting == SettingName::Compatibility => Command::Nothing,
            None => Command::GetDefault(setting),
            Some(text) => {
                let pragma = setting.default_pragma().unwrap_or(setting.pragma());
                Command::SetDefault(setting.parse_value(pragma, text)?)
            }
        }));
    }
    Ok(match value {
        None => without_value(&lower),
        Some(text) => with_value(&lower, text)?,
    })
}

/// Pragmas that are no settings, as getters or as orders.
fn without_value(name: &str) -> Option<Command> {
    Some(match name {
        "key" | "hexkey" | "textkey" | "rekey" | "hexrekey" | "textrekey" => Command::Nothing,
        "page_size" => Command::GetPageSize,
        "cipher_salt" => Command::GetSalt,
        "cipher_version" => Command::Version,
        "cipher_provider" => Command::Provider,
        "cipher_provider_version" => Command::ProviderVersion,
        "cipher" => Command::Cipher,
        "cipher_status" => Command::Status,
        "cipher_attach_status" => Command::AttachStatus,
        "cipher_fips_status" => Command::FipsStatus,
        "cipher_migrate" => Command::Migrate,
        "cipher_stats" => Command::Stats,
        "cipher_memory_security" => Command::GetMemorySecurity,
        "cipher_store_pass" => Command::GetStorePass,
        "cipher_shared_wal" => Command::GetSharedWal,
        "cipher_read_ahead" => Command::ReadAhead(None),
        "cipher_log_level" => Command::LogLevel(None),
        "cipher_log_source" => Command::LogSource(None),
        _ => return with_or_without_value(name),
    })
}

/// Pragmas that are no settings, with a value.
fn with_value(name: &str, text: &[u8]) -> Result<Option<Command>, PragmaError> {
    Ok(Some(match name {
        "key" | "textkey" => Command::Key(parse_key(text)?),
        "hexkey" => Command::Key(parse_hex_key(text)?),
        "rekey" | "textrekey" => Command::Rekey(parse_key(text)?),
        "hexrekey" => Command::Rekey(parse_hex_key(text)?),
        // To SQLite it means no size, and to us nothing.
        "page_size" if text == b"0" => return Ok(None),
        "page_size" => Command::SetPageSize(SettingName::PageSize.parse_value("page_size", text)),
        "cipher_salt" => Command::SetSalt(parse_salt(text)?),
        #[cfg(feature = "fail-on-demand")]
        "cipher_test_on" => Command::Test(faults::named(text), true),
        #[cfg(feature = "fail-on-demand")]
        "cipher_test_off" => Command::Test(faults::named(text), false),
        "cipher_memory_security" => Command::SetMemorySecurity(value::lenient_boolean(text)),
        "cipher_store_pass" => Command::SetStorePass(value::lenient_boolean(text)),
        "cipher_add_random" => Command::AddRandom {
            valid: value::hex_literal(text).is_some_and(|bytes| !bytes.is_empty()),
        },
        "cipher_stats" => Command::StatsTiming(value::lenient_boolean(text)),
        "cipher_shared_wal" => Command::SetSharedWal(value::switch("cipher_shared_wal", text)?),
        "cipher_read_ahead" => Command::ReadAhead(Some(ReadAhead::parse(text)?)),
        "cipher_log" => Command::Log(LogTarget::parse(text)),
        "cipher_log_level" => Command::LogLevel(Some(LogLevel::parse(text))),
        "cipher_log_source" => Command::LogSource(Some(LogSourceChange::parse(text))),
        "cipher_profile" => Command::Profile(LogTarget::parse(text)),
        "cipher" => Command::NoLongerSupported("PRAGMA cipher is no longer supported."),
        "rekey_cipher" => Command::NoLongerSupported("PRAGMA rekey_cipher is no longer supported."),
        "rekey_kdf_iter" => {
            Command::NoLongerSupported("PRAGMA rekey_kdf_iter is no longer supported.")
        }
        _ => return Ok(with_or_without_value(name)),
    }))
}

/// Pragmas that overlook a value.
fn with_or_without_value(name: &str) -> Option<Command> {
    Some(match name {
        "cipher_settings" => Command::Settings,
        "cipher_default_settings" => Command::DefaultSettings,
        "cipher_integrity_check" => Command::IntegrityCheck,
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
