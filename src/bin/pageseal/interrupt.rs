//! Ctrl-C: a file that is not finished goes, and so does the process.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::InterruptHandle;

use crate::error::{CliError, Kind, Result};

/// Files that are not finished.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// The output has its name, and all that is left is to say so.
static FINISHED: AtomicBool = AtomicBool::new(false);

/// What to say of a database that is being rewritten in place.
static IN_PLACE: Mutex<Option<&'static str>> = Mutex::new(None);

/// A statement that is running, which Ctrl-C stops instead of the process.
static STATEMENT: Mutex<Option<InterruptHandle>> = Mutex::new(None);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Handles Ctrl-C and SIGTERM from now on. Not before the key has been asked for: at
/// that prompt they end the process as they would any other.
pub(crate) fn install() -> Result {
    ctrlc::set_handler(|| {
        if let Some(statement) = &*lock(&STATEMENT) {
            statement.interrupt();
            return;
        }
        // Held until the end: nothing is renamed meanwhile.
        let unfinished = lock(&UNFINISHED);
        if FINISHED.load(Ordering::Relaxed) {
            // The output is there: too late to say that nothing was changed.
            return;
        }
        for path in &*unfinished {
            remove_with_side_files(path);
        }
        let end = lock(&IN_PLACE).unwrap_or("nothing was changed");
        eprintln!("pageseal: interrupted; {end}");
        std::process::exit(Kind::Interrupted as i32);
    })
    .or_else(|error| match error {
        // Installed already.
        ctrlc::Error::MultipleHandlers => Ok(()),
        error => Err(CliError::new(
            Kind::Failed,
            format!("can't handle Ctrl-C: {error}"),
        )),
    })
}

fn remove_with_side_files(path: &Path) {
    for suffix in ["", "-journal", "-wal", "-shm"] {
        // It may not be there.
        let _ = fs::remove_file(pageseal::offline::side_path(path, suffix));
    }
}

/// A file that Ctrl-C removes until this is dropped.
pub(crate) struct Unfinished(PathBuf);

impl Unfinished {
    pub(crate) fn new(path: &Path) -> Self {
        lock(&UNFINISHED).push(path.to_owned());
        Self(path.to_owned())
    }

    /// Finishes the file by `finish` (its renaming), with Ctrl-C held off.
    pub(crate) fn finish<T>(self, finish: impl FnOnce() -> T) -> T {
        let mut unfinished = lock(&UNFINISHED);
        let result = finish();
        FINISHED.store(true, Ordering::Relaxed);
        unfinished.retain(|path| *path != self.0);
        drop(unfinished);
        result
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        lock(&UNFINISHED).retain(|path| *path != self.0);
    }
}

/// Handles Ctrl-C while a database is rewritten in place, which its journal undoes.
pub(crate) fn in_place(end: &'static str) -> Result {
    *lock(&IN_PLACE) = Some(end);
    install()
}

/// Makes Ctrl-C stop a statement until the result is dropped.
pub(crate) struct Statement;

impl Statement {
    pub(crate) fn new(handle: InterruptHandle) -> Self {
        *lock(&STATEMENT) = Some(handle);
        Self
    }
}

impl Drop for Statement {
    fn drop(&mut self) {
        *lock(&STATEMENT) = None;
    }
}
