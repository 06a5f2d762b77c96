//! Every kernel goes through here and must do what the portable code does.
//!
//! The lengths, in blocks: 0, nothing happens; 1, the start alone; 2, the state
//! is carried over; 3 and 5, odd numbers, for kernels that take two blocks at a
//! time; 32, a 4096-byte page. Lanes: each number from one to all, because those
//! left over are filled and must not show.

#![allow(unsafe_code)]

use proptest::prelude::*;

use super::portable::Chain;

const LENGTHS: [usize; 6] = [0, 1, 2, 3, 5, 32];

/// Bytes that differ everywhere.
fn bytes<const BLOCK: usize>(seed: u64, blocks: usize) -> Vec<[u8; BLOCK]> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 24) as u8
    };
    (0..blocks)
        .map(|_| core::array::from_fn(|_| next()))
        .collect()
}

/// Compares a kernel for one message with the portable one.
fn one<S: Copy + PartialEq + core::fmt::Debug, const BLOCK: usize>(
    kernel: unsafe fn(&mut S, &[[u8; BLOCK]]),
    portable: fn(&mut S, &[[u8; BLOCK]]),
    start: S,
    seed: u64,
) {
    for blocks in LENGTHS {
        let message = bytes(seed, blocks);
        let (mut state, mut expected) = (start, start);
        // SAFETY: the tests below run a kernel only where the processor can.
        unsafe { kernel(&mut state, &message) };
        portable(&mut expected, &message);
        assert_eq!(state, expected, "{blocks} blocks");
    }
}

/// Compares a kernel over `lanes` lanes with the portable one.
fn many<S: Copy + PartialEq + core::fmt::Debug, const BLOCK: usize>(
    kernel: unsafe fn(&mut [S], &[&[[u8; BLOCK]]]),
    portable: fn(&mut S, &[[u8; BLOCK]]),
    lanes: usize,
    start: impl Fn(u64) -> S,
    seed: u64,
) {
    for blocks in LENGTHS {
        for used in 1..=lanes {
            let messages: Vec<_> = (0..used)
                .map(|lane| bytes(seed + lane as u64, blocks))
                .collect();
            let slices: Vec<_> = messages.iter().map(|message| &message[..]).collect();
            let mut expected: Vec<_> = (0..used).map(|lane| start(lane as u64)).collect();
            let mut states = expected.clone();
            // SAFETY: the tests below run a kernel only where the processor can.
            unsafe { kernel(&mut states, &slices) };
            for (state, message) in expected.iter_mut().zip(&messages) {
                portable(state, message);
            }
            assert_eq!(
                states, expected,
                "{blocks} blocks in {used} of {lanes} lanes"
            );
        }
    }
}

type Chains = unsafe fn(&[u64; 8], &[u64; 8], &mut [Chain<[u64; 8]>], u32);

/// Compares a kernel of PBKDF2's inner loop with the portable one.
fn chains(kernel: Chains, words: [u64; 32], rounds: u32) {
    let [inner, outer, u, sum] = core::array::from_fn(|i| words.as_chunks().0[i]);
    let mut chains = [Chain { u, sum }, Chain { u: sum, sum: u }];
    let mut expected = chains;
    // SAFETY: the tests below run a kernel only where the processor can.
    unsafe { kernel(&inner, &outer, &mut chains, rounds) };
    super::portable::sha512_chains(&inner, &outer, &mut expected, rounds);
    for (got, expected) in chains.iter().zip(&expected) {
        assert_eq!((got.u, got.sum), (expected.u, expected.sum));
    }
}

/// The portable code itself, against known answers: "abc" (FIPS 180 examples).
#[test]
fn portable_abc() {
    use super::constants::{SHA1_INIT, SHA256_INIT, SHA512_INIT};
    use super::portable::{sha1, sha256, sha512};

    fn abc<const BLOCK: usize>() -> [[u8; BLOCK]; 1] {
        let mut block = [0; BLOCK];
        block[..4].copy_from_slice(b"abc\x80");
        block[BLOCK - 1] = 24;
        [block]
    }
    let mut state = SHA1_INIT;
    sha1(&mut state, &abc());
    assert_eq!(state[0], 0xa999_3e36);
    assert_eq!(state[4], 0x9cd0_d89d);
    let mut state = SHA256_INIT;
    sha256(&mut state, &abc());
    assert_eq!(state[0], 0xba78_16bf);
    assert_eq!(state[7], 0xf200_15ad);
    let mut state = SHA512_INIT;
    sha512(&mut state, &abc());
    assert_eq!(state[0], 0xddaf_35a1_9361_7aba);
    assert_eq!(state[7], 0x2a9a_c94f_a54c_a49f);
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use aes::Aes256Dec;
    use aes::cipher::KeyInit;

    use super::super::portable;
    use super::super::x86::{aes_cbc, lanes::*, sha512_one};
    use super::*;

    fn have(features: &str) -> bool {
        features.split(' ').all(|feature| match feature {
            "avx2" => is_x86_feature_detected!("avx2"),
            "bmi" => is_x86_feature_detected!("bmi1") && is_x86_feature_detected!("bmi2"),
            "f" => is_x86_feature_detected!("avx512f"),
            "bw" => is_x86_feature_detected!("avx512bw"),
            "vl" => is_x86_feature_detected!("avx512vl"),
            _ => false,
        })
    }

    fn words64(seed: u64) -> [u64; 8] {
        core::array::from_fn(|i| {
            (seed + 1).wrapping_mul(0x0123_4567_89ab_cdef * (2 * i as u64 + 1))
        })
    }

    fn words32<const N: usize>(seed: u64) -> [u32; N] {
        core::array::from_fn(|i| (seed as u32 + 1).wrapping_mul(0x89ab_cdef ^ (i as u32 * 0x1357)))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(8))]

        /// Each number of blocks up to more than three groups of sixteen, and
        /// those of pages (with 16 bytes fewer on page 1).
        #[test]
        fn vaes(key: [u8; 32], iv: [u8; 16], seed: u64) {
            let vaes = is_x86_feature_detected!("aes") && is_x86_feature_detected!("vaes");
            if have("f") && vaes {
                let expected = Aes256Dec::new(&key.into());
                // SAFETY: the processor has been asked just above.
                let keys = unsafe { aes_cbc::DecryptionKeys::new(&key) };
                for blocks in (0..=52).chain([250, 251, 4091]) {
                    let mut data = bytes::<16>(seed, blocks).into_flattened();
                    let mut other = data.clone();
                    portable::cbc_decrypt(&expected, &iv, &mut other);
                    // SAFETY: as before.
                    unsafe { keys.cbc_decrypt(&iv, &mut data) };
                    prop_assert_eq!(data, other, "{} blocks", blocks);
                }
            }
        }

        #[test]
        fn avx2(seed in 0u64..1 << 40, words: [u64; 32], rounds in 0u32..20) {
            if have("avx2 bmi") {
                one(sha512_one::avx2::sha512, portable::sha512, words64(seed), seed);
                chains(sha512_one::avx2::sha512_chains, words, rounds);
            }
            if have("avx2") {
                many(sha512_x4_avx2, portable::sha512, 4, words64, seed);
                many(sha256_x8_avx2, portable::sha256, 8, words32, seed);
                many(sha1_x8_avx2, portable::sha1, 8, words32, seed);
            }
        }

        #[test]
        fn avx512(seed in 0u64..1 << 40, words: [u64; 32], rounds in 0u32..20) {
            if have("f vl avx2 bmi") {
                one(sha512_one::avx512::sha512, portable::sha512, words64(seed), seed);
                chains(sha512_one::avx512::sha512_chains, words, rounds);
            }
            if have("f vl avx2") {
                many(sha512_x4_avx512, portable::sha512, 4, words64, seed);
                many(sha256_x8_avx512, portable::sha256, 8, words32, seed);
                many(sha1_x8_avx512, portable::sha1, 8, words32, seed);
            }
            if have("f bw") {
                many(sha512_x8_avx512, portable::sha512, 8, words64, seed);
                many(sha256_x16_avx512, portable::sha256, 16, words32, seed);
                many(sha1_x16_avx512, portable::sha1, 16, words32, seed);
            }
        }
    }
}
