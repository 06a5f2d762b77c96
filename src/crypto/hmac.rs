//! HMAC (RFC 2104) with SHA-1, SHA-256 or SHA-512, of one message or of many
//! side by side.

use core::fmt;

use subtle::ConstantTimeEq;
use zeroize::{Zeroize, ZeroizeOnDrop};

use super::dispatch::{Backend, MAX_LANES};
use super::engine::{Engine, MAX_BLOCK, Sha1, Sha256, Sha512};
use super::hash::HashAlgorithm;

#[cfg(test)]
mod tests;

/// Longest tag: HMAC-SHA512's.
pub const MAX_TAG_LEN: usize = 64;

/// Bytes that follow a message's data: a page number, or PBKDF2's block number.
pub const SUFFIX_LEN: usize = 4;

/// What is authenticated: `data` and then `suffix`.
#[derive(Debug, Clone, Copy)]
pub struct Message<'a> {
    /// The bulk, of any length.
    pub data: &'a [u8],
    /// The number behind it.
    pub suffix: [u8; SUFFIX_LEN],
}

/// An HMAC key with its two pads already hashed, so that a message costs only
/// its own blocks and one more. It is wiped when dropped.
#[derive(Clone)]
pub struct MacKey {
    backend: Backend,
    pads: Pads,
}

#[derive(Clone)]
enum Pads {
    Sha1(Pair<Sha1>),
    Sha256(Pair<Sha256>),
    Sha512(Pair<Sha512>),
}

/// The states after the key XOR ipad and the key XOR opad.
pub(super) struct Pair<E: Engine> {
    pub(super) inner: E::State,
    pub(super) outer: E::State,
}

impl<E: Engine> Clone for Pair<E> {
    fn clone(&self) -> Self {
        Self {
            inner: self.inner,
            outer: self.outer,
        }
    }
}

impl<E: Engine> Drop for Pair<E> {
    fn drop(&mut self) {
        self.inner.zeroize();
        self.outer.zeroize();
    }
}

impl<E: Engine> ZeroizeOnDrop for Pair<E> {}

impl MacKey {
    /// Prepares a key of any length.
    #[must_use]
    pub fn new(algorithm: HashAlgorithm, key: &[u8]) -> Self {
        Self::with_backend(Backend::detect(), algorithm, key)
    }

    /// As [`MacKey::new`], with kernels of the caller's choice, for measuring.
    #[must_use]
    pub fn with_backend(backend: Backend, algorithm: HashAlgorithm, key: &[u8]) -> Self {
        let pads = match algorithm {
            HashAlgorithm::Sha1 => Pads::Sha1(Pair::new(backend, key)),
            HashAlgorithm::Sha256 => Pads::Sha256(Pair::new(backend, key)),
            HashAlgorithm::Sha512 => Pads::Sha512(Pair::new(backend, key)),
        };
        Self { backend, pads }
    }

    /// The tag of one message.
    #[must_use]
    pub fn tag(&self, message: Message<'_>) -> Tag {
        let mut tag = [Tag::default()];
        match &self.pads {
            Pads::Sha1(pair) => pair.group::<1>(self.backend, &[message], &mut tag),
            Pads::Sha256(pair) => pair.group::<1>(self.backend, &[message], &mut tag),
            Pads::Sha512(pair) => pair.group::<1>(self.backend, &[message], &mut tag),
        }
        tag[0]
    }

    /// The tags of many messages, into the same places of `tags`. Neighbours of
    /// one length are hashed together, and those whose lengths make no difference in
    /// blocks (page 1 is 16 bytes shorter than other pages).
    ///
    /// # Panics
    /// Panics unless there are as many tags as messages.
    pub fn tags(&self, messages: &[Message<'_>], tags: &mut [Tag]) {
        assert_eq!(messages.len(), tags.len());
        let mut tags = tags;
        let blocks = |message: &Message<'_>| match self.pads {
            Pads::Sha1(_) => block_counts::<Sha1>(message),
            Pads::Sha256(_) => block_counts::<Sha256>(message),
            Pads::Sha512(_) => block_counts::<Sha512>(message),
        };
        for run in messages.chunk_by(|a, b| blocks(a) == blocks(b)) {
            for group in run.chunks(MAX_LANES) {
                let (now, later) = tags.split_at_mut(group.len());
                tags = later;
                match (group, &self.pads) {
                    ([message], _) => now[0] = self.tag(*message),
                    (_, Pads::Sha1(pair)) => pair.group::<MAX_LANES>(self.backend, group, now),
                    (_, Pads::Sha256(pair)) => pair.group::<MAX_LANES>(self.backend, group, now),
                    (_, Pads::Sha512(pair)) => pair.group::<MAX_LANES>(self.backend, group, now),
                }
            }
        }
    }
}

impl<E: Engine> Pair<E> {
    /// Hashes the pads. A key longer than a block is replaced by its hash.
    pub(super) fn new(backend: Backend, key: &[u8]) -> Self {
        let mut padded = [0u8; MAX_BLOCK];
        let padded = &mut padded[..E::BLOCK];
        if key.len() <= E::BLOCK {
            padded[..key.len()].copy_from_slice(key);
        } else {
            let mut state = E::INIT;
            let whole = key.len() - key.len() % E::BLOCK;
            E::one(backend, &mut state, &key[..whole]);
            let mut end = [0; 2 * MAX_BLOCK];
            let blocks = pad::<E>(&mut end, &key[whole..], &[], key.len());
            E::one(backend, &mut state, &end[..blocks]);
            E::put(&state, &mut padded[..E::OUT]);
            end.zeroize();
            state.zeroize();
        }
        let mut pad = |mask: u8| {
            let mut state = E::INIT;
            padded.iter_mut().for_each(|byte| *byte ^= mask);
            E::one(backend, &mut state, padded);
            padded.iter_mut().for_each(|byte| *byte ^= mask);
            state
        };
        let pair = Self {
            inner: pad(0x36),
            outer: pad(0x5c),
        };
        padded.zeroize();
        pair
    }

    /// The HMAC of one message, as words.
    pub(super) fn hmac(&self, backend: Backend, message: Message<'_>) -> E::State {
        let mut tag = [Tag::default()];
        self.group::<1>(backend, &[message], &mut tag);
        let state = E::get(tag[0].as_bytes());
        tag[0].bytes.zeroize();
        state
    }

    /// The tags of up to `N` messages of the same [`block_counts`], `N` at most
    /// [`MAX_LANES`].
    fn group<const N: usize>(&self, backend: Backend, messages: &[Message<'_>], tags: &mut [Tag]) {
        let count = messages.len();
        let whole = block_counts::<E>(&messages[0]).0 * E::BLOCK;
        let mut states = [self.inner; N];

        let mut data = [&[][..]; N];
        for (data, message) in data.iter_mut().zip(messages) {
            *data = &message.data[..whole];
        }
        E::many(backend, &mut states[..count], &data[..count]);

        // What is left of the data, the suffix and the padding: one or two blocks.
        let mut ends = [[0; 2 * MAX_BLOCK]; N];
        let mut blocks = 0;
        for (end, message) in ends.iter_mut().zip(messages) {
            let hashed = E::BLOCK + message.data.len() + SUFFIX_LEN;
            blocks = pad::<E>(end, &message.data[whole..], &message.suffix, hashed);
        }
        E::many(
            backend,
            &mut states[..count],
            &heads(&ends, blocks)[..count],
        );

        // The outer hash, of one block behind its pad.
        for (end, state) in ends.iter_mut().zip(&mut states).take(count) {
            let mut hash = [0; MAX_TAG_LEN];
            E::put(state, &mut hash[..E::OUT]);
            end.fill(0);
            blocks = pad::<E>(end, &hash[..E::OUT], &[], E::BLOCK + E::OUT);
            *state = self.outer;
        }
        E::many(
            backend,
            &mut states[..count],
            &heads(&ends, blocks)[..count],
        );

        for (tag, state) in tags.iter_mut().zip(&states) {
            tag.len = E::OUT;
            E::put(state, &mut tag.bytes[..E::OUT]);
        }
        // Lanes without a message still hold the pad, as good as the key.
        states.zeroize();
    }
}

/// Blocks of a message: those that are all data, and those that the rest of the data,
/// the suffix and the padding take.
fn block_counts<E: Engine>(message: &Message<'_>) -> (usize, usize) {
    let (whole, rest) = (message.data.len() / E::BLOCK, message.data.len() % E::BLOCK);
    (
        whole,
        (rest + SUFFIX_LEN + 1 + E::LENGTH).div_ceil(E::BLOCK),
    )
}

/// Puts the end of a message and the padding into the zeroed `end`; `hashed` is the
/// length of the whole message. Returns the number of bytes, whole blocks.
fn pad<E: Engine>(
    end: &mut [u8; 2 * MAX_BLOCK],
    rest: &[u8],
    suffix: &[u8],
    hashed: usize,
) -> usize {
    let used = rest.len() + suffix.len();
    let bytes = (used + 1 + E::LENGTH).next_multiple_of(E::BLOCK);
    end[..rest.len()].copy_from_slice(rest);
    end[rest.len()..used].copy_from_slice(suffix);
    end[used] = 0x80;
    end[bytes - 8..bytes].copy_from_slice(&(8 * hashed as u64).to_be_bytes());
    bytes
}

/// The first bytes of each.
fn heads<const N: usize>(ends: &[[u8; 2 * MAX_BLOCK]; N], bytes: usize) -> [&[u8]; N] {
    core::array::from_fn(|i| &ends[i][..bytes])
}

impl fmt::Debug for MacKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MacKey(..)")
    }
}

/// A computed MAC: 20, 32 or 64 bytes.
///
/// There is no `==`: a tag is compared with [`Tag::matches`], in constant time.
#[derive(Clone, Copy)]
pub struct Tag {
    bytes: [u8; MAX_TAG_LEN],
    len: usize,
}

impl Default for Tag {
    /// No tag yet; it matches only nothing.
    fn default() -> Self {
        Self {
            bytes: [0; MAX_TAG_LEN],
            len: 0,
        }
    }
}

impl Tag {
    /// The tag, as it is stored.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// Whether `stored` is this tag; takes the same time wherever they differ.
    #[must_use]
    pub fn matches(&self, stored: &[u8]) -> bool {
        self.as_bytes().ct_eq(stored).into()
    }
}

impl fmt::Debug for Tag {
    /// The right tag of a forged page is what a forger is looking for.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tag(..)")
    }
}
