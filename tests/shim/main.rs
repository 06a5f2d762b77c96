//! Tests of the shim that need no SQLCipher: one program, because each links
//! SQLite again.

mod blobs;
mod checksums;
mod leaks;
mod support;
mod vectors;
