//! From what the user gave to the two keys that seal pages.

use core::fmt;

use zeroize::ZeroizeOnDrop;

use crate::crypto::pbkdf2::pbkdf2;
use crate::error::KeyError;
use crate::secret::{Key, SALT_LEN, Salt, SecretKey};

use super::settings::Settings;

/// The keys of one database, ready for [`super::PageCodec`].
#[derive(Clone, ZeroizeOnDrop)]
pub struct DerivedKeys {
    /// AES-256 key of the pages.
    pub cipher: SecretKey,
    /// Key of the page MACs. It is derived even where HMAC is off, when nothing
    /// uses it: a key that is sometimes zero would one day be used.
    pub mac: SecretKey,
    /// The salt that both were derived with, and that page 1 carries.
    #[zeroize(skip)]
    pub salt: Salt,
}

impl fmt::Debug for DerivedKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DerivedKeys(..)")
    }
}

/// Derives a database's keys. With a passphrase this is meant to be slow: once
/// for each connection and file.
///
/// A salt inside the key wins over `salt`, the one that the file (or
/// `cipher_salt`) gives, as in SQLCipher.
///
/// # Errors
/// [`KeyError::Empty`] for an empty passphrase.
pub fn derive(key: &Key, settings: &Settings, salt: &Salt) -> Result<DerivedKeys, KeyError> {
    let salt = key.salt().unwrap_or(*salt);
    let cipher = match key {
        Key::Full { cipher, mac, .. } => {
            return Ok(DerivedKeys {
                cipher: cipher.clone(),
                mac: mac.clone(),
                salt,
            });
        }
        Key::Raw(cipher) | Key::RawWithSalt(cipher, _) => cipher.clone(),
        Key::Passphrase(passphrase) if passphrase.is_empty() => return Err(KeyError::Empty),
        Key::Passphrase(passphrase) => {
            let mut cipher = SecretKey::new([0; 32]);
            pbkdf2(
                settings.kdf_algorithm,
                passphrase,
                &salt,
                settings.kdf_iter,
                cipher.expose_mut(),
            );
            cipher
        }
    };
    // The key of the MACs: a second, short PBKDF2 with the AES key as the
    // password. It uses the hash of the key derivation, not that of the MAC.
    let masked: [u8; SALT_LEN] = salt.map(|byte| byte ^ settings.hmac_salt_mask);
    let mut mac = SecretKey::new([0; 32]);
    pbkdf2(
        settings.kdf_algorithm,
        cipher.expose(),
        &masked,
        settings.fast_kdf_iter,
        mac.expose_mut(),
    );
    Ok(DerivedKeys { cipher, mac, salt })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{HashAlgorithm, Preset};

    /// OpenSSL's PBKDF2 (CPython's `hashlib`), composed as SQLCipher composes it.
    #[test]
    fn passphrase_gives_both_keys() {
        let salt: Salt = core::array::from_fn(|i| 0xa0 + i as u8);
        let key = Key::passphrase("correct horse");
        for (preset, iterations, hash, cipher, mac) in [
            (
                Preset::V3,
                4000,
                HashAlgorithm::Sha1,
                "c6e3717739bf8138744ed649e07ee3be0468b2eb627a07cacdce0813bf39f2b3",
                "95af639af1eecba930f663951b4a9e88ba43dab3ceaed37874ce940e45181e0b",
            ),
            (
                Preset::V4,
                1000,
                HashAlgorithm::Sha256,
                "a565d33a9d5d792c56ac9b409ce327472bcd738fecee1352ca09fa294a867dbb",
                "e5e41c484dc49e4d4c66c5671dc3b99fe260438fe5a0b072781570aa791309bf",
            ),
            (
                Preset::V4,
                1000,
                HashAlgorithm::Sha512,
                "9776e9c8bccadb9d8ee3970ed6f350e275a883ac4fe2648ba07679919bc6c645",
                "d8fef7fb0870c38eaf9557fac4ca66b044ef3ba6b79b09c8a5f75b98aee7ba2f",
            ),
        ] {
            let settings = Settings {
                kdf_iter: iterations,
                kdf_algorithm: hash,
                ..Settings::preset(preset)
            };
            let keys = derive(&key, &settings, &salt).unwrap();
            assert_eq!(hex::encode(keys.cipher.expose()), cipher);
            assert_eq!(hex::encode(keys.mac.expose()), mac);
            assert_eq!(keys.salt, salt);
        }
    }

    #[test]
    fn a_salt_inside_the_key_wins() {
        let settings = Settings::default();
        let inside = Key::RawWithSalt(SecretKey::new([1; 32]), [2; 16]);
        let outside = Key::Raw(SecretKey::new([1; 32]));
        let a = derive(&inside, &settings, &[9; 16]).unwrap();
        let b = derive(&outside, &settings, &[2; 16]).unwrap();
        let c = derive(&outside, &settings, &[9; 16]).unwrap();
        assert_eq!((a.salt, b.salt, c.salt), ([2; 16], [2; 16], [9; 16]));
        assert_eq!(a.mac.expose(), b.mac.expose());
        assert_ne!(a.mac.expose(), c.mac.expose());
        let full = Key::Full {
            cipher: SecretKey::new([1; 32]),
            mac: SecretKey::new([3; 32]),
            salt: [4; 16],
        };
        let d = derive(&full, &settings, &[9; 16]).unwrap();
        assert_eq!((d.mac.expose(), d.salt), (&[3; 32], [4; 16]));
    }

    #[test]
    fn empty_passphrases_are_refused_and_nothing_is_printed() {
        let settings = Settings::default();
        let error = derive(&Key::passphrase(""), &settings, &[0; 16]).unwrap_err();
        assert_eq!(error, KeyError::Empty);
        let keys = derive(&Key::Raw(SecretKey::new([1; 32])), &settings, &[0; 16]).unwrap();
        assert_eq!(format!("{keys:?}"), "DerivedKeys(..)");
    }
}
