//! The one door to the kernels: what the processor can do, asked once, and a
//! `match` for each operation.
//!
//! `RUSTFLAGS='--cfg pageseal_backend="portable"'` (or `"avx2"`, `"avx512"`)
//! takes the choice away, for measuring and for tests.

#![allow(unsafe_code)]

use core::fmt;
use std::sync::OnceLock;

use aes::Aes256Dec;
use aes::cipher::KeyInit;

use super::kernels::portable::{self, Chain};
#[cfg(target_arch = "x86_64")]
use super::kernels::x86::{aes_cbc, lanes, sha512_one};

/// Most messages that go through the hashes together: the lanes of the widest
/// kernel.
pub(super) const MAX_LANES: usize = 16;

/// A set of kernels that this processor can run.
///
/// That a value exists is the proof: only [`Backend::detect`] and
/// [`Backend::available`] make one, after asking the processor.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Backend(Kind);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// The `aes`, `sha1` and `sha2` crates: on ARMv8, with AES-NI and with SHA-NI
    /// they use the instructions for it.
    Portable,
    /// AVX2, BMI1 and BMI2; and whether there is SHA-NI, against which eight
    /// lanes of SHA-256 gain nothing.
    #[cfg(target_arch = "x86_64")]
    Avx2 { sha_ni: bool },
    /// AVX-512 F, BW and VL beside all of [`Kind::Avx2`]; and whether there is
    /// VAES, which came some years later.
    #[cfg(target_arch = "x86_64")]
    Avx512 { vaes: bool },
}

impl Backend {
    /// The best backend, or the one that `--cfg pageseal_backend` forces.
    ///
    /// # Panics
    /// Panics where a backend is forced that this processor can't run.
    #[must_use]
    pub fn detect() -> Self {
        static DETECTED: OnceLock<Backend> = OnceLock::new();
        *DETECTED.get_or_init(|| {
            let forced = match () {
                _ if cfg!(pageseal_backend = "portable") => Some("portable"),
                _ if cfg!(pageseal_backend = "avx2") => Some("avx2"),
                _ if cfg!(pageseal_backend = "avx512") => Some("avx512"),
                _ => None,
            };
            let mut available = Self::available();
            match forced {
                None => available.next(),
                Some(name) => available.find(|backend| backend.name() == name),
            }
            .unwrap_or_else(|| panic!("this processor has no backend {forced:?}"))
        })
    }

    /// All backends that this processor can run, the best first.
    pub fn available() -> impl Iterator<Item = Self> {
        [
            #[cfg(target_arch = "x86_64")]
            x86::avx512(),
            #[cfg(target_arch = "x86_64")]
            x86::avx2(),
            Some(Kind::Portable),
        ]
        .into_iter()
        .flatten()
        .map(Self)
    }

    /// Its name in `--cfg pageseal_backend`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self.0 {
            Kind::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 { .. } => "avx2",
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 { .. } => "avx512",
        }
    }

    /// Hashes whole blocks of one SHA-512 message into `state`.
    pub(super) fn sha512(self, state: &mut [u64; 8], blocks: &[[u8; 128]]) {
        match self.0 {
            Kind::Portable => portable::sha512(state, blocks),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Kind::Avx2` is made only where there are AVX2 and BMI.
            Kind::Avx2 { .. } => unsafe { sha512_one::avx2::sha512(state, blocks) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Kind::Avx512` is made only where there is all of it.
            Kind::Avx512 { .. } => unsafe { sha512_one::avx512::sha512(state, blocks) },
        }
    }

    /// Hashes whole blocks of one SHA-256 message into `state`.
    pub(super) fn sha256(self, state: &mut [u32; 8], blocks: &[[u8; 64]]) {
        portable::sha256(state, blocks);
    }

    /// Hashes whole blocks of one SHA-1 message into `state`.
    pub(super) fn sha1(self, state: &mut [u32; 5], blocks: &[[u8; 64]]) {
        portable::sha1(state, blocks);
    }

    /// Hashes whole blocks of SHA-512 messages of one length into their states.
    pub(super) fn sha512_many(self, states: &mut [[u64; 8]], messages: &[&[[u8; 128]]]) {
        let kernels: &[Lanes<_, _>] = match self.0 {
            Kind::Portable => &[],
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 { .. } => &[Lanes(3, 4, lanes::sha512_x4_avx2)],
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 { .. } => &[
                Lanes(6, 8, lanes::sha512_x8_avx512),
                Lanes(2, 4, lanes::sha512_x4_avx512),
            ],
        };
        // SAFETY: the kernels are those of this backend.
        unsafe { run(kernels, states, messages, |s, m| self.sha512(s, m)) }
    }

    /// Hashes whole blocks of SHA-256 messages of one length into their states.
    pub(super) fn sha256_many(self, states: &mut [[u32; 8]], messages: &[&[[u8; 64]]]) {
        let kernels: &[Lanes<_, _>] = match self.0 {
            Kind::Portable => &[],
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 { sha_ni: true } => &[],
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 { sha_ni: false } => &[Lanes(3, 8, lanes::sha256_x8_avx2)],
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 { .. } => &[
                Lanes(12, 16, lanes::sha256_x16_avx512),
                Lanes(5, 8, lanes::sha256_x8_avx512),
            ],
        };
        // SAFETY: the kernels are those of this backend.
        unsafe { run(kernels, states, messages, |s, m| self.sha256(s, m)) }
    }

    /// Hashes whole blocks of SHA-1 messages of one length into their states.
    pub(super) fn sha1_many(self, states: &mut [[u32; 5]], messages: &[&[[u8; 64]]]) {
        let kernels: &[Lanes<_, _>] = match self.0 {
            Kind::Portable => &[],
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 { sha_ni: true } => &[Lanes(5, 8, lanes::sha1_x8_avx2)],
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 { sha_ni: false } => &[Lanes(2, 8, lanes::sha1_x8_avx2)],
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 { .. } => &[
                Lanes(10, 16, lanes::sha1_x16_avx512),
                Lanes(4, 8, lanes::sha1_x8_avx512),
            ],
        };
        // SAFETY: the kernels are those of this backend.
        unsafe { run(kernels, states, messages, |s, m| self.sha1(s, m)) }
    }

    /// PBKDF2's inner loop with HMAC-SHA512, see [`portable`].
    pub(super) fn sha512_chains(
        self,
        inner: &[u64; 8],
        outer: &[u64; 8],
        chains: &mut [Chain<[u64; 8]>],
        rounds: u32,
    ) {
        match self.0 {
            Kind::Portable => portable::sha512_chains(inner, outer, chains, rounds),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Kind::Avx2` is made only where there are AVX2 and BMI.
            Kind::Avx2 { .. } => unsafe {
                sha512_one::avx2::sha512_chains(inner, outer, chains, rounds);
            },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Kind::Avx512` is made only where there is all of it.
            Kind::Avx512 { .. } => unsafe {
                sha512_one::avx512::sha512_chains(inner, outer, chains, rounds);
            },
        }
    }
}

/// An AES-256 key made ready for CBC decryption. It is wiped when dropped.
#[derive(Clone)]
pub(super) enum DecryptionKeys {
    /// The `aes` crate.
    Portable(Aes256Dec),
    /// Exists only where there are AVX-512 F and VAES.
    #[cfg(target_arch = "x86_64")]
    Vaes(aes_cbc::DecryptionKeys),
}

impl DecryptionKeys {
    /// Expands the key for the kernel that will use it.
    pub(super) fn new(backend: Backend, key: &[u8; 32]) -> Self {
        match backend.0 {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `vaes` is set only where there are AVX-512 F, VAES and AES.
            Kind::Avx512 { vaes: true } => unsafe { Self::Vaes(aes_cbc::DecryptionKeys::new(key)) },
            _ => Self::Portable(Aes256Dec::new(key.into())),
        }
    }

    /// Decrypts whole blocks in place.
    pub(super) fn cbc_decrypt(&self, iv: &[u8; 16], data: &mut [u8]) {
        match self {
            Self::Portable(aes) => portable::cbc_decrypt(aes, iv, data),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: this variant exists only where there are AVX-512 F and VAES.
            Self::Vaes(keys) => unsafe { keys.cbc_decrypt(iv, data) },
        }
    }
}

macro_rules! portable_chains {
    ($($name:ident, $state:ty, $hash:literal;)*) => {
        impl Backend {
            $(
                /// PBKDF2's inner loop with
                #[doc = concat!("HMAC-", $hash, ", see [`portable`].")]
                pub(super) fn $name(
                    self,
                    inner: &$state,
                    outer: &$state,
                    chains: &mut [Chain<$state>],
                    rounds: u32,
                ) {
                    portable::$name(inner, outer, chains, rounds);
                }
            )*
        }
    };
}

// One block after the other leaves nothing to vector units, and what is left the
// crates do with SHA-NI and its like.
portable_chains! {
    sha256_chains, [u32; 8], "SHA256";
    sha1_chains, [u32; 5], "SHA1";
}

impl fmt::Debug for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A kernel over lanes: from how many messages on it is worth it, how many it
/// takes, and the kernel. The first number is measured: fewer are faster one by
/// one, or in the narrower kernel.
struct Lanes<S, B>(usize, usize, unsafe fn(&mut [S], &[&[B]]));

/// Takes the messages through the widest kernel that is worth it, again and
/// again, and the few that are left one by one.
///
/// # Safety
/// The processor must be able to run the kernels.
unsafe fn run<S, B>(
    kernels: &[Lanes<S, B>],
    mut states: &mut [S],
    mut messages: &[&[B]],
    one: impl Fn(&mut S, &[B]),
) {
    while !messages.is_empty() {
        let left = messages.len();
        let Some(&Lanes(_, lanes, kernel)) = kernels.iter().find(|k| left >= k.0) else {
            for (state, message) in states.iter_mut().zip(messages) {
                one(state, message);
            }
            return;
        };
        let take = left.min(lanes);
        let (now, later) = states.split_at_mut(take);
        // SAFETY: the caller vouches for the kernels.
        unsafe { kernel(now, &messages[..take]) };
        states = later;
        messages = &messages[take..];
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::Kind;

    pub(super) fn avx2() -> Option<Kind> {
        (is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2"))
        .then(|| Kind::Avx2 {
            sha_ni: is_x86_feature_detected!("sha"),
        })
    }

    pub(super) fn avx512() -> Option<Kind> {
        (avx2().is_some()
            && is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vl"))
        .then(|| Kind::Avx512 {
            vaes: is_x86_feature_detected!("aes") && is_x86_feature_detected!("vaes"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_portable_backend_is_always_there_and_last() {
        let names: Vec<_> = Backend::available().map(Backend::name).collect();
        assert_eq!(names.last(), Some(&"portable"));
        assert!(names.contains(&Backend::detect().name()));
        assert_eq!(format!("{:?}", Backend::detect()), Backend::detect().name());
    }

    /// Which message goes to which kernel, with kernels that only note it.
    #[test]
    fn messages_are_split_over_the_kernels() {
        fn wide(states: &mut [u8], _: &[&[u8]]) {
            states.fill(8);
        }
        fn narrow(states: &mut [u8], _: &[&[u8]]) {
            states.fill(4);
        }
        let kernels: [Lanes<u8, u8>; 2] = [Lanes(5, 8, wide), Lanes(2, 4, narrow)];
        for (count, expected) in [
            (0, vec![]),
            (1, vec![1]),
            (2, vec![4; 2]),
            (4, vec![4; 4]),
            (5, vec![8; 5]),
            (9, [vec![8; 8], vec![1]].concat()),
            (12, [vec![8; 8], vec![4; 4]].concat()),
            (14, vec![8; 14]),
        ] {
            let mut states = vec![0; count];
            let messages = vec![&[0u8][..]; count];
            // SAFETY: these kernels run everywhere.
            unsafe { run(&kernels, &mut states, &messages, |s, _| *s = 1) };
            assert_eq!(states, expected);
        }
    }
}
