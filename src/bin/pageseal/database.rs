//! Databases through SQLite and the pageseal VFS, where pages have to be laid out
//! anew.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pageseal::format::{DerivedKeys, Settings};
use pageseal::offline::{Access, Files, OfflineError, Progress, Snapshot};
use pageseal::{Key, OpenError, OpenOptions, VFS_NAME};
use rusqlite::{Connection, ErrorCode, OpenFlags};
use zeroize::Zeroizing;

use crate::describe::{Description, hex};
use crate::error::{CliError, Kind, Result};
use crate::progress::Bar;

/// How often the growth of a file is looked at.
const GLANCE: Duration = Duration::from_millis(100);

/// How long a lock is waited for.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// Opens a plaintext database, through our VFS, so that what it attaches can be
/// encrypted.
pub(crate) fn open_plaintext(path: &Path, flags: OpenFlags) -> Result<Connection> {
    pageseal::register()?;
    let flags = flags | OpenFlags::SQLITE_OPEN_URI;
    let db = Connection::open_with_flags_and_vfs(path, flags, VFS_NAME)?;
    db.busy_timeout(PATIENCE)?;
    db.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    Ok(db)
}

/// As [`open_for_reading`], a plaintext database.
pub(crate) fn open_plaintext_for_reading(path: &Path) -> Result<Connection> {
    match open_plaintext(path, OpenFlags::SQLITE_OPEN_READ_ONLY) {
        // A journal that must be rolled back first.
        Err(error) if error.kind == Kind::Io => {
            open_plaintext(path, OpenFlags::SQLITE_OPEN_READ_WRITE)
        }
        other => other,
    }
}

/// Opens an encrypted database.
pub(crate) fn open_encrypted(
    path: &Path,
    access: &Access,
    flags: OpenFlags,
    shared_wal: bool,
) -> Result<Connection> {
    open_with(&options(access).shared_wal(shared_wal), path, flags)
        .map_err(|error| told(path, access, error))
}

/// SQLite reads page 1 first, and where that does not open it can't tell a wrong key from
/// a damaged page: whether other pages open says which it is.
fn told(path: &Path, access: &Access, error: OpenError) -> CliError {
    let error = CliError::from(error);
    if error.kind != Kind::WrongKey {
        return error;
    }
    match Files::open(path).and_then(|files| Snapshot::open(files, Some(access))) {
        Err(damaged @ OfflineError::DamagedFirstPage(_)) => damaged.into(),
        _ => error,
    }
}

/// Opens an encrypted database for reading only, where that is possible: one whose
/// last user crashed must be recovered first, as any reader would.
pub(crate) fn open_for_reading(path: &Path, access: &Access) -> Result<Connection> {
    let options = options(access);
    match open_with(&options, path, OpenFlags::SQLITE_OPEN_READ_ONLY) {
        Err(error) if wants_recovery(&error) => {
            open_with(&options, path, OpenFlags::SQLITE_OPEN_READ_WRITE)
        }
        other => other,
    }
    .map_err(|error| told(path, access, error))
}

fn open_with(
    options: &OpenOptions,
    path: &Path,
    flags: OpenFlags,
) -> core::result::Result<Connection, OpenError> {
    let db = options.clone().flags(flags).open(path)?;
    db.busy_timeout(PATIENCE)?;
    Ok(db)
}

fn options(access: &Access) -> OpenOptions {
    let mut options = OpenOptions::new(access.key.clone()).settings(access.choice.settings);
    if access.choice.auto_page_size {
        options = options.auto_page_size();
    }
    match access.salt {
        Some(salt) => options.salt(salt),
        None => options,
    }
}

fn wants_recovery(error: &OpenError) -> bool {
    let source = match error {
        OpenError::Sqlite(error) => error,
        OpenError::Database { source, .. } => source,
        _ => return false,
    };
    matches!(
        source.sqlite_error_code(),
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen)
    )
}

/// Has SQLite undo at once what an operation in place has left half done: whoever reads
/// next plays its journal back.
pub(crate) fn undo(db: &Connection) {
    // Whatever comes of it, there is an error to tell of already.
    let _ = db.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()));
}

/// Bytes of a page. (An encrypted database tells them as text, as SQLCipher does.)
pub(crate) fn page_size(db: &Connection) -> Result<u32> {
    let sql = "SELECT CAST(page_size AS INTEGER) FROM pragma_page_size";
    Ok(db.query_row(sql, [], |row| row.get(0))?)
}

/// Derived keys as a key from which nothing is derived.
pub(crate) fn full_key(keys: &DerivedKeys) -> Key {
    Key::Full {
        cipher: keys.cipher.clone(),
        mac: keys.mac.clone(),
        salt: keys.salt,
    }
}

/// Lays all of a database out anew in `out`, an empty file, sealed with `keys`.
pub(crate) fn vacuum_into(
    db: &Connection,
    out: &Path,
    keys: &DerivedKeys,
    settings: &Settings,
    expected: u64,
    bar: &Bar,
) -> Result {
    let uri = Zeroizing::new(format!(
        "{}?vfs={VFS_NAME}&{}&key=x'{}{}{}'",
        uri_of(out),
        Description::new(settings, None).uri_query(),
        *Zeroizing::new(hex(keys.cipher.expose())),
        *Zeroizing::new(hex(keys.mac.expose())),
        hex(&keys.salt)
    ));
    bar.begin(expected);
    watch(bar, out, || db.execute("VACUUM INTO ?1", [uri.as_str()]))?;
    Ok(())
}

/// A path as a `file:` URI.
pub(crate) fn uri_of(path: &Path) -> String {
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' => {
                uri.push(char::from(*byte));
            }
            byte => uri += &format!("%{byte:02X}"),
        }
    }
    uri
}

/// Shows the growth of a file while `job` writes it.
fn watch<T>(bar: &Bar, path: &Path, job: impl FnOnce() -> T) -> T {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut seen = 0;
            while !done.load(Ordering::Relaxed) {
                std::thread::sleep(GLANCE);
                let len = std::fs::metadata(path).map_or(seen, |metadata| metadata.len());
                bar.advance(len.saturating_sub(seen));
                seen = seen.max(len);
            }
        });
        let result = job();
        done.store(true, Ordering::Relaxed);
        result
    })
}
