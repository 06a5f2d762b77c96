//! Databases through SQLite and the pageseal VFS, where pages have to be laid out
//! anew.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pageseal::VFS_NAME;
use pageseal::format::{DerivedKeys, Settings};
use pageseal::offline::Progress;
use rusqlite::{Connection, OpenFlags};
use zeroize::Zeroizing;

use crate::describe::{Description, hex};
use crate::error::Result;
use crate::progress::Bar;

/// How often the growth of a file is looked at.
const GLANCE: Duration = Duration::from_millis(100);

/// Opens a plaintext database read-only, through our VFS, so that what it attaches
/// can be encrypted.
pub(crate) fn open_plaintext(path: &Path) -> Result<Connection> {
    pageseal::register()?;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let db = Connection::open_with_flags_and_vfs(path, flags, VFS_NAME)?;
    db.busy_timeout(Duration::from_secs(5))?;
    db.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    Ok(db)
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
