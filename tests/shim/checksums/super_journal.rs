//! A commit over several databases: each journal ends with the super-journal's name
//! in clear, which tells whether the commit happened to whoever has no key.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::{fill, open};
use crate::support::journal::MAGIC;
use crate::support::layouts::{PageLayout, layout};
use crate::support::tap::{Event, Kind, Tap};

/// The name at a journal's end: name, its length, its sum, magic.
fn name(journal: &[u8]) -> Option<&[u8]> {
    let rest = journal.strip_suffix(&MAGIC)?;
    let word = |back: usize| {
        let at = rest.len().checked_sub(back)?;
        Some(u32::from_be_bytes(rest[at..at + 4].try_into().ok()?))
    };
    let (len, sum) = (word(8)? as usize, word(4)?);
    let end = rest.len() - 8;
    let name = &rest[end.checked_sub(len)?..end];
    // Signed bytes in C; names here are ASCII.
    let right = name.iter().map(|&byte| u32::from(byte)).sum::<u32>() == sum;
    right.then_some(name)
}

fn commit_over_two(dir: &Path, main: &Path, layout: PageLayout) -> Vec<(PathBuf, Vec<u8>)> {
    let tap = Tap::new();
    let vfs = tap.with_shim();
    let connection = open(main.to_str().expect("text"), &vfs, layout, "");
    fill(&connection, layout);
    let other = dir.join("other.db");
    connection
        .execute_batch(&format!(
            "ATTACH '{}' AS other; CREATE TABLE other.t(id, a, b);",
            other.display()
        ))
        .expect("attached");
    let states = tap.collect(|file, event| {
        let last = matches!(event, Event::Delete);
        (file.kind == Kind::Journal && last)
            .then(|| (file.path.clone().expect("a name"), file.bytes.clone()))
    });
    connection
        .execute_batch(
            "BEGIN; UPDATE main.t SET a = 'x'; INSERT INTO other.t SELECT * FROM main.t; COMMIT",
        )
        .expect("committed");
    states.take()
}

#[test]
fn is_named_at_the_end_of_each_journal() {
    let dir = tempfile::tempdir().expect("a directory");
    let main = dir.path().join("main.db");
    let journals = commit_over_two(dir.path(), &main, layout(1024, Some("SHA1")));
    assert_eq!(journals.len(), 2);
    let names: Vec<_> = journals.iter().map(|(_, bytes)| name(bytes)).collect();
    let prefix = format!("{}-mj", main.display());
    assert!(names[0].is_some_and(|name| name.starts_with(prefix.as_bytes())));
    assert_eq!(names[0], names[1]);
}

/// A name that is exactly as long as a page, of whatever size, is still a name.
#[test]
fn may_be_as_long_as_a_page() {
    const NAME: usize = 512;
    for page_size in [NAME, 1024, 4096] {
        let root = tempfile::tempdir().expect("a directory");
        // "-mj", eight hexadecimal digits and a '9' in their midst: 12 bytes.
        let wanted = NAME - 12;
        let mut dir = root.path().to_owned();
        while wanted - dir.as_os_str().len() > 220 {
            dir.push("d".repeat(100));
        }
        std::fs::create_dir_all(&dir).expect("directories");
        let main = dir.join("f".repeat(wanted - dir.as_os_str().len() - 1));
        assert_eq!(main.as_os_str().len(), wanted);
        let journals = commit_over_two(root.path(), &main, layout(page_size, None));
        assert_eq!(journals.len(), 2);
        for (path, bytes) in journals {
            let name = name(&bytes).unwrap_or_else(|| panic!("{} names none", path.display()));
            assert_eq!(name.len(), NAME);
            assert!(name.starts_with(main.as_os_str().as_bytes()));
        }
    }
}
