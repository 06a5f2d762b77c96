//! `PRAGMA rekey` and `PRAGMA cipher_migrate`: what SQLite must do before and
//! after the pages of the whole file are replaced.
//!
//! The replacement itself, and why it is atomic, is in `vfs::rewrite`. It needs
//! the exclusive lock, which in WAL mode a connection can't have as long as others
//! have the log open: the log is then folded into the database first (`PRAGMA
//! journal_mode=DELETE`, which SQLite refuses while others are there) and taken up
//! again afterwards.

use core::ffi::CStr;
use std::ffi::CString;
use std::sync::Arc;

use crate::error::Failure;
use crate::format::{Choice, Preset, Settings};
use crate::pragma::sql;
use crate::secret::Key;
use crate::session::Session;
use crate::sys as ffi;

use super::super::code::{self, Code, Result};
use super::super::lower::{LowerFile, LowerVfs};
use super::super::rewrite::Done;
use super::control::on_database;
use super::host::{self, Host};

/// Why a rekey or migration was not done. The database is as it was.
pub(super) struct Refusal {
    pub(super) code: Code,
    pub(super) text: String,
}

impl Refusal {
    fn new(text: &str) -> Self {
        Self {
            code: Code::ERROR,
            text: text.to_owned(),
        }
    }

    /// Leaves the text as the pragma's answer, and the code as its result.
    pub(super) fn answer(self, answer: impl FnOnce(&str) -> Result) -> Result {
        answer(&self.text)?;
        Err(self.code)
    }
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        Self {
            code: code::of_failure(&failure),
            text: failure.to_string(),
        }
    }
}

/// A database on which work is to be done that nobody may see half of.
struct Work<'a> {
    file: *mut ffi::sqlite3_file,
    session: &'a Arc<Session>,
    host: Host,
    schema: CString,
}

impl<'a> Work<'a> {
    /// # Safety
    /// `file` must be open.
    unsafe fn new(
        file: *mut ffi::sqlite3_file,
        session: &'a Arc<Session>,
    ) -> core::result::Result<Self, Refusal> {
        // SAFETY: the caller's promise.
        let host = unsafe { on_database(file, |database| database.host()) }
            .map_err(|code| refusal(session, code))?;
        let schema = host
            .schema_of(file)
            .ok_or_else(|| Refusal::new("the database belongs to no connection"))?;
        Ok(Self {
            file,
            session,
            host,
            schema,
        })
    }

    fn refusal(&self, code: Code) -> Refusal {
        refusal(self.session, code)
    }

    /// Runs a statement.
    fn run(&self, statement: &[u8]) -> core::result::Result<Option<String>, Refusal> {
        self.host
            .query(statement)
            .map_err(|code| self.refusal(code))
    }

    /// Runs a statement that has the schema's name between two parts.
    fn on_schema(
        &self,
        before: &str,
        after: &[u8],
    ) -> core::result::Result<Option<String>, Refusal> {
        let schema = sql::quote_name(self.schema.to_bytes());
        self.run(&[before.as_bytes(), &schema, after].concat())
    }

    /// Asks or sets a pragma of the database: `journal_mode`, `journal_mode=WAL`.
    fn pragma(&self, pragma: &str) -> core::result::Result<Option<String>, Refusal> {
        self.on_schema("PRAGMA ", format!(".{pragma}").as_bytes())
    }

    /// What both pragmas need, beside the key.
    fn check(&self, what: &str) -> core::result::Result<(), Refusal> {
        if !self.host.is_autocommit() {
            return Err(Refusal::new(&format!(
                "{what} can't run inside a transaction: COMMIT or ROLLBACK first"
            )));
        }
        if self.host.is_read_only(&self.schema) {
            return Err(Refusal {
                code: Code(ffi::SQLITE_READONLY),
                text: format!("{what}: the database is read-only"),
            });
        }
        Ok(())
    }

    /// Folds a log into the database. Returns whether there was one.
    fn leave_wal(&self, what: &str) -> core::result::Result<bool, Refusal> {
        let mode = self.pragma("journal_mode")?;
        if mode.as_deref() != Some("wal") {
            return Ok(false);
        }
        let now = self.pragma("journal_mode=DELETE")?;
        if now.as_deref() == Some("delete") {
            Ok(true)
        } else {
            Err(Refusal {
                code: Code(ffi::SQLITE_BUSY),
                text: format!(
                    "{what}: the database is in WAL mode and other connections have it open; close them first"
                ),
            })
        }
    }

    /// What is to be said of a rewrite, once the session goes by it.
    fn report(&self, what: &str, done: Done) -> core::result::Result<(), Refusal> {
        match done {
            Done::Safely => Ok(()),
            Done::Unsynced(code) => Err(Refusal {
                code,
                text: format!(
                    "{what} is done, but could not be made safe against a power cut: {}",
                    self.refusal(code).text
                ),
            }),
        }
    }

    /// After an error the journal may be hot. SQLite plays it back when it takes its
    /// first lock, which `PRAGMA locking_mode=EXCLUSIVE` keeps it from ever giving
    /// back: the next transaction would overwrite the journal.
    fn let_roll_back(&self) {
        if self
            .pragma("locking_mode")
            .is_ok_and(|mode| mode.as_deref() == Some("exclusive"))
        {
            // What fails here is tried again by whatever reads next.
            let _ = self.pragma("locking_mode=NORMAL");
            // The lock goes with the end of a transaction.
            let _ = self.on_schema("SELECT count(*) FROM ", b".sqlite_schema");
            let _ = self.pragma("locking_mode=EXCLUSIVE");
        }
    }

    /// Runs `work` under the exclusive lock.
    fn exclusively(
        &self,
        work: impl FnOnce() -> core::result::Result<(), Refusal>,
    ) -> core::result::Result<(), Refusal> {
        self.run(b"BEGIN EXCLUSIVE")?;
        let done = work();
        // Nothing was written through SQLite: this only gives the locks back.
        let ended = self.run(b"COMMIT");
        if done.is_err() {
            self.let_roll_back();
        }
        done?;
        ended.map(|_| ())
    }
}

fn refusal(session: &Session, code: Code) -> Refusal {
    match session.failure() {
        Some(failure) if code::of_failure(&failure) == code => failure.into(),
        _ => Refusal {
            code,
            // SAFETY: a static C string for any code.
            text: unsafe { CStr::from_ptr(ffi::sqlite3_errstr(code.0)) }
                .to_string_lossy()
                .into_owned(),
        },
    }
}

/// Seals the database anew with another key, and derivation settings that may
/// differ.
///
/// # Safety
/// `file` must be open.
pub(super) unsafe fn rekey(
    file: *mut ffi::sqlite3_file,
    session: &Arc<Session>,
    key: Key,
    choice: Choice,
) -> core::result::Result<(), Refusal> {
    // SAFETY: the caller's promise.
    let work = unsafe { Work::new(file, session)? };
    work.check("rekey")?;
    // Nothing is rekeyed that the present key does not open.
    work.on_schema("SELECT count(*) FROM ", b".sqlite_schema")
        .map_err(|refusal| match refusal.code {
            // SQLCipher's code for a rekey without the right key.
            Code(ffi::SQLITE_NOTADB) => Refusal::new(&format!("rekey: {}", refusal.text)),
            _ => refusal,
        })?;
    if !session.is_proved() {
        return Err(Refusal::new(
            "rekey: the database is empty; give a new one its key with PRAGMA key",
        ));
    }
    let wal = work.leave_wal("rekey")?;
    let done = work.exclusively(|| {
        let new = session.plan_rekey(key, choice)?;
        // SAFETY: the caller's promise.
        let done = unsafe {
            on_database(file, |database| {
                database.rewrite(|rewrite| rewrite.reseal(new.codec()))
            })
        }
        .and_then(|done| done)
        .map_err(|code| work.refusal(code))?;
        session.rekeyed(new);
        work.report("rekey", done)
    });
    if wal {
        work.pragma("journal_mode=WAL")?;
    }
    done
}

/// What `PRAGMA cipher_migrate` answers.
const MIGRATED: i32 = 0;
const WRONG_KEY: i32 = ffi::SQLITE_NOTADB;

/// Brings a database of SQLCipher 1 to 3 to the settings of 4. Answers what
/// SQLCipher 4.20 answers: 0 where that is done or was not needed, 26 for a wrong key
/// (4.12: 1), 21 where the database is in use already.
///
/// # Safety
/// `file` must be open.
pub(super) unsafe fn migrate(
    file: *mut ffi::sqlite3_file,
    session: &Arc<Session>,
) -> core::result::Result<i32, Refusal> {
    // SAFETY: the caller's promise.
    let work = unsafe { Work::new(file, session)? };
    if session.is_proved() {
        return Ok(ffi::SQLITE_MISUSE);
    }
    work.check("cipher_migrate")?;
    let wanted = session.choice();
    let opens = || {
        // SAFETY: the caller's promise.
        unsafe { on_database(file, |database| database.opens()) }.and_then(|opens| opens)
    };
    if opens() == Ok(true) {
        return Ok(MIGRATED);
    }
    let old = [Preset::V3, Preset::V2, Preset::V1]
        .into_iter()
        .find(|&preset| {
            session.change_settings(|choice| {
                *choice = Choice {
                    settings: Settings::preset(preset),
                    auto_page_size: false,
                }
            });
            opens() == Ok(true)
        });
    if old.is_none() {
        session.change_settings(|choice| *choice = wanted);
        // The answer is SQLCipher's; the reason goes to log and `cipher_status`.
        let _ = host::fail::<()>(session, Failure::WrongKey);
        return Ok(WRONG_KEY);
    }
    let done = replace_by_copy(&work, wanted);
    session.set_heir(None);
    done.map(|()| MIGRATED)
}

/// Lays a database out anew with other settings, whatever it has now, and the same
/// key.
///
/// # Safety
/// `file` must be open.
pub(super) unsafe fn migrate_to(
    file: *mut ffi::sqlite3_file,
    session: &Arc<Session>,
    wanted: Choice,
) -> core::result::Result<(), Refusal> {
    // SAFETY: the caller's promise.
    let work = unsafe { Work::new(file, session)? };
    work.check("migrate")?;
    work.on_schema("SELECT count(*) FROM ", b".sqlite_schema")?;
    if !session.is_proved() {
        return Err(Refusal::new("migrate: the database is empty"));
    }
    let done = replace_by_copy(&work, wanted);
    session.set_heir(None);
    done
}

/// Copies the database into a new file with other settings, and puts that file's
/// bytes in place of its own.
fn replace_by_copy(work: &Work<'_>, wanted: Choice) -> core::result::Result<(), Refusal> {
    let session = work.session;
    let key = session
        .legacy()
        .map(|legacy| legacy.key)
        .ok_or_else(|| Refusal::from(Failure::NoKey))?;
    if work.pragma("locking_mode")?.as_deref() == Some("exclusive") {
        return Err(Refusal::new(
            "cipher_migrate needs PRAGMA locking_mode=NORMAL",
        ));
    }
    let wal = work.leave_wal("cipher_migrate")?;
    let path = work
        .host
        .path(&work.schema)
        .ok_or_else(|| Refusal::new("cipher_migrate: the database has no file"))?;
    let copy = Copy::new(work, &path)?;
    let version = work.pragma("data_version")?;
    session.set_heir(Some(wanted));
    let name = sql::quote_text(copy.path.to_bytes());
    work.on_schema("VACUUM ", &[b" INTO ".as_slice(), &name].concat())?;
    session.set_heir(None);
    let done = work.exclusively(|| {
        if work.pragma("data_version")? != version {
            return Err(Refusal {
                code: Code(ffi::SQLITE_BUSY),
                text: "cipher_migrate: another connection has changed the database meanwhile; try again".to_owned(),
            });
        }
        let source = copy.open()?;
        let new = session.plan_rekey(key, wanted)?;
        // SAFETY: `Work::new` was promised an open file.
        let done = unsafe {
            on_database(work.file, |database| {
                database.rewrite(|rewrite| rewrite.replace(&source))
            })
        }
        .and_then(|done| done)
        .map_err(|code| work.refusal(code))?;
        session.rekeyed(new);
        work.report("cipher_migrate", done)
    });
    work.host.reset_cache(&work.schema);
    done?;
    if wal {
        work.pragma("journal_mode=WAL")?;
    }
    Ok(())
}

/// The file that a migration builds, beside the database; deleted in the end.
struct Copy<'a> {
    work: &'a Work<'a>,
    vfs: LowerVfs,
    path: CString,
}

impl<'a> Copy<'a> {
    fn new(work: &'a Work<'a>, path: &CStr) -> core::result::Result<Self, Refusal> {
        let mut name = path.to_bytes().to_vec();
        name.extend_from_slice(b"-migrate");
        let path = CString::new(name).map_err(|_| Refusal::new("cipher_migrate: bad path"))?;
        // SAFETY: `Work::new` was promised an open file.
        let vfs = unsafe { on_database(work.file, |database| database.vfs()) }
            .map_err(|code| work.refusal(code))?;
        let copy = Self { work, vfs, path };
        // What an earlier migration left that did not come to its end.
        copy.delete();
        Ok(copy)
    }

    fn open(&self) -> core::result::Result<LowerFile, Refusal> {
        self.vfs
            .open_alone(
                &self.path,
                ffi::SQLITE_OPEN_MAIN_DB | ffi::SQLITE_OPEN_READONLY,
            )
            .map_err(|code| self.work.refusal(code))
    }

    /// Without asking whether it exists: of an empty file SQLite says no.
    fn delete(&self) {
        let _ = self.vfs.delete(&self.path);
        // Where the disk was full SQLite may have left it.
        let journal = [self.path.to_bytes(), b"-journal"].concat();
        if let Ok(journal) = CString::new(journal) {
            let _ = self.vfs.delete(&journal);
        }
    }
}

impl Drop for Copy<'_> {
    fn drop(&mut self) {
        self.delete();
    }
}
