//! The command line, run as a program on files that SQLCipher wrote.
//!
//! `cases/*.md` are console sessions that one can read; `SNAPSHOTS=overwrite` writes
//! down what the program says now. `vectors` runs it on every compatibility vector.

mod cases;
mod damaged_looks;
mod everywhere;
#[cfg(unix)]
mod full_disk;
#[cfg(unix)]
mod interrupted;
mod key_forms;
mod large;
mod outputs;
mod session;
mod stdout;
#[cfg(target_os = "linux")]
mod terminal;
mod uris;
mod vectors;
mod wrong_inputs;

#[path = "../support/content_hash.rs"]
mod content_hash;
// Not all of what the manifest says is asked here.
#[allow(dead_code)]
#[path = "../shim/support/manifest.rs"]
mod manifest;

/// What `manifest` needs of its own test.
mod disk {
    pub(crate) use super::session::beside;
}
mod open {
    #[allow(unused_imports)]
    pub(crate) use super::session::open;
}
