//! AES-256 in counter mode (NIST SP 800-38A, section 6.5), in place.
//!
//! The counter block is two big-endian 64-bit halves: a nonce that the caller
//! never uses twice, and the number of the 16-byte block.

use core::fmt;

use aes::Aes256Enc;
use aes::cipher::{Array, BlockCipherEncrypt, KeyInit, array::typenum::U16};
use zeroize::Zeroize;

use super::cbc::BLOCK_LEN;

/// Blocks encrypted by one call into `aes`. Its widest backend takes 64 blocks
/// at a time and the AES-NI one 9; 64 blocks are also a quarter of a
/// 4096-byte page, so nothing is encrypted in vain.
const WIDTH: usize = 64;

/// The key schedule of a counter-mode key. It is wiped when dropped.
#[derive(Clone)]
pub struct Aes256Ctr(Aes256Enc);

impl Aes256Ctr {
    /// Expands the key.
    #[must_use]
    pub fn new(key: &[u8; 32]) -> Self {
        Self(Aes256Enc::new(key.into()))
    }

    /// XORs the key stream of `nonce`, from its block number `first` on, to `data`.
    /// The block number wraps around at 2^64.
    pub fn apply(&self, nonce: u64, first: u64, data: &mut [u8]) {
        let mut stream = [Array::<u8, U16>::default(); WIDTH];
        let mut number = first;
        for chunk in data.chunks_mut(WIDTH * BLOCK_LEN) {
            let used = &mut stream[..chunk.len().div_ceil(BLOCK_LEN)];
            for block in used.iter_mut() {
                block[..8].copy_from_slice(&nonce.to_be_bytes());
                block[8..].copy_from_slice(&number.to_be_bytes());
                number = number.wrapping_add(1);
            }
            self.0.encrypt_blocks(used);
            for (byte, mask) in chunk.iter_mut().zip(Array::slice_as_flattened(used)) {
                *byte ^= mask;
            }
        }
        // Beside the encrypted file, the key stream is as good as the plaintext.
        for block in &mut stream {
            block.zeroize();
        }
    }
}

impl fmt::Debug for Aes256Ctr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Aes256Ctr(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// NIST SP 800-38A, F.5.5 and F.5.6.
    #[test]
    fn nist_sp_800_38a_ctr_aes256() {
        let key = hex::decode("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4")
            .unwrap();
        let plain = hex::decode(
            "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51\
             30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710",
        )
        .unwrap();
        let cipher = hex::decode(
            "601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c5\
             2b0930daa23de94ce87017ba2d84988ddfc9c58db67aada613c2dd08457941a6",
        )
        .unwrap();
        let ctr = Aes256Ctr::new(&key.try_into().unwrap());
        let mut data = plain.clone();
        ctr.apply(0xf0f1_f2f3_f4f5_f6f7, 0xf8f9_fafb_fcfd_feff, &mut data);
        assert_eq!(data, cipher);
        ctr.apply(0xf0f1_f2f3_f4f5_f6f7, 0xf8f9_fafb_fcfd_feff, &mut data);
        assert_eq!(data, plain);
    }

    /// Any cut at a block's edge gives the same bytes as one call, across the
    /// width of the inner loop too, and a shorter end is a prefix.
    #[test]
    fn pieces_equal_the_whole() {
        let ctr = Aes256Ctr::new(&[9; 32]);
        let mut whole = [0u8; 4096];
        ctr.apply(5, 0, &mut whole);
        for cut in [16, 1008, 1024, 1040, 4080] {
            let mut pieces = [0u8; 4096];
            ctr.apply(5, 0, &mut pieces[..cut]);
            ctr.apply(5, cut as u64 / 16, &mut pieces[cut..]);
            assert_eq!(pieces, whole, "{cut}");
        }
        for len in [0, 1, 15, 17, 1023, 1025] {
            let mut short = vec![0u8; len];
            ctr.apply(5, 0, &mut short);
            assert_eq!(short, whole[..len]);
        }
    }
}
