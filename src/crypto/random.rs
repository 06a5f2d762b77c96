//! Random bytes for IVs, salts and throw-away keys, without a system call for
//! each.
//!
//! Every thread has its own generator: ChaCha20 (RFC 8439) in Bernstein's
//! fast-key-erasure form. A refill makes `BATCH` bytes of key stream; the
//! first 32 become the next key at once, the others are handed out and wiped as
//! they go. So whoever reads the generator's memory learns nothing of what it
//! gave out before. Every `RESEED_AFTER` refills the operating system's
//! randomness is mixed in, which heals a generator whose state was once read.
//!
//! A forked child has a copy of its parent's state and must not repeat its
//! bytes. Each call therefore compares the process number with the one that
//! seeded the state. That is one cheap system call (40 to 180 ns, against 10 µs
//! for a page), and a batch of pages makes one call for all; the ways without it
//! need `unsafe` and C (`pthread_atfork`, `MADV_WIPEONFORK`) or guess by the
//! clock. What is not noticed before the next reseeding: a virtual machine that
//! is copied while it runs, and a process that gets the number of an ancestor
//! that has died, without anything drawn in between.

use core::cell::RefCell;

use chacha20::ChaCha20Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::error::RandomError;

/// Bytes of a ChaCha20 key.
const SEED_LEN: usize = 32;

/// Key stream of one refill: 512 bytes are two calls of ChaCha20's four-block
/// kernel, and after the next key leave 30 IVs.
const BATCH: usize = 512;

/// Refills between two reseedings: 2 MiB, or about 120 000 pages, so that the
/// system call disappears among them.
const RESEED_AFTER: u32 = 4096;

thread_local! {
    static GENERATOR: RefCell<Generator> = const { RefCell::new(Generator::unseeded()) };
}

/// Fills `out` with random bytes.
///
/// # Errors
/// The operating system gave no randomness to seed this thread's generator with;
/// `out` is then untouched. Once seeded, a generator does not fail again: a
/// reseeding that can't be had is put off, because the state is still secret
/// and only heals later. After a fork it must be had.
pub fn fill(out: &mut [u8]) -> Result<(), RandomError> {
    GENERATOR
        .try_with(|generator| generator.borrow_mut().fill(out))
        // The thread is ending and its generator is gone.
        .unwrap_or_else(|_| system(out))
}

/// An array of random bytes.
///
/// # Errors
/// As [`fill`].
pub fn array<const N: usize>() -> Result<[u8; N], RandomError> {
    let mut bytes = [0; N];
    fill(&mut bytes)?;
    Ok(bytes)
}

fn system(out: &mut [u8]) -> Result<(), RandomError> {
    getrandom::fill(out).map_err(|error| RandomError(error.raw_os_error()))
}

#[derive(Zeroize, ZeroizeOnDrop)]
struct Generator {
    key: [u8; SEED_LEN],
    /// Key stream; all before `used` is wiped.
    buffer: [u8; BATCH],
    used: usize,
    /// Refills until the next reseeding.
    left: u32,
    /// The process that seeded this state; 0, which is no process, before that.
    process: u32,
}

impl Generator {
    const fn unseeded() -> Self {
        Self {
            key: [0; SEED_LEN],
            buffer: [0; BATCH],
            used: BATCH,
            left: 0,
            process: 0,
        }
    }

    fn fill(&mut self, out: &mut [u8]) -> Result<(), RandomError> {
        let process = std::process::id();
        if process != self.process {
            self.reseed()?;
            self.process = process;
        }
        let mut rest = out;
        while !rest.is_empty() {
            if self.used == BATCH {
                self.refill();
            }
            let take = rest.len().min(BATCH - self.used);
            let (now, later) = rest.split_at_mut(take);
            let fresh = &mut self.buffer[self.used..self.used + take];
            now.copy_from_slice(fresh);
            fresh.zeroize();
            self.used += take;
            rest = later;
        }
        Ok(())
    }

    /// Mixes the operating system's randomness into the key and drops the
    /// buffered bytes.
    fn reseed(&mut self) -> Result<(), RandomError> {
        let mut seed = Zeroizing::new([0; SEED_LEN]);
        system(&mut *seed)?;
        for (key, seed) in self.key.iter_mut().zip(seed.iter()) {
            *key ^= seed;
        }
        self.buffer.zeroize();
        self.used = BATCH;
        self.left = RESEED_AFTER;
        Ok(())
    }

    fn refill(&mut self) {
        if self.left == 0 {
            // On failure the next refill asks again.
            let _ = self.reseed();
        }
        self.left = self.left.saturating_sub(1);
        let mut stream = ChaCha20Rng::from_seed(self.key);
        stream.fill_bytes(&mut self.buffer);
        let (key, _) = self.buffer.split_at_mut(SEED_LEN);
        self.key.copy_from_slice(key);
        key.zeroize();
        self.used = SEED_LEN;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn ivs_do_not_repeat() {
        let mut seen = HashSet::new();
        for _ in 0..10_000 {
            assert!(seen.insert(array::<16>().unwrap()));
        }
        let other = std::thread::spawn(|| array::<16>().unwrap());
        assert!(seen.insert(other.join().unwrap()));
    }

    /// Lengths around a refill: every byte is written, none twice from the same
    /// key stream.
    #[test]
    fn any_length_is_filled() {
        for len in [0, 1, 15, 479, 480, 481, 512, 513, 5000] {
            let mut first = vec![0u8; len];
            let mut second = vec![0u8; len];
            fill(&mut first).unwrap();
            fill(&mut second).unwrap();
            if len >= 15 {
                assert_ne!(first, second);
                assert!(first.windows(15).all(|w| w != [0; 15]));
            }
        }
    }

    #[test]
    fn handed_out_bytes_are_wiped_and_the_key_moves_on() {
        let mut generator = Generator::unseeded();
        let mut out = [0u8; 100];
        generator.fill(&mut out).unwrap();
        assert_eq!(generator.used, SEED_LEN + 100);
        assert!(generator.buffer[..generator.used].iter().all(|&b| b == 0));
        assert!(generator.buffer[generator.used..].iter().any(|&b| b != 0));
        let key = generator.key;
        generator.fill(&mut [0; BATCH]).unwrap();
        assert_ne!(generator.key, key);
    }

    /// What a fork leaves in the child: the parent's state under another number.
    #[test]
    fn another_process_number_drops_the_inherited_bytes() {
        let mut parent = Generator::unseeded();
        parent.fill(&mut [0; 16]).unwrap();
        let mut child = Generator {
            process: parent.process + 1,
            ..Generator {
                key: parent.key,
                buffer: parent.buffer,
                used: parent.used,
                left: parent.left,
                process: 0,
            }
        };
        let (mut a, mut b) = ([0; 16], [0; 16]);
        parent.fill(&mut a).unwrap();
        child.fill(&mut b).unwrap();
        assert_ne!(a, b);
        assert_ne!(parent.key, child.key);
    }

    #[test]
    fn the_system_is_asked_again_in_time() {
        let mut generator = Generator::unseeded();
        generator.fill(&mut [0; 1]).unwrap();
        assert_eq!(generator.left, RESEED_AFTER - 1);
        generator.left = 0;
        generator.used = BATCH;
        generator.fill(&mut [0; 1]).unwrap();
        assert_eq!(generator.left, RESEED_AFTER - 1);
    }
}
