//! One check over many configurations.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use crate::configuration::Configuration;

/// Runs `check` for each configuration in a directory of its own, goes on after
/// a failure, and names at the end those that failed.
pub(crate) fn each(list: Vec<Configuration>, check: impl Fn(&Configuration, &Path)) {
    let mut failed = Vec::new();
    for how in &list {
        let directory = tempfile::tempdir().expect("a directory");
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
