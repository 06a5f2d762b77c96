//! Keys and salts as SQLCipher's pragmas and URI parameters spell them.

use crate::error::{KeyError, SettingsError};
use crate::secret::{KEY_LEN, Key, SALT_LEN, Salt, decode_hex};

/// Bytes of a key that SQLCipher takes from `hexkey` (`char zBuf[40]` in its
/// `pragma.c`): digits after the 80th are ignored.
const HEXKEY_LEN: usize = 40;

/// A key as `PRAGMA key` takes it.
///
/// The text `x'…'` around exactly 64, 96 or 160 hexadecimal digits is raw key
/// material (AES key; and salt; or AES key, HMAC key and salt). Everything else,
/// malformed `x'…'` too, is a passphrase, byte by byte: SQLCipher's rule
/// (`sqlcipher_cipher_ctx_key_derive`), and a typing error in a raw key must
/// make the same wrong key here as there.
///
/// # Errors
/// [`KeyError::Empty`].
pub fn parse_key(text: &[u8]) -> Result<Key, KeyError> {
    if text.is_empty() {
        return Err(KeyError::Empty);
    }
    let raw = blob_digits(text)
        .filter(|digits| {
            [KEY_LEN, KEY_LEN + SALT_LEN, KEY_LEN + KEY_LEN + SALT_LEN]
                .contains(&(digits.len() / 2))
        })
        .and_then(decode_hex);
    match raw {
        Some(bytes) => Key::from_raw_bytes(&bytes),
        None => Ok(Key::passphrase(text)),
    }
}

/// A key as `PRAGMA hexkey` takes it: the bytes of what `PRAGMA key` would be
/// given, in hexadecimal.
///
/// SQLCipher decodes into 40 bytes and ignores the digits behind them; so does
/// this, or a database keyed with a longer `hexkey` could not be opened. (So no
/// raw key passes through `hexkey`: its text `x'…'` is longer.) Where SQLCipher
/// would silently stop at the first character that is no digit, or drop half a
/// byte, this refuses.
///
/// # Errors
/// [`KeyError::NotHex`]; [`KeyError::Empty`].
pub fn parse_hex_key(text: &[u8]) -> Result<Key, KeyError> {
    let bytes = decode_hex(text).ok_or(KeyError::NotHex)?;
    parse_key(&bytes[..bytes.len().min(HEXKEY_LEN)])
}

/// A salt as `PRAGMA cipher_salt` takes it: `x'` and 32 hexadecimal digits and
/// `'`.
///
/// # Errors
/// [`SettingsError::Salt`] for anything else. (SQLCipher takes a digit that is
/// none for a zero, and ignores a text of another length without a word.)
pub fn parse_salt(text: &[u8]) -> Result<Salt, SettingsError> {
    blob_digits(text)
        .filter(|digits| digits.len() == 2 * SALT_LEN)
        .and_then(decode_hex)
        .and_then(|bytes| bytes.as_slice().try_into().ok())
        .ok_or(SettingsError::Salt)
}

/// What stands between `x'` (either case) and `'`.
fn blob_digits(text: &[u8]) -> Option<&[u8]> {
    match text {
        [b'x' | b'X', b'\'', digits @ .., b'\''] => Some(digits),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(text: &str) -> &'static str {
        match parse_key(text.as_bytes()).unwrap() {
            Key::Passphrase(bytes) => {
                assert_eq!(bytes.as_slice(), text.as_bytes());
                "passphrase"
            }
            Key::Raw(_) => "raw",
            Key::RawWithSalt(..) => "salt",
            Key::Full { .. } => "full",
        }
    }

    #[test]
    fn only_three_lengths_are_raw() {
        for digits in 0..=200 {
            let expected = match digits {
                64 => "raw",
                96 => "salt",
                160 => "full",
                _ => "passphrase",
            };
            assert_eq!(form(&format!("x'{}'", "a".repeat(digits))), expected);
            assert_eq!(form(&format!("X'{}'", "F".repeat(digits))), expected);
        }
    }

    #[test]
    fn a_malformed_raw_key_is_a_passphrase() {
        let digits = "0123456789abcdefABCDEF9876543210".repeat(2);
        assert_eq!(form(&format!("x'{digits}'")), "raw");
        for text in [
            format!("x'{digits}"),
            format!("x\"{digits}\""),
            format!("'{digits}'"),
            digits.clone(),
            format!(" x'{digits}'"),
            format!("x'{digits}' "),
            format!("x'g{}'", &digits[1..]),
            format!("x'{} '", &digits[1..]),
            "x'".to_owned(),
            "'".to_owned(),
            "x''".to_owned(),
            "x".to_owned(),
        ] {
            assert_eq!(form(&text), "passphrase", "{text}");
        }
    }

    #[test]
    fn raw_digits_come_in_sqlciphers_order() {
        let text = format!(
            "x'{}{}{}'",
            "11".repeat(32),
            "22".repeat(32),
            "33".repeat(16)
        );
        assert!(matches!(
            parse_key(text.as_bytes()),
            Ok(Key::Full { cipher, mac, salt })
                if cipher.expose() == &[0x11; 32]
                    && mac.expose() == &[0x22; 32]
                    && salt == [0x33; 16]
        ));
    }

    #[test]
    fn hexkey_is_the_bytes_of_a_key() {
        assert!(matches!(
            parse_hex_key(b"7465737400"),
            Ok(Key::Passphrase(bytes)) if bytes.as_slice() == b"test\0"
        ));
        for bad in ["0", "abc", "zz", "12 34", "0x12"] {
            assert_eq!(
                parse_hex_key(bad.as_bytes()).unwrap_err(),
                KeyError::NotHex,
                "{bad}"
            );
        }
        assert_eq!(parse_hex_key(b"").unwrap_err(), KeyError::Empty);
        assert_eq!(parse_key(b"").unwrap_err(), KeyError::Empty);
    }

    #[test]
    fn hexkey_stops_at_forty_bytes() {
        let raw = hex::encode(format!("x'{}'", "1".repeat(64)));
        assert!(matches!(
            parse_hex_key(raw.as_bytes()),
            Ok(Key::Passphrase(bytes)) if bytes.as_slice() == format!("x'{}", "1".repeat(38)).as_bytes()
        ));
    }

    #[test]
    fn salts() {
        assert_eq!(
            parse_salt(b"x'000102030405060708090a0b0c0d0e0F'").unwrap()[15],
            15
        );
        for bad in [
            "",
            "000102030405060708090a0b0c0d0e0f",
            "x'000102030405060708090a0b0c0d0e0f",
            "x'000102030405060708090a0b0c0d0e'",
            "x'000102030405060708090a0b0c0d0e0g'",
            "x'000102030405060708090a0b0c0d0e0f00'",
        ] {
            assert_eq!(parse_salt(bad.as_bytes()), Err(SettingsError::Salt));
        }
    }
}
