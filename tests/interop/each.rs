//! One check over many configurations.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use tempfile::TempDir;

use crate::configuration::Configuration;

/// Runs `check` for each configuration in a directory of its own, goes on after
/// a failure, and names at the end those that failed.
pub(crate) fn each(list: Vec<Configuration>, check: impl Fn(&Configuration, &Path)) {
    let mut failed = Vec::new();
    for how in &list {
        let directory = scratch();
        let run = AssertUnwindSafe(|| check(how, directory.path()));
        if catch_unwind(run).is_err() {
            eprintln!("^ {}: {} {}", how.name, how.settings(), how.creation);
            failed.push(&how.name[..]);
        }
    }
    assert!(
        failed.is_empty(),
        "{} of {} configurations failed: {}",
        failed.len(),
        list.len(),
        failed.join("; ")
    );
}

/// An empty directory, in memory where the system has such a place: the tests wait
/// for many thousands of syncs, and it is not the disk that they test.
pub(crate) fn scratch() -> TempDir {
    let memory = Path::new("/dev/shm");
    let directory = if memory.is_dir() {
        tempfile::tempdir_in(memory)
    } else {
        tempfile::tempdir()
    };
    directory.expect("a directory")
}

/// Makes a test of each group of configurations.
macro_rules! test_each_group {
    ($check:path) => {
        $crate::each::test_each_group! { $check:
            presets page_sizes algorithms headers raw_keys odd_keys vacuum_modes old_and_odd }
    };
    ($check:path: $($group:ident)*) => {
        $(
            #[test]
            fn $group() {
                $crate::each::each($crate::configurations::$group(), $check);
            }
        )*
    };
}
pub(crate) use test_each_group;
