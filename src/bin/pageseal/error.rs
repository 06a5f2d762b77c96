//! Errors as the command line tells them: one line that says what to try next, and
//! an exit code.

use std::fmt;
use std::io;
use std::process::ExitCode;

use pageseal::error::{Failure, KeyError, RandomError, SettingsError};
use pageseal::offline::OfflineError;
use pageseal::pragma::PragmaError;
use pageseal::{OpenError, RegisterError};

/// The exit codes, which are documented in the help and the man page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Two databases differ, or SQL failed.
    Failed = 1,
    /// The arguments.
    Usage = 2,
    /// Wrong key or settings.
    WrongKey = 3,
    /// Damaged pages.
    Damaged = 4,
    /// Not encrypted, not plaintext, or not a database: not what the command works on.
    WrongFile = 5,
    /// The operating system refused.
    Io = 6,
    /// The output is there already.
    Exists = 7,
    /// Locked, or changed while it was read.
    Busy = 8,
    /// Ctrl-C.
    Interrupted = 130,
}

impl Kind {
    /// Its name in `--json`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Usage => "usage",
            Self::WrongKey => "wrong_key_or_settings",
            Self::Damaged => "damaged",
            Self::WrongFile => "wrong_kind_of_file",
            Self::Io => "io",
            Self::Exists => "output_exists",
            Self::Busy => "busy",
            Self::Interrupted => "interrupted",
        }
    }
}

impl From<Kind> for ExitCode {
    fn from(kind: Kind) -> Self {
        Self::from(kind as u8)
    }
}

/// The section of the help that explains the exit codes.
pub(crate) const EXIT_CODES: &str = "\
Exit codes:
    0  fine
    1  the databases differ (diff); an SQL statement failed (sql)
    2  wrong usage
    3  wrong key or settings
    4  damaged pages
    5  the wrong kind of file: not encrypted, encrypted already, or no database
    6  the operating system refused: no such file, no permission, disk full
    7  the output exists already
    8  the database is locked, or was changed while it was being read
  130  interrupted";

/// An error.
#[derive(Debug)]
pub(crate) struct CliError {
    pub(crate) kind: Kind,
    message: String,
    hint: Option<String>,
}

/// The result of a command.
pub(crate) type Result<T = ()> = core::result::Result<T, CliError>;

impl CliError {
    pub(crate) fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            hint: None,
        }
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(Kind::Usage, message)
    }

    /// Says what to try next.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// An I/O error of `action` on `path`.
    pub(crate) fn io(action: &str, path: &std::path::Path, source: &io::Error) -> Self {
        let error = Self::new(
            Kind::Io,
            format!("can't {action} {}: {source}", path.display()),
        );
        match io_hint(source) {
            Some(hint) => error.hint(hint),
            None => error,
        }
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "; {hint}"),
            None => Ok(()),
        }
    }
}

const NO_PERMISSION: &str = "check the permissions of the file and its directory";
const DISK_FULL: &str = "free some space or write to another disk";

fn io_hint(error: &io::Error) -> Option<&'static str> {
    Some(match error.kind() {
        io::ErrorKind::NotFound => "check the path",
        io::ErrorKind::PermissionDenied => NO_PERMISSION,
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => DISK_FULL,
        _ => return None,
    })
}

impl From<OfflineError> for CliError {
    fn from(error: OfflineError) -> Self {
        let (kind, hint) = match &error {
            OfflineError::Io { source, .. } => (Kind::Io, io_hint(source)),
            OfflineError::NotAFile(_) => (Kind::Io, Some("name a database file")),
            OfflineError::WrongKey(_) => (
                Kind::WrongKey,
                Some("`pageseal probe` finds the settings that fit a key"),
            ),
            OfflineError::Empty(_) => (Kind::WrongFile, None),
            OfflineError::NotEncrypted(_) => (
                Kind::WrongFile,
                Some("open it with any SQLite, or `pageseal encrypt` it"),
            ),
            OfflineError::NotPlaintext(_) => (Kind::WrongFile, Some("see `pageseal info`")),
            OfflineError::DamagedFirstPage(_)
            | OfflineError::DamagedPage { .. }
            | OfflineError::Truncated { .. } => (
                Kind::Damaged,
                Some("`pageseal verify` lists all damage, `pageseal recover` saves the rest"),
            ),
            OfflineError::SidePageSize { .. } => (
                Kind::WrongKey,
                Some(
                    "give the right --page-size, or move the side file away if it is not this database's",
                ),
            ),
            OfflineError::Changed(_) => (
                Kind::Busy,
                Some("`pageseal copy` takes a consistent snapshot of a database in use"),
            ),
            OfflineError::Cancelled => (Kind::Interrupted, None),
            OfflineError::Key(_) | OfflineError::Settings(_) => (Kind::Usage, None),
            _ => (Kind::Io, None),
        };
        Self {
            kind,
            message: error.to_string(),
            hint: hint.map(str::to_owned),
        }
    }
}

impl From<SettingsError> for CliError {
    fn from(error: SettingsError) -> Self {
        Self::usage(error.to_string())
    }
}

impl From<KeyError> for CliError {
    fn from(error: KeyError) -> Self {
        Self::usage(error.to_string())
    }
}

impl From<PragmaError> for CliError {
    fn from(error: PragmaError) -> Self {
        Self::usage(error.to_string())
    }
}

impl From<RandomError> for CliError {
    fn from(error: RandomError) -> Self {
        Self::new(Kind::Io, error.to_string())
    }
}

impl From<RegisterError> for CliError {
    fn from(error: RegisterError) -> Self {
        Self::new(Kind::Failed, error.to_string())
    }
}

impl From<rusqlite::Error> for CliError {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode;
        let kind = match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Kind::Busy,
            Some(ErrorCode::DatabaseCorrupt) => Kind::Damaged,
            Some(ErrorCode::NotADatabase) => Kind::WrongKey,
            Some(
                ErrorCode::CannotOpen
                | ErrorCode::DiskFull
                | ErrorCode::SystemIoFailure
                | ErrorCode::ReadOnly
                | ErrorCode::PermissionDenied,
            ) => Kind::Io,
            Some(ErrorCode::OperationInterrupted) => Kind::Interrupted,
            _ => Kind::Failed,
        };
        let message = match &error {
            // Without the statement, which may have many lines.
            rusqlite::Error::SqlInputError { msg, .. } => msg.clone(),
            error => error.to_string(),
        };
        let hint = match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                "another program is using it: try again"
            }
            Some(ErrorCode::DatabaseCorrupt) => "`pageseal verify` lists the damage",
            Some(ErrorCode::DiskFull) => DISK_FULL,
            Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => NO_PERMISSION,
            Some(ErrorCode::ReadOnly) => {
                "that is so with --readonly, on read-only media, and without permission for the file or its directory"
            }
            _ => return Self::new(kind, message),
        };
        Self::new(kind, message).hint(hint)
    }
}

impl From<OpenError> for CliError {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Database { failure, .. } => failure.into(),
            OpenError::Sqlite(error) => error.into(),
            OpenError::Key(error) => error.into(),
            OpenError::Settings(error) => error.into(),
            other => Self::new(Kind::Failed, other.to_string()),
        }
    }
}

impl From<Failure> for CliError {
    fn from(failure: Failure) -> Self {
        let (kind, hint) = match &failure {
            Failure::WrongKey => (
                Kind::WrongKey,
                Some("`pageseal probe` finds the settings that fit a key"),
            ),
            Failure::NotEncrypted => (Kind::WrongFile, None),
            Failure::NoKey => (Kind::WrongKey, None),
            Failure::DamagedPage { .. }
            | Failure::ShortPage { .. }
            | Failure::DamagedJournal { .. } => (
                Kind::Damaged,
                Some("`pageseal verify` lists all damage, `pageseal recover` saves the rest"),
            ),
            Failure::Settings(_) | Failure::Key(_) => (Kind::Usage, None),
            _ => (Kind::Failed, None),
        };
        Self {
            kind,
            message: failure.to_string(),
            hint: hint.map(str::to_owned),
        }
    }
}
