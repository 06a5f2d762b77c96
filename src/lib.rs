//! SQLCipher databases on stock SQLite, in pure Rust.

#![deny(unsafe_code)]

pub mod crypto;
pub mod error;
pub mod format;
pub mod pragma;
pub mod secret;
pub mod session;
pub mod translate;
mod vfs;

pub use vfs::{RegisterError, Registration, VFS_NAME, register};
