//! pageseal and genuine SQLCipher hand databases to each other.
//!
//! SQLCipher runs as another process: `tests/peer`, which must have been built,
//! and the shell `sqlcipher` (a real SQLCipher 3), which must be installed. What
//! either of them cannot be found for fails: nothing here is skipped.
//!
//! ```sh
//! cargo build --release --manifest-path tests/peer/Cargo.toml
//! cargo test --features interop --test interop
//! ```
//!
//! What a database must hold is never taken from pageseal: SQLCipher hashes the
//! same content in a database of its own.

mod attach;
mod configuration;
mod configurations;
mod content;
mod crash;
mod damage;
mod database;
mod each;
mod interrupted;
mod key_spelling;
mod large;
mod ours;
mod relay;
mod reserve;
mod shared;
mod shared_log;
mod shell;
mod surface;
mod theirs;
mod vacuum;
mod version_3;

#[path = "../support/content_hash.rs"]
mod content_hash;
#[path = "../support/peer.rs"]
mod peer;
