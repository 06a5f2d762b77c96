//! The files themselves.

use sha2::{Digest, Sha256};

use crate::support::manifest::{directory, vectors};

/// The vectors are frozen: a change to one would be a change to the test.
#[test]
fn are_what_the_manifest_lists() {
    let mut listed = std::collections::BTreeSet::new();
    for vector in vectors() {
        for (_, file, sha256) in vector.files() {
            let bytes = std::fs::read(directory().join(file)).expect(file);
            assert_eq!(hex::encode(Sha256::digest(bytes)), sha256, "{file}");
            listed.insert(file.to_owned());
        }
    }
    for entry in std::fs::read_dir(directory()).expect("the directory") {
        let name = entry
            .expect("an entry")
            .file_name()
            .into_string()
            .expect("text");
        assert!(
            !name.contains(".db") || listed.contains(&name),
            "{name} is not in the manifest"
        );
    }
}

/// What the tests go by is there in all its classes.
#[test]
fn cover_every_class() {
    let count = |class: &str| {
        vectors()
            .iter()
            .filter(|vector| vector.class() == class)
            .count()
    };
    assert!(count("ok") >= 80, "{}", count("ok"));
    assert!(count("wrong_key_or_settings") >= 10);
    assert!(count("damaged_pages") >= 8);
    assert_eq!(count("truncated"), 1);
}
