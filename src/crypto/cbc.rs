//! AES-256-CBC without padding (NIST SP 800-38A, section 6.2), in place.
//!
//! Encryption is a chain: a block can't start before the one in front of it is
//! done, and one block uses a small part of what the processor's AES unit can do
//! in that time. So several messages are encrypted side by side.

use core::fmt;

use aes::Aes256Enc;
use aes::cipher::inout::InOut;
use aes::cipher::{
    Array, Block, BlockCipherEncBackend, BlockCipherEncClosure, BlockCipherEncrypt,
    BlockModeEncrypt, BlockSizeUser, InnerIvInit, KeyInit, array::typenum::U16,
};

use super::dispatch::{Backend, DecryptionKeys};

/// Bytes of an AES block, and of a CBC initialisation vector.
pub const BLOCK_LEN: usize = 16;

/// Both key schedules of one AES-256 key. They are wiped when dropped.
#[derive(Clone)]
pub struct Aes256Cbc {
    enc: Aes256Enc,
    dec: DecryptionKeys,
}

impl Aes256Cbc {
    /// Expands the key.
    #[must_use]
    pub fn new(key: &[u8; 32]) -> Self {
        Self::with_backend(Backend::detect(), key)
    }

    /// As [`Aes256Cbc::new`], with kernels of the caller's choice, for measuring.
    #[must_use]
    pub fn with_backend(backend: Backend, key: &[u8; 32]) -> Self {
        Self {
            enc: Aes256Enc::new(key.into()),
            dec: DecryptionKeys::new(backend, key),
        }
    }

    /// Encrypts whole blocks in place.
    ///
    /// # Panics
    /// Panics unless `data` is a multiple of 16 bytes long.
    pub fn encrypt(&self, iv: &[u8; BLOCK_LEN], data: &mut [u8]) {
        cbc::Encryptor::inner_iv_init(&self.enc, iv.into()).encrypt_blocks(blocks(data));
    }

    /// Encrypts many messages in place, each from its own IV. Neighbours are encrypted
    /// together, as far as the shortest of them goes.
    ///
    /// # Panics
    /// As [`Aes256Cbc::encrypt`].
    pub fn encrypt_many(&self, messages: &mut [CbcMessage<'_>]) {
        // Eight chains keep the AES units of today's processors busy; fewer take hardly
        // less time than eight.
        for group in messages.chunks_mut(8) {
            match group.len() {
                1 => self.encrypt(&group[0].iv, group[0].data),
                2 => self.side_by_side::<2>(group),
                3 => self.side_by_side::<3>(group),
                4 => self.side_by_side::<4>(group),
                5 => self.side_by_side::<5>(group),
                6 => self.side_by_side::<6>(group),
                7 => self.side_by_side::<7>(group),
                _ => self.side_by_side::<8>(group),
            }
        }
    }

    /// Encrypts `N` messages together, and what some have more than others (page 1 has
    /// less than other pages) alone.
    fn side_by_side<const N: usize>(&self, messages: &mut [CbcMessage<'_>]) {
        let messages: &mut [CbcMessage<'_>; N] = messages.try_into().expect("N messages");
        let shortest = messages.iter().map(|message| message.data.len()).min();
        let common = shortest.unwrap_or_default();
        let ivs = messages.each_ref().map(|message| message.iv.into());
        let together = messages
            .each_mut()
            .map(|message| blocks(&mut message.data[..common]));
        self.enc.encrypt_with_backend(SideBySide {
            messages: together,
            ivs,
        });
        for message in messages {
            let (done, rest) = message.data.split_at_mut(common);
            if !rest.is_empty() {
                self.encrypt(done.last_chunk().unwrap_or(&message.iv), rest);
            }
        }
    }

    /// Decrypts whole blocks in place.
    ///
    /// # Panics
    /// Panics unless `data` is a multiple of 16 bytes long.
    pub fn decrypt(&self, iv: &[u8; BLOCK_LEN], data: &mut [u8]) {
        self.dec.cbc_decrypt(iv, data);
    }
}

impl fmt::Debug for Aes256Cbc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Aes256Cbc(..)")
    }
}

/// A message to be encrypted in place, and its IV.
#[derive(Debug)]
pub struct CbcMessage<'a> {
    /// The initialisation vector: random, and used once.
    pub iv: [u8; BLOCK_LEN],
    /// Whole blocks.
    pub data: &'a mut [u8],
}

/// `N` chains, one block of each in turn. It runs inside the cipher's own
/// backend, where a block is a handful of instructions that the processor
/// overlaps with those of the other chains.
struct SideBySide<'a, const N: usize> {
    messages: [&'a mut [Block<Aes256Enc>]; N],
    ivs: [Block<Aes256Enc>; N],
}

impl<const N: usize> BlockSizeUser for SideBySide<'_, N> {
    type BlockSize = U16;
}

impl<const N: usize> BlockCipherEncClosure for SideBySide<'_, N> {
    #[inline(always)]
    fn call<B: BlockCipherEncBackend<BlockSize = U16>>(self, backend: &B) {
        let mut chain = self.ivs;
        let len = self.messages[0].len();
        // One bounds check for each message, not for each block.
        let mut messages = self.messages.map(|message| &mut message[..len]);
        for block in 0..len {
            for (chain, message) in chain.iter_mut().zip(&mut messages) {
                let plain = u128::from_ne_bytes(message[block].0);
                let masked = u128::from_ne_bytes(chain.0) ^ plain;
                chain.0 = masked.to_ne_bytes();
                backend.encrypt_block(InOut::from(&mut *chain));
                message[block] = *chain;
            }
        }
    }
}

/// `data` as AES blocks.
fn blocks(data: &mut [u8]) -> &mut [Block<Aes256Enc>] {
    let (blocks, rest) = Array::<u8, U16>::slice_as_chunks_mut(data);
    assert!(rest.is_empty(), "CBC takes whole blocks");
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
        for backend in Backend::available() {
            let aes = Aes256Cbc::with_backend(backend, key.as_slice().try_into().unwrap());
            let mut data = plain.clone();
            aes.encrypt(&iv, &mut data);
            assert_eq!(data, cipher);
            aes.decrypt(&iv, &mut data);
            assert_eq!(data, plain);
        }
    }

    /// What is encrypted side by side is what is encrypted alone: every number of
    /// messages to 20, of lengths that differ here and there, some of none at all.
    #[test]
    fn many_are_as_each() {
        let aes = Aes256Cbc::new(&[7; 32]);
        for count in 0..20usize {
            let plain: Vec<Vec<u8>> = (0..count)
                .map(|i| {
                    (0..16 * (i / 11 + count % 5 + i % 3))
                        .map(|j| (i * j) as u8)
                        .collect()
                })
                .collect();
            let iv = |i: usize| [i as u8; BLOCK_LEN];
            let mut many = plain.clone();
            let mut messages: Vec<_> = many
                .iter_mut()
                .enumerate()
                .map(|(i, data)| CbcMessage { iv: iv(i), data })
                .collect();
            aes.encrypt_many(&mut messages);
            for (i, (mut one, many)) in plain.into_iter().zip(many).enumerate() {
                aes.encrypt(&iv(i), &mut one);
                assert_eq!(one, many);
            }
        }
    }

    #[test]
    #[should_panic(expected = "whole blocks")]
    fn half_blocks_are_refused() {
        Aes256Cbc::new(&[0; 32]).encrypt(&[0; 16], &mut [0; 24]);
    }

    #[test]
    fn debug_shows_no_key() {
        assert_eq!(format!("{:?}", Aes256Cbc::new(&[7; 32])), "Aes256Cbc(..)");
    }
}
