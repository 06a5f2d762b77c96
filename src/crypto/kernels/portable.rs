//! All operations over the `aes`, `sha1` and `sha2` crates, which use the AES and
//! SHA instructions of x86 and ARMv8 where there are any. What the other kernels
//! are compared with.

use aes::Aes256Dec;
use aes::cipher::{Array, BlockModeDecrypt, InnerIvInit, array::typenum::U16};
use zeroize::Zeroize;

/// Decrypts whole blocks of AES-256-CBC in place.
///
/// # Panics
/// Panics unless `data` is a multiple of 16 bytes long.
pub(in crate::crypto) fn cbc_decrypt(aes: &Aes256Dec, iv: &[u8; 16], data: &mut [u8]) {
    let (blocks, rest) = Array::<u8, U16>::slice_as_chunks_mut(data);
    assert!(rest.is_empty(), "CBC takes whole blocks");
    cbc::Decryptor::inner_iv_init(aes, iv.into()).decrypt_blocks(blocks);
}

/// One step of several PBKDF2 blocks: `u` is the last HMAC, `sum` the XOR of all.
#[derive(Clone, Copy)]
pub(in crate::crypto) struct Chain<S> {
    pub(in crate::crypto) u: S,
    pub(in crate::crypto) sum: S,
}

/// Hashes whole blocks of one SHA-512 message into `state`.
pub(in crate::crypto) fn sha512(state: &mut [u64; 8], blocks: &[[u8; 128]]) {
    sha2::block_api::compress512(state, blocks);
}

/// Hashes whole blocks of one SHA-256 message into `state`.
pub(in crate::crypto) fn sha256(state: &mut [u32; 8], blocks: &[[u8; 64]]) {
    sha2::block_api::compress256(state, blocks);
}

/// Hashes whole blocks of one SHA-1 message into `state`.
pub(in crate::crypto) fn sha1(state: &mut [u32; 5], blocks: &[[u8; 64]]) {
    sha1::block_api::compress(state, blocks);
}

/// Runs PBKDF2's inner loop, `rounds` HMACs of each chain's last HMAC.
///
/// The HMAC of something as short as a hash is two compressions of one block
/// each, from the states after the two pads. The block's padding never changes,
/// so only the hash is written into it. Chains go through each step together:
/// they don't depend on each other, and the processor overlaps them.
macro_rules! chains {
    ($name:ident, $compress:ident, $word:ty, $words:literal, $block:literal) => {
        pub(in crate::crypto) fn $name(
            inner: &[$word; $words],
            outer: &[$word; $words],
            chains: &mut [Chain<[$word; $words]>],
            rounds: u32,
        ) {
            const OUT: usize = $words * size_of::<$word>();
            const BITS: u64 = ($block + OUT as u64) * 8;
            let mut block = [0u8; $block];
            block[OUT] = 0x80;
            block[$block - 8..].copy_from_slice(&BITS.to_be_bytes());
            let mut step = |start: &[$word; $words], u: &mut [$word; $words]| {
                for (bytes, word) in block[..OUT].chunks_exact_mut(size_of::<$word>()).zip(&*u) {
                    bytes.copy_from_slice(&word.to_be_bytes());
                }
                *u = *start;
                $compress(u, core::slice::from_ref(&block));
            };
            for _ in 0..rounds {
                for chain in chains.iter_mut() {
                    step(inner, &mut chain.u);
                }
                for chain in chains.iter_mut() {
                    step(outer, &mut chain.u);
                    for (sum, u) in chain.sum.iter_mut().zip(&chain.u) {
                        *sum ^= u;
                    }
                }
            }
            block.zeroize();
        }
    };
}

chains!(sha512_chains, sha512, u64, 8, 128);
chains!(sha256_chains, sha256, u32, 8, 64);
chains!(sha1_chains, sha1, u32, 5, 64);
