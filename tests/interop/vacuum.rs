//! `VACUUM INTO`: a copy with the same key, which the other side reads.

use std::path::Path;

use crate::configuration::Configuration;
use crate::configurations;
use crate::content::{CHANGE, CREATE, hashes};
use crate::database::Side::{self, Pageseal, SqlCipher};
use crate::database::check;
use crate::each::{each, test_each_group};

// Our copies keep the settings too.
test_each_group!(copied_by_us);

fn copied_by_us(how: &Configuration, directory: &Path) {
    copy(how, directory, Pageseal, SqlCipher);
}

/// SQLCipher keeps the key, but goes back to the settings that its process starts
/// with: other files of its making are no use with the key that they were made with.
#[test]
fn copied_by_sqlcipher() {
    each(configurations::odd_keys(), |how, directory| {
        copy(how, directory, SqlCipher, Pageseal);
    });
}

fn copy(how: &Configuration, directory: &Path, maker: Side, taker: Side) {
    let hashes = hashes(how);
    let [original, copy] = ["original", "copy"].map(|name| directory.join(name));
    let mut database = maker.create(&original, how);
    database.exec(CREATE);
    database.exec(&format!("VACUUM INTO '{}'", copy.display()));
    database.close();
    // The salt, or what a plaintext header starts with.
    let start = |path| std::fs::read(path).expect("a file")[..16].to_vec();
    assert_eq!(start(&original), start(&copy));

    let mut database = taker.open(&copy, how);
    check(&mut *database, how, &hashes.created);
    database.exec(CHANGE);
    database.close();
    let mut database = maker.open(&copy, how);
    check(&mut *database, how, &hashes.changed);
    database.close();
}
