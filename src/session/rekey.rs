//! A database gets another key.

use std::sync::Arc;

use crate::error::Failure;
use crate::format::keys::DerivedKeys;
use crate::format::{Choice, PageCodec};
use crate::secret::Key;

use super::{Session, for_keys, key_cache, known};

impl Session {
    /// What the database would be sealed with under another key, and settings that
    /// decide how keys are derived. The salt stays, unless the key brings its own.
    ///
    /// # Errors
    /// A key or settings that can't be used, or a database that has no key yet.
    pub fn plan_rekey(&self, key: Key, choice: Choice) -> Result<Rekeyed, Failure> {
        let codec = self.codec().ok_or(Failure::NoKey)?;
        let counters = self.counters();
        let salt = *codec.salt();
        choice.settings.validate()?;
        let keys = key_cache::derive(&key, &choice.settings, &salt, &counters)?;
        let codec = PageCodec::new(&choice.settings, &keys)?
            .counting(counters)
            .remembering(known::shared(&keys, &choice.settings));
        let codec = Arc::new(codec);
        Ok(Rekeyed {
            key,
            choice,
            keys,
            codec,
        })
    }

    /// Whether the database is still to go back into WAL mode, which it had to leave.
    #[must_use]
    pub fn has_left_wal(&self) -> bool {
        self.state().left_wal
    }

    /// The database has left WAL mode, or is back in it.
    pub fn set_left_wal(&self, left: bool) {
        self.state().left_wal = left;
    }

    /// Goes on as if these settings had been given with the key, and nothing opened yet.
    pub fn start_with(&self, choice: Choice) {
        let mut state = self.state();
        state.choice = choice;
        state.forget_codec();
    }

    /// The database has been sealed anew.
    pub fn rekeyed(&self, new: Rekeyed) {
        let mut state = self.state();
        state.forget_codec();
        state.key = Some(new.key);
        state.choice = new.choice;
        state.base = state.base.map(|_| new.choice);
        state.derived = Some((for_keys(new.choice.settings), new.keys));
        state.codec = Some(new.codec);
        state.proved = true;
    }
}

/// A database's next key.
pub struct Rekeyed {
    key: Key,
    choice: Choice,
    keys: Arc<DerivedKeys>,
    codec: Arc<PageCodec>,
}

impl Rekeyed {
    /// What its pages are sealed with.
    #[must_use]
    pub fn codec(&self) -> &Arc<PageCodec> {
        &self.codec
    }
}
