//! Key material. Every type here wipes itself when dropped, compares to nothing
//! and prints nothing: `Debug` shows the form of a key, never its bytes.

use core::fmt;

use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::error::KeyError;

/// Bytes of an AES-256 key or of an HMAC key.
pub const KEY_LEN: usize = 32;

/// Bytes of a database's salt (file offset 0).
pub const SALT_LEN: usize = 16;

/// A database's salt. It is public: it stands in clear at the start of the file.
pub type Salt = [u8; SALT_LEN];

/// 32 bytes of key material.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct SecretKey([u8; KEY_LEN]);

impl SecretKey {
    /// Takes over the given bytes.
    #[must_use]
    pub fn new(bytes: [u8; KEY_LEN]) -> Self {
        Self(bytes)
    }

    /// The key's bytes, for the cipher or MAC that is set up with them.
    #[must_use]
    pub fn expose(&self) -> &[u8; KEY_LEN] {
        &self.0
    }

    /// The key's bytes, for the derivation that fills them in.
    pub fn expose_mut(&mut self) -> &mut [u8; KEY_LEN] {
        &mut self.0
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretKey(..)")
    }
}

/// Room for decrypted pages: bytes that are wiped when dropped.
///
/// A `Zeroizing<Vec<u8>>` is wiped byte by byte, which for a page takes as long as to
/// decrypt it; this one as a whole.
#[derive(Clone, Default)]
pub struct PageBuffer(Vec<u8>);

impl PageBuffer {
    /// So many zeros.
    #[must_use]
    pub fn zeros(len: usize) -> Self {
        Self(vec![0; len])
    }
}

impl From<Vec<u8>> for PageBuffer {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

impl Drop for PageBuffer {
    fn drop(&mut self) {
        self.0.spare_capacity_mut().zeroize();
        self.0.as_mut_slice().zeroize();
    }
}

impl ZeroizeOnDrop for PageBuffer {}

impl core::ops::Deref for PageBuffer {
    type Target = Vec<u8>;

    fn deref(&self) -> &Vec<u8> {
        &self.0
    }
}

impl core::ops::DerefMut for PageBuffer {
    fn deref_mut(&mut self) -> &mut Vec<u8> {
        &mut self.0
    }
}

impl fmt::Debug for PageBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PageBuffer({} bytes)", self.0.len())
    }
}

/// What the user keyed a database with.
///
/// The four forms are SQLCipher's: a passphrase, and raw key material with
/// nothing, with a salt, or with a salt and the page MAC's key beside it.
/// (`PRAGMA key` gives the raw forms as the text `x'…'` with 64, 96 or 160
/// hexadecimal digits; [`crate::format::key_text`] parses that.)
#[derive(Clone)]
#[non_exhaustive]
pub enum Key {
    /// A passphrase, any bytes, not empty: the AES key comes from PBKDF2.
    Passphrase(Zeroizing<Vec<u8>>),
    /// A 32-byte AES key.
    Raw(SecretKey),
    /// A 32-byte AES key and the database's salt.
    RawWithSalt(SecretKey, Salt),
    /// The AES key, the HMAC key and the database's salt: nothing is derived.
    Full {
        /// AES-256 key of the pages.
        cipher: SecretKey,
        /// Key of the page MACs.
        mac: SecretKey,
        /// The database's salt, stored in the clear.
        salt: Salt,
    },
}

impl Key {
    /// A passphrase of any bytes. An empty one is refused later, when it is used
    /// ([`crate::error::KeyError::Empty`]).
    #[must_use]
    pub fn passphrase(bytes: impl AsRef<[u8]>) -> Self {
        Self::Passphrase(Zeroizing::new(bytes.as_ref().to_vec()))
    }

    /// Raw key material: 32 bytes are the AES key, 48 the AES key and the salt,
    /// 80 the AES key, the HMAC key and the salt (SQLCipher's order).
    ///
    /// # Errors
    /// [`KeyError::Empty`] or, for any other length, [`KeyError::RawLength`].
    pub fn from_raw_bytes(bytes: &[u8]) -> Result<Self, KeyError> {
        let key = |bytes: &[u8; KEY_LEN]| SecretKey(*bytes);
        if let Ok(cipher) = bytes.try_into() {
            return Ok(Self::Raw(key(cipher)));
        }
        match bytes.split_first_chunk() {
            Some((cipher, rest)) => {
                if let Ok(salt) = rest.try_into() {
                    return Ok(Self::RawWithSalt(key(cipher), salt));
                }
                if let Some((mac, salt)) = rest.split_first_chunk()
                    && let Ok(salt) = salt.try_into()
                {
                    return Ok(Self::Full {
                        cipher: key(cipher),
                        mac: key(mac),
                        salt,
                    });
                }
                Err(KeyError::RawLength(bytes.len()))
            }
            None if bytes.is_empty() => Err(KeyError::Empty),
            None => Err(KeyError::RawLength(bytes.len())),
        }
    }

    /// As [`Key::from_raw_bytes`], from 64, 96 or 160 hexadecimal digits of
    /// either case.
    ///
    /// # Errors
    /// [`KeyError::NotHex`] for anything but pairs of digits; otherwise as
    /// [`Key::from_raw_bytes`].
    pub fn from_raw_hex(digits: &str) -> Result<Self, KeyError> {
        Self::from_raw_bytes(&decode_hex(digits.as_bytes()).ok_or(KeyError::NotHex)?)
    }

    /// Whether it is the empty passphrase, which is no key.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Passphrase(bytes) if bytes.is_empty())
    }

    /// The salt that this key carries, if it carries one.
    #[must_use]
    pub fn salt(&self) -> Option<Salt> {
        match self {
            Self::Passphrase(_) | Self::Raw(_) => None,
            Self::RawWithSalt(_, salt) | Self::Full { salt, .. } => Some(*salt),
        }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Passphrase(_) => "Key::Passphrase(..)",
            Self::Raw(_) => "Key::Raw(..)",
            Self::RawWithSalt(..) => "Key::RawWithSalt(..)",
            Self::Full { .. } => "Key::Full(..)",
        })
    }
}

/// Decodes pairs of hexadecimal digits of either case; `None` for anything else.
/// The result is wiped when dropped.
pub(crate) fn decode_hex(digits: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    // The full capacity at once: a vector that grows leaves copies behind.
    let mut bytes = Zeroizing::new(Vec::with_capacity(digits.len() / 2));
    let (pairs, []) = digits.as_chunks::<2>() else {
        return None;
    };
    for &[high, low] in pairs {
        let digit = |c: u8| char::from(c).to_digit(16);
        bytes.push((digit(high)? << 4 | digit(low)?) as u8);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_keys_come_in_three_lengths() {
        let bytes: Vec<u8> = (0..80).collect();
        let raw = |len: usize| Key::from_raw_bytes(&bytes[..len]);
        assert!(matches!(raw(32), Ok(Key::Raw(key)) if key.expose()[..] == bytes[..32]));
        assert!(matches!(
            raw(48),
            Ok(Key::RawWithSalt(key, salt))
                if key.expose()[..] == bytes[..32] && salt[..] == bytes[32..48]
        ));
        assert!(matches!(
            raw(80),
            Ok(Key::Full { cipher, mac, salt })
                if cipher.expose()[..] == bytes[..32]
                    && mac.expose()[..] == bytes[32..64]
                    && salt[..] == bytes[64..]
        ));
        assert_eq!(raw(0).unwrap_err(), KeyError::Empty);
        for len in (1..80).filter(|len| ![32, 48].contains(len)) {
            assert_eq!(raw(len).unwrap_err(), KeyError::RawLength(len));
        }
        assert!(matches!(
            Key::from_raw_hex(&"aB".repeat(32)),
            Ok(Key::Raw(key)) if key.expose() == &[0xAB; 32]
        ));
        assert_eq!(
            Key::from_raw_hex(&"a".repeat(63)).unwrap_err(),
            KeyError::NotHex
        );
        assert_eq!(
            Key::from_raw_hex(&"g0".repeat(32)).unwrap_err(),
            KeyError::NotHex
        );
        assert_eq!(Key::from_raw_hex("").unwrap_err(), KeyError::Empty);
    }

    #[test]
    fn debug_shows_the_form_and_no_byte() {
        let keys = [
            Key::passphrase("tops3cret"),
            Key::Raw(SecretKey::new([0xAB; 32])),
            Key::RawWithSalt(SecretKey::new([0xAB; 32]), [0xCD; 16]),
            Key::Full {
                cipher: SecretKey::new([0xAB; 32]),
                mac: SecretKey::new([0xEF; 32]),
                salt: [0xCD; 16],
            },
        ];
        for key in keys {
            let text = format!("{key:?}");
            assert!(text.ends_with("(..)"), "{text}");
        }
        assert_eq!(format!("{:?}", SecretKey::new([7; 32])), "SecretKey(..)");
    }
}
