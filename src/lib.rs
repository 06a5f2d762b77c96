//! SQLCipher databases on stock SQLite, in pure Rust.
//!
//! pageseal is a *shim*: a VFS wrapped around SQLite's own platform VFS. SQLite
//! above it sees plaintext pages; the platform VFS below it, and so the disk, sees
//! exactly the bytes that SQLCipher would have written.
//!
//! ```text
//! your SQL -> SQLite (pager, WAL) -> pageseal VFS -> SQLite's unix/win32 VFS -> disk
//!                                       |
//!                     page codec · journal and WAL translators · key, pragma
//! ```
//!
//! Register the VFS once, then open databases through it: with [`OpenOptions`]
//! (feature `rusqlite`, on by default), with `PRAGMA key`, or by URI.
//!
//! ```
//! use rusqlite::{Connection, OpenFlags};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let dir = tempfile::tempdir()?;
//! # let path = dir.path().join("app.db");
//! # let path = path.display();
//! pageseal::register()?;
//! let uri = format!("file:{path}?vfs=pageseal&key=correct%20horse");
//! let db = Connection::open(uri)?;
//! db.execute_batch("CREATE TABLE note(text); INSERT INTO note VALUES('hello')")?;
//! # Ok(())
//! # }
//! ```
//!
//! # Rooms
//!
//! ```text
//! secret, error, stats, faults -> crypto -> format -> translate -> session -> pragma -> vfs
//!     -> functions -> registration -> {connection, extension} -> bin
//! offline imports secret..translate, and only bin imports it
//! sys (SQLite's C interface) is for vfs and what comes after it
//! ```
//!
//! Imports go from right to left only. `unsafe` is allowed in the crypto kernels
//! and their dispatch, in `sys`, `vfs::ffi`, `vfs::lower`, the C side of `functions`
//! and `extension`, and nowhere else. A test reads the source and keeps it so.

#![deny(unsafe_code)]

#[cfg(feature = "rusqlite")]
pub mod connection;
pub mod crypto;
pub mod error;
#[cfg(feature = "loadable-extension")]
mod extension;
pub mod faults;
pub mod format;
pub mod functions;
pub mod offline;
pub mod pragma;
mod registration;
pub mod secret;
pub mod session;
pub mod stats;
mod sys;
pub mod translate;
mod vfs;

#[cfg(feature = "rusqlite")]
pub use connection::{KeyMaterial, OpenError, OpenOptions, Rekey};
pub use error::Failure;
pub use format::set_known_pages;
pub use format::{HashAlgorithm, PgnoOrder, Preset, Settings};
pub use registration::{RegisterError, Registration, VFS_NAME, register};
pub use secret::Key;
pub use session::key_cache;
pub use vfs::{set_read_ahead, set_read_ahead_thread, set_write_behind};
