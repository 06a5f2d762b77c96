//! SHA-512 of one message (FIPS 180-4, section 6.4).
//!
//! The 80 rounds depend on each other; what can be won is a short chain and few
//! instructions. The message schedule runs in the vector unit, two words at a
//! time, a group of 16 rounds ahead, and reaches the rounds through memory. The
//! rounds are scalar, with BMI2's rotation into another register.

#![allow(unsafe_code)]

use core::arch::asm;
use core::arch::x86_64::*;

use super::super::constants::SHA512_K as K;
use super::super::portable::Chain;

/// One round. The register names are the standard's; on return `d` holds the new
/// `e`, and `h` the new `a`.
///
/// Written out because the order of the additions decides the speed: the
/// compiler's own is a sixth slower. What bounds the rounds is the chain from one
/// `e` to the next, here rotate, XOR, XOR, add, add; and the number of
/// instructions.
///
/// - `Ch(e,f,g) = (e & f) + (!e & g)`: the parts have no bit in common, so that
///   they are added one by one, before the rotations of `e` are there.
/// - `Maj(a,b,c) = b ^ ((a ^ b) & (b ^ c))`, and `b ^ c` is the last round's
///   `a ^ b`.
macro_rules! round {
    ($a:ident $b:ident $d:ident $e:ident $f:ident $g:ident $h:ident, $bc:ident, $wk:ident[$i:expr]) => {
        // SAFETY: reads the 8 bytes at index `$i` of `$wk`, a `[u64; 16]`, for
        // `$i` a constant below 16; all else is arithmetic in registers. The
        // caller's target features include BMI1 and BMI2.
        unsafe {
            asm!(
                "add {h}, qword ptr [{wk} + {at}]",
                "rorx {x}, {e}, 14",
                "rorx {y}, {e}, 18",
                "andn {z}, {e}, {g}",
                "xor {x}, {y}",
                "rorx {y}, {e}, 41",
                "add {h}, {z}",
                "mov {z}, {e}",
                "and {z}, {f}",
                "xor {x}, {y}", // S1
                "add {h}, {z}",
                "rorx {y}, {a}, 28",
                "add {h}, {x}",
                "rorx {z}, {a}, 34",
                "mov {x}, {a}",
                "add {d}, {h}", // e'
                "xor {y}, {z}",
                "rorx {z}, {a}, 39",
                "xor {x}, {b}", // a ^ b
                "xor {y}, {z}", // S0
                "and {bc}, {x}",
                "add {h}, {y}",
                "xor {bc}, {b}", // Maj
                "add {h}, {bc}", // a'
                a = in(reg) $a,
                b = in(reg) $b,
                d = inout(reg) $d,
                e = in(reg) $e,
                f = in(reg) $f,
                g = in(reg) $g,
                h = inout(reg) $h,
                bc = inout(reg) $bc => _,
                x = out(reg) $bc,
                y = out(reg) _,
                z = out(reg) _,
                wk = in(reg) $wk.as_ptr(),
                at = const 8 * $i,
                options(readonly, nostack),
            );
        }
    };
}

/// Two rounds, after which the names have moved on by two places.
macro_rules! two_rounds {
    ($a:ident $b:ident $c:ident $d:ident $e:ident $f:ident $g:ident $h:ident, $bc:ident, $wk:ident[$i:expr]) => {
        round!($a $b $d $e $f $g $h, $bc, $wk[2 * $i]);
        round!($h $a $c $d $e $f $g, $bc, $wk[2 * $i + 1]);
    };
}

/// The compression function: hashes the 16 words of `$w` into the state. A macro,
/// because as a function it is too large to be inlined, and what goes from block
/// to block would pass through memory.
macro_rules! compress {
    ($state:ident, $w:ident, $sigma:ident) => {
        let mut w = $w;
        let state: &mut [u64; 8] = $state;
        let keys = K.as_chunks::<2>().0;
        // The next 16 words, each with its round constant.
        let mut wk = [0u64; 16];
        for i in 0..8 {
            store(&mut wk, i, _mm_add_epi64(w[i], load64(&keys[i])));
        }
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
        let mut bc = b ^ c;
        for group in 1..5 {
            // Replaces the two words that the rounds before have used by
            // those 16 further on.
            macro_rules! schedule {
                ($i:literal) => {
                    let next = _mm_alignr_epi8::<8>(w[($i + 1) % 8], w[$i]);
                    let ninth = _mm_alignr_epi8::<8>(w[($i + 5) % 8], w[($i + 4) % 8]);
                    let last = w[($i + 7) % 8];
                    w[$i] = _mm_add_epi64(
                        _mm_add_epi64(w[$i], ninth),
                        _mm_add_epi64($sigma!(next, 1, 8, 7), $sigma!(last, 19, 61, 6)),
                    );
                    let key = load64(&keys[8 * group + $i]);
                    store(&mut wk, $i, _mm_add_epi64(w[$i], key));
                };
            }
            two_rounds!(a b c d e f g h, bc, wk[0]);
            schedule!(0);
            two_rounds!(g h a b c d e f, bc, wk[1]);
            schedule!(1);
            two_rounds!(e f g h a b c d, bc, wk[2]);
            schedule!(2);
            two_rounds!(c d e f g h a b, bc, wk[3]);
            schedule!(3);
            two_rounds!(a b c d e f g h, bc, wk[4]);
            schedule!(4);
            two_rounds!(g h a b c d e f, bc, wk[5]);
            schedule!(5);
            two_rounds!(e f g h a b c d, bc, wk[6]);
            schedule!(6);
            two_rounds!(c d e f g h a b, bc, wk[7]);
            schedule!(7);
        }
        two_rounds!(a b c d e f g h, bc, wk[0]);
        two_rounds!(g h a b c d e f, bc, wk[1]);
        two_rounds!(e f g h a b c d, bc, wk[2]);
        two_rounds!(c d e f g h a b, bc, wk[3]);
        two_rounds!(a b c d e f g h, bc, wk[4]);
        two_rounds!(g h a b c d e f, bc, wk[5]);
        two_rounds!(e f g h a b c d, bc, wk[6]);
        two_rounds!(c d e f g h a b, bc, wk[7]);
        let _ = bc;
        for (word, new) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
            *word = word.wrapping_add(new);
        }
    };
}

macro_rules! kernel {
    ($module:ident, $feature:literal, $sigma:ident) => {
        /// The kernel for processors with
        #[doc = concat!("`", $feature, "`.")]
        pub(in crate::crypto) mod $module {
            use super::*;

            /// Hashes whole blocks into `state`.
            #[target_feature(enable = $feature)]
            pub(in crate::crypto) fn sha512(state: &mut [u64; 8], blocks: &[[u8; 128]]) {
                // Big-endian words in memory, numbers in a vector.
                let swap = _mm_set_epi64x(0x0809_0a0b_0c0d_0e0f, 0x0001_0203_0405_0607);
                for block in blocks {
                    let mut w = [_mm_setzero_si128(); 8];
                    for (pair, bytes) in w.iter_mut().zip(block.as_chunks().0) {
                        *pair = _mm_shuffle_epi8(load(bytes), swap);
                    }
                    compress!(state, w, $sigma);
                }
            }

            /// PBKDF2's inner loop, see [`super::super::super::portable`]. The
            /// words go from state to message without ever becoming bytes.
            #[target_feature(enable = $feature)]
            pub(in crate::crypto) fn sha512_chains(
                inner: &[u64; 8],
                outer: &[u64; 8],
                chains: &mut [Chain<[u64; 8]>],
                rounds: u32,
            ) {
                for chain in chains {
                    for _ in 0..rounds {
                        for start in [inner, outer] {
                            let w = hmac_block(&chain.u);
                            let state = &mut chain.u;
                            *state = *start;
                            compress!(state, w, $sigma);
                        }
                        for (sum, u) in chain.sum.iter_mut().zip(&chain.u) {
                            *sum ^= u;
                        }
                    }
                }
            }

            /// The only block of a message that is one SHA-512 hash, behind a pad
            /// of one block.
            #[inline]
            #[target_feature(enable = $feature)]
            fn hmac_block(hash: &[u64; 8]) -> [__m128i; 8] {
                let pair = |low: u64, high: u64| _mm_set_epi64x(high as i64, low as i64);
                let [a, b, c, d, e, f, g, h] = *hash;
                let zero = pair(0, 0);
                [
                    pair(a, b),
                    pair(c, d),
                    pair(e, f),
                    pair(g, h),
                    pair(1 << 63, 0),
                    zero,
                    zero,
                    pair(0, (128 + 64) * 8),
                ]
            }
        }
    };
}

/// The schedule's sigma function: two rotations and a shift to the right, XORed.
macro_rules! sigma_avx2 {
    ($x:expr, $r:literal, $s:literal, $shift:literal) => {{
        _mm_xor_si128(
            _mm_xor_si128(
                _mm_xor_si128(_mm_srli_epi64::<$r>($x), _mm_slli_epi64::<{ 64 - $r }>($x)),
                _mm_xor_si128(_mm_srli_epi64::<$s>($x), _mm_slli_epi64::<{ 64 - $s }>($x)),
            ),
            _mm_srli_epi64::<$shift>($x),
        )
    }};
}

/// The same with AVX-512's rotations and three-way XOR.
macro_rules! sigma_avx512 {
    ($x:expr, $r:literal, $s:literal, $shift:literal) => {
        _mm_ternarylogic_epi64::<0x96>(
            _mm_ror_epi64::<$r>($x),
            _mm_ror_epi64::<$s>($x),
            _mm_srli_epi64::<$shift>($x),
        )
    };
}

kernel!(avx2, "avx2,bmi1,bmi2", sigma_avx2);
kernel!(avx512, "avx512f,avx512vl,avx2,bmi1,bmi2", sigma_avx512);

/// 16 bytes of a message.
#[inline]
#[target_feature(enable = "avx2")]
fn load(bytes: &[u8; 16]) -> __m128i {
    // SAFETY: a reference to 16 readable bytes; the load needs no alignment.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

/// Two numbers.
#[inline]
#[target_feature(enable = "avx2")]
fn load64(words: &[u64; 2]) -> __m128i {
    // SAFETY: a reference to 16 readable bytes; the load needs no alignment.
    unsafe { _mm_loadu_si128(words.as_ptr().cast()) }
}

/// Puts a pair of numbers at indices `2 * pair` and `2 * pair + 1`.
#[inline]
#[target_feature(enable = "avx2")]
fn store(words: &mut [u64; 16], pair: usize, value: __m128i) {
    let place = &mut words.as_chunks_mut::<2>().0[pair];
    // SAFETY: a reference to 16 writable bytes; the store needs no alignment.
    unsafe { _mm_storeu_si128(place.as_mut_ptr().cast(), value) }
}
