//! Opening encrypted databases as ordinary [`rusqlite::Connection`]s whose key has
//! been checked.

use std::ffi::CString;
use std::path::Path;

use rusqlite::{Connection, OpenFlags};
use thiserror::Error;

use crate::error::{Failure, KeyError, SettingsError};
use crate::format::{Choice, HashAlgorithm, Layout, PgnoOrder, Preset, Settings};
use crate::registration::{self, RegisterError, VFS_NAME};
use crate::secret::{Key, Salt};
use crate::session::{self, Session};
use crate::vfs;

/// Why an encrypted database did not open.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The VFS could not be registered.
    #[error(transparent)]
    Register(#[from] RegisterError),
    /// The key can't be used, whatever the file holds.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The settings make no valid database.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The file and the key or settings do not go together: [`Failure`] says how.
    #[error("{failure}")]
    Database {
        /// What is wrong.
        failure: Failure,
        /// The error as SQLite reported it, with its code.
        #[source]
        source: rusqlite::Error,
    },
    /// The connection has no such database, or it is not one of ours.
    #[error("the connection has no database {0:?} that was opened through pageseal")]
    NotOurs(String),
    /// The database is in memory, or a temporary one: there is no file to encrypt.
    /// (Temporary files are sealed anyway, with a key that is thrown away.)
    #[error(
        "a database in memory or a temporary one has no file that a key could be for; give a path, or open it without pageseal"
    )]
    NoFile,
    /// The database is in use already, with the key that it has.
    #[error("the database is in use already; a key can only be given before that")]
    InUse,
    /// Anything else that SQLite reports: a missing file, a lock, no permission.
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
}

impl OpenError {
    /// What is wrong between file, key and settings, if it is that.
    #[must_use]
    pub fn failure(&self) -> Option<&Failure> {
        match self {
            Self::Database { failure, .. } => Some(failure),
            _ => None,
        }
    }
}

/// How to open an encrypted database: key, settings, flags.
///
/// The settings start from the process's defaults, which are SQLCipher 4's unless
/// `PRAGMA cipher_default_*` has changed them.
///
/// ```
/// use pageseal::{Key, OpenOptions};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("app.db");
/// let db = OpenOptions::new(Key::passphrase("correct horse")).open(&path)?;
/// db.execute_batch("CREATE TABLE note(text); INSERT INTO note VALUES('hello')")?;
///
/// let wrong = OpenOptions::new(Key::passphrase("wrong")).open(&path);
/// assert_eq!(
///     wrong.unwrap_err().failure(),
///     Some(&pageseal::Failure::WrongKey),
/// );
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct OpenOptions {
    key: Key,
    choice: Choice,
    salt: Option<Salt>,
    shared_wal: bool,
    flags: OpenFlags,
    vfs: String,
}

impl OpenOptions {
    /// Opens with this key, creating the file if it does not exist.
    #[must_use]
    pub fn new(key: Key) -> Self {
        Self {
            key,
            choice: session::defaults(),
            salt: None,
            shared_wal: false,
            flags: OpenFlags::default(),
            vfs: VFS_NAME.to_owned(),
        }
    }

    fn set(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(&mut self.choice.settings);
        self
    }

    /// All settings of a SQLCipher version (`cipher_compatibility`).
    #[must_use]
    pub fn preset(mut self, preset: Preset) -> Self {
        self.choice = Choice {
            settings: Settings::preset(preset),
            auto_page_size: false,
        };
        self
    }

    /// All settings at once.
    #[must_use]
    pub fn settings(mut self, settings: Settings) -> Self {
        self.choice = Choice {
            settings,
            auto_page_size: false,
        };
        self
    }

    /// Bytes of a page (`cipher_page_size`).
    #[must_use]
    pub fn page_size(mut self, bytes: u32) -> Self {
        self.choice.auto_page_size = false;
        self.set(|settings| settings.page_size = bytes)
    }

    /// Whatever page size an existing file has; SQLite's own for a new one.
    #[must_use]
    pub fn auto_page_size(mut self) -> Self {
        self.choice.auto_page_size = true;
        self
    }

    /// Rounds of PBKDF2 from passphrase to key (`kdf_iter`).
    #[must_use]
    pub fn kdf_iter(self, rounds: u32) -> Self {
        self.set(|settings| settings.kdf_iter = rounds)
    }

    /// Rounds of PBKDF2 from key to HMAC key (`fast_kdf_iter`).
    #[must_use]
    pub fn fast_kdf_iter(self, rounds: u32) -> Self {
        self.set(|settings| settings.fast_kdf_iter = rounds)
    }

    /// Whether pages carry a MAC (`cipher_use_hmac`).
    #[must_use]
    pub fn use_hmac(self, on: bool) -> Self {
        self.set(|settings| settings.use_hmac = on)
    }

    /// Hash of the page MAC (`cipher_hmac_algorithm`).
    #[must_use]
    pub fn hmac_algorithm(self, hash: HashAlgorithm) -> Self {
        self.set(|settings| settings.hmac_algorithm = hash)
    }

    /// Hash of the key derivations (`cipher_kdf_algorithm`).
    #[must_use]
    pub fn kdf_algorithm(self, hash: HashAlgorithm) -> Self {
        self.set(|settings| settings.kdf_algorithm = hash)
    }

    /// Bytes of page 1 that stay in the clear (`cipher_plaintext_header_size`). Needs
    /// the salt from [`OpenOptions::salt`] or from the key.
    #[must_use]
    pub fn plaintext_header(self, bytes: u32) -> Self {
        self.set(|settings| settings.plaintext_header = bytes)
    }

    /// Byte order of the page number in the MAC (`cipher_hmac_pgno`).
    #[must_use]
    pub fn hmac_pgno(self, order: PgnoOrder) -> Self {
        self.set(|settings| settings.hmac_pgno = order)
    }

    /// Mask of the salt for the HMAC key (`cipher_hmac_salt_mask`).
    #[must_use]
    pub fn hmac_salt_mask(self, mask: u8) -> Self {
        self.set(|settings| settings.hmac_salt_mask = mask)
    }

    /// The salt, where it is not the file's own (`cipher_salt`).
    #[must_use]
    pub fn salt(mut self, salt: Salt) -> Self {
        self.salt = Some(salt);
        self
    }

    /// Whether SQLCipher has the same database open in WAL mode at the same time, and
    /// both write to it (`cipher_shared_wal`). Without it that is found out after
    /// SQLCipher's first commit; what it commits until then, and a crash of all
    /// programs before the next commit or checkpoint through this crate, is the one
    /// case in which something could be lost. With it SQLite reads its pages again
    /// after each commit of its own.
    #[must_use]
    pub fn shared_wal(mut self, on: bool) -> Self {
        self.shared_wal = on;
        self
    }

    /// SQLite's flags for opening: read-only, no creation, URI.
    #[must_use]
    pub fn flags(mut self, flags: OpenFlags) -> Self {
        self.flags = flags;
        self
    }

    /// The VFS to open through, if not `pageseal`: one that was registered with
    /// [`crate::Registration::name`].
    #[must_use]
    pub fn vfs(mut self, name: impl Into<String>) -> Self {
        self.vfs = name.into();
        self
    }

    /// Opens the database and checks the key by reading from it.
    ///
    /// # Errors
    /// See [`OpenError`]. Nothing on disk has changed then, except that SQLite may
    /// have created an empty file where there was none.
    pub fn open(&self, path: impl AsRef<Path>) -> Result<Connection, OpenError> {
        self.check()?;
        if self.vfs == VFS_NAME {
            registration::register()?;
        }
        let connection = Connection::open_with_flags_and_vfs(path, self.flags, self.vfs.as_str())?;
        self.apply(&connection, "main")?;
        Ok(connection)
    }

    /// Keys a database that a connection has open: `main`, or an attached one.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub fn apply(&self, connection: &Connection, schema: &str) -> Result<(), OpenError> {
        self.check()?;
        let session = session_of(connection, schema)?;
        session.set_base(self.choice);
        session.shared_log(|log| log.always = self.shared_wal);
        if let Some(salt) = self.salt {
            session.set_salt(salt);
        }
        if !session.set_key(self.key.clone())? {
            return Err(OpenError::InUse);
        }
        let quoted = schema.replace('"', "\"\"");
        let sql = format!("SELECT count(*) FROM \"{quoted}\".sqlite_schema");
        connection
            .query_row(&sql, [], |_| Ok(()))
            .map_err(|source| match session.failure() {
                Some(failure) => OpenError::Database { failure, source },
                None => OpenError::Sqlite(source),
            })
    }

    fn check(&self) -> Result<(), OpenError> {
        if self.key.is_empty() {
            return Err(KeyError::Empty.into());
        }
        let layout = Layout::new(&self.choice.settings)?;
        if layout.plaintext_header() > 0 && self.salt.or_else(|| self.key.salt()).is_none() {
            return Err(SettingsError::SaltMissing.into());
        }
        Ok(())
    }
}

/// Seals a database anew with another key: `PRAGMA rekey`, with derivation settings
/// that may change along with it.
///
/// Pages keep their places and contents, and the salt stays unless the key brings
/// its own. The whole file is written twice, once into a rollback journal, so that
/// after a crash at any point exactly one of the two keys opens it. In WAL mode no
/// other connection may have the database open; in the rollback modes others may,
/// and fail with [`Failure::WrongKey`] until they are given the new key.
///
/// ```
/// use pageseal::{Key, OpenOptions, Rekey};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("app.db");
/// let db = OpenOptions::new(Key::passphrase("old")).open(&path)?;
/// db.execute_batch("CREATE TABLE note(text)")?;
/// Rekey::new(Key::passphrase("new")).kdf_iter(600_000).run(&db, "main")?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Rekey {
    key: Key,
    kdf_iter: Option<u32>,
    kdf_algorithm: Option<HashAlgorithm>,
}

impl Rekey {
    /// To this key, of whatever form.
    #[must_use]
    pub fn new(key: Key) -> Self {
        Self {
            key,
            kdf_iter: None,
            kdf_algorithm: None,
        }
    }

    /// With this many rounds of PBKDF2, which every later opening must state.
    #[must_use]
    pub fn kdf_iter(mut self, rounds: u32) -> Self {
        self.kdf_iter = Some(rounds);
        self
    }

    /// With this hash of the derivations, which every later opening must state.
    #[must_use]
    pub fn kdf_algorithm(mut self, hash: HashAlgorithm) -> Self {
        self.kdf_algorithm = Some(hash);
        self
    }

    /// Does it.
    ///
    /// # Errors
    /// The database has no key or does not open, is read-only, is within a
    /// transaction, is in use by others where that matters, or has a damaged page.
    /// It is then as it was.
    pub fn run(self, connection: &Connection, schema: &str) -> Result<(), OpenError> {
        let session = session_of(connection, schema)?;
        let mut choice = session.choice();
        if let Some(rounds) = self.kdf_iter {
            choice.settings.kdf_iter = rounds;
        }
        if let Some(hash) = self.kdf_algorithm {
            choice.settings.kdf_algorithm = hash;
        }
        Layout::new(&choice.settings)?;
        if self.key.is_empty() {
            return Err(KeyError::Empty.into());
        }
        rekey(connection, schema, Some(self.key), choice)
    }
}

/// Lays a database out anew with other settings, in place and with the same key: what
/// `PRAGMA cipher_migrate` does between versions, from any settings to any.
///
/// The pages are built in a second file and then put in place of the old ones under a
/// rollback journal of the whole file, so that after a crash at any point either the
/// old or the new settings open it. Row numbers stay. Other connections as with
/// [`Rekey`]; this one is best closed afterwards.
///
/// # Errors
/// As [`Rekey::run`].
pub fn migrate(connection: &Connection, schema: &str, settings: Settings) -> Result<(), OpenError> {
    Layout::new(&settings)?;
    let choice = Choice {
        settings,
        auto_page_size: false,
    };
    rekey(connection, schema, None, choice)
}

fn rekey(
    connection: &Connection,
    schema: &str,
    key: Option<Key>,
    choice: Choice,
) -> Result<(), OpenError> {
    let schema = CString::new(schema).map_err(|_| OpenError::NotOurs(schema.to_owned()))?;
    vfs::rekey(connection, &schema, key, choice).map_err(|(code, text)| {
        OpenError::Sqlite(rusqlite::Error::SqliteFailure(
            rusqlite::ffi::Error::new(code),
            Some(text),
        ))
    })
}

/// Key and settings of a database that is open, ready to open it again on other
/// connections and threads without deriving anything.
///
/// It holds key material (wiped when dropped); `Debug` shows none of it.
#[derive(Debug, Clone)]
pub struct KeyMaterial {
    key: Key,
    choice: Choice,
}

impl KeyMaterial {
    /// Of one of a connection's databases, which must have been read from.
    ///
    /// # Errors
    /// The database is not one of ours, or has no key that has been proved.
    pub fn of(connection: &Connection, schema: &str) -> Result<Self, OpenError> {
        let session = session_of(connection, schema)?;
        let keys = session
            .derived()
            .ok_or_else(|| OpenError::NotOurs(schema.to_owned()))?;
        Ok(Self {
            key: Key::Full {
                cipher: keys.cipher.clone(),
                mac: keys.mac.clone(),
                salt: keys.salt,
            },
            choice: session.choice(),
        })
    }

    /// Options that open the same database.
    #[must_use]
    pub fn options(&self) -> OpenOptions {
        let mut options = OpenOptions::new(self.key.clone());
        options.choice = self.choice;
        options
    }
}

/// Why the last thing that went wrong with a database did: what `PRAGMA
/// cipher_status` tells, as a value. `None` while all is well.
///
/// # Errors
/// [`OpenError::NotOurs`].
pub fn failure(connection: &Connection, schema: &str) -> Result<Option<Failure>, OpenError> {
    Ok(session_of(connection, schema)?.failure())
}

/// Why the connection's last `ATTACH` was refused, if it was: what `PRAGMA
/// cipher_attach_status` tells, as a value. (SQLite itself reports a code and "SQL
/// logic error" only.)
///
/// # Errors
/// [`OpenError::NotOurs`], of the main database.
pub fn attach_failure(connection: &Connection) -> Result<Option<Failure>, OpenError> {
    Ok(session_of(connection, "main")?.attach_failure())
}

fn session_of(connection: &Connection, schema: &str) -> Result<std::sync::Arc<Session>, OpenError> {
    vfs::session_of(connection, schema).ok_or_else(|| {
        if vfs::has_no_file(connection, schema) {
            OpenError::NoFile
        } else {
            OpenError::NotOurs(schema.to_owned())
        }
    })
}
