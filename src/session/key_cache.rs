//! Keys that passphrases were derived to, for the next connection that gives the
//! same one: a pool of eight opens in little more than one derivation.
//!
//! Passphrases are not kept. An entry is found by a MAC, under a key that is drawn
//! when the process first needs it, of everything that goes into a derivation.
//! Whoever derives holds the entry meanwhile, so that connections that open at the
//! same time wait for one derivation instead of each doing its own. The oldest
//! entry goes when there are too many; all are wiped when they go.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use zeroize::Zeroizing;

use crate::crypto::{MacKey, Message, random};
use crate::error::KeyError;
use crate::format::keys::{self, DerivedKeys};
use crate::format::{HashAlgorithm, Settings};
use crate::secret::{Key, SALT_LEN, Salt};
use crate::stats::Counters;

/// How many derivations are remembered unless [`set_capacity`] says otherwise.
const DEFAULT_CAPACITY: usize = 16;

/// Bytes of an entry's name: an HMAC-SHA256.
type Name = [u8; 32];

type Slot = Arc<Mutex<Option<Arc<DerivedKeys>>>>;

struct Cache {
    capacity: usize,
    /// Most recently used last.
    entries: Vec<(Name, Slot)>,
}

static CACHE: Mutex<Cache> = Mutex::new(Cache {
    capacity: DEFAULT_CAPACITY,
    entries: Vec::new(),
});

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Changes how many derivations the process remembers: 0 turns the cache off. What
/// is too many is wiped at once.
pub fn set_capacity(entries: usize) {
    let mut cache = lock(&CACHE);
    cache.capacity = entries;
    let surplus = cache.entries.len().saturating_sub(entries);
    cache.entries.drain(..surplus);
}

/// How many derivations the process remembers at most.
#[must_use]
pub fn capacity() -> usize {
    lock(&CACHE).capacity
}

/// Wipes all that is remembered.
pub fn clear() {
    lock(&CACHE).entries.clear();
}

/// The keys of `key` under these settings and salt, derived or remembered.
pub(super) fn derive(
    key: &Key,
    settings: &Settings,
    salt: &Salt,
    counters: &Counters,
) -> Result<Arc<DerivedKeys>, KeyError> {
    let fresh = || keys::derive(key, settings, salt).map(Arc::new);
    // The raw forms cost next to nothing.
    let Key::Passphrase(passphrase) = key else {
        return fresh();
    };
    let fresh = || {
        counters.derived();
        fresh()
    };
    let Some(slot) = slot(passphrase, settings, salt) else {
        return fresh();
    };
    let mut slot = lock(&slot);
    if let Some(keys) = &*slot {
        return Ok(Arc::clone(keys));
    }
    let keys = fresh()?;
    *slot = Some(Arc::clone(&keys));
    Ok(keys)
}

/// The entry for a derivation; `None` where nothing is to be remembered.
fn slot(passphrase: &[u8], settings: &Settings, salt: &Salt) -> Option<Slot> {
    let name = name(passphrase, settings, salt)?;
    let mut cache = lock(&CACHE);
    if cache.capacity == 0 {
        return None;
    }
    let entry = match cache.entries.iter().position(|(other, _)| *other == name) {
        Some(index) => cache.entries.remove(index),
        None => (name, Slot::default()),
    };
    let slot = Arc::clone(&entry.1);
    cache.entries.push(entry);
    if cache.entries.len() > cache.capacity {
        cache.entries.remove(0);
    }
    Some(slot)
}

fn name(passphrase: &[u8], settings: &Settings, salt: &Salt) -> Option<Name> {
    static NAMING: OnceLock<Option<MacKey>> = OnceLock::new();
    let naming = NAMING
        .get_or_init(|| {
            let key = random::array::<32>().ok()?;
            Some(MacKey::new(HashAlgorithm::Sha256, &key))
        })
        .as_ref()?;
    // Everything that decides the keys, at fixed lengths, before the passphrase.
    let mut data = Zeroizing::new(Vec::with_capacity(SALT_LEN + 6 + passphrase.len()));
    data.extend_from_slice(salt);
    data.extend_from_slice(&settings.fast_kdf_iter.to_le_bytes());
    data.push(settings.kdf_algorithm as u8);
    data.push(settings.hmac_salt_mask);
    data.extend_from_slice(passphrase);
    let message = Message {
        data: &data,
        suffix: settings.kdf_iter.to_le_bytes(),
    };
    naming.tag(message).as_bytes().try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn derive(key: &Key, settings: &Settings, salt: &Salt) -> Result<Arc<DerivedKeys>, KeyError> {
        super::derive(key, settings, salt, &Counters::default())
    }

    /// The cache is the process's, so its behaviour is one test.
    #[test]
    fn remembers_waits_and_forgets() {
        let settings = Settings {
            kdf_iter: 1000,
            ..Settings::default()
        };
        let key = Key::passphrase("a passphrase");
        let first = derive(&key, &settings, &[1; 16]).unwrap();
        let again = derive(&key, &settings, &[1; 16]).unwrap();
        assert!(Arc::ptr_eq(&first, &again));
        let salted = derive(&key, &settings, &[2; 16]).unwrap();
        assert!(!Arc::ptr_eq(&first, &salted));
        for other in [
            Settings {
                kdf_iter: 1001,
                ..settings
            },
            Settings {
                fast_kdf_iter: 3,
                ..settings
            },
            Settings {
                kdf_algorithm: HashAlgorithm::Sha1,
                ..settings
            },
            Settings {
                hmac_salt_mask: 0,
                ..settings
            },
        ] {
            let keys = derive(&key, &other, &[1; 16]).unwrap();
            assert!(!Arc::ptr_eq(&first, &keys));
            // What is remembered is what would have been derived.
            let fresh = keys::derive(&key, &other, &[1; 16]).unwrap();
            assert_eq!(keys.cipher.expose(), fresh.cipher.expose());
            assert_eq!(keys.mac.expose(), fresh.mac.expose());
        }

        let together: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|_| scope.spawn(|| derive(&key, &settings, &[3; 16]).unwrap()))
                .collect();
            threads.into_iter().map(|it| it.join().unwrap()).collect()
        });
        assert!(together.iter().all(|keys| Arc::ptr_eq(keys, &together[0])));

        set_capacity(0);
        let off = derive(&key, &settings, &[1; 16]).unwrap();
        assert!(!Arc::ptr_eq(&first, &off));
        assert_eq!(capacity(), 0);
        assert!(lock(&CACHE).entries.is_empty());
        set_capacity(DEFAULT_CAPACITY);
        clear();
    }
}
