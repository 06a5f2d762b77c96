//! What can go wrong with whole files.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::error::{KeyError, RandomError, SettingsError};

/// Why an operation on a whole file failed. Each text is one line that says what
/// to try next, where there is something.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum OfflineError {
    /// The operating system refused.
    #[error("can't {action} {}: {source}", path.display())]
    Io {
        /// What was being done: "open", "read", "write".
        action: &'static str,
        /// To which file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// A directory or a device.
    #[error("{} is not a regular file", .0.display())]
    NotAFile(PathBuf),
    /// Nothing in it.
    #[error("{} is empty: there is no database in it", .0.display())]
    Empty(PathBuf),
    /// Page 1 does not open.
    #[error(
        "wrong key or settings for {} (or page 1 is damaged, or it is no SQLCipher database)",
        .0.display()
    )]
    WrongKey(PathBuf),
    /// A key for a file that has none.
    #[error("{} is a plaintext SQLite database: it needs no key", .0.display())]
    NotEncrypted(PathBuf),
    /// No key, and the file is not a plaintext database.
    #[error("{} is no plaintext SQLite database: it is encrypted, or something else", .0.display())]
    NotPlaintext(PathBuf),
    /// Other pages open with this key, but the first does not.
    #[error("page 1 of {} is damaged (the key is right: other pages authenticate)", .0.display())]
    DamagedFirstPage(PathBuf),
    /// A page does not authenticate.
    #[error("page {pgno} of {} is damaged: {reason}", path.display())]
    DamagedPage {
        /// The database.
        path: PathBuf,
        /// 1-based page number.
        pgno: u32,
        /// How.
        reason: String,
    },
    /// The header counts more pages than there are.
    #[error("{} is cut short: page {pgno} of {pages} is missing", path.display())]
    Truncated {
        /// The database.
        path: PathBuf,
        /// The first page that is missing, 1-based.
        pgno: u32,
        /// Pages that there should be.
        pages: u32,
    },
    /// A side file with pages of another size.
    #[error(
        "{} has pages of {found} bytes, but the settings say {expected}",
        path.display()
    )]
    SidePageSize {
        /// The log or journal.
        path: PathBuf,
        /// Bytes of its pages.
        found: u32,
        /// Bytes of the database's pages.
        expected: u32,
    },
    /// Somebody wrote while we read.
    #[error("{} was changed by another program while it was being read", .0.display())]
    Changed(PathBuf),
    /// The pages of the plaintext are not laid out for these settings.
    #[error(
        "{} has {page_size}-byte pages with {reserve} reserved bytes; sealing it page by page needs {needed_page_size} with {needed_reserve}",
        path.display()
    )]
    Layout {
        /// The plaintext database.
        path: PathBuf,
        /// Bytes of its pages.
        page_size: u32,
        /// Bytes that it leaves free in each.
        reserve: u8,
        /// Bytes of a page by the settings.
        needed_page_size: u32,
        /// Bytes that IV and MAC need.
        needed_reserve: u8,
    },
    /// More pages than SQLite can number.
    #[error("{} has more pages than SQLite can number", .0.display())]
    TooLarge(PathBuf),
    /// The caller's [`super::Progress`] said so.
    #[error("interrupted")]
    Cancelled,
    /// The key can't be used.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The settings make no valid database.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// No random bytes for IVs or a salt.
    #[error(transparent)]
    Random(#[from] RandomError),
}

/// The result of an operation on a whole file.
pub(super) type Result<T, E = OfflineError> = core::result::Result<T, E>;

/// Adds what was being done, and to which file, to an I/O error.
pub(super) fn io_error(
    action: &'static str,
    path: &Path,
) -> impl FnOnce(io::Error) -> OfflineError {
    move |source| OfflineError::Io {
        action,
        path: path.to_owned(),
        source,
    }
}
