//! The cipher of temporary files: statement journals, sorter runs, temporary
//! databases. Only the connection that writes them reads them, so the key is
//! random and lives and dies with this value.

use core::fmt;

use zeroize::Zeroizing;

use crate::crypto::{Aes256Ctr, random};
use crate::error::RandomError;

/// Bytes that the caller encrypts as a unit.
pub const SCRATCH_BLOCK: usize = 4096;

/// AES-256-CTR under a random key that nobody else ever has.
///
/// The counter block is `write counter || 16-byte block in the data`, both
/// 64-bit big endian. There is no MAC: who can change the temporary files of a
/// running process can as well change the process.
pub struct ScratchCipher(Aes256Ctr);

impl ScratchCipher {
    /// Takes a fresh key from the system's randomness.
    ///
    /// # Errors
    /// There is none to be had.
    pub fn new() -> Result<Self, RandomError> {
        let key = Zeroizing::new(random::array()?);
        Ok(Self(Aes256Ctr::new(&key)))
    }

    /// Encrypts or decrypts (the same operation) `data`, which stands
    /// `offset_in_block` bytes into what was written as number `write_counter`.
    ///
    /// A `write_counter` must never be used for two different contents: their
    /// XOR would show through.
    ///
    /// # Panics
    /// Panics unless `offset_in_block` is a multiple of 16.
    pub fn apply(&self, write_counter: u64, offset_in_block: usize, data: &mut [u8]) {
        assert!(
            offset_in_block.is_multiple_of(16),
            "the offset must be a multiple of 16"
        );
        self.0
            .apply(write_counter, offset_in_block as u64 / 16, data);
    }
}

impl fmt::Debug for ScratchCipher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ScratchCipher(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_come_back_and_differ_by_counter_and_key() {
        let cipher = ScratchCipher::new().unwrap();
        let plain = [7u8; SCRATCH_BLOCK];
        let mut first = plain;
        cipher.apply(1, 0, &mut first);
        assert_ne!(first, plain);
        let mut second = plain;
        cipher.apply(2, 0, &mut second);
        assert_ne!(first, second);
        let mut other = plain;
        ScratchCipher::new().unwrap().apply(1, 0, &mut other);
        assert_ne!(first, other);

        let mut tail = first[1024..1100].to_vec();
        cipher.apply(1, 1024, &mut tail);
        assert_eq!(tail, plain[..76]);
        cipher.apply(1, 0, &mut first);
        assert_eq!(first, plain);
    }

    #[test]
    #[should_panic(expected = "multiple of 16")]
    fn offsets_are_whole_blocks() {
        ScratchCipher::new().unwrap().apply(0, 8, &mut [0; 8]);
    }
}
