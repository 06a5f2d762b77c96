//! A VFS that looks on: it passes every call on to SQLite's own VFS and keeps what
//! the files below hold. Put below the shim it sees what the disk would see of
//! every file, named or not, deleted or not.

mod methods;
mod vfs;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::ffi;

/// What a file is, from the flags it was opened with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Database,
    Journal,
    Wal,
    /// A temporary database, or VACUUM's.
    TempDatabase,
    /// An ephemeral table.
    Transient,
    /// A temporary database's journal, or a sorter's run.
    TempJournal,
    /// A statement journal.
    SubJournal,
    SuperJournal,
}

impl Kind {
    fn of(flags: i32) -> Self {
        [
            (ffi::SQLITE_OPEN_MAIN_DB, Self::Database),
            (ffi::SQLITE_OPEN_MAIN_JOURNAL, Self::Journal),
            (ffi::SQLITE_OPEN_WAL, Self::Wal),
            (ffi::SQLITE_OPEN_TEMP_DB, Self::TempDatabase),
            (ffi::SQLITE_OPEN_TRANSIENT_DB, Self::Transient),
            (ffi::SQLITE_OPEN_TEMP_JOURNAL, Self::TempJournal),
            (ffi::SQLITE_OPEN_SUBJOURNAL, Self::SubJournal),
            (ffi::SQLITE_OPEN_SUPER_JOURNAL, Self::SuperJournal),
        ]
        .into_iter()
        .find_map(|(flag, kind)| (flags & flag != 0).then_some(kind))
        .expect("SQLite says what a file is")
    }
}

/// A file as it is below.
pub(crate) struct Taped {
    pub(crate) kind: Kind,
    pub(crate) path: Option<PathBuf>,
    pub(crate) bytes: Vec<u8>,
    open: bool,
}

/// Something that happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    Open,
    /// Seen when it is done.
    Write {
        offset: usize,
        len: usize,
    },
    /// Seen before it is done, as are the next.
    Truncate(usize),
    Sync,
    Delete,
    Close,
}

type Watcher = Box<dyn FnMut(&Taped, Event) + Send>;

#[derive(Default)]
struct State {
    files: Vec<Taped>,
    watcher: Option<Watcher>,
}

impl State {
    fn see(&mut self, index: usize, event: Event) {
        if let Some(watcher) = &mut self.watcher {
            watcher(&self.files[index], event);
        }
    }

    /// The file that is open under a name, or was last.
    fn named(&self, path: &Path) -> Option<usize> {
        let same = |file: &Taped| file.path.as_deref() == Some(path);
        self.files
            .iter()
            .rposition(|file| same(file) && file.open)
            .or_else(|| self.files.iter().rposition(same))
    }
}

/// A VFS that looks on. Lives as long as the process, as every VFS does.
#[derive(Clone)]
pub(crate) struct Tap {
    name: String,
    state: Arc<Mutex<State>>,
}

impl Tap {
    /// Registers a new one over SQLite's own VFS.
    pub(crate) fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("tap-{}", COUNT.fetch_add(1, Ordering::Relaxed));
        let state = Arc::default();
        vfs::register(&name, Arc::clone(&state));
        Self { name, state }
    }

    /// Registers the shim over it, and returns the shim's name.
    pub(crate) fn with_shim(&self) -> String {
        let name = format!("pageseal-{}", self.name);
        crate::switches::apply();
        pageseal::Registration::new()
            .over(&self.name)
            .name(&name)
            .register()
            .expect("registered");
        name
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// From now on calls `watcher` for whatever happens. It must not panic: a C
    /// library is between it and the test.
    pub(crate) fn watch(&self, watcher: impl FnMut(&Taped, Event) + Send + 'static) {
        lock(&self.state).watcher = Some(Box::new(watcher));
    }

    /// As [`Tap::watch`], with findings collected.
    pub(crate) fn collect<T: Send + 'static>(
        &self,
        mut find: impl FnMut(&Taped, Event) -> Option<T> + Send + 'static,
    ) -> Findings<T> {
        let findings = Findings(Arc::default());
        let into = Arc::clone(&findings.0);
        self.watch(move |file, event| {
            if let Some(found) = find(file, event) {
                lock(&into).push(found);
            }
        });
        findings
    }
}

/// What a watcher has found so far.
pub(crate) struct Findings<T>(Arc<Mutex<Vec<T>>>);

impl<T> Findings<T> {
    pub(crate) fn take(&self) -> Vec<T> {
        std::mem::take(&mut *lock(&self.0))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
