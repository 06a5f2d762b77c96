//! Finds the settings that fit a key.
//!
//! The only slow step is PBKDF2 from passphrase to AES key, which depends on hash and
//! iterations alone: one derivation for each of these pairs, and everything else
//! (page size, HMAC on or off and by which hash, page-number order, plaintext header,
//! the oddities of 2.0 betas) is tried with its result. A raw key derives nothing.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use zeroize::Zeroizing;

use crate::format::layout::PAGE_SIZES;
use crate::format::{
    DerivedKeys, HashAlgorithm, PageCodec, PgnoOrder, Preset, Settings, derive, page1,
};
use crate::secret::{Key, SALT_LEN, Salt};

use super::access::{Access, is_proved_elsewhere};
use super::error::{OfflineError, Result};
use super::files::Files;
use super::header::Header;
use super::progress::Progress;

/// A hash and a number of iterations: what one derivation covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Family {
    /// `cipher_kdf_algorithm`.
    pub hash: HashAlgorithm,
    /// `kdf_iter`.
    pub iterations: u32,
}

const HASHES: [HashAlgorithm; 3] = [
    HashAlgorithm::Sha1,
    HashAlgorithm::Sha256,
    HashAlgorithm::Sha512,
];

/// The families that are tried: those of the presets first, then each hash with
/// each preset's iterations, then each hash with the `extra` numbers.
#[must_use]
pub fn families(extra: &[u32]) -> Vec<Family> {
    let presets = [Preset::V2, Preset::V3, Preset::V4].map(Settings::preset);
    let mut families: Vec<Family> = Vec::new();
    let mut add = |hash, iterations| {
        let family = Family { hash, iterations };
        if !families.contains(&family) {
            families.push(family);
        }
    };
    for &iterations in extra {
        for hash in HASHES {
            add(hash, iterations);
        }
    }
    for preset in &presets {
        add(preset.kdf_algorithm, preset.kdf_iter);
    }
    for preset in &presets {
        for hash in HASHES {
            add(hash, preset.kdf_iter);
        }
    }
    families
}

/// Settings that fit, and how they were found.
#[derive(Debug, Clone)]
pub struct Found {
    /// The settings.
    pub settings: Settings,
    /// The salt that they were found with.
    pub salt: Salt,
    /// Whether page 1 opened; else it is damaged, and other pages authenticated.
    pub page1: bool,
}

/// What a search came to.
#[derive(Debug, Clone)]
pub struct Probe {
    /// The settings, if any fit.
    pub found: Option<Found>,
    /// Derivations from the passphrase that were made.
    pub derivations: usize,
}

/// Tries `families` with the key of `access`, whose settings don't matter. Stops at
/// the first settings that fit.
///
/// # Errors
/// The file is empty or plaintext, can't be read, or the key is empty. That nothing
/// fits is no error.
pub fn probe(
    files: &Files,
    access: &Access,
    families: &[Family],
    threads: usize,
    progress: &dyn Progress,
) -> Result<Probe> {
    if files.database().is_empty() {
        return Err(OfflineError::Empty(files.path().to_owned()));
    }
    let search = Search::new(files, access)?;
    // A raw key is the same in every family but for the hash of the MAC key.
    let families: Vec<Family> = match &access.key {
        Key::Passphrase(_) => families.to_vec(),
        _ => HASHES
            .map(|hash| Family {
                hash,
                iterations: Settings::default().kdf_iter,
            })
            .to_vec(),
    };
    let cost = |family: &Family| u64::from(family.iterations);
    progress.begin(families.iter().map(cost).sum());
    let next = AtomicUsize::new(0);
    let stop = AtomicBool::new(false);
    let state = Mutex::new(State::default());
    let run = || {
        while !stop.load(Ordering::Relaxed) {
            let Some(&family) = families.get(next.fetch_add(1, Ordering::Relaxed)) else {
                return;
            };
            let result = match progress.is_cancelled() {
                true => Err(OfflineError::Cancelled),
                false => search.try_family(family),
            };
            progress.advance(cost(&family));
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            match result {
                Ok((keys, None)) => state.derived.push((family, keys)),
                Ok((keys, found)) => {
                    state.derived.push((family, keys));
                    state.found = found;
                    stop.store(true, Ordering::Relaxed);
                }
                Err(error) => {
                    state.failed.get_or_insert(error);
                    stop.store(true, Ordering::Relaxed);
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.clamp(1, families.len().max(1)) {
            scope.spawn(run);
        }
        run();
    });
    let mut state = state.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(error) = state.failed {
        return Err(error);
    }
    if state.found.is_none() {
        for (family, keys) in &state.derived {
            state.found = search.try_elsewhere(*family, keys)?;
            if state.found.is_some() {
                break;
            }
        }
    }
    Ok(Probe {
        found: state.found,
        derivations: match access.key {
            Key::Passphrase(_) => state.derived.len(),
            _ => 0,
        },
    })
}

#[derive(Default)]
struct State {
    derived: Vec<(Family, DerivedKeys)>,
    found: Option<Found>,
    failed: Option<OfflineError>,
}

/// What is tried with each derivation.
struct Search<'a> {
    files: &'a Files,
    access: &'a Access,
    head: Vec<u8>,
    salt: Salt,
    page_sizes: Vec<u32>,
    /// Whether the file begins with SQLite's magic in the clear.
    magic: bool,
}

impl<'a> Search<'a> {
    fn new(files: &'a Files, access: &'a Access) -> Result<Self> {
        let head = files.head()?;
        let magic = head.starts_with(page1::MAGIC);
        let salt = access
            .outside_salt()
            .or(head.first_chunk::<SALT_LEN>().copied());
        let salt = match salt {
            Some(_) if magic && access.outside_salt().is_none() => {
                return Err(crate::error::SettingsError::SaltMissing.into());
            }
            Some(salt) => salt,
            None => return Err(OfflineError::WrongKey(files.path().to_owned())),
        };
        let known = match files.side_page_size() {
            Some(size) => Some(size),
            None if magic => Header::parse(&head).map(|header| header.page_size),
            None => None,
        };
        let page_sizes = match known {
            Some(size) => vec![size],
            // 4096 and 1024 are the presets'.
            None => {
                let mut sizes = vec![4096, 1024];
                sizes.extend(
                    (9..=16)
                        .map(|bits| 1 << bits)
                        .filter(|size| PAGE_SIZES.contains(size) && ![4096, 1024].contains(size)),
                );
                sizes
            }
        };
        Ok(Self {
            files,
            access,
            head,
            salt,
            page_sizes,
            magic,
        })
    }

    /// One derivation, and everything that can be tried with it on page 1.
    fn try_family(&self, family: Family) -> Result<(DerivedKeys, Option<Found>)> {
        let first = derive(&self.access.key, &base(family), &self.salt)?;
        let mut keys = Keys::new(&self.access.key, &first);
        for candidate in self.candidates(base(family)) {
            if let Some((codec, salt)) = keys.codec(&candidate)?
                && self.opens(&codec)?
            {
                let found = Found {
                    settings: candidate,
                    salt,
                    page1: true,
                };
                return Ok((first, Some(found)));
            }
        }
        Ok((first, None))
    }

    /// As if page 1 were damaged: whether other pages authenticate.
    fn try_elsewhere(&self, family: Family, first: &DerivedKeys) -> Result<Option<Found>> {
        // This reads many pages; of 2.0 betas there are few files.
        let candidates = self.candidates(base(family)).into_iter();
        let mut keys = Keys::new(&self.access.key, first);
        for candidate in candidates.filter(|candidate| !has_other_mac_key(candidate)) {
            if let Some((codec, salt)) = keys.codec(&candidate)?
                && is_proved_elsewhere(self.files, &codec)?
            {
                return Ok(Some(Found {
                    settings: candidate,
                    salt,
                    page1: false,
                }));
            }
        }
        Ok(None)
    }

    fn opens(&self, codec: &PageCodec) -> Result<bool> {
        let layout = codec.layout();
        let Some(page) = self.head.get(..layout.page_size()) else {
            return Ok(false);
        };
        let mut page = Zeroizing::new(page.to_vec());
        let fine = codec.open(1, &mut page).is_ok()
            // A plaintext header vouches for nothing by itself.
            && Header::parse(&page).is_some_and(|header| {
                header.page_size as usize == layout.page_size()
                    && header.schema_format <= 4
                    && page[56..59] == [0; 3]
                    && page[72..92] == [0; 20]
                    && [2, 5, 10, 13].contains(&page[100])
            });
        match fine && layout.start(1) == layout.body_end() {
            true => is_proved_elsewhere(self.files, codec),
            false => Ok(fine),
        }
    }

    /// Every combination of the settings that a derivation does not depend on, the
    /// likeliest first.
    fn candidates(&self, base: Settings) -> Vec<Settings> {
        let mut all = Vec::new();
        let modern = (2, 0x3a);
        let beta = [(4000, 0), (4000, 0x3a), (2, 0)];
        for (fast_kdf_iter, hmac_salt_mask) in std::iter::once(modern).chain(beta) {
            for &page_size in &self.page_sizes {
                for plaintext_header in self.plaintext_headers(page_size) {
                    let base = Settings {
                        page_size,
                        plaintext_header,
                        fast_kdf_iter,
                        hmac_salt_mask,
                        ..base
                    };
                    for hmac_algorithm in HASHES.into_iter().rev() {
                        for hmac_pgno in [PgnoOrder::Little, PgnoOrder::Big] {
                            all.push(Settings {
                                hmac_algorithm,
                                hmac_pgno,
                                ..base
                            });
                        }
                    }
                    // Without a MAC only the decrypted header tells, so that some of
                    // it must have been encrypted.
                    if (fast_kdf_iter, hmac_salt_mask) == modern && plaintext_header < 112 {
                        all.push(Settings {
                            use_hmac: false,
                            ..base
                        });
                    }
                }
            }
        }
        // Without a MAC less is checked: only after everything with one.
        all.sort_by_key(|settings| !settings.use_hmac);
        all
    }

    /// The lengths of a plaintext header that are tried where the file's start
    /// allows one: up to 256 bytes (32 is usual), and the whole page.
    fn plaintext_headers(&self, page_size: u32) -> Vec<u32> {
        if !self.magic {
            return vec![0];
        }
        let mut sizes: Vec<u32> = (1..=16).map(|blocks| blocks * 16).collect();
        sizes.extend([48, 80].map(|reserve| page_size - reserve));
        sizes
    }
}

/// The keys of one family: the AES key is the same under all other settings, the MAC
/// key may not be.
struct Keys<'a> {
    first: &'a DerivedKeys,
    /// Whether the MAC key is given and not derived.
    is_full: bool,
    /// Those of the last settings that derive the MAC key in another way, which come one
    /// behind the other: for 2.0 betas that takes as long as their AES key.
    other: Option<((u32, u8), DerivedKeys)>,
}

impl<'a> Keys<'a> {
    fn new(key: &Key, first: &'a DerivedKeys) -> Self {
        Self {
            first,
            is_full: matches!(key, Key::Full { .. }),
            other: None,
        }
    }

    /// A codec of these settings; `None` where they make no page.
    fn codec(&mut self, settings: &Settings) -> Result<Option<(PageCodec, Salt)>> {
        let keys = match self.is_full || !has_other_mac_key(settings) {
            true => self.first,
            false => self.with_other_mac_key(settings)?,
        };
        Ok(PageCodec::new(settings, keys)
            .ok()
            .map(|codec| (codec, keys.salt)))
    }

    fn with_other_mac_key(&mut self, settings: &Settings) -> Result<&DerivedKeys> {
        let how = (settings.fast_kdf_iter, settings.hmac_salt_mask);
        let keys = match self.other.take() {
            Some((of, keys)) if of == how => keys,
            _ => {
                let raw = Key::RawWithSalt(self.first.cipher.clone(), self.first.salt);
                derive(&raw, settings, &self.first.salt)?
            }
        };
        Ok(&self.other.insert((how, keys)).1)
    }
}

/// Whether the MAC key is not derived as every release does.
fn has_other_mac_key(settings: &Settings) -> bool {
    let usual = Settings::default();
    settings.fast_kdf_iter != usual.fast_kdf_iter || settings.hmac_salt_mask != usual.hmac_salt_mask
}

fn base(family: Family) -> Settings {
    Settings {
        kdf_algorithm: family.hash,
        kdf_iter: family.iterations,
        ..Settings::default()
    }
}
