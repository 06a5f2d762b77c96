//! AES-256-CBC without padding (NIST SP 800-38A, section 6.2), in place.

use core::fmt;

use aes::cipher::{
    Array, Block, BlockModeDecrypt, BlockModeEncrypt, InnerIvInit, KeyInit, array::typenum::U16,
};
use aes::{Aes256Dec, Aes256Enc};

/// Bytes of an AES block, and of a CBC initialisation vector.
pub const BLOCK_LEN: usize = 16;

/// Both key schedules of one AES-256 key. They are wiped when dropped.
#[derive(Clone)]
pub struct Aes256Cbc {
    enc: Aes256Enc,
    dec: Aes256Dec,
}

impl Aes256Cbc {
    /// Expands the key.
    #[must_use]
    pub fn new(key: &[u8; 32]) -> Self {
        Self {
            enc: Aes256Enc::new(key.into()),
            dec: Aes256Dec::new(key.into()),
        }
    }

    /// Encrypts whole blocks in place.
    ///
    /// # Panics
    /// Panics unless `data` is a multiple of 16 bytes long.
    pub fn encrypt(&self, iv: &[u8; BLOCK_LEN], data: &mut [u8]) {
        cbc::Encryptor::inner_iv_init(&self.enc, iv.into()).encrypt_blocks(blocks(data));
    }

    /// Decrypts whole blocks in place.
    ///
    /// # Panics
    /// Panics unless `data` is a multiple of 16 bytes long.
    pub fn decrypt(&self, iv: &[u8; BLOCK_LEN], data: &mut [u8]) {
        cbc::Decryptor::inner_iv_init(&self.dec, iv.into()).decrypt_blocks(blocks(data));
    }
}

impl fmt::Debug for Aes256Cbc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Aes256Cbc(..)")
    }
}

/// `data` as AES blocks.
fn blocks(data: &mut [u8]) -> &mut [Block<Aes256Enc>] {
    let (blocks, rest) = Array::<u8, U16>::slice_as_chunks_mut(data);
    assert!(rest.is_empty(), "CBC takes whole 16-byte blocks");
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    /// NIST SP 800-38A, F.2.5 and F.2.6.
    #[test]
    fn nist_sp_800_38a_cbc_aes256() {
        let key = hex::decode("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4")
            .unwrap();
        let plain = hex::decode(
            "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51\
             30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710",
        )
        .unwrap();
        let cipher = hex::decode(
            "f58c4c04d6e5f1ba779eabfb5f7bfbd69cfc4e967edb808d679f777bc6702c7d\
             39f23369a9d9bacfa530e26304231461b2eb05e2c39be9fcda6c19078c6a9d1b",
        )
        .unwrap();
        let iv: [u8; 16] = core::array::from_fn(|i| i as u8);
        let aes = Aes256Cbc::new(&key.try_into().unwrap());
        let mut data = plain.clone();
        aes.encrypt(&iv, &mut data);
        assert_eq!(data, cipher);
        aes.decrypt(&iv, &mut data);
        assert_eq!(data, plain);
    }

    #[test]
    #[should_panic(expected = "whole 16-byte blocks")]
    fn half_blocks_are_refused() {
        Aes256Cbc::new(&[0; 32]).encrypt(&[0; 16], &mut [0; 24]);
    }

    #[test]
    fn debug_shows_no_key() {
        assert_eq!(format!("{:?}", Aes256Cbc::new(&[7; 32])), "Aes256Cbc(..)");
    }
}
