//! `PRAGMA cipher_integrity_check`, piece by piece, so that it can be stopped; the
//! check itself is in `vfs::check`.

use crate::pragma::sql;
use crate::sys as ffi;

use super::super::code::Result;
use super::super::database::Database;
use super::control::on_database;
use super::pulse::Pulse;

/// Authenticates all pages of a database; one line a fault.
///
/// # Safety
/// `file` must be open.
pub(super) unsafe fn check(file: *mut ffi::sqlite3_file) -> Result<Vec<String>> {
    // SAFETY: the caller's promise; no borrow outlives its call.
    unsafe {
        let host = on_database(file, |database| database.host())?;
        // Has SQLite play a journal back that a crash has left, and recover a log:
        // pages that these mend are not damaged. (Where it can't, the check says why.)
        if let Some(schema) = host.schema_of(file) {
            let schema = sql::quote_name(schema.to_bytes());
            let _ = host.query(&[b"SELECT 1 FROM ", &schema[..], b".sqlite_schema"].concat());
        }
        let Some(mut check) = on_database(file, Database::start_check)?? else {
            return Ok(Vec::new());
        };
        let pulse = Pulse::start(host);
        let checked = loop {
            let more = on_database(file, |database| check.step(database.lower()));
            match more.and_then(|more| more) {
                Ok(true) => {}
                Ok(false) => break Ok(()),
                Err(code) => break Err(code),
            }
            if let Some(Err(code)) = pulse.as_ref().map(Pulse::beat) {
                break Err(code);
            }
        };
        let lines = on_database(file, |database| database.end_check(check, checked.is_ok()))?;
        checked.and(lines)
    }
}
