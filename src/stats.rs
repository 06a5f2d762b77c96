//! Counters of the work that encryption makes: for each database that is open, and
//! for the process as a whole.
//!
//! Counting costs two additions a page. Time is measured only after
//! `PRAGMA cipher_stats = on` (or [`set_timing`]), process-wide, since reading the
//! clock costs more than that; only the time spent on deriving keys, which is rare
//! and long, is measured always.

use core::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Counters are sums that nothing is decided by: no order between them is needed.
const RELAXED: Ordering = Ordering::Relaxed;

static TIMING: AtomicBool = AtomicBool::new(false);

/// Switches the measuring of cipher and MAC times on or off, for the process.
pub fn set_timing(on: bool) {
    TIMING.store(on, RELAXED);
}

/// Whether cipher and MAC times are measured.
#[must_use]
pub fn is_timing() -> bool {
    TIMING.load(RELAXED)
}

/// Work whose time is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// Encrypting and decrypting pages.
    Cipher,
    /// Computing the MACs of pages.
    Mac,
}

/// Declares the counters once: those that count, and their values at one moment.
macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        #[derive(Default)]
        struct Counts {
            $($name: AtomicU64,)*
        }

        /// What the counters said at one moment. They only grow: what happened in
        /// between is the difference of two snapshots.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct Snapshot {
            $($(#[$doc])* pub $name: u64,)*
        }

        impl Counts {
            fn snapshot(&self) -> Snapshot {
                Snapshot { $($name: self.$name.load(RELAXED),)* }
            }
        }

        impl Snapshot {
            const NONE: Self = Self { $($name: 0,)* };

            fn add(&mut self, other: Self) {
                $(self.$name = self.$name.saturating_add(other.$name);)*
            }

            /// Names and values, in the order of declaration.
            pub fn named(self) -> impl Iterator<Item = (&'static str, u64)> {
                [$((stringify!($name), self.$name),)*].into_iter()
            }
        }
    };
}

counters! {
    /// Pages authenticated and decrypted.
    pages_opened,
    /// Bytes of these.
    bytes_opened,
    /// Pages among these that were authenticated before, byte for byte.
    pages_known,
    /// Pages encrypted and authenticated.
    pages_sealed,
    /// Bytes of these.
    bytes_sealed,
    /// Nanoseconds in the cipher, while timing is on.
    cipher_ns,
    /// Nanoseconds in the page MAC, while timing is on.
    mac_ns,
    /// Nanoseconds spent on getting keys: almost nothing where they were derived
    /// before and remembered.
    kdf_ns,
    /// Derivations from a passphrase, with all their rounds, that were really made.
    derivations,
}

/// `name=value` for each counter, separated by spaces.
impl fmt::Display for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (name, value)) in self.named().enumerate() {
            let space = if index == 0 { "" } else { " " };
            write!(f, "{space}{name}={value}")?;
        }
        Ok(())
    }
}

/// Everything that counts: those in use, and the sum of those that no longer are.
struct All {
    live: Vec<Arc<Counts>>,
    gone: Snapshot,
}

static ALL: Mutex<All> = Mutex::new(All {
    live: Vec::new(),
    gone: Snapshot::NONE,
});

/// A panic in here leaves sums behind, whatever they are.
fn all() -> MutexGuard<'static, All> {
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The counters of the process: of all databases that are or were open in it.
#[must_use]
pub fn process() -> Snapshot {
    let all = all();
    let mut sum = all.gone;
    for counts in &all.live {
        sum.add(counts.snapshot());
    }
    sum
}

/// The counters of one database.
pub struct Counters(Arc<Counts>);

impl Default for Counters {
    fn default() -> Self {
        let counts = Arc::<Counts>::default();
        all().live.push(Arc::clone(&counts));
        Self(counts)
    }
}

impl Drop for Counters {
    fn drop(&mut self) {
        let mut all = all();
        if let Some(at) = all.live.iter().position(|live| Arc::ptr_eq(live, &self.0)) {
            all.live.swap_remove(at);
            all.gone.add(self.0.snapshot());
        }
    }
}

impl fmt::Debug for Counters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Counters").field(&self.snapshot()).finish()
    }
}

impl Counters {
    /// What they say now.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        self.0.snapshot()
    }

    /// Pages have been opened, all of this size.
    pub fn opened(&self, pages: usize, page_size: usize) {
        self.0.pages_opened.fetch_add(pages as u64, RELAXED);
        self.0
            .bytes_opened
            .fetch_add((pages * page_size) as u64, RELAXED);
    }

    /// A page has been recognised.
    pub fn known(&self) {
        self.0.pages_known.fetch_add(1, RELAXED);
    }

    /// Pages have been sealed, all of this size.
    pub fn sealed(&self, pages: usize, page_size: usize) {
        self.0.pages_sealed.fetch_add(pages as u64, RELAXED);
        self.0
            .bytes_sealed
            .fetch_add((pages * page_size) as u64, RELAXED);
    }

    /// Does some work, and measures its time while timing is on.
    #[inline]
    pub fn time<T>(&self, work: Work, f: impl FnOnce() -> T) -> T {
        if !is_timing() {
            return f();
        }
        let counter = match work {
            Work::Cipher => &self.0.cipher_ns,
            Work::Mac => &self.0.mac_ns,
        };
        measure(counter, f)
    }

    /// A passphrase is derived.
    pub fn derived(&self) {
        self.0.derivations.fetch_add(1, RELAXED);
    }

    /// Gets keys, and measures its time.
    pub fn time_kdf<T>(&self, f: impl FnOnce() -> T) -> T {
        measure(&self.0.kdf_ns, f)
    }
}

fn measure<T>(counter: &AtomicU64, f: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = f();
    let nanoseconds = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
    counter.fetch_add(nanoseconds, RELAXED);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Other tests count too, so the process's counters are only ever compared
    /// from below.
    #[test]
    fn process_counts_open_and_closed_databases() {
        let before = process();
        let one = Counters::default();
        let two = Counters::default();
        one.opened(3, 4096);
        two.sealed(2, 1024);
        assert_eq!(one.snapshot().pages_opened, 3);
        assert_eq!(one.snapshot().bytes_opened, 12288);
        assert_eq!(one.snapshot().pages_sealed, 0);
        drop(one);
        let after = process();
        assert!(after.pages_opened >= before.pages_opened + 3);
        assert!(after.pages_sealed >= before.pages_sealed + 2);
        assert!(after.bytes_sealed >= before.bytes_sealed + 2048);
        drop(two);
        assert!(process().pages_sealed >= after.pages_sealed);
    }

    #[test]
    fn time_is_measured_when_asked_for() {
        let counters = Counters::default();
        let sleep = || std::thread::sleep(std::time::Duration::from_millis(2));
        counters.time(Work::Mac, sleep);
        set_timing(true);
        counters.time(Work::Cipher, sleep);
        set_timing(false);
        counters.time_kdf(sleep);
        let snapshot = counters.snapshot();
        assert_eq!(snapshot.mac_ns, 0);
        assert!(snapshot.cipher_ns >= 2_000_000);
        assert!(snapshot.kdf_ns >= 2_000_000);
    }

    #[test]
    fn one_line_of_text() {
        let snapshot = Snapshot {
            pages_opened: 1,
            bytes_opened: 512,
            kdf_ns: 7,
            ..Snapshot::default()
        };
        assert_eq!(
            snapshot.to_string(),
            "pages_opened=1 bytes_opened=512 pages_known=0 pages_sealed=0 bytes_sealed=0 cipher_ns=0 mac_ns=0 kdf_ns=7 derivations=0"
        );
    }
}
