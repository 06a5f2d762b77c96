//! The state of one open database: which key and settings it has, whether they
//! have been proved, and what its database, journal and log files must agree on.
//!
//! ```text
//! unkeyed --key--> keyed --salt known--> bound --page opened--> proved
//!                    ^  \                  |
//!                    |   `---- failed <----'      (another key starts over)
//! ```
//!
//! One connection's one database has one session; its database, journal and WAL
//! files share it. SQLite uses all of them under the same mutex, so the lock here
//! is never contended; it is never held across a call into SQLite.

mod inherit;
pub mod key_cache;
mod known;
mod rekey;
pub mod shared_log;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::crypto::random;
use crate::error::{Failure, KeyError, PageError, SettingsError};
use crate::faults::Faults;
use crate::format::keys::DerivedKeys;
use crate::format::layout::PAGE_SIZES;
use crate::format::{Choice, PageCodec, Settings};
use crate::secret::{Key, PageBuffer, SALT_LEN, Salt};
use crate::stats::Counters;

pub use inherit::Legacy;
pub use rekey::Rekeyed;

use shared_log::SharedLog;

/// What an unkeyed connection knows of its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plain {
    /// Not looked at, or still empty.
    Unknown,
    /// A plaintext database: everything passes through untouched.
    Yes,
}

/// A page that a rollback has read from the journal and is about to put back.
struct Restored {
    pgno: u32,
    plain: PageBuffer,
    sealed: Vec<u8>,
}

/// A journal whose header has been read: the database will be brought to the page
/// count in it.
#[derive(Debug, Clone, Copy)]
pub struct Playback {
    /// The page count in the journal's page 1; `None` where it does not hold one,
    /// and then the database's page 1 is as the transaction found it.
    pub page1: Option<u32>,
    /// The journal says that there was no database, and has saved no page.
    pub creation: bool,
}

struct State {
    key: Option<Key>,
    /// What settings start from when a key is set; `None`: the process's defaults.
    base: Option<Choice>,
    choice: Choice,
    /// A salt given from outside, which wins over the file's.
    salt: Option<Salt>,
    /// The salt that the file gets if it is this connection that creates it.
    new_salt: Option<Salt>,
    /// The keys, for the settings that they were derived with, whatever the page
    /// size.
    derived: Option<(Settings, Arc<DerivedKeys>)>,
    codec: Option<Arc<PageCodec>>,
    proved: bool,
    plain: Plain,
    auto_vacuum: bool,
    checkpointing: bool,
    checkpoints: u64,
    wal_epoch: u64,
    shared_log: SharedLog,
    restored: Option<Restored>,
    playback: Option<Playback>,
    failure: Option<Failure>,
    heir: Option<Choice>,
    key_failed: bool,
    journals: usize,
    left_wal: bool,
    counters: Arc<Counters>,
    faults: Arc<Faults>,
    /// Nothing can be done with this database, ever: its ATTACH named a key that
    /// can't be made out.
    refused: Option<Failure>,
    /// Why the last ATTACH on this main database's connection was refused: the
    /// session that it was for is gone with it.
    attach_failure: Option<Failure>,
}

/// The state of one open database. See the module.
pub struct Session(Mutex<State>);

static DEFAULTS: Mutex<Choice> = Mutex::new(Choice {
    settings: Settings::preset(crate::format::Preset::V4),
    auto_page_size: false,
});

/// The process's defaults (`cipher_default_*`), which count from the next key on.
#[must_use]
pub fn defaults() -> Choice {
    *lock(&DEFAULTS)
}

/// Changes the process's defaults.
pub fn change_defaults(change: impl FnOnce(&mut Choice)) {
    change(&mut lock(&DEFAULTS));
}

/// A panic while the lock was held leaves plain values behind, never half of an
/// invariant, so a poisoned lock is as good as another.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Default for Session {
    fn default() -> Self {
        Self(Mutex::new(State {
            key: None,
            base: None,
            choice: defaults(),
            salt: None,
            new_salt: None,
            derived: None,
            codec: None,
            proved: false,
            plain: Plain::Unknown,
            auto_vacuum: false,
            checkpointing: false,
            checkpoints: 0,
            wal_epoch: 0,
            shared_log: SharedLog::default(),
            restored: None,
            playback: None,
            failure: None,
            heir: None,
            key_failed: false,
            journals: 0,
            left_wal: false,
            counters: Arc::default(),
            faults: Arc::default(),
            refused: None,
            attach_failure: None,
        }))
    }
}

impl Session {
    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.0)
    }

    // Key and settings.

    /// Settings that this database starts from whenever it is keyed, in place of
    /// the process's defaults: those of its URI or of the typed API.
    pub fn set_base(&self, choice: Choice) {
        let mut state = self.state();
        state.base = Some(choice);
        state.choice = choice;
        state.forget_codec();
    }

    /// Keys the database. Settings go back to what they start from. A key on a
    /// database that is in use is ignored, as SQLCipher ignores it.
    ///
    /// Returns whether the key was taken.
    ///
    /// # Errors
    /// [`KeyError::Empty`] for an empty passphrase.
    pub fn set_key(&self, key: Key) -> Result<bool, KeyError> {
        if key.is_empty() {
            return Err(KeyError::Empty);
        }
        let mut state = self.state();
        if state.proved {
            return Ok(false);
        }
        state.choice = state.base.unwrap_or_else(defaults);
        state.key = Some(key);
        state.key_failed = false;
        state.derived = None;
        state.forget_codec();
        Ok(true)
    }

    /// A key was given that can't be used. Until a good one is given, no transaction
    /// starts to write a file that is still empty: it would be plaintext.
    pub fn note_failed_key(&self) {
        self.state().key_failed = true;
    }

    /// Whether the last key that was given could not be used.
    #[must_use]
    pub fn key_failed(&self) -> bool {
        self.state().key_failed
    }

    /// Opens the database without a key, whatever was given before.
    pub fn clear_key(&self) {
        let mut state = self.state();
        state.key = None;
        state.forget_codec();
    }

    /// Whether a key has been given.
    #[must_use]
    pub fn is_keyed(&self) -> bool {
        self.state().key.is_some()
    }

    /// The settings in force.
    #[must_use]
    pub fn settings(&self) -> Settings {
        self.state().choice.settings
    }

    /// The settings in force, and whether the page size is open.
    #[must_use]
    pub fn choice(&self) -> Choice {
        self.state().choice
    }

    /// Whether the page size is still to be found out.
    #[must_use]
    pub fn is_page_size_open(&self) -> bool {
        let state = self.state();
        state.choice.auto_page_size && !state.proved
    }

    /// Changes settings. Without a key, and once the database is in use, nothing
    /// happens, as in SQLCipher.
    ///
    /// Returns whether the change was made.
    pub fn change_settings(&self, change: impl FnOnce(&mut Choice)) -> bool {
        let mut state = self.state();
        if state.key.is_none() || state.proved {
            return false;
        }
        let before = state.choice;
        change(&mut state.choice);
        if before != state.choice {
            state.forget_codec();
        }
        true
    }

    /// Gives the salt from outside. Ignored once the database is in use.
    ///
    /// Returns whether it was taken.
    pub fn set_salt(&self, salt: Salt) -> bool {
        let mut state = self.state();
        if state.proved {
            return false;
        }
        state.salt = Some(salt);
        state.forget_codec();
        true
    }

    /// The salt of a file that starts with `head`; of an empty one, the salt that
    /// it will get if it is this connection that creates it.
    ///
    /// # Errors
    /// The operating system gave no random bytes.
    pub fn salt(&self, head: Option<&Salt>) -> Result<Salt, Failure> {
        let mut state = self.state();
        match state.outside_salt().or(head.copied()) {
            Some(salt) => Ok(salt),
            None => state.choose_salt(),
        }
    }

    // The codec.

    /// The codec, if key, settings and salt have been put together.
    #[must_use]
    pub fn codec(&self) -> Option<Arc<PageCodec>> {
        self.state().codec.clone()
    }

    /// Checks that there is a salt for a new file: with a plaintext header it must
    /// come from outside.
    ///
    /// # Errors
    /// [`SettingsError::SaltMissing`].
    pub fn check_salt(&self) -> Result<(), SettingsError> {
        self.state().given_salt().map(|_| ())
    }

    /// The codec for a file that starts with `file_salt`, deriving keys if that
    /// has not been done, or was done for another salt.
    ///
    /// # Errors
    /// A key or settings that can't be used.
    pub fn bind(&self, file_salt: &Salt) -> Result<Arc<PageCodec>, Failure> {
        let mut state = self.state();
        match state.given_salt() {
            Ok(salt) => state.bind(salt.unwrap_or(*file_salt)),
            Err(error) => Err(state.fail(error.into())),
        }
    }

    /// The codec for a file that is still empty, whose salt we choose and whose
    /// pages, where that was left open, are as large as the first that is written.
    ///
    /// # Errors
    /// A key or settings that can't be used, or no random bytes.
    pub fn bind_new(&self, page_size: usize) -> Result<Arc<PageCodec>, Failure> {
        let mut state = self.state();
        if state.choice.auto_page_size {
            state.choice.settings.page_size = u32::try_from(page_size).unwrap_or(0);
            state.codec = None;
        }
        // A codec that is there already is inherited, or from a creation that
        // was rolled back: its salt is as good as a new one, and costs nothing.
        let given = state
            .given_salt()
            .map_err(|error| state.fail(error.into()))?;
        let salt = match given.or_else(|| state.codec.as_ref().map(|codec| *codec.salt())) {
            Some(salt) => salt,
            None => state.choose_salt()?,
        };
        state.bind(salt)
    }

    /// Finds the page size by which page 1 opens, with the keys already derived.
    /// `head` is as much of the file's start as there is, up to the largest page.
    ///
    /// Returns whether there is one.
    ///
    /// # Errors
    /// A key or settings that can't be used.
    pub fn find_page_size(&self, head: &[u8]) -> Result<bool, Failure> {
        let file_salt = head.first_chunk::<SALT_LEN>().copied().unwrap_or_default();
        let mut size = *PAGE_SIZES.start();
        while size <= *PAGE_SIZES.end() {
            self.state().try_page_size(size);
            // Some settings leave no room in a small page.
            if let Ok(codec) = self.bind(&file_salt)
                && let Some(page) = head.get(..codec.layout().page_size())
                && codec.open(1, &mut PageBuffer::from(page.to_vec())).is_ok()
            {
                return Ok(true);
            }
            size *= 2;
        }
        self.state().try_page_size(Settings::default().page_size);
        self.bind(&file_salt).map(|_| false)
    }

    /// Whether the codec belongs to a file whose first 16 bytes are these. (With
    /// a salt from outside, or a plaintext header, they say nothing.)
    #[must_use]
    pub fn fits(&self, file_salt: &[u8]) -> bool {
        let state = self.state();
        state.outside_salt().is_some()
            || state.choice.settings.plaintext_header > 0
            || state
                .codec
                .as_ref()
                .is_some_and(|codec| codec.salt()[..] == *file_salt)
    }

    /// The keys that have opened this file.
    #[must_use]
    pub fn derived(&self) -> Option<Arc<DerivedKeys>> {
        let state = self.state();
        let salt = state.codec.as_ref().filter(|_| state.proved)?.salt();
        let (_, keys) = state.derived.as_ref()?;
        (keys.salt == *salt).then(|| Arc::clone(keys))
    }

    /// Whether the key has opened a page of this file.
    #[must_use]
    pub fn is_proved(&self) -> bool {
        self.state().proved
    }

    /// Keyed, proved and not refused: a transaction that starts has nothing to settle.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        let state = self.state();
        state.key.is_some() && state.proved && state.refused.is_none()
    }

    /// The codec, if it has opened a page of this file.
    #[must_use]
    pub fn proved_codec(&self) -> Option<Arc<PageCodec>> {
        let state = self.state();
        state.codec.clone().filter(|_| state.proved)
    }

    /// A page has opened: notes what a page 1 says, and that key and settings are
    /// right, where that follows. (Without MACs only page 1 can tell.)
    pub fn opened(&self, codec: &PageCodec, pgno: u32, page: &[u8]) {
        if pgno == 1 {
            self.note_page1(page);
        }
        if pgno == 1 || codec.layout().mac_len() > 0 {
            self.prove();
        }
    }

    /// Key and settings are right. (A failure of another kind is told until there is
    /// another, or a new key: the next page that opens does not mend a damaged one.)
    pub fn prove(&self) {
        let mut state = self.state();
        if !state.proved {
            state.proved = true;
            state.failure = None;
        }
    }

    /// Page 1 does not open any more: another connection has given the database a
    /// new key, and until this one is told it, nothing is read or written.
    pub fn unprove(&self) {
        self.state().proved = false;
    }

    /// The file has become empty (a rolled-back creation): nothing is proved any
    /// more, and whoever creates it next chooses the salt.
    pub fn forget_file(&self) {
        let mut state = self.state();
        state.forget_codec();
        state.plain = Plain::Unknown;
    }

    // What the files of one database tell each other.

    /// What is known of an unkeyed file.
    #[must_use]
    pub fn plain(&self) -> Plain {
        self.state().plain
    }

    /// The unkeyed file is a plaintext database.
    pub fn set_plain(&self) {
        self.state().plain = Plain::Yes;
    }

    /// Whether page 1, when last seen, had auto-vacuum on.
    #[must_use]
    pub fn auto_vacuum(&self) -> bool {
        self.state().auto_vacuum
    }

    /// Notes what a decrypted page 1 says: bytes 52 to 55 are non-zero with
    /// auto-vacuum (SQLite file format, section 1.3).
    pub fn note_page1(&self, page: &[u8]) {
        self.state().auto_vacuum = page[52..56] != [0; 4];
    }

    /// Whether a checkpoint is copying pages from log to database, which it does
    /// without any cryptography: a page is the same bytes in both.
    #[must_use]
    pub fn is_checkpointing(&self) -> bool {
        self.state().checkpointing
    }

    /// A checkpoint starts or ends.
    pub fn set_checkpointing(&self, on: bool) {
        let mut state = self.state();
        state.checkpointing = on;
        state.checkpoints += u64::from(on);
    }

    /// How many checkpoints have started.
    #[must_use]
    pub fn checkpoints(&self) -> u64 {
        self.state().checkpoints
    }

    /// A number that changes whenever the write lock of the log changes hands:
    /// what was remembered of the log's end before is then no longer sure.
    #[must_use]
    pub fn wal_epoch(&self) -> u64 {
        self.state().wal_epoch
    }

    /// The write lock of the log changes hands.
    pub fn next_wal_epoch(&self) {
        self.state().wal_epoch += 1;
    }

    /// What is known of a log that SQLCipher may be writing too.
    pub fn shared_log<T>(&self, f: impl FnOnce(&mut SharedLog) -> T) -> T {
        f(&mut self.state().shared_log)
    }

    /// A journal's header has been read, or its first record.
    pub fn set_playback(&self, playback: Option<Playback>) {
        self.state().playback = playback;
    }

    /// Whether a playback is about to set the database's size.
    #[must_use]
    pub fn take_playback(&self) -> Option<Playback> {
        self.state().playback.take()
    }

    /// A rollback has read this page from the journal.
    pub fn set_restored(&self, pgno: u32, plain: &[u8], sealed: &[u8]) {
        self.state().restored = Some(Restored {
            pgno,
            plain: plain.to_vec().into(),
            sealed: sealed.to_vec(),
        });
    }

    /// The sealed form of a page that is being put back as the journal has it.
    #[must_use]
    pub fn take_restored(&self, pgno: u32, plain: &[u8]) -> Option<Vec<u8>> {
        let restored = self.state().restored.take()?;
        (restored.pgno == pgno && restored.plain[..] == *plain).then_some(restored.sealed)
    }

    /// Whether SQLite has the journal open.
    #[must_use]
    pub fn has_open_journal(&self) -> bool {
        self.state().journals > 0
    }

    /// What the work for this database has been. (Of a database that is attached
    /// with the main database's key, its pages count there until it is keyed anew.)
    #[must_use]
    pub fn counters(&self) -> Arc<Counters> {
        Arc::clone(&self.state().counters)
    }

    // Failures.

    /// What is to fail on demand.
    #[must_use]
    pub fn faults(&self) -> Arc<Faults> {
        Arc::clone(&self.state().faults)
    }

    /// Refuses everything that will be asked of this database.
    pub fn refuse(&self, failure: Failure) {
        let mut state = self.state();
        state.failure = Some(failure.clone());
        state.refused = Some(failure);
    }

    /// Why everything is refused, if it is.
    #[must_use]
    pub fn refused(&self) -> Option<Failure> {
        self.state().refused.clone()
    }

    /// Notes on the main database how an ATTACH beside it went.
    pub fn set_attach_failure(&self, failure: Option<Failure>) {
        self.state().attach_failure = failure;
    }

    /// Why the connection's last ATTACH was refused, if it was.
    #[must_use]
    pub fn attach_failure(&self) -> Option<Failure> {
        self.state().attach_failure.clone()
    }

    /// Records why something failed, for `PRAGMA cipher_status` and the typed API.
    pub fn fail(&self, failure: Failure) -> Failure {
        self.state().fail(failure)
    }

    /// The last failure.
    #[must_use]
    pub fn failure(&self) -> Option<Failure> {
        self.state().failure.clone()
    }

    /// What it means that a page could not be opened.
    #[must_use]
    pub fn page_failure(&self, error: PageError) -> Failure {
        match error.page() {
            1 => Failure::WrongKey,
            pgno => Failure::DamagedPage { pgno },
        }
    }
}

impl State {
    fn outside_salt(&self) -> Option<Salt> {
        self.key.as_ref().and_then(Key::salt).or(self.salt)
    }

    /// The salt from outside; with a plaintext header there must be one, since the
    /// file has none.
    fn given_salt(&self) -> Result<Option<Salt>, SettingsError> {
        match self.outside_salt() {
            None if self.choice.settings.plaintext_header > 0 => Err(SettingsError::SaltMissing),
            salt => Ok(salt),
        }
    }

    fn forget_codec(&mut self) {
        self.codec = None;
        self.proved = false;
        self.failure = None;
        self.restored = None;
    }

    fn fail(&mut self, failure: Failure) -> Failure {
        self.failure = Some(failure.clone());
        failure
    }

    fn choose_salt(&mut self) -> Result<Salt, Failure> {
        if let Some(salt) = self.new_salt {
            return Ok(salt);
        }
        match random::array::<SALT_LEN>() {
            Ok(salt) => {
                self.new_salt = Some(salt);
                Ok(salt)
            }
            Err(error) => Err(self.fail(error.into())),
        }
    }

    fn try_page_size(&mut self, page_size: u32) {
        self.choice.settings.page_size = page_size;
        self.codec = None;
    }

    fn bind(&mut self, salt: Salt) -> Result<Arc<PageCodec>, Failure> {
        if let Some(codec) = &self.codec
            && *codec.salt() == salt
        {
            return Ok(Arc::clone(codec));
        }
        match self.make_codec(salt) {
            Ok(codec) => {
                let codec = Arc::new(codec);
                self.codec = Some(Arc::clone(&codec));
                self.proved = false;
                Ok(codec)
            }
            Err(failure) => Err(self.fail(failure)),
        }
    }

    fn make_codec(&mut self, salt: Salt) -> Result<PageCodec, Failure> {
        let Some(key) = &self.key else {
            return Err(Failure::NoKey);
        };
        let settings = self.choice.settings;
        settings.validate()?;
        let for_keys = for_keys(settings);
        let keys = match &self.derived {
            Some((with, keys)) if *with == for_keys && keys.salt == salt => Arc::clone(keys),
            _ => {
                let counters = &self.counters;
                let keys =
                    counters.time_kdf(|| key_cache::derive(key, &settings, &salt, counters))?;
                self.derived = Some((for_keys, Arc::clone(&keys)));
                keys
            }
        };
        Ok(PageCodec::new(&settings, &keys)?
            .counting(Arc::clone(&self.counters))
            .failing(Arc::clone(&self.faults))
            .remembering(known::shared(&keys, &settings)))
    }
}

/// The settings by which derived keys are known: the page size has no part in them.
fn for_keys(settings: Settings) -> Settings {
    Settings {
        page_size: 0,
        ..settings
    }
}

/// Counts an open journal as long as it lives.
pub struct JournalGuard(Arc<Session>);

impl JournalGuard {
    /// A journal of this database has been opened.
    #[must_use]
    pub fn new(session: &Arc<Session>) -> Self {
        session.state().journals += 1;
        Self(Arc::clone(session))
    }
}

impl Drop for JournalGuard {
    fn drop(&mut self) {
        self.0.state().journals -= 1;
    }
}
