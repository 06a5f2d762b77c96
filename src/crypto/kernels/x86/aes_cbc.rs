//! AES-256-CBC decryption, sixteen blocks at a time (FIPS 197 and NIST
//! SP 800-38A, section 6.2).
//!
//! Decryption is no chain: a block's plaintext needs its ciphertext and the one
//! before. The `aes` crate is as wide, but hides its key schedule behind calls
//! that take as long as a dozen blocks, and does what is left over block by block.

#![allow(unsafe_code)]

use core::arch::x86_64::*;

use zeroize::{Zeroize, ZeroizeOnDrop};

const BLOCK: usize = 16;
const ROUND_KEYS: usize = 15;

/// The round keys of decryption, in the order of their use ("equivalent inverse
/// cipher", FIPS 197, section 5.3.5). They are wiped when dropped.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub(in crate::crypto) struct DecryptionKeys([[u8; BLOCK]; ROUND_KEYS]);

impl DecryptionKeys {
    /// Expands a key.
    #[target_feature(enable = "aes")]
    pub(in crate::crypto) fn new(key: &[u8; 32]) -> Self {
        let [low, high] = key.as_chunks().0 else {
            unreachable!("32 bytes are two blocks");
        };
        let mut keys = [_mm_setzero_si128(); ROUND_KEYS];
        keys[0] = load(low);
        keys[1] = load(high);
        // Key expansion, section 5.2: each round key is the one two before,
        // accumulated word by word, XOR a word of the one before, which goes
        // through the S-box, and for even ones is rotated and meets a constant.
        macro_rules! even {
            ($i:literal, $constant:literal) => {
                let word = _mm_aeskeygenassist_si128::<$constant>(keys[$i - 1]);
                keys[$i] = next(keys[$i - 2], _mm_shuffle_epi32::<0xff>(word));
            };
        }
        macro_rules! odd {
            ($i:literal) => {
                let word = _mm_aeskeygenassist_si128::<0>(keys[$i - 1]);
                keys[$i] = next(keys[$i - 2], _mm_shuffle_epi32::<0xaa>(word));
            };
        }
        even!(2, 0x01);
        odd!(3);
        even!(4, 0x02);
        odd!(5);
        even!(6, 0x04);
        odd!(7);
        even!(8, 0x08);
        odd!(9);
        even!(10, 0x10);
        odd!(11);
        even!(12, 0x20);
        odd!(13);
        even!(14, 0x40);

        let mut used = Self([[0; BLOCK]; ROUND_KEYS]);
        for (i, place) in used.0.iter_mut().enumerate() {
            let key = keys[ROUND_KEYS - 1 - i];
            let inner = i > 0 && i < ROUND_KEYS - 1;
            store(place, if inner { _mm_aesimc_si128(key) } else { key });
        }
        keys.zeroize();
        used
    }

    /// Decrypts whole blocks in place.
    ///
    /// # Panics
    /// Panics unless `data` is a multiple of 16 bytes long.
    #[target_feature(enable = "aes,vaes,avx512f")]
    pub(in crate::crypto) fn cbc_decrypt(&self, iv: &[u8; BLOCK], data: &mut [u8]) {
        /// Blocks in a 512-bit register.
        const WIDE: usize = 4;
        /// Blocks that are worked on together: four registers, which hide the
        /// latency of a round.
        const GROUP: usize = 4 * WIDE;

        assert!(data.len().is_multiple_of(BLOCK), "CBC takes whole blocks");
        let mut keys = [_mm512_setzero_si512(); ROUND_KEYS];
        for (wide, key) in keys.iter_mut().zip(&self.0) {
            *wide = _mm512_broadcast_i32x4(load(key));
        }
        // From the end to the start, so that the ciphertext in front of a block
        // is still there when the block is decrypted.
        let mut left = data.len() / BLOCK;
        while left > GROUP {
            let at = (left - GROUP) * BLOCK;
            let mut blocks = [_mm512_setzero_si512(); GROUP / WIDE];
            let mut before = blocks;
            for (i, (block, before)) in blocks.iter_mut().zip(&mut before).enumerate() {
                *block = load_wide(data, at + i * WIDE * BLOCK);
                *before = load_wide(data, at + i * WIDE * BLOCK - BLOCK);
            }
            decrypt(&keys, &mut blocks);
            for (i, (block, before)) in blocks.into_iter().zip(before).enumerate() {
                store_wide(data, at + i * WIDE * BLOCK, _mm512_xor_si512(block, before));
            }
            left -= GROUP;
        }
        while left > WIDE {
            let at = (left - WIDE) * BLOCK;
            let before = load_wide(data, at - BLOCK);
            let mut block = [load_wide(data, at)];
            decrypt(&keys, &mut block);
            store_wide(data, at, _mm512_xor_si512(block[0], before));
            left -= WIDE;
        }
        // One to four blocks, the first of which has the IV in front.
        let blocks = data.as_chunks_mut::<BLOCK>().0;
        for i in (0..left).rev() {
            let before = load(if i == 0 { iv } else { &blocks[i - 1] });
            let mut block = _mm_xor_si128(load(&blocks[i]), load(&self.0[0]));
            for key in &self.0[1..ROUND_KEYS - 1] {
                block = _mm_aesdec_si128(block, load(key));
            }
            block = _mm_aesdeclast_si128(block, load(&self.0[ROUND_KEYS - 1]));
            store(&mut blocks[i], _mm_xor_si128(block, before));
        }
    }
}

/// Each word XOR all words before it, XOR `word`.
#[inline]
#[target_feature(enable = "aes")]
fn next(mut key: __m128i, word: __m128i) -> __m128i {
    key = _mm_xor_si128(key, _mm_slli_si128::<4>(key));
    key = _mm_xor_si128(key, _mm_slli_si128::<8>(key));
    _mm_xor_si128(key, word)
}

/// Decrypts four blocks in each register.
#[inline]
#[target_feature(enable = "aes,vaes,avx512f")]
fn decrypt<const N: usize>(keys: &[__m512i; ROUND_KEYS], blocks: &mut [__m512i; N]) {
    let [first, inner @ .., last] = keys;
    for block in blocks.iter_mut() {
        *block = _mm512_xor_si512(*block, *first);
    }
    for key in inner {
        for block in blocks.iter_mut() {
            *block = _mm512_aesdec_epi128(*block, *key);
        }
    }
    for block in blocks.iter_mut() {
        *block = _mm512_aesdeclast_epi128(*block, *last);
    }
}

#[inline]
#[target_feature(enable = "sse2")]
fn load(bytes: &[u8; BLOCK]) -> __m128i {
    // SAFETY: a reference to 16 readable bytes; the load needs no alignment.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "sse2")]
fn store(bytes: &mut [u8; BLOCK], value: __m128i) {
    // SAFETY: a reference to 16 writable bytes; the store needs no alignment.
    unsafe { _mm_storeu_si128(bytes.as_mut_ptr().cast(), value) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load_wide(data: &[u8], at: usize) -> __m512i {
    let bytes = &data[at..at + 64];
    // SAFETY: a slice of 64 readable bytes; the load needs no alignment.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store_wide(data: &mut [u8], at: usize, value: __m512i) {
    let bytes = &mut data[at..at + 64];
    // SAFETY: a slice of 64 writable bytes; the store needs no alignment.
    unsafe { _mm512_storeu_si512(bytes.as_mut_ptr().cast(), value) }
}
