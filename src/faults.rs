//! Failures on demand, for tests: `PRAGMA cipher_test_on = fail_encrypt` and the like,
//! under SQLCipher's names.
//!
//! Only with the feature `fail-on-demand`, which no default build and not the loadable
//! extension has: without it nothing ever fails on demand, there is nothing to switch,
//! and the pragmas do not exist.

#[cfg(feature = "fail-on-demand")]
use core::sync::atomic::{AtomicU8, Ordering};

/// What can be made to fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// Sealing a page, as if there were no random bytes.
    Encrypt = 1,
    /// Opening a page, as if it did not authenticate.
    Decrypt = 2,
    /// A migration, when part of the new file is in place.
    Migrate = 4,
    /// A rekey, when part of the pages are sealed anew.
    Rekey = 8,
}

/// What fails in one database.
#[derive(Debug, Default)]
pub struct Faults {
    #[cfg(feature = "fail-on-demand")]
    on: AtomicU8,
}

impl Faults {
    /// Whether this is to fail now.
    #[must_use]
    pub fn is_on(&self, fault: Fault) -> bool {
        #[cfg(feature = "fail-on-demand")]
        let on = self.on.load(Ordering::Relaxed) & fault as u8 != 0;
        #[cfg(not(feature = "fail-on-demand"))]
        let on = {
            let _ = fault;
            false
        };
        on
    }

    /// Switches a failure on or off.
    #[cfg(feature = "fail-on-demand")]
    pub fn set(&self, fault: Fault, on: bool) {
        if on {
            self.on.fetch_or(fault as u8, Ordering::Relaxed);
        } else {
            self.on.fetch_and(!(fault as u8), Ordering::Relaxed);
        }
    }
}

/// A fault by its name in `cipher_test_on` and `cipher_test_off`.
#[cfg(feature = "fail-on-demand")]
#[must_use]
pub fn named(name: &[u8]) -> Option<Fault> {
    [
        ("fail_encrypt", Fault::Encrypt),
        ("fail_decrypt", Fault::Decrypt),
        ("fail_migrate", Fault::Migrate),
        ("fail_rekey", Fault::Rekey),
    ]
    .into_iter()
    .find(|(known, _)| name.eq_ignore_ascii_case(known.as_bytes()))
    .map(|(_, fault)| fault)
}
