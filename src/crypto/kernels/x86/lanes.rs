//! The hashes of FIPS 180-4 over several messages at once, one to a lane.
//!
//! The messages must be of the same length. Fewer messages than lanes take as
//! long as all: the first fills the lanes that are left over.

use super::super::constants::{SHA1_K, SHA256_K, SHA512_K};
use super::vector;

/// Wraps a block function into a kernel: spreads states and messages over the
/// lanes, goes through the blocks and gathers the states.
macro_rules! kernel {
    ($name:ident, $vector:ident, $feature:literal, $words:literal, $rounds:ident) => {
        /// Hashes whole blocks of up to
        #[doc = concat!("as many messages as [`vector::", stringify!($vector), "`] has lanes")]
        /// into their states.
        ///
        /// # Panics
        /// Panics where there are more messages than lanes, or not as many
        /// states as messages, or where they differ in length.
        #[target_feature(enable = $feature)]
        pub(in crate::crypto) fn $name(
            states: &mut [[vector::$vector::Word; $words]],
            messages: &[&[[u8; vector::$vector::BLOCK]]],
        ) {
            use vector::$vector::*;

            assert_eq!(states.len(), messages.len());
            let mut lanes: [&[[u8; BLOCK]]; LANES] = [messages[0]; LANES];
            lanes[..messages.len()].copy_from_slice(messages);
            let blocks = messages[0].len();
            assert!(lanes.iter().all(|message| message.len() == blocks));

            let mut state = [zero(); $words];
            for (word, vector) in state.iter_mut().enumerate() {
                let mut words = [0; LANES];
                for (place, state) in words.iter_mut().zip(&*states) {
                    *place = state[word];
                }
                *vector = from_words(&words);
            }
            for block in 0..blocks {
                let mut rows = [&lanes[0][block]; LANES];
                for (row, message) in rows.iter_mut().zip(&lanes) {
                    *row = &message[block];
                }
                let mut w = message(&rows);
                let before = state;
                $rounds!($vector, state, w);
                for (word, before) in state.iter_mut().zip(before) {
                    *word = add(*word, before);
                }
            }
            for (word, vector) in state.into_iter().enumerate() {
                for (state, new) in states.iter_mut().zip(to_words(vector)) {
                    state[word] = new;
                }
            }
        }
    };
}

/// The 16 places of a group of rounds, written out so that the words of state
/// and message stay in registers.
macro_rules! sixteen {
    ($step:ident) => {
        $step!(0);
        $step!(1);
        $step!(2);
        $step!(3);
        $step!(4);
        $step!(5);
        $step!(6);
        $step!(7);
        $step!(8);
        $step!(9);
        $step!(10);
        $step!(11);
        $step!(12);
        $step!(13);
        $step!(14);
        $step!(15);
    };
}

/// The rounds of SHA-256 and SHA-512 (FIPS 180-4, sections 6.2.2 and 6.4.2),
/// which differ in their number, constants and rotations.
macro_rules! sha2_rounds {
    (
        $vector:ident, $state:ident, $w:ident, $keys:ident,
        $a0:literal $a1:literal $a2:literal, $e0:literal $e1:literal $e2:literal,
        $s0:literal $s1:literal $s2:literal, $t0:literal $t1:literal $t2:literal
    ) => {
        for (group, keys) in $keys.as_chunks::<16>().0.iter().enumerate() {
            macro_rules! schedule {
                ($i:literal) => {
                    let first = $w[($i + 1) % 16];
                    let last = $w[($i + 14) % 16];
                    let sigma0 = xor3(ror::<$s0>(first), ror::<$s1>(first), right::<$s2>(first));
                    let sigma1 = xor3(ror::<$t0>(last), ror::<$t1>(last), right::<$t2>(last));
                    $w[$i] = add(add($w[$i], $w[($i + 9) % 16]), add(sigma0, sigma1));
                };
            }
            macro_rules! step {
                ($i:literal) => {{
                    const P: [usize; 8] = turned($i);
                    let [a, b, c, d, e, f, g, h] = P.map(|place| $state[place]);
                    let sum1 = xor3(ror::<$e0>(e), ror::<$e1>(e), ror::<$e2>(e));
                    // Everything else is there before `e` is.
                    let early = now(add(h, add($w[$i], splat(keys[$i]))));
                    let t = add(now(add(early, choose(e, f, g))), sum1);
                    let sum0 = xor3(ror::<$a0>(a), ror::<$a1>(a), ror::<$a2>(a));
                    $state[P[3]] = add(d, t);
                    $state[P[7]] = add(t, add(sum0, majority(a, b, c)));
                }};
            }
            macro_rules! both {
                ($i:literal) => {
                    step!($i);
                    schedule!($i);
                };
            }
            if group + 1 < $keys.len() / 16 {
                sixteen!(both);
            } else {
                sixteen!(step);
            }
        }
    };
}

macro_rules! sha512_rounds {
    ($vector:ident, $state:ident, $w:ident) => {
        sha2_rounds!($vector, $state, $w, SHA512_K, 28 34 39, 14 18 41, 1 8 7, 19 61 6)
    };
}

macro_rules! sha256_rounds {
    ($vector:ident, $state:ident, $w:ident) => {
        sha2_rounds!($vector, $state, $w, SHA256_K, 2 13 22, 6 11 25, 7 18 3, 17 19 10)
    };
}

/// Twenty rounds of SHA-1 from number `$from` on, which have function and constant
/// in common.
macro_rules! twenty {
    ($step:ident, $from:literal, $function:ident, $key:expr) => {
        let key = splat($key);
        $step!($from + 0, $function, key);
        $step!($from + 1, $function, key);
        $step!($from + 2, $function, key);
        $step!($from + 3, $function, key);
        $step!($from + 4, $function, key);
        $step!($from + 5, $function, key);
        $step!($from + 6, $function, key);
        $step!($from + 7, $function, key);
        $step!($from + 8, $function, key);
        $step!($from + 9, $function, key);
        $step!($from + 10, $function, key);
        $step!($from + 11, $function, key);
        $step!($from + 12, $function, key);
        $step!($from + 13, $function, key);
        $step!($from + 14, $function, key);
        $step!($from + 15, $function, key);
        $step!($from + 16, $function, key);
        $step!($from + 17, $function, key);
        $step!($from + 18, $function, key);
        $step!($from + 19, $function, key);
    };
}

/// The rounds of SHA-1 (FIPS 180-4, section 6.1.2). A rotation to the left is
/// one to the right by what is left of 32.
macro_rules! sha1_rounds {
    ($vector:ident, $state:ident, $w:ident) => {
        let [mut a, mut b, mut c, mut d, mut e] = $state;
        macro_rules! step {
            ($i:expr, $function:ident, $key:ident) => {
                let keyed = add($w[$i % 16], $key);
                let sum = add(add(e, keyed), add(ror::<27>(a), $function(b, c, d)));
                e = d;
                d = c;
                c = ror::<2>(b);
                b = a;
                a = sum;
                // The word 16 rounds on, as soon as this one is used.
                $w[$i % 16] = ror::<31>(xor3(
                    xor($w[$i % 16], $w[($i + 2) % 16]),
                    $w[($i + 8) % 16],
                    $w[($i + 13) % 16],
                ));
            };
        }
        twenty!(step, 0, choose, SHA1_K[0]);
        twenty!(step, 20, xor3, SHA1_K[1]);
        twenty!(step, 40, majority, SHA1_K[2]);
        twenty!(step, 60, xor3, SHA1_K[3]);
        $state = [a, b, c, d, e];
    };
}

kernel!(sha512_x4_avx2, u64x4_avx2, "avx2", 8, sha512_rounds);
kernel!(
    sha512_x4_avx512,
    u64x4_avx512,
    "avx512f,avx512vl,avx2",
    8,
    sha512_rounds
);
kernel!(
    sha512_x8_avx512,
    u64x8_avx512,
    "avx512f,avx512bw",
    8,
    sha512_rounds
);

kernel!(sha256_x8_avx2, u32x8_avx2, "avx2", 8, sha256_rounds);
kernel!(
    sha256_x8_avx512,
    u32x8_avx512,
    "avx512f,avx512vl,avx2",
    8,
    sha256_rounds
);
kernel!(
    sha256_x16_avx512,
    u32x16_avx512,
    "avx512f,avx512bw",
    8,
    sha256_rounds
);

kernel!(sha1_x8_avx2, u32x8_avx2, "avx2", 5, sha1_rounds);
kernel!(
    sha1_x8_avx512,
    u32x8_avx512,
    "avx512f,avx512vl,avx2",
    5,
    sha1_rounds
);
kernel!(
    sha1_x16_avx512,
    u32x16_avx512,
    "avx512f,avx512bw",
    5,
    sha1_rounds
);

/// Where the standard's `a` to `h` are in round `i` of a state that turns.
const fn turned(i: usize) -> [usize; 8] {
    let mut places = [0; 8];
    let mut letter = 0;
    while letter < 8 {
        places[letter] = (16 + letter - i) % 8;
        letter += 1;
    }
    places
}
