//! x86-64: AVX2 and AVX-512.
//!
//! Each kernel is a safe function under `#[target_feature]`: it asks for nothing
//! but a processor that has the feature, and whoever calls it from code without
//! that feature says in an `unsafe` block how it knows. The only other `unsafe`
//! here is what loads and stores through pointers, and the assembly of one round.

pub(in crate::crypto) mod aes_cbc;
pub(in crate::crypto) mod lanes;
pub(in crate::crypto) mod sha512_one;
mod vector;
