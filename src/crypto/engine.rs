//! The three hashes behind one trait, so that HMAC and PBKDF2 are written once.

use zeroize::Zeroize;

use super::dispatch::{Backend, MAX_LANES};
use super::kernels::constants::{SHA1_INIT, SHA256_INIT, SHA512_INIT};
use super::kernels::portable::Chain;

/// Bytes of the largest block: SHA-512's.
pub(super) const MAX_BLOCK: usize = 128;

/// A Merkle-Damgård hash (FIPS 180-4): words of state, blocks, and padding that
/// ends with the length of the message.
pub(super) trait Engine {
    /// The words of the hash while it runs.
    type State: Copy + Zeroize;

    /// The state before the first block.
    const INIT: Self::State;
    /// Bytes of a block.
    const BLOCK: usize;
    /// Bytes of the hash.
    const OUT: usize;
    /// Bytes of the length at the end of the padding, of which the last 8 are
    /// enough here.
    const LENGTH: usize;

    /// Hashes one message's whole blocks.
    fn one(backend: Backend, state: &mut Self::State, data: &[u8]);

    /// Hashes the whole blocks of at most [`MAX_LANES`] messages of one length.
    fn many(backend: Backend, states: &mut [Self::State], data: &[&[u8]]);

    /// PBKDF2's inner loop.
    fn chains(
        backend: Backend,
        inner: &Self::State,
        outer: &Self::State,
        chains: &mut [Chain<Self::State>],
        rounds: u32,
    );

    /// Writes the state as the hash's bytes.
    fn put(state: &Self::State, out: &mut [u8]);

    /// Reads a hash's bytes as a state.
    fn get(bytes: &[u8]) -> Self::State;
}

macro_rules! engine {
    (
        $(#[$doc:meta])* $name:ident, [$word:ident; $words:literal], $block:literal, $init:ident,
        $one:ident, $many:ident, $chains:ident
    ) => {
        $(#[$doc])*
        pub(super) struct $name;

        impl Engine for $name {
            type State = [$word; $words];

            const INIT: Self::State = $init;
            const BLOCK: usize = $block;
            const OUT: usize = $words * size_of::<$word>();
            const LENGTH: usize = 2 * size_of::<$word>();

            fn one(backend: Backend, state: &mut Self::State, data: &[u8]) {
                let (blocks, rest) = data.as_chunks();
                debug_assert!(rest.is_empty());
                backend.$one(state, blocks);
            }

            fn many(backend: Backend, states: &mut [Self::State], data: &[&[u8]]) {
                let mut messages: [&[[u8; $block]]; MAX_LANES] = [&[]; MAX_LANES];
                for (message, data) in messages.iter_mut().zip(data) {
                    let (blocks, rest) = data.as_chunks();
                    debug_assert!(rest.is_empty());
                    *message = blocks;
                }
                backend.$many(states, &messages[..data.len()]);
            }

            fn chains(
                backend: Backend,
                inner: &Self::State,
                outer: &Self::State,
                chains: &mut [Chain<Self::State>],
                rounds: u32,
            ) {
                backend.$chains(inner, outer, chains, rounds);
            }

            fn put(state: &Self::State, out: &mut [u8]) {
                for (bytes, word) in out.as_chunks_mut().0.iter_mut().zip(state) {
                    *bytes = word.to_be_bytes();
                }
            }

            fn get(bytes: &[u8]) -> Self::State {
                let mut state = [0; $words];
                for (word, bytes) in state.iter_mut().zip(bytes.as_chunks().0) {
                    *word = $word::from_be_bytes(*bytes);
                }
                state
            }
        }
    };
}

engine! {
    /// SHA-1.
    Sha1, [u32; 5], 64, SHA1_INIT, sha1, sha1_many, sha1_chains
}
engine! {
    /// SHA-256.
    Sha256, [u32; 8], 64, SHA256_INIT, sha256, sha256_many, sha256_chains
}
engine! {
    /// SHA-512.
    Sha512, [u64; 8], 128, SHA512_INIT, sha512, sha512_many, sha512_chains
}
