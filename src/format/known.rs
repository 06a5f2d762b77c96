//! Pages whose bytes on disk have been authenticated before.
//!
//! A page that comes from the disk with the very bytes that were authenticated the
//! last time need not be authenticated again: it is only decrypted, a tenth of the
//! work. SQLite asks for unchanged pages again and again: whenever another connection
//! has committed, and when several connections read the same tables. And a rollback
//! journal saves pages as they are on disk, so that a page's sealed form need not be
//! made where it is remembered.
//!
//! Only ciphertext is kept, which is on the disk anyway. It is compared as a whole, so
//! nothing has to be known about who else writes the file, and it makes no difference
//! in which of several files of the same keys a page stands.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Most bytes that are kept for one set of keys, unless [`set_known_pages`] says
/// otherwise.
const DEFAULT_BYTES: usize = 6 << 20;

static BYTES: AtomicUsize = AtomicUsize::new(DEFAULT_BYTES);

/// How many of the last pages' numbers are kept, to tell those that come again.
const SEEN: usize = 4096;

/// Changes how many bytes of ciphertext the process remembers for each database that
/// is opened from now on, shared by its connections (6 MiB at first); 0: none.
pub fn set_known_pages(bytes: usize) {
    BYTES.store(bytes, Ordering::Relaxed);
}

/// What is remembered. See the module.
#[derive(Debug)]
pub struct KnownPages(Mutex<Known>);

#[derive(Debug)]
struct Known {
    /// A page stands at its number modulo `most`. Filled as pages come.
    slots: Vec<Slot>,
    /// Numbers of pages that came once, likewise.
    seen: Vec<u32>,
    most: usize,
}

#[derive(Debug, Clone, Default)]
struct Slot {
    pgno: u32,
    sealed: Vec<u8>,
}

impl KnownPages {
    /// For pages of this size; `None` where none are to be remembered.
    #[must_use]
    pub fn new(page_size: usize) -> Option<Self> {
        let most = BYTES.load(Ordering::Relaxed) / page_size;
        (most > 0).then(|| {
            Self(Mutex::new(Known {
                slots: Vec::new(),
                seen: Vec::new(),
                most,
            }))
        })
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        // Whatever a panic leaves is compared before it is used.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether these are the bytes of that page that were authenticated last.
    #[must_use]
    pub fn is_known(&self, pgno: u32, sealed: &[u8]) -> bool {
        self.lock().get(pgno).is_some_and(|known| known == sealed)
    }

    /// A page has been authenticated. It is kept when it comes the second time, so
    /// that a scan costs nothing and displaces nothing.
    pub fn came(&self, pgno: u32, sealed: &[u8]) {
        let mut known = self.lock();
        known.seen.resize(SEEN, 0);
        let seen = &mut known.seen[pgno as usize % SEEN];
        if core::mem::replace(seen, pgno) == pgno {
            known.put(pgno, sealed);
        }
    }

    /// Pages have been sealed, or authenticated by somebody who will write them: they
    /// are kept at once.
    pub fn keep<'a>(&self, pages: impl IntoIterator<Item = (u32, &'a [u8])>) {
        let mut known = self.lock();
        for (pgno, sealed) in pages {
            known.put(pgno, sealed);
        }
    }

    /// Copies the sealed page into `out`, if it is remembered.
    pub fn copy(&self, pgno: u32, out: &mut Vec<u8>) -> bool {
        out.clear();
        match self.lock().get(pgno) {
            Some(known) => {
                out.extend_from_slice(known);
                true
            }
            None => false,
        }
    }
}

impl Known {
    fn get(&self, pgno: u32) -> Option<&[u8]> {
        let slot = self.slots.get(pgno as usize % self.most)?;
        (slot.pgno == pgno).then_some(&slot.sealed)
    }

    fn put(&mut self, pgno: u32, sealed: &[u8]) {
        if self.slots.is_empty() {
            self.slots.resize(self.most, Slot::default());
        }
        let slot = &mut self.slots[pgno as usize % self.most];
        slot.pgno = pgno;
        slot.sealed.clear();
        slot.sealed.extend_from_slice(sealed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_known_by_all_of_its_bytes() {
        let known = KnownPages::new(512).expect("some");
        known.keep([(7, &[1u8; 512][..])]);
        assert!(known.is_known(7, &[1; 512]));
        assert!(!known.is_known(8, &[1; 512]));
        for at in 0..512 {
            let mut other = [1; 512];
            other[at] ^= 1;
            assert!(!known.is_known(7, &other), "byte {at}");
        }
    }

    #[test]
    fn a_page_is_kept_when_it_comes_again() {
        let known = KnownPages::new(512).expect("some");
        known.came(7, &[1; 512]);
        assert!(!known.is_known(7, &[1; 512]));
        known.came(7, &[1; 512]);
        assert!(known.is_known(7, &[1; 512]));
    }

    #[test]
    fn no_more_is_kept_than_is_allowed() {
        let known = KnownPages::new(65536).expect("some");
        for pgno in 1..1000 {
            known.keep([(pgno, &[pgno as u8; 65536][..])]);
        }
        let kept: usize = known
            .lock()
            .slots
            .iter()
            .map(|slot| slot.sealed.len())
            .sum();
        assert_eq!(kept, DEFAULT_BYTES);
        let mut out = Vec::new();
        assert!(known.copy(999, &mut out));
        assert!(!known.copy(1, &mut out));
    }
}
