//! Finds the session of the database that a journal or log belongs to.
//!
//! SQLite hands `xOpen` the very strings that it keeps beside the database's own
//! name, so their addresses tell which open database is meant, even where one
//! file is open twice. A shim above ours may make names up; then the path decides
//! where it can.

use std::ffi::{CStr, CString};
use std::sync::{Arc, Mutex, PoisonError};

use crate::session::Session;

struct Entry {
    session: Arc<Session>,
    path: CString,
    /// Addresses of the names of journal and log, as numbers: never followed.
    journal: usize,
    log: usize,
}

static OPEN: Mutex<Vec<Entry>> = Mutex::new(Vec::new());

fn with<T>(f: impl FnOnce(&mut Vec<Entry>) -> T) -> T {
    f(&mut OPEN.lock().unwrap_or_else(PoisonError::into_inner))
}

/// A database has been opened.
pub(crate) fn add(session: &Arc<Session>, path: &CStr, journal: Option<&CStr>, log: Option<&CStr>) {
    let address = |name: Option<&CStr>| name.map_or(0, |name| name.as_ptr() as usize);
    let entry = Entry {
        session: Arc::clone(session),
        path: path.to_owned(),
        journal: address(journal),
        log: address(log),
    };
    with(|open| open.push(entry));
}

/// A database is being closed.
pub(crate) fn remove(session: &Arc<Session>) {
    with(|open| open.retain(|entry| !Arc::ptr_eq(&entry.session, session)));
}

/// Whose journal or log a name is.
pub(crate) enum Owner {
    Session(Arc<Session>),
    /// No open database of ours has that name.
    Nobody,
    /// Several have, and nothing says which is meant.
    Ambiguous,
}

/// Finds the owner of a journal or log by the name that `xOpen` was given.
pub(crate) fn owner(name: &CStr) -> Owner {
    let address = name.as_ptr() as usize;
    with(|open| {
        if let Some(entry) = open
            .iter()
            .find(|entry| entry.journal == address || entry.log == address)
        {
            return Owner::Session(Arc::clone(&entry.session));
        }
        let name = name.to_bytes();
        let mut same = open.iter().filter(|entry| {
            let path = entry.path.to_bytes();
            name.strip_prefix(path)
                .is_some_and(|end| end == b"-journal" || end == b"-wal")
        });
        match (same.next(), same.next()) {
            (None, _) => Owner::Nobody,
            (Some(entry), None) => Owner::Session(Arc::clone(&entry.session)),
            (Some(_), Some(_)) => Owner::Ambiguous,
        }
    })
}
