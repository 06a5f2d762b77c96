//! Tests of the shim that need no SQLCipher: one program, because each links
//! SQLite again.

mod blobs;
mod checksums;
mod leaks;
mod plain;
mod refusals;
mod settings;
mod support;
mod vectors;

#[path = "../support/switches.rs"]
mod switches;
