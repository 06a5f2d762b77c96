//! Looks for the marker in the files of a directory, and in all files that this
//! process has open, deleted ones included.

use std::collections::BTreeSet;
use std::path::Path;

use super::search::contains;

/// Where a marker was found.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Found {
    /// In a file of the directory.
    Named(String),
    /// In a deleted file that is still open: SQLite deletes temporary files as soon
    /// as they are open.
    Deleted,
}

pub(super) fn search(dir: &Path, marker: &str) -> BTreeSet<Found> {
    let mut found = BTreeSet::new();
    let has_marker = |path: &Path| {
        // A file may go while this looks at it.
        std::fs::read(path).is_ok_and(|bytes| contains(&bytes, marker.as_bytes()))
    };
    for entry in std::fs::read_dir(dir).expect("the directory").flatten() {
        if has_marker(&entry.path()) {
            found.insert(Found::Named(entry.file_name().into_string().expect("text")));
        }
    }
    for entry in std::fs::read_dir("/proc/self/fd").expect("/proc").flatten() {
        let path = entry.path();
        // Pipes and sockets can't be read just so.
        let regular = std::fs::metadata(&path).is_ok_and(|meta| meta.is_file());
        let deleted = std::fs::read_link(&path)
            .is_ok_and(|link| link.to_string_lossy().ends_with(" (deleted)"));
        if regular && deleted && has_marker(&path) {
            found.insert(Found::Deleted);
        }
    }
    found
}
