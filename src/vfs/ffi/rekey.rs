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
use crate::format::{Choice, Preset};
use crate::pragma::settings::Setting;
use crate::pragma::sql;
use crate::secret::Key;
use crate::session::{self, Session};
use crate::sys as ffi;

use super::super::code::{self, Code, Result};
use super::super::database::Database;
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
        self.host.query(statement).map_err(|code| {
            // Of the general code the message is all that there is.
            let message = (code == Code::ERROR).then(|| self.host.message());
            let refusal = self.refusal(code);
            match message {
                Some(text) => Refusal { code, text },
                None => refusal,
            }
        })
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

    /// Goes on as if these settings had been given with the key, and nothing read yet.
    fn start_with(&self, choice: Choice) {
        self.session.start_with(choice);
        // SAFETY: `Work::new` was promised an open file.
        let _ = unsafe { on_database(self.file, Database::bind_if_locked) };
        self.host.reset_cache(&self.schema);
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

    /// What a migration needs, which a connection with the lock for good can't have: its
    /// pages of the old size to be forgotten.
    fn check_locking_mode(&self) -> core::result::Result<(), Refusal> {
        match self.pragma("locking_mode")?.as_deref() {
            Some("exclusive") => Err(Refusal::new(
                "cipher_migrate needs PRAGMA locking_mode=NORMAL",
            )),
            _ => Ok(()),
        }
    }

    /// Does `work` in a rollback mode: a log is folded into the database first, and
    /// taken up again afterwards, whatever came of it.
    fn out_of_wal<T>(
        &self,
        what: &str,
        work: impl FnOnce() -> core::result::Result<T, Refusal>,
    ) -> core::result::Result<T, Refusal> {
        self.leave_wal(what)?;
        let done = work();
        self.return_to_wal(what);
        done
    }

    /// Folds a log into the database, if there is one.
    fn leave_wal(&self, what: &str) -> core::result::Result<(), Refusal> {
        let mode = self.pragma("journal_mode")?;
        if mode.as_deref() != Some("wal") {
            return Ok(());
        }
        match self.pragma("journal_mode=DELETE") {
            Ok(Some(mode)) if mode == "delete" => {
                self.session.set_left_wal(true);
                Ok(())
            }
            Err(refusal) if refusal.code != Code(ffi::SQLITE_BUSY) => Err(refusal),
            _ => Err(Refusal {
                code: Code(ffi::SQLITE_BUSY),
                text: format!(
                    "{what}: the database is in WAL mode and other connections have it open; close them first"
                ),
            }),
        }
    }

    /// What was to be done is done or not, whatever comes of this: that the log can't be
    /// taken up again (because somebody reads just then) must not pass for a key or
    /// settings that have stayed. The next rekey or migration tries again.
    fn return_to_wal(&self, what: &str) {
        if !self.session.has_left_wal() {
            return;
        }
        let reason = match self.pragma("journal_mode=WAL") {
            Ok(Some(mode)) if mode == "wal" => return self.session.set_left_wal(false),
            Ok(_) => "it stays in another mode".to_owned(),
            Err(refusal) => refusal.text,
        };
        host::warn(&format!(
            "pageseal: {what}: the database could not be put back into WAL mode ({reason}); PRAGMA journal_mode=WAL does that"
        ));
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
        what: &str,
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
        ended.map(|_| ()).map_err(|refusal| Refusal {
            code: refusal.code,
            text: format!(
                "{what} is done, but its transaction is still open ({}): ROLLBACK",
                refusal.text
            ),
        })
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
    let reseal = || {
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
    };
    work.out_of_wal("rekey", || work.exclusively("rekey", reseal))
}

/// What `PRAGMA cipher_migrate` answers.
const MIGRATED: i32 = 0;
const WRONG_KEY: i32 = ffi::SQLITE_NOTADB;

/// Brings a database of SQLCipher 1 to 3 to the settings of 4, or what the process has
/// for defaults instead; as in SQLCipher, whatever settings the database has been given.
/// Answers what SQLCipher 4.20 answers: 0 where that is done or was not needed, 26 for a
/// wrong key or settings of no version (4.12: 1), 21 where the database is in use
/// already. After a refusal the connection is as it was, so that another try is a first.
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
    work.check_locking_mode()?;
    // SAFETY: the caller's promise.
    let facts = unsafe { on_database(file, |database| database.facts()) }
        .and_then(|facts| facts)
        .map_err(|code| work.refusal(code))?;
    if facts.empty {
        return Ok(MIGRATED);
    }
    let given = session.choice();
    let done = find_version(&work).and_then(|found| match found {
        Version::Current => Ok(MIGRATED),
        Version::Old => replace_by_copy(&work, session::defaults()).map(|()| MIGRATED),
        Version::Unknown => Ok(WRONG_KEY),
    });
    if done.as_ref().is_ok_and(|&status| status == MIGRATED) {
        return done;
    }
    // (A migration that is done, but not safe from a power cut, has set the new ones.)
    if session.choice() != session::defaults() || !session.is_proved() {
        work.start_with(given);
    }
    if done.is_ok() {
        // The answer is SQLCipher's; the reason goes to log and `cipher_status`.
        let _ = host::fail::<()>(session, Failure::WrongKey);
    }
    done
}

/// Which version's settings open a database.
enum Version {
    /// The process's defaults.
    Current,
    /// Those of SQLCipher 1, 2 or 3.
    Old,
    Unknown,
}

/// Leaves the session with the settings that open the database. It is SQLite that tries
/// them: a journal or a log may have to be played back first, and holds page 1 as it
/// will be.
fn find_version(work: &Work<'_>) -> core::result::Result<Version, Refusal> {
    let opens = |choice| {
        work.start_with(choice);
        match work.on_schema("SELECT count(*) FROM ", b".sqlite_schema") {
            Ok(_) => Ok(work.session.is_proved()),
            Err(refusal) if refusal.code == Code(ffi::SQLITE_NOTADB) => Ok(false),
            Err(refusal) => Err(refusal),
        }
    };
    let current = session::defaults();
    if opens(current)? {
        return Ok(Version::Current);
    }
    for preset in [Preset::V3, Preset::V2, Preset::V1] {
        let mut old = current;
        Setting::Compatibility(preset).apply(&mut old);
        if opens(old)? {
            return Ok(Version::Old);
        }
    }
    Ok(Version::Unknown)
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
    work.check_locking_mode()?;
    work.on_schema("SELECT count(*) FROM ", b".sqlite_schema")?;
    if !session.is_proved() {
        return Err(Refusal::new("migrate: the database is empty"));
    }
    replace_by_copy(&work, wanted)
}

/// Copies the database into a new file with other settings, and puts that file's
/// bytes in place of its own.
fn replace_by_copy(work: &Work<'_>, wanted: Choice) -> core::result::Result<(), Refusal> {
    let session = work.session;
    let key = session
        .legacy()
        .map(|legacy| legacy.key)
        .ok_or_else(|| Refusal::from(Failure::NoKey))?;
    let path = work
        .host
        .path(&work.schema)
        .ok_or_else(|| Refusal::new("cipher_migrate: the database has no file"))?;
    work.out_of_wal("cipher_migrate", || {
        let copy = Copy::new(work, &path)?;
        let version = work.pragma("data_version")?;
        copy.fill(wanted)?;
        let replace = || {
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
        };
        let done = work.exclusively("cipher_migrate", replace);
        work.host.reset_cache(&work.schema);
        done
    })
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

    /// Makes it a copy of the database, with other settings.
    fn fill(&self, wanted: Choice) -> core::result::Result<(), Refusal> {
        let work = self.work;
        work.session.set_heir(Some(wanted));
        let name = sql::quote_text(self.path.to_bytes());
        let filled = work.on_schema("VACUUM ", &[b" INTO ".as_slice(), &name].concat());
        work.session.set_heir(None);
        filled.map(|_| ())
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
