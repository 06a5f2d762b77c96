//! Records: the rows of tables and the entries of indexes (SQLite file format,
//! section 2.1).

/// A value of a record. Text is in the database's encoding, and may be malformed.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// NULL, and what stands in place of an `INTEGER PRIMARY KEY`.
    Null,
    /// A whole number.
    Integer(i64),
    /// A floating-point number.
    Real(f64),
    /// Text, byte by byte.
    Text(Vec<u8>),
    /// A blob.
    Blob(Vec<u8>),
}

/// The values of a record.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Record {
    /// The values, up to the first that is not whole.
    pub(super) values: Vec<Value>,
    /// Whether these are all.
    pub(super) complete: bool,
}

/// Reads a varint; returns it and its length.
pub(super) fn varint(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut value = 0u64;
    for (index, &byte) in bytes.iter().take(9).enumerate() {
        if index == 8 {
            return Some((value << 8 | u64::from(byte), 9));
        }
        value = value << 7 | u64::from(byte & 0x7f);
        if byte < 0x80 {
            return Some((value, index + 1));
        }
    }
    None
}

impl Record {
    /// Reads a record; `None` where this is none. `whole` is the length that it
    /// should have: the end may be missing.
    pub(super) fn parse(payload: &[u8], whole: u64) -> Option<Self> {
        let (header_len, mut at) = varint(payload)?;
        let header_end = usize::try_from(header_len).ok()?;
        if header_end < at || header_len > whole {
            return None;
        }
        let mut record = Self {
            values: Vec::new(),
            complete: true,
        };
        if header_end > payload.len() {
            // Not even the header is whole.
            record.complete = false;
            return Some(record);
        }
        let mut start = header_end as u64;
        let mut types = Vec::new();
        while at < header_end {
            let (kind, len) = varint(&payload[at..header_end])?;
            types.push(kind);
            at += len;
        }
        for kind in types {
            let end = start.checked_add(value_len(kind)?)?;
            if end > whole {
                return None;
            }
            match payload.get(start as usize..end as usize) {
                Some(bytes) if record.complete => record.values.push(value(kind, bytes)),
                _ => record.complete = false,
            }
            start = end;
        }
        Some(record)
    }
}

/// Bytes of a value; `None` for the two types that never occur in a file.
fn value_len(kind: u64) -> Option<u64> {
    Some(match kind {
        0 | 8 | 9 => 0,
        1..=4 => kind,
        5 => 6,
        6 | 7 => 8,
        10 | 11 => return None,
        kind => (kind - 12) / 2,
    })
}

fn value(kind: u64, bytes: &[u8]) -> Value {
    match kind {
        0 => Value::Null,
        8 => Value::Integer(0),
        9 => Value::Integer(1),
        7 => {
            let bits = bytes
                .iter()
                .fold(0u64, |bits, &byte| bits << 8 | u64::from(byte));
            Value::Real(f64::from_bits(bits))
        }
        1..=6 => {
            let negative = bytes.first().is_some_and(|&byte| byte >= 0x80);
            let sign = if negative { -1 } else { 0 };
            Value::Integer(
                bytes
                    .iter()
                    .fold(sign, |number, &byte| number << 8 | i64::from(byte)),
            )
        }
        kind if kind % 2 == 0 => Value::Blob(bytes.to_vec()),
        _ => Value::Text(bytes.to_vec()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varints_have_one_to_nine_bytes() {
        assert_eq!(varint(&[0x7f]), Some((127, 1)));
        assert_eq!(varint(&[0x81, 0x00]), Some((128, 2)));
        assert_eq!(varint(&[0xff; 9]), Some((u64::MAX, 9)));
        assert_eq!(varint(&[0x81]), None);
        assert_eq!(varint(&[]), None);
    }

    #[test]
    fn every_type_of_value() {
        // NULL, 0, 1, -2 (1 byte), 300 (2), 2^40 (6), 1.5, 'ab', x'cd'
        let mut payload = vec![10, 0, 8, 9, 1, 2, 5, 7, 17, 14];
        payload.extend([0xfe, 0x01, 0x2c, 0x01, 0, 0, 0, 0, 0]);
        payload.extend(1.5f64.to_be_bytes());
        payload.extend(*b"ab\xcd");
        let record = Record::parse(&payload, payload.len() as u64).unwrap();
        assert!(record.complete);
        assert_eq!(
            record.values,
            [
                Value::Null,
                Value::Integer(0),
                Value::Integer(1),
                Value::Integer(-2),
                Value::Integer(300),
                Value::Integer(1 << 40),
                Value::Real(1.5),
                Value::Text(b"ab".to_vec()),
                Value::Blob(vec![0xcd]),
            ]
        );
        // The end is missing: what stands before it is kept.
        let cut = Record::parse(&payload[..payload.len() - 1], payload.len() as u64).unwrap();
        assert!(!cut.complete);
        assert_eq!(cut.values.len(), 8);
    }

    #[test]
    fn what_is_no_record_is_refused() {
        for bytes in [&[][..], &[0], &[2, 10], &[9, 1], &[2, 1]] {
            assert!(
                Record::parse(bytes, bytes.len() as u64).is_none(),
                "{bytes:?}"
            );
        }
    }
}
