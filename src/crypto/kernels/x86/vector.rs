//! Vectors of lanes: what the multi-lane hashes need of a vector unit, under the
//! same names for each width and instruction set.
//!
//! | module | element | lanes | features |
//! |---|---|---|---|
//! | `u64x4_avx2`, `u32x8_avx2` | 64, 32 bits | 4, 8 | AVX2 |
//! | `u64x4_avx512`, `u32x8_avx512` | 64, 32 bits | 4, 8 | AVX-512 F and VL, 256-bit registers |
//! | `u64x8_avx512`, `u32x16_avx512` | 64, 32 bits | 8, 16 | AVX-512 F and BW |
//!
//! AVX-512 rotates in one instruction instead of three, and computes any
//! function of three bits in one.

#![allow(unsafe_code)]

use core::arch::x86_64::*;

/// Makes the module of one vector type. The intrinsics are given by name.
macro_rules! lanes {
    (
        mod $module:ident, $feature:literal, $vector:ident in $class:ident as [$word:ident; $lanes:literal];
        load $load:ident, store $store:ident, zero $zero:ident, splat $splat:ident as $signed:ident;
        add $add:ident, xor $xor:ident, right $right:ident, transpose $transpose:ident;
        ror $ror:ident; xor3 $xor3:path; choose $choose:path; majority $majority:path;
    ) => {
        pub(super) mod $module {
            use super::*;

            /// One element for each lane.
            pub(in super::super) type Vector = $vector;
            /// A lane's element.
            pub(in super::super) type Word = $word;
            /// Lanes of a vector.
            pub(in super::super) const LANES: usize = $lanes;
            /// Bytes of a block of the hashes with this word.
            pub(in super::super) const BLOCK: usize = 16 * size_of::<Word>();

            #[inline]
            #[target_feature(enable = $feature)]
            pub(in super::super) fn zero() -> Vector {
                $zero()
            }

            /// The same number in each lane.
            #[inline]
            #[target_feature(enable = $feature)]
            pub(in super::super) fn splat(word: Word) -> Vector {
                $splat(word as $signed)
            }

            #[inline]
            #[target_feature(enable = $feature)]
            pub(in super::super) fn add(a: Vector, b: Vector) -> Vector {
                $add(a, b)
            }

            #[inline]
            #[target_feature(enable = $feature)]
            #[allow(dead_code, reason = "of these hashes only SHA-1 needs it")]
            pub(in super::super) fn xor(a: Vector, b: Vector) -> Vector {
                $xor(a, b)
            }

            #[inline]
            #[target_feature(enable = $feature)]
            pub(in super::super) fn xor3(a: Vector, b: Vector, c: Vector) -> Vector {
                $xor3(a, b, c)
            }

            /// FIPS 180-4's Ch: `b` where `a` is set, else `c`.
            #[inline]
            #[target_feature(enable = $feature)]
            pub(in super::super) fn choose(a: Vector, b: Vector, c: Vector) -> Vector {
                $choose(a, b, c)
            }

            /// FIPS 180-4's Maj: what two of the three have.
            #[inline]
            #[target_feature(enable = $feature)]
            pub(in super::super) fn majority(a: Vector, b: Vector, c: Vector) -> Vector {
                $majority(a, b, c)
            }

            /// Shifts to the right. (The intrinsics for constants want them in
            /// different types; the compiler makes a constant of this anyway.)
            #[inline]
            #[target_feature(enable = $feature)]
            pub(in super::super) fn right<const BITS: i32>(a: Vector) -> Vector {
                $right(a, _mm_cvtsi32_si128(BITS))
            }

            /// The vector itself, which the compiler may not take apart: left to itself
            /// it sorts long sums so that what is known last is not added last.
            #[inline]
            #[target_feature(enable = $feature)]
            #[allow(dead_code, reason = "SHA-1 does without")]
            pub(in super::super) fn now(mut a: Vector) -> Vector {
                // SAFETY: there is no instruction in it.
                unsafe {
                    core::arch::asm!("/* {0} */", inout($class) a, options(pure, nomem, nostack, preserves_flags));
                }
                a
            }

            /// Rotates to the right.
            #[inline]
            #[target_feature(enable = $feature)]
            pub(in super::super) fn ror<const BITS: i32>(a: Vector) -> Vector {
                $ror::<BITS>(a)
            }

            #[inline]
            #[target_feature(enable = $feature)]
            pub(in super::super) fn from_words(words: &[Word; LANES]) -> Vector {
                // SAFETY: a reference to as many readable bytes as a vector has;
                // the load needs no alignment.
                unsafe { $load(words.as_ptr().cast()) }
            }

            #[inline]
            #[target_feature(enable = $feature)]
            pub(in super::super) fn to_words(vector: Vector) -> [Word; LANES] {
                let mut words = [0; LANES];
                // SAFETY: a reference to as many writable bytes as a vector has;
                // the store needs no alignment.
                unsafe { $store(words.as_mut_ptr().cast(), vector) };
                words
            }

            /// The 16 big-endian words of each lane's block: one vector for each
            /// place in the block.
            #[inline]
            #[target_feature(enable = $feature)]
            pub(in super::super) fn message(blocks: &[&[u8; BLOCK]; LANES]) -> [Vector; 16] {
                let mut words = [zero(); 16];
                // A vector takes as many words of one lane as there are lanes; as
                // many rows make a square, which is transposed.
                for (part, rows) in words.as_chunks_mut().0.iter_mut().enumerate() {
                    for (row, block) in rows.iter_mut().zip(blocks) {
                        let bytes = &block.as_chunks::<{ size_of::<Vector>() }>().0[part];
                        // SAFETY: a reference to as many readable bytes as a
                        // vector has; the load needs no alignment.
                        *row = unsafe { $load(bytes.as_ptr().cast()) };
                    }
                    $transpose(rows);
                }
                words
            }
        }
    };
}

lanes! {
    mod u64x4_avx2, "avx2", __m256i in ymm_reg as [u64; 4];
    load _mm256_loadu_si256, store _mm256_storeu_si256, zero _mm256_setzero_si256, splat _mm256_set1_epi64x as i64;
    add _mm256_add_epi64, xor _mm256_xor_si256, right _mm256_srl_epi64, transpose transpose_u64x4;
    ror avx2_ror_u64; xor3 avx2_xor3; choose avx2_choose; majority avx2_majority;
}

lanes! {
    mod u32x8_avx2, "avx2", __m256i in ymm_reg as [u32; 8];
    load _mm256_loadu_si256, store _mm256_storeu_si256, zero _mm256_setzero_si256, splat _mm256_set1_epi32 as i32;
    add _mm256_add_epi32, xor _mm256_xor_si256, right _mm256_srl_epi32, transpose transpose_u32x8;
    ror avx2_ror_u32; xor3 avx2_xor3; choose avx2_choose; majority avx2_majority;
}

lanes! {
    mod u64x4_avx512, "avx512f,avx512vl,avx2", __m256i in ymm_reg as [u64; 4];
    load _mm256_loadu_si256, store _mm256_storeu_si256, zero _mm256_setzero_si256, splat _mm256_set1_epi64x as i64;
    add _mm256_add_epi64, xor _mm256_xor_si256, right _mm256_srl_epi64, transpose transpose_u64x4;
    ror _mm256_ror_epi64; xor3 _mm256_ternarylogic_epi64::<XOR3>;
    choose _mm256_ternarylogic_epi64::<CHOOSE>; majority _mm256_ternarylogic_epi64::<MAJORITY>;
}

lanes! {
    mod u32x8_avx512, "avx512f,avx512vl,avx2", __m256i in ymm_reg as [u32; 8];
    load _mm256_loadu_si256, store _mm256_storeu_si256, zero _mm256_setzero_si256, splat _mm256_set1_epi32 as i32;
    add _mm256_add_epi32, xor _mm256_xor_si256, right _mm256_srl_epi32, transpose transpose_u32x8;
    ror _mm256_ror_epi32; xor3 _mm256_ternarylogic_epi32::<XOR3>;
    choose _mm256_ternarylogic_epi32::<CHOOSE>; majority _mm256_ternarylogic_epi32::<MAJORITY>;
}

lanes! {
    mod u64x8_avx512, "avx512f,avx512bw", __m512i in zmm_reg as [u64; 8];
    load _mm512_loadu_si512, store _mm512_storeu_si512, zero _mm512_setzero_si512, splat _mm512_set1_epi64 as i64;
    add _mm512_add_epi64, xor _mm512_xor_si512, right _mm512_srl_epi64, transpose transpose_u64x8;
    ror _mm512_ror_epi64; xor3 _mm512_ternarylogic_epi64::<XOR3>;
    choose _mm512_ternarylogic_epi64::<CHOOSE>; majority _mm512_ternarylogic_epi64::<MAJORITY>;
}

lanes! {
    mod u32x16_avx512, "avx512f,avx512bw", __m512i in zmm_reg as [u32; 16];
    load _mm512_loadu_si512, store _mm512_storeu_si512, zero _mm512_setzero_si512, splat _mm512_set1_epi32 as i32;
    add _mm512_add_epi32, xor _mm512_xor_si512, right _mm512_srl_epi32, transpose transpose_u32x16;
    ror _mm512_ror_epi32; xor3 _mm512_ternarylogic_epi32::<XOR3>;
    choose _mm512_ternarylogic_epi32::<CHOOSE>; majority _mm512_ternarylogic_epi32::<MAJORITY>;
}

// The truth tables of the three-way functions: bit 4a + 2b + c.
const XOR3: i32 = 0b1001_0110;
const CHOOSE: i32 = 0b1100_1010;
const MAJORITY: i32 = 0b1110_1000;

// What AVX2 lacks.

#[inline]
#[target_feature(enable = "avx2")]
fn avx2_ror_u64<const BITS: i32>(a: __m256i) -> __m256i {
    if BITS == 8 {
        // One shuffle of bytes instead of three instructions.
        let swap = _mm_set_epi64x(0x080f_0e0d_0c0b_0a09, 0x0007_0605_0403_0201);
        return _mm256_shuffle_epi8(a, _mm256_broadcastsi128_si256(swap));
    }
    _mm256_xor_si256(
        _mm256_srl_epi64(a, _mm_cvtsi32_si128(BITS)),
        _mm256_sll_epi64(a, _mm_cvtsi32_si128(64 - BITS)),
    )
}

#[inline]
#[target_feature(enable = "avx2")]
fn avx2_ror_u32<const BITS: i32>(a: __m256i) -> __m256i {
    _mm256_xor_si256(
        _mm256_srl_epi32(a, _mm_cvtsi32_si128(BITS)),
        _mm256_sll_epi32(a, _mm_cvtsi32_si128(32 - BITS)),
    )
}

#[inline]
#[target_feature(enable = "avx2")]
fn avx2_xor3(a: __m256i, b: __m256i, c: __m256i) -> __m256i {
    _mm256_xor_si256(_mm256_xor_si256(a, b), c)
}

#[inline]
#[target_feature(enable = "avx2")]
fn avx2_choose(a: __m256i, b: __m256i, c: __m256i) -> __m256i {
    _mm256_xor_si256(c, _mm256_and_si256(a, _mm256_xor_si256(b, c)))
}

#[inline]
#[target_feature(enable = "avx2")]
fn avx2_majority(a: __m256i, b: __m256i, c: __m256i) -> __m256i {
    // Where b and c differ, a decides.
    _mm256_xor_si256(
        b,
        _mm256_and_si256(_mm256_xor_si256(a, b), _mm256_xor_si256(b, c)),
    )
}

/// Byte order of big-endian 64-bit words in 16 bytes.
#[inline]
#[target_feature(enable = "sse2")]
fn swap64() -> __m128i {
    _mm_set_epi64x(0x0809_0a0b_0c0d_0e0f, 0x0001_0203_0405_0607)
}

/// Byte order of big-endian 32-bit words in 16 bytes.
#[inline]
#[target_feature(enable = "sse2")]
fn swap32() -> __m128i {
    _mm_set_epi64x(0x0c0d_0e0f_0809_0a0b, 0x0405_0607_0001_0203)
}

// The transpositions go from the inside out. First the squares of elements that
// share 128 bits are transposed (2 by 2, or 4 by 4): unpacking interleaves two
// rows within each 128 bits. Then those 128-bit pieces are.

/// Swaps each word's bytes and transposes 4 rows of 4 words.
#[inline]
#[target_feature(enable = "avx2")]
fn transpose_u64x4(rows: &mut [__m256i; 4]) {
    let swap = _mm256_broadcastsi128_si256(swap64());
    for row in rows.iter_mut() {
        *row = _mm256_shuffle_epi8(*row, swap);
    }
    let [a, b, c, d] = *rows;
    // Of rows a and b: words 0 and 2; words 1 and 3. Of c and d likewise.
    let even = [_mm256_unpacklo_epi64(a, b), _mm256_unpacklo_epi64(c, d)];
    let odd = [_mm256_unpackhi_epi64(a, b), _mm256_unpackhi_epi64(c, d)];
    [rows[0], rows[2]] = pieces_of_256(even);
    [rows[1], rows[3]] = pieces_of_256(odd);
}

/// Swaps each word's bytes and transposes 8 rows of 8 words.
#[inline]
#[target_feature(enable = "avx2")]
fn transpose_u32x8(rows: &mut [__m256i; 8]) {
    let swap = _mm256_broadcastsi128_si256(swap32());
    let mut squares = [[_mm256_setzero_si256(); 4]; 2];
    for (square, rows) in squares.iter_mut().zip(rows.as_chunks::<4>().0) {
        let [a, b, c, d] = *rows;
        let (a, b) = (_mm256_shuffle_epi8(a, swap), _mm256_shuffle_epi8(b, swap));
        let (c, d) = (_mm256_shuffle_epi8(c, swap), _mm256_shuffle_epi8(d, swap));
        let (ab, cd) = (_mm256_unpacklo_epi32(a, b), _mm256_unpacklo_epi32(c, d));
        square[0] = _mm256_unpacklo_epi64(ab, cd);
        square[1] = _mm256_unpackhi_epi64(ab, cd);
        let (ab, cd) = (_mm256_unpackhi_epi32(a, b), _mm256_unpackhi_epi32(c, d));
        square[2] = _mm256_unpacklo_epi64(ab, cd);
        square[3] = _mm256_unpackhi_epi64(ab, cd);
    }
    for word in 0..4 {
        [rows[word], rows[word + 4]] = pieces_of_256([squares[0][word], squares[1][word]]);
    }
}

/// Swaps each word's bytes and transposes 8 rows of 8 words.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn transpose_u64x8(rows: &mut [__m512i; 8]) {
    let swap = _mm512_broadcast_i32x4(swap64());
    let mut even = [_mm512_setzero_si512(); 4];
    let mut odd = even;
    for (pair, rows) in rows.as_chunks::<2>().0.iter().enumerate() {
        let [a, b] = *rows;
        let (a, b) = (_mm512_shuffle_epi8(a, swap), _mm512_shuffle_epi8(b, swap));
        even[pair] = _mm512_unpacklo_epi64(a, b);
        odd[pair] = _mm512_unpackhi_epi64(a, b);
    }
    [rows[0], rows[2], rows[4], rows[6]] = pieces_of_512(even);
    [rows[1], rows[3], rows[5], rows[7]] = pieces_of_512(odd);
}

/// Swaps each word's bytes and transposes 16 rows of 16 words.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn transpose_u32x16(rows: &mut [__m512i; 16]) {
    let swap = _mm512_broadcast_i32x4(swap32());
    let mut squares = [[_mm512_setzero_si512(); 4]; 4];
    for (square, rows) in squares.iter_mut().zip(rows.as_chunks::<4>().0) {
        let [a, b, c, d] = *rows;
        let (a, b) = (_mm512_shuffle_epi8(a, swap), _mm512_shuffle_epi8(b, swap));
        let (c, d) = (_mm512_shuffle_epi8(c, swap), _mm512_shuffle_epi8(d, swap));
        let (ab, cd) = (_mm512_unpacklo_epi32(a, b), _mm512_unpacklo_epi32(c, d));
        square[0] = _mm512_unpacklo_epi64(ab, cd);
        square[1] = _mm512_unpackhi_epi64(ab, cd);
        let (ab, cd) = (_mm512_unpackhi_epi32(a, b), _mm512_unpackhi_epi32(c, d));
        square[2] = _mm512_unpacklo_epi64(ab, cd);
        square[3] = _mm512_unpackhi_epi64(ab, cd);
    }
    let [p, q, r, s] = squares;
    for word in 0..4 {
        [rows[word], rows[word + 4], rows[word + 8], rows[word + 12]] =
            pieces_of_512([p[word], q[word], r[word], s[word]]);
    }
}

/// Transposes 2 by 2 pieces of 128 bits.
#[inline]
#[target_feature(enable = "avx2")]
fn pieces_of_256([a, b]: [__m256i; 2]) -> [__m256i; 2] {
    [
        _mm256_permute2x128_si256::<0x20>(a, b),
        _mm256_permute2x128_si256::<0x31>(a, b),
    ]
}

/// Transposes 4 by 4 pieces of 128 bits.
#[inline]
#[target_feature(enable = "avx512f")]
fn pieces_of_512([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    // Pieces 0 and 2 (0x88) or 1 and 3 (0xdd) of two rows behind each other.
    const EVEN: i32 = 0x88;
    const ODD: i32 = 0xdd;
    let (ab, cd) = (
        _mm512_shuffle_i32x4::<EVEN>(a, b),
        _mm512_shuffle_i32x4::<EVEN>(c, d),
    );
    let (first, third) = (
        _mm512_shuffle_i32x4::<EVEN>(ab, cd),
        _mm512_shuffle_i32x4::<ODD>(ab, cd),
    );
    let (ab, cd) = (
        _mm512_shuffle_i32x4::<ODD>(a, b),
        _mm512_shuffle_i32x4::<ODD>(c, d),
    );
    let (second, fourth) = (
        _mm512_shuffle_i32x4::<EVEN>(ab, cd),
        _mm512_shuffle_i32x4::<ODD>(ab, cd),
    );
    [first, second, third, fourth]
}
