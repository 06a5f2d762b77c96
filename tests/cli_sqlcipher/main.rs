//! The command line on files that genuine SQLCipher has written, and what it writes
//! read by genuine SQLCipher and by stock SQLite.
//!
//! SQLCipher runs as another process, as in `tests/interop`, whose configurations and
//! contents these tests share: `tests/peer` must have been built, and the shell
//! `sqlcipher` (a real SQLCipher 3) be installed.
//!
//! ```sh
//! cargo build --release --manifest-path tests/peer/Cargo.toml
//! cargo test --features interop,cli --test cli_sqlcipher
//! ```

mod commands;
mod destroyed;
mod hot;
mod live;
mod program;
mod settings;
mod speed;

#[path = "../support/content_hash.rs"]
mod content_hash;
#[path = "../support/peer.rs"]
mod peer;
#[path = "../support/random.rs"]
mod random;

// Not all of what the other tests need is needed here.
#[allow(dead_code)]
#[path = "../interop/configuration.rs"]
mod configuration;
#[allow(dead_code)]
#[path = "../interop/configurations.rs"]
mod configurations;
#[allow(dead_code)]
#[path = "../interop/content.rs"]
mod content;
#[allow(dead_code)]
#[path = "../interop/database.rs"]
mod database;
#[allow(dead_code, unused_imports, unused_macros)]
#[path = "../interop/each.rs"]
mod each;
#[allow(dead_code)]
#[path = "../interop/ours.rs"]
mod ours;
#[allow(dead_code)]
#[path = "../cli/session.rs"]
mod session;
#[allow(dead_code)]
#[path = "../interop/shell.rs"]
mod shell;
#[allow(dead_code)]
#[path = "../interop/theirs.rs"]
mod theirs;
