//! File controls: pragmas, the connection behind a file, checkpoints.

use core::ffi::{CStr, c_char, c_int, c_void};
use std::sync::Arc;

use crate::format::Choice;
use crate::pragma::{self, Reply};
use crate::secret::Key;
use crate::session::{Plain, Session};
use crate::sys as ffi;

use super::super::batch;
use super::super::code::{self, Code, Result};
use super::super::database::Database;
use super::super::file::File;
use super::host::{self, Host};
use super::integrity;
use super::io;
use super::profile;
use super::rekey;

/// Asks which file answers: the argument is a `usize` that takes its address.
/// (The numbers are "PSL" and a digit; SQLite leaves those above 100 to VFSes.)
pub(super) const OP_WHO: c_int = 0x5053_4c01;
/// Asks for the session: the argument is a `*const Session` that takes an owned
/// reference.
pub(super) const OP_SESSION: c_int = 0x5053_4c02;

/// Rekeys, or migrates: the argument is a [`RekeyRequest`].
pub(super) const OP_REKEY: c_int = 0x5053_4c03;

/// What [`OP_REKEY`] takes and answers.
pub(super) struct RekeyRequest {
    /// Without a key the database keeps its own, and its pages are laid out anew.
    pub(super) wanted: Option<(Option<Key>, Choice)>,
    pub(super) refusal: Option<String>,
}

/// # Safety
/// `file` must be open, and `arg` what `op` asks for.
pub(super) unsafe fn file_control(
    file: *mut ffi::sqlite3_file,
    op: c_int,
    arg: *mut c_void,
) -> Result {
    // SAFETY: the file is open, says the caller; this borrow ends here.
    let database = unsafe {
        io::with(file, |file| {
            // Of the controls that SQLite passes while pages wait, this is the one
            // whose result counts.
            if op == ffi::SQLITE_FCNTL_SYNC {
                file.flush()?;
            }
            Ok(file
                .database()
                .map(|database| Arc::clone(database.session())))
        })?
    };
    match (op, database) {
        (ffi::SQLITE_FCNTL_VFSNAME, _) => {
            // SAFETY: the caller's promise.
            unsafe { vfs_name(file, arg.cast()) }
        }
        // A sealed file can't be written in one atomic piece.
        (
            ffi::SQLITE_FCNTL_BEGIN_ATOMIC_WRITE
            | ffi::SQLITE_FCNTL_COMMIT_ATOMIC_WRITE
            | ffi::SQLITE_FCNTL_ROLLBACK_ATOMIC_WRITE,
            _,
        ) => Err(Code::NOT_FOUND),
        (ffi::SQLITE_FCNTL_PDB, Some(_)) => {
            // SAFETY: that is what this op's argument is.
            let host = unsafe { Host::from_pdb(arg) };
            // SAFETY: the caller's promise.
            unsafe {
                on_database(file, |database| database.opened_by(host))?;
                let _ = pass_on(file, op, arg);
            }
            Ok(())
        }
        (ffi::SQLITE_FCNTL_PRAGMA, Some(session)) => {
            // SAFETY: this op's argument is an array of three or more C strings.
            match unsafe { run_pragma(file, &session, arg.cast()) } {
                // SAFETY: the caller's promise.
                Err(Code::NOT_FOUND) => unsafe { pass_on(file, op, arg) },
                result => result,
            }
        }
        (ffi::SQLITE_FCNTL_CKPT_START, Some(session)) => {
            session.set_checkpointing(session.is_keyed());
            // SAFETY: the caller's promise.
            unsafe { pass_on(file, op, arg) }
        }
        (ffi::SQLITE_FCNTL_CKPT_DONE, Some(session)) => {
            session.set_checkpointing(false);
            // SAFETY: the caller's promise.
            unsafe { pass_on(file, op, arg) }
        }
        (ffi::SQLITE_FCNTL_MMAP_SIZE, Some(_)) => {
            // A mapping would show SQLite the ciphertext: there is never one.
            // SAFETY: this op's argument is a 64-bit integer.
            unsafe { *arg.cast::<i64>() = 0 };
            Ok(())
        }
        (ffi::SQLITE_FCNTL_CHUNK_SIZE | ffi::SQLITE_FCNTL_SIZE_HINT, Some(session))
            if session.plain() != Plain::Yes =>
        {
            // They would grow the file by zeros, which are no sealed pages.
            Ok(())
        }
        (OP_WHO, Some(_)) => {
            // SAFETY: this op's argument is a usize.
            unsafe { *arg.cast::<usize>() = file as usize };
            Ok(())
        }
        (OP_REKEY, Some(session)) => {
            // SAFETY: this op's argument is a RekeyRequest, used by nobody else.
            let request = unsafe { &mut *arg.cast::<RekeyRequest>() };
            let Some((key, choice)) = request.wanted.take() else {
                return Err(Code::ERROR);
            };
            // SAFETY: the caller's promise.
            unsafe {
                match key {
                    Some(key) => rekey::rekey(file, &session, key, choice),
                    None => rekey::migrate_to(file, &session, choice),
                }
            }
            .map_err(|refusal| {
                request.refusal = Some(refusal.text);
                refusal.code
            })
        }
        (OP_SESSION, Some(session)) => {
            // SAFETY: this op's argument is a pointer, which takes the reference.
            unsafe { *arg.cast::<*const Session>() = Arc::into_raw(session) };
            Ok(())
        }
        // SAFETY: the caller's promise.
        _ => unsafe { pass_on(file, op, arg) },
    }
}

/// # Safety
/// `file` must be open.
pub(super) unsafe fn on_database<T>(
    file: *mut ffi::sqlite3_file,
    f: impl FnOnce(&mut Database) -> T,
) -> Result<T> {
    // SAFETY: open, says the caller.
    unsafe {
        io::with(file, |file: &mut File| {
            file.database().map(f).ok_or(Code::NOT_FOUND)
        })
    }
}

/// # Safety
/// `file` must be open, and `arg` what `op` asks for.
unsafe fn pass_on(file: *mut ffi::sqlite3_file, op: c_int, arg: *mut c_void) -> Result {
    // SAFETY: the caller's promise.
    unsafe { io::with(file, |file| file.lower().control(op, arg)) }
}

/// Puts our name before the lower VFS's.
///
/// # Safety
/// `file` must be open and `out` the argument of `SQLITE_FCNTL_VFSNAME`.
unsafe fn vfs_name(file: *mut ffi::sqlite3_file, out: *mut *mut c_char) -> Result {
    // SAFETY: the caller's promise; a name that the lower VFS leaves is a C
    // string from SQLite's allocator.
    unsafe {
        let _ = pass_on(file, ffi::SQLITE_FCNTL_VFSNAME, out.cast());
        let below = if (*out).is_null() {
            String::new()
        } else {
            let name = CStr::from_ptr(*out).to_string_lossy().into_owned();
            ffi::sqlite3_free((*out).cast());
            *out = core::ptr::null_mut();
            format!("/{name}")
        };
        *out = host::sqlite_string(&format!("pageseal{below}"))?;
    }
    Ok(())
}

/// The answer to a pragma that has been carried out and has no row: as far as SQLite is
/// concerned there is no such pragma, which is no error. (Were it answered without a
/// text, SQLite would name a column with no name, for which programs are not made.)
const NO_ROW: Result = Err(Code::NOT_FOUND);

/// Runs a pragma that is ours.
///
/// # Safety
/// `file` must be open and `args` the argument of `SQLITE_FCNTL_PRAGMA`.
unsafe fn run_pragma(
    file: *mut ffi::sqlite3_file,
    session: &Arc<Session>,
    args: *mut *mut c_char,
) -> Result {
    // SAFETY: answer, name, and value or NULL, the latter two C strings.
    let (name, value) = unsafe {
        let value = *args.add(2);
        (
            CStr::from_ptr(*args.add(1)),
            (!value.is_null()).then(|| CStr::from_ptr(value).to_bytes()),
        )
    };
    let answer = |text: &str| -> Result {
        let text = host::sqlite_string(text)?;
        // SAFETY: the first element takes the answer.
        unsafe { *args = text };
        Ok(())
    };
    // A file that can't be read has nothing to tell; what reads it will fail.
    let facts = || {
        // SAFETY: the caller's promise.
        unsafe { on_database(file, |database| database.facts()) }
            .and_then(|facts| facts)
            .unwrap_or_default()
    };
    let reply = pragma::run(session, &name.to_string_lossy(), value, facts);
    // SAFETY: the caller's promise.
    unsafe { on_database(file, Database::bind_if_locked)? };
    // (What is not ours may be the page size that is being told to SQLite just now.)
    if !matches!(reply, Reply::NotOurs)
        // SAFETY: the caller's promise.
        && let Some((host, shape)) = unsafe { on_database(file, Database::shape_if_locked)? }
    {
        // If SQLite does not take it, page 1 will be refused.
        let _ = host.shape_new_database(file, shape);
        // SAFETY: the caller's promise.
        unsafe { on_database(file, Database::end_shape)? };
    }
    // SAFETY: the caller's promise.
    unsafe { secure_delete(file)? };
    match reply {
        Reply::NotOurs => Err(Code::NOT_FOUND),
        Reply::Nothing => NO_ROW,
        Reply::Withheld => {
            // SAFETY: the value is a string of SQLite's own, made for this pragma. 0 is
            // the value that SQLite overlooks.
            unsafe {
                let value = *args.add(2);
                if !value.is_null() && *value != 0 {
                    *value = b'0' as c_char;
                    *value.add(1) = 0;
                }
            }
            NO_ROW
        }
        Reply::Row(text) => answer(&text),
        Reply::Late { pragma, row } => {
            host::warn(&format!(
                "pageseal: PRAGMA {pragma} is ignored: the database is in use already"
            ));
            row.map_or(NO_ROW, answer)
        }
        Reply::Rekey(key) => {
            // SAFETY: the caller's promise.
            match unsafe { rekey::rekey(file, session, key, session.choice()) } {
                Ok(()) => answer("ok"),
                Err(refusal) => refusal.answer(answer),
            }
        }
        Reply::Migrate => {
            // SAFETY: the caller's promise.
            match unsafe { rekey::migrate(file, session) } {
                Ok(status) => answer(&status.to_string()),
                Err(refusal) => refusal.answer(answer),
            }
        }
        Reply::IntegrityCheck => {
            // SAFETY: the caller's promise.
            let lines = unsafe { integrity::check(file) }?;
            if lines.is_empty() {
                NO_ROW
            } else {
                answer(&lines.join("\n"))
            }
        }
        Reply::Profile(target) => {
            // SAFETY: the caller's promise.
            let host = unsafe { on_database(file, |database| database.host()) }?;
            answer(pragma::done(profile::set_target(host, target)))
        }
        Reply::ReadAhead(wanted) => {
            wanted.into_iter().for_each(batch::read_ahead_as);
            answer(batch::read_ahead().as_str())
        }
        Reply::Error(text) => {
            answer(&text)?;
            Err(Code::ERROR)
        }
    }
}

/// Before a database is used for the first time: if it is an ATTACH that has just
/// opened it, gives it the key that the statement names, or else the main
/// database's. (When `SQLITE_FCNTL_PDB` comes, the connection itself may still be
/// on its way to being open, and then answers no questions.)
///
/// # Safety
/// `file` must be open.
pub(super) unsafe fn settle(file: *mut ffi::sqlite3_file) -> Result {
    // SAFETY: the caller's promise; the borrow ends with the call.
    let unsettled = unsafe {
        io::with(file, |file| {
            Ok(file.database().and_then(|database| {
                let host = database.take_unsettled()?;
                Some((Arc::clone(database.session()), host))
            }))
        })?
    };
    if let Some((session, host)) = unsettled
        && let Some(text) = host.attach_text()
        // The main database may be used for the first time within an ATTACH.
        && !host.is_main(file)
    {
        let heritage = host.heritage();
        pragma::key_attached(
            &session,
            heritage.as_deref(),
            text.as_deref().map(Vec::as_slice),
        );
        // SQLite says no more of a refusal than its code: the reason is kept where
        // it can be asked for.
        if let Some(main) = host.session(c"main") {
            main.set_attach_failure(session.refused());
        }
    }
    Ok(())
}

/// The lock that an ATTACH takes to read its database has failed: the session that
/// knows the reason is gone when the ATTACH has come to nothing.
///
/// # Safety
/// `file` must be open.
pub(super) unsafe fn note_failed_attach(file: *mut ffi::sqlite3_file, code: Code) -> Result {
    // SAFETY: the caller's promise; the borrow ends with the call.
    let (host, failure) = unsafe {
        on_database(file, |database| {
            (database.host(), database.session().failure())
        })?
    };
    if let Some(failure) = failure.filter(|failure| code::of_failure(failure) == code)
        && host.attach_is_running()
        && !host.is_main(file)
        && let Some(main) = host.session(c"main")
    {
        main.set_attach_failure(Some(failure));
    }
    Ok(())
}

/// What the first lock does, where SQLite takes none (`nolock=1`): when it asks how
/// large the file is, its first question of each transaction.
///
/// # Safety
/// `file` must be open.
pub(super) unsafe fn first_use_without_lock(file: *mut ffi::sqlite3_file) -> Result {
    // SAFETY: the caller's promise; no borrow outlives its call.
    unsafe {
        let lockless = |file: &mut File| Ok(file.database().is_some_and(|it| it.is_lockless()));
        if !io::with(file, lockless)? {
            return Ok(());
        }
        settle(file)?;
        on_database(file, |database| database.check_refused())??;
        let shape = on_database(file, Database::take_lockless_shape)?;
        if let Some((host, shape)) = shape {
            // If SQLite does not take it, page 1 will be refused.
            let _ = host.shape_new_database(file, shape);
            on_database(file, Database::end_shape)?;
            on_database(file, Database::end_lockless_shape)?;
        }
    }
    Ok(())
}

/// Has SQLite overwrite what is deleted from a keyed database, once.
///
/// # Safety
/// `file` must be open.
pub(super) unsafe fn secure_delete(file: *mut ffi::sqlite3_file) -> Result {
    // SAFETY: the caller's promise; no borrow outlives its call.
    unsafe {
        let wants = io::with(file, |file| {
            Ok(file
                .database()
                .and_then(|database| database.take_secure_delete_wish()))
        })?;
        if wants.is_some_and(|host| !host.secure_delete(file)) {
            on_database(file, Database::wish_secure_delete)?;
        }
    }
    Ok(())
}
