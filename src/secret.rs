//! Key material. Every type here wipes itself when dropped, compares to nothing
//! and prints nothing: `Debug` shows the form of a key, never its bytes.

use core::fmt;

use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

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

#[cfg(test)]
mod tests {
    use super::*;

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
