//! The pages that are known to be authentic, shared by the connections of a process
//! that have the same keys.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::format::{DerivedKeys, KnownPages, Settings};

struct Entry {
    keys: Weak<DerivedKeys>,
    settings: Settings,
    pages: Weak<KnownPages>,
}

static ALL: Mutex<Vec<Entry>> = Mutex::new(Vec::new());

/// What is known for these keys and settings; it goes with the last codec that uses it.
/// Keys are the same if they were derived once (see [`super::key_cache`]). `None` where
/// nothing is to be remembered.
pub(super) fn shared(keys: &Arc<DerivedKeys>, settings: &Settings) -> Option<Arc<KnownPages>> {
    let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
    all.retain(|entry| entry.pages.strong_count() > 0);
    let found = all.iter().find(|entry| {
        entry.settings == *settings && core::ptr::eq(entry.keys.as_ptr(), Arc::as_ptr(keys))
    });
    if let Some(pages) = found.and_then(|entry| entry.pages.upgrade()) {
        return Some(pages);
    }
    let pages = Arc::new(KnownPages::new(settings.page_size as usize)?);
    all.push(Entry {
        keys: Arc::downgrade(keys),
        settings: *settings,
        pages: Arc::downgrade(&pages),
    });
    Some(pages)
}
