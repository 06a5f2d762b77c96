//! The rooms of the crate, and which way imports go between them.
//!
//! ```text
//! secret, error, stats -> crypto -> format -> translate -> session -> pragma -> vfs
//!     -> functions -> registration -> {connection, extension} -> bin
//! offline imports secret..translate, and only bin imports it
//! sys (SQLite's C interface) is for vfs and what comes after it
//! ```
//!
//! The source is read as tokens, so that comments and strings don't count and the
//! bodies of macros do.

#[path = "architecture/paths.rs"]
mod paths;
#[path = "architecture/rules.rs"]
mod rules;

use std::path::{Path, PathBuf};

/// Every Rust file of the crate, with its path from the crate's root.
fn sources() -> Vec<(String, String)> {
    fn collect(dir: &Path, files: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(dir).expect("a directory") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                collect(&path, files);
            } else if path.extension().is_some_and(|end| end == "rs") {
                files.push(path);
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    collect(&root.join("src"), &mut files);
    files.sort();
    files
        .into_iter()
        .map(|path| {
            let name = path.strip_prefix(root).expect("below the root");
            let text = std::fs::read_to_string(&path).expect("text");
            (name.to_str().expect("a name").replace('\\', "/"), text)
        })
        .collect()
}

fn violations(check: impl Fn(&str, &str) -> Vec<String>) -> Vec<String> {
    let sources = sources();
    assert!(sources.len() > 50, "{} files", sources.len());
    sources
        .iter()
        .flat_map(|(name, text)| check(name, text))
        .collect()
}

#[test]
fn imports_go_one_way() {
    let found = violations(rules::imports);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn unsafe_stays_in_its_rooms() {
    let found = violations(rules::unsafe_code);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Whoever opens files or calls SQLite is in a room for that.
#[test]
fn io_and_sqlite_stay_in_their_rooms() {
    let found = violations(rules::outside_world);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// A room that is not in the table would not be checked.
#[test]
fn every_file_belongs_to_a_room() {
    for (name, _) in sources() {
        assert!(rules::room_of_file(&name).is_some(), "{name} is in no room");
    }
}
