//! Makes the compatibility vectors: small databases written by genuine
//! SQLCipher, whole and damaged, with a manifest that says what is in them.
//!
//! `pageseal-vectors [--force] [--without-witnesses]`
//!
//! The vectors are frozen: without `--force` nothing is overwritten. Other
//! SQLCipher builds also write some (see `witnesses.sh`), unless left out.

mod cases;
mod content;
mod crash;
mod damage;
mod manifest;
mod settings;
mod wal;
mod witnesses;
mod workshop;

#[path = "../../../tests/support/peer.rs"]
mod peer;

use std::path::Path;

use workshop::Workshop;

fn main() {
    let mut force = false;
    let mut with_witnesses = true;
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "--force" => force = true,
            "--without-witnesses" => with_witnesses = false,
            _ => panic!("usage: pageseal-vectors [--force] [--without-witnesses]"),
        }
    }
    let target = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("a parent");
    assert!(
        force || !target.join("manifest.json").exists(),
        "the vectors are frozen; --force replaces them"
    );

    let mut workshop = Workshop::new();
    cases::make(&mut workshop);
    crash::make(&mut workshop);
    damage::make(&mut workshop);
    if with_witnesses {
        witnesses::make(&mut workshop);
    }
    workshop.publish(target);
}
