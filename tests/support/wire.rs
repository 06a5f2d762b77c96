//! The line protocol between the tests and `pageseal-peer`; both ends use this file.
//!
//! A message is one line: words separated by single spaces. Inside a word,
//! `%XX` (two upper-case hexadecimal digits) stands for a byte; every byte
//! outside `!`..=`~`, and `%` itself, is written so. A word may be empty.
//!
//! - Request: a verb, then its arguments.
//! - Answer: any number of `row` lines (the values of one row, see [`Value`]),
//!   then `ok` with optional words, or `err CODE EXTENDED MESSAGE`. Rows that
//!   came before an `err` are valid rows read before the failure.
#![allow(dead_code, unreachable_pub)]

/// A value as SQLite types it.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `n`
    Null,
    /// `i:` and the decimal number
    Integer(i64),
    /// `r:` and the 16 hexadecimal digits of the IEEE 754 bits
    Real(f64),
    /// `t:` and the escaped bytes; what is not UTF-8 arrives as U+FFFD
    Text(String),
    /// `b:` and the bytes in hexadecimal
    Blob(Vec<u8>),
}

impl Value {
    /// The value as one word of a line.
    pub fn encode(&self) -> String {
        match self {
            Value::Null => "n".into(),
            Value::Integer(i) => format!("i:{i}"),
            Value::Real(r) => format!("r:{:016x}", r.to_bits()),
            Value::Text(t) => encode_text(t.as_bytes()),
            Value::Blob(b) => format!("b:{}", to_hex(b)),
        }
    }

    /// The inverse of [`Value::encode`].
    pub fn decode(word: &str) -> Option<Value> {
        if word == "n" {
            return Some(Value::Null);
        }
        let (tag, rest) = word.split_once(':')?;
        Some(match tag {
            "i" => Value::Integer(rest.parse().ok()?),
            "r" => Value::Real(f64::from_bits(u64::from_str_radix(rest, 16).ok()?)),
            "t" => Value::Text(String::from_utf8_lossy(&unescape(rest)?).into_owned()),
            "b" => Value::Blob(from_hex(rest)?),
            _ => return None,
        })
    }
}

/// A text value given by its bytes, as one word.
pub fn encode_text(bytes: &[u8]) -> String {
    format!("t:{}", escape(bytes))
}

/// Escapes one word.
pub fn escape(bytes: &[u8]) -> String {
    let mut word = String::with_capacity(bytes.len());
    for &b in bytes {
        if b.is_ascii_graphic() && b != b'%' {
            word.push(char::from(b));
        } else {
            word.push_str(&format!("%{b:02X}"));
        }
    }
    word
}

/// The inverse of [`escape`].
pub fn unescape(word: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(word.len());
    let mut rest = word.as_bytes();
    while let Some((&b, tail)) = rest.split_first() {
        rest = tail;
        if b == b'%' {
            let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &rest[2..];
        } else {
            bytes.push(b);
        }
    }
    Some(bytes)
}

/// Lower-case hexadecimal.
pub fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// The inverse of [`to_hex`]; takes either case.
pub fn from_hex(hex: &str) -> Option<Vec<u8>> {
    if !hex.len().is_multiple_of(2) {
        return None;
    }
    (0..hex.len())
        .step_by(2)
        .map(|i| u8::from_str_radix(hex.get(i..i + 2)?, 16).ok())
        .collect()
}
