//! The inner loops. Nothing calls them but [`super::dispatch`], which knows what
//! the processor can do.
//!
//! | module | what it holds |
//! |---|---|
//! | `constants` | initial values and round constants of the hashes |
//! | `portable` | every operation over the `sha1` and `sha2` crates: the reference |
//! | `x86` | AVX2 and AVX-512: SHA-512 of one message, all hashes of several |
//! | `harness` | the tests that each kernel goes through |
//!
//! A *lane* is one of several messages of the same length that are hashed side
//! by side, one in each element of a vector register.

pub(super) mod constants;
#[cfg(test)]
mod harness;
pub(super) mod portable;
#[cfg(target_arch = "x86_64")]
pub(super) mod x86;
