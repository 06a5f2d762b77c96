//! The first bytes of a log's shared index, which all its processes have mapped.

use core::ffi::c_void;
use core::ptr::NonNull;

use crate::translate::wal_index::{IndexHeader, LEN};

/// Where SQLite has the index's first region.
pub(crate) struct SharedIndex(NonNull<[u64; LEN / 8]>);

// SAFETY: the memory is shared between processes anyway; it is only touched while
// SQLite calls a method of the file that has mapped it.
unsafe impl Send for SharedIndex {}

impl SharedIndex {
    /// # Safety
    /// `region` must be NULL or the first region of an index, which stays mapped as
    /// long as this lives.
    pub(super) unsafe fn new(region: *mut c_void) -> Option<Self> {
        NonNull::new(region.cast()).map(Self)
    }

    /// The header, where both copies of it are the same and right.
    pub(crate) fn header(&self) -> Option<IndexHeader> {
        // SAFETY: mapped, says `new`; a page's start, so aligned. Others may be
        // writing: what is torn has a wrong checksum.
        let copies = unsafe { [self.0.read_volatile(), self.0.add(1).read_volatile()] };
        let [first, second] = copies.map(bytes);
        IndexHeader::parse(first).filter(|header| *header.as_bytes() == second)
    }

    /// Replaces the header as SQLite does: second copy, barrier, first copy. The
    /// write lock must be held.
    pub(crate) fn set_header(&self, header: &IndexHeader, barrier: impl Fn()) {
        let words = words(header.as_bytes());
        // SAFETY: as in `header`; with the write lock nobody else writes here.
        unsafe { self.0.add(1).write_volatile(words) };
        barrier();
        // SAFETY: as above.
        unsafe { self.0.write_volatile(words) };
        barrier();
    }
}

fn bytes(words: [u64; LEN / 8]) -> [u8; LEN] {
    let mut out = [0; LEN];
    for (out, word) in out.chunks_exact_mut(8).zip(words) {
        out.copy_from_slice(&word.to_ne_bytes());
    }
    out
}

fn words(bytes: &[u8; LEN]) -> [u64; LEN / 8] {
    let mut out = [0; LEN / 8];
    for (out, bytes) in out.iter_mut().zip(bytes.chunks_exact(8)) {
        let mut word = [0; 8];
        word.copy_from_slice(bytes);
        *out = u64::from_ne_bytes(word);
    }
    out
}
