//! The values of pragmas: whole numbers, switches, hexadecimal.
//!
//! SQLCipher reads numbers with C's `atoi`, for which `40O0` is 40 and `abc` is
//! 0. A number decides the bytes of a file here, so that it must be one from its
//! first character to its last.

use zeroize::Zeroizing;

use crate::error::SettingsError;
use crate::secret::decode_hex;

/// A whole number with nothing but blanks around it.
pub(crate) fn integer(text: &[u8]) -> Option<i64> {
    let text = core::str::from_utf8(text).ok()?;
    let text = text.trim_ascii();
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    // `i64::from_str` would also refuse these, but says so nowhere.
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

/// A switch, in the words of SQLite's `sqlite3GetBoolean`: `on`, `yes`, `true` or a
/// whole number for on; `off`, `no`, `false` or 0 for off.
///
/// SQLite takes any other word for the default, which here is on, so that
/// `cipher_use_hmac = fasle` would switch it on: `None`, to be refused.
pub(crate) fn boolean(text: &[u8]) -> Option<bool> {
    let is = |word: &str| text.eq_ignore_ascii_case(word.as_bytes());
    if ["on", "yes", "true"].into_iter().any(is) {
        return Some(true);
    }
    if ["off", "no", "false"].into_iter().any(is) {
        return Some(false);
    }
    // A negative number is a word to SQLite (on), a number that does not fit is 0.
    match integer(text)? {
        number @ 0..=0x7fff_ffff if !text.contains(&b'-') => Some(number != 0),
        _ => None,
    }
}

/// A switch that must be one.
pub(crate) fn switch(name: &'static str, text: &[u8]) -> Result<bool, SettingsError> {
    boolean(text).ok_or(SettingsError::Value {
        name,
        expected: "ON or OFF",
    })
}

/// What SQLite does with a switch that decides no file's bytes: unknown words
/// switch it on.
pub(crate) fn lenient_boolean(text: &[u8]) -> bool {
    boolean(text).unwrap_or(true)
}

/// The bytes behind `x'…'`, with either case of the `x`.
pub(crate) fn hex_literal(text: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let digits = text
        .strip_prefix(b"x'")
        .or_else(|| text.strip_prefix(b"X'"))?
        .strip_suffix(b"'")?;
    decode_hex(digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_whole() {
        for (text, number) in [
            ("0", 0),
            ("4096", 4096),
            (" 4096\n", 4096),
            ("+7", 7),
            ("-7", -7),
            ("007", 7),
        ] {
            assert_eq!(integer(text.as_bytes()), Some(number), "{text:?}");
        }
        for text in [
            "",
            " ",
            "+",
            "-",
            "4096x",
            "x",
            "1.0",
            "1e3",
            "0x10",
            "1_000",
            "1 2",
            "--1",
            "+-1",
            "99999999999999999999",
            "٣",
        ] {
            assert_eq!(integer(text.as_bytes()), None, "{text:?}");
        }
        assert_eq!(integer(b"1\xff"), None);
        assert_eq!(integer(b"1\0"), None);
    }

    #[test]
    fn switches_are_sqlites_words() {
        for text in ["on", "ON", "yes", "True", "1", "2", "+1", "2147483647"] {
            assert_eq!(boolean(text.as_bytes()), Some(true), "{text:?}");
        }
        for text in ["off", "OFF", "no", "False", "0", "00"] {
            assert_eq!(boolean(text.as_bytes()), Some(false), "{text:?}");
        }
        for text in ["", "onn", "extra", "full", "-1", "-0", "2147483648", "1x"] {
            assert_eq!(boolean(text.as_bytes()), None, "{text:?}");
            assert!(lenient_boolean(text.as_bytes()), "{text:?}");
        }
    }

    #[test]
    fn hexadecimal_is_whole_bytes() {
        assert_eq!(*hex_literal(b"x'00fF7a'").unwrap(), [0x00, 0xff, 0x7a]);
        assert_eq!(*hex_literal(b"x''").unwrap(), []);
        assert_eq!(*hex_literal(b"x'AB'").unwrap(), [0xab]);
        assert_eq!(*hex_literal(b"X'ab'").unwrap(), [0xab]);
        for text in [
            "", "ab", "x'", "x'ab", "'ab'", "x'a'", "y'ab'", " x'ab'", "x'ab' ",
        ] {
            assert!(hex_literal(text.as_bytes()).is_none(), "{text:?}");
        }
    }
}
