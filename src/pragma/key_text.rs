//! The one place where this room asks for a key's or a salt's text to be read.

use crate::error::{KeyError, SettingsError};
use crate::secret::{KEY_LEN, Key, SALT_LEN, Salt, SecretKey};

use super::value;

/// The key that `PRAGMA key`, `textkey`, `?key=` or `ATTACH … KEY` gives.
pub(crate) fn key(text: &[u8]) -> Result<Key, KeyError> {
    if text.is_empty() {
        return Err(KeyError::Empty);
    }
    let Some(raw) = value::hex_literal(text) else {
        return Ok(Key::passphrase(text));
    };
    let key_at = |at: usize| {
        let mut key = SecretKey::new([0; KEY_LEN]);
        key.expose_mut().copy_from_slice(&raw[at..at + KEY_LEN]);
        key
    };
    let salt_at = |at: usize| -> Salt {
        let mut salt = [0; SALT_LEN];
        salt.copy_from_slice(&raw[at..at + SALT_LEN]);
        salt
    };
    Ok(match raw.len() {
        32 => Key::Raw(key_at(0)),
        48 => Key::RawWithSalt(key_at(0), salt_at(32)),
        80 => Key::Full {
            cipher: key_at(0),
            mac: key_at(32),
            salt: salt_at(64),
        },
        _ => Key::passphrase(text),
    })
}

/// Bytes that SQLCipher takes from a `hexkey`.
const HEX_KEY_MAX: usize = 40;

/// The key that `PRAGMA hexkey` or `?hexkey=` gives.
///
/// SQLCipher decodes it into a buffer of 40 bytes and overlooks what does not fit;
/// with another key than that its files would not open. (It also overlooks what
/// follows the first character that is no digit: that is refused here.)
pub(crate) fn hex_key(text: &[u8]) -> Result<Key, KeyError> {
    if text.is_empty() {
        return Err(KeyError::Empty);
    }
    let bytes = value::hex(text).ok_or(KeyError::NotHex)?;
    key(&bytes[..bytes.len().min(HEX_KEY_MAX)])
}

/// The salt that `cipher_salt` gives.
pub(crate) fn salt(text: &[u8]) -> Result<Salt, SettingsError> {
    value::hex_literal(text)
        .and_then(|bytes| Salt::try_from(bytes.as_slice()).ok())
        .ok_or(SettingsError::Salt)
}
