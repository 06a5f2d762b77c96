//! What the databases are like and how they are used.

use crate::random::Random;

/// A raw key, so that nothing is derived slowly.
pub(crate) const KEY: &str = "x'000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f'";

/// A journal mode, and how many databases a transaction spans.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Mode {
    Delete,
    Truncate,
    Persist,
    Wal,
    /// Three databases at once, by way of a super-journal.
    SuperDelete,
    SuperTruncate,
    SuperPersist,
}

impl Mode {
    /// In the order in which they take turns; logs have most to go wrong.
    pub(crate) const TURNS: [Self; 8] = [
        Self::Delete,
        Self::Wal,
        Self::Truncate,
        Self::SuperDelete,
        Self::Persist,
        Self::Wal,
        Self::SuperPersist,
        Self::SuperTruncate,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Delete => "DELETE",
            Self::Truncate => "TRUNCATE",
            Self::Persist => "PERSIST",
            Self::Wal => "WAL",
            Self::SuperDelete => "DELETE, 3 databases",
            Self::SuperTruncate => "TRUNCATE, 3 databases",
            Self::SuperPersist => "PERSIST, 3 databases",
        }
    }

    /// The value of `PRAGMA journal_mode`.
    pub(crate) fn journal_mode(self) -> &'static str {
        match self {
            Self::Delete | Self::SuperDelete => "DELETE",
            Self::Truncate | Self::SuperTruncate => "TRUNCATE",
            Self::Persist | Self::SuperPersist => "PERSIST",
            Self::Wal => "WAL",
        }
    }

    /// The schemas that each transaction changes.
    pub(crate) fn schemas(self) -> &'static [&'static str] {
        match self {
            Self::SuperDelete | Self::SuperTruncate | Self::SuperPersist => &["main", "b", "c"],
            _ => &["main"],
        }
    }
}

/// One database (or three), through all its crashes.
#[derive(Debug, Clone)]
pub(crate) struct Scenario {
    pub(crate) mode: Mode,
    /// Pragmas behind the key, before anything else, each time.
    pub(crate) cipher: &'static str,
    pub(crate) auto_vacuum: &'static str,
    pub(crate) synchronous: &'static str,
    pub(crate) cache_size: u64,
    pub(crate) accounts: u64,
    /// Bytes of padding in an account.
    pub(crate) padding: u64,
}

impl Scenario {
    pub(crate) fn choose(mode: Mode, random: &mut Random) -> Self {
        let cipher: &[&'static str] = if mode.schemas().len() > 1 {
            // An attached database takes the defaults.
            &[""]
        } else {
            &[
                "",
                "PRAGMA cipher_page_size = 1024;",
                "PRAGMA cipher_use_hmac = OFF; PRAGMA cipher_page_size = 2048;",
                "PRAGMA cipher_compatibility = 3;",
                "PRAGMA cipher_page_size = 8192; PRAGMA cipher_hmac_algorithm = HMAC_SHA256;",
            ]
        };
        let synchronous: &[&'static str] = if mode.schemas().len() > 1 {
            // Without syncs SQLite makes no super-journal, and promises nothing.
            &["NORMAL", "FULL"]
        } else {
            &["OFF", "NORMAL", "FULL"]
        };
        Self {
            mode,
            cipher: random.pick(cipher),
            auto_vacuum: random.pick(&["NONE", "FULL", "INCREMENTAL"]),
            synchronous: random.pick(synchronous),
            cache_size: random.pick(&[4, 10, 100]),
            accounts: 20 + random.below(100),
            padding: 8 * (10 + random.below(90)),
        }
    }

    /// What each connection runs first. `create` is for the first one.
    pub(crate) fn pragmas(&self, create: bool) -> String {
        let mut sql = format!("{} PRAGMA busy_timeout = 5000;", self.cipher);
        if create {
            sql += &format!("PRAGMA auto_vacuum = {};", self.auto_vacuum);
        }
        sql
    }

    /// What each connection runs behind that and behind ATTACH.
    pub(crate) fn tuning(&self) -> String {
        let mut sql = String::new();
        for schema in self.mode.schemas() {
            sql += &format!(
                "PRAGMA {schema}.journal_mode = {}; PRAGMA {schema}.synchronous = {}; \
                 PRAGMA {schema}.cache_size = {};",
                self.mode.journal_mode(),
                self.synchronous,
                self.cache_size,
            );
        }
        // Frequent checkpoints; small statement journals only in memory: the
        // batches are larger.
        sql + "PRAGMA wal_autocheckpoint = 20;"
    }
}
