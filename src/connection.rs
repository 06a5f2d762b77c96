//! Opening encrypted databases as ordinary [`rusqlite::Connection`]s whose key has
//! been checked.

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
        if matches!(&self.key, Key::Passphrase(bytes) if bytes.is_empty()) {
            return Err(KeyError::Empty.into());
        }
        let layout = Layout::new(&self.choice.settings)?;
        if layout.plaintext_header() > 0 && self.salt.or_else(|| self.key.salt()).is_none() {
            return Err(SettingsError::SaltMissing.into());
        }
        Ok(())
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

fn session_of(connection: &Connection, schema: &str) -> Result<std::sync::Arc<Session>, OpenError> {
    vfs::session_of(connection, schema).ok_or_else(|| OpenError::NotOurs(schema.to_owned()))
}
