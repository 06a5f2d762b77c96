//! What lies on disk.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Every file below a directory with its bytes.
pub(crate) type Snapshot = BTreeMap<PathBuf, Vec<u8>>;

/// Reads every file below a directory.
pub(crate) fn snapshot(dir: &Path) -> Snapshot {
    let mut files = Snapshot::new();
    for entry in std::fs::read_dir(dir).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files.extend(snapshot(&path));
        } else {
            files.insert(path.clone(), std::fs::read(path).expect("a file"));
        }
    }
    files
}

/// Which files differ, and how: for messages that can be read.
pub(crate) fn differences(before: &Snapshot, after: &Snapshot) -> Vec<String> {
    let names: std::collections::BTreeSet<_> = before.keys().chain(after.keys()).collect();
    names
        .into_iter()
        .filter(|name| before.get(*name) != after.get(*name))
        .map(|name| {
            let len = |files: &Snapshot| files.get(name).map(Vec::len);
            format!(
                "{}: {:?} -> {:?} bytes",
                name.display(),
                len(before),
                len(after)
            )
        })
        .collect()
}

/// A database's file name with `-wal`, `-journal` or nothing behind it.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}
