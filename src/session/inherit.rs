//! What one database hands down to another: to one that is attached without a key, and
//! to a copy by `VACUUM INTO`.

use std::sync::Arc;

use crate::format::keys::DerivedKeys;
use crate::format::{Choice, PageCodec, Settings};
use crate::secret::{Key, Salt};

use super::Session;

impl Session {
    /// Key, settings and salt of this database, for another one that inherits
    /// them; `None` without a key.
    #[must_use]
    pub fn legacy(&self) -> Option<Legacy> {
        let state = self.state();
        Some(Legacy {
            key: state.key.clone()?,
            choice: state.heir.unwrap_or(state.choice),
            codec: state.codec.clone().filter(|_| state.heir.is_none()),
            salt: state
                .heir
                .and_then(|_| state.codec.as_ref().map(|codec| *codec.salt())),
            derived: state.derived.clone(),
        })
    }

    /// The settings that a copy made by `VACUUM INTO` starts from, if they are not
    /// this database's. The salt is: what a crash leaves half replaced by the copy has
    /// the copy's first bytes, and with them the old journal must still open.
    pub fn set_heir(&self, heir: Option<Choice>) {
        self.state().heir = heir;
    }

    /// Takes over another database's key and settings, and its salt where the
    /// file is new.
    pub fn inherit(&self, legacy: Legacy) {
        let mut state = self.state();
        state.base = Some(legacy.choice);
        state.choice = legacy.choice;
        state.key = Some(legacy.key);
        if legacy.salt.is_some() {
            state.salt = legacy.salt;
        } else if legacy.choice.settings.plaintext_header > 0 {
            state.salt = legacy.codec.as_ref().map(|codec| *codec.salt());
        }
        state.codec = legacy.codec;
        state.derived = legacy.derived;
        state.proved = false;
    }
}

/// What one database hands down to another that is attached without a key.
pub struct Legacy {
    /// The key.
    pub key: Key,
    /// The settings it goes with.
    pub choice: Choice,
    /// The keys already derived, with their salt.
    pub codec: Option<Arc<PageCodec>>,
    /// The salt alone, where the settings are others.
    salt: Option<Salt>,
    derived: Option<(Settings, Arc<DerivedKeys>)>,
}
