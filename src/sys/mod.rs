//! SQLite's C interface, as much of it as we use: types, constants, functions.
//!
//! The declarations are our own, not those of `libsqlite3-sys`, for three reasons.
//! Its types change from version to version, and a program has to have the one
//! version that all of its SQLite crates agree on (`links = "sqlite3"`): declared
//! here, any version serves, since all we want of it is that it links SQLite. A
//! program that links SQLite in another way needs none at all. And its variant for
//! loadable extensions refuses every SQLite older than its own headers.
//!
//! With the feature `loadable-extension` the functions go through the table that
//! SQLite hands to an extension ([`table`]), so that nothing is linked.

#![allow(unsafe_code, non_camel_case_types, non_snake_case)]

mod constants;
mod functions;
#[cfg(feature = "loadable-extension")]
pub(crate) mod table;
mod types;

pub(crate) use constants::*;
pub(crate) use functions::*;
pub(crate) use types::*;

// All that we want of it is that it links SQLite.
#[cfg(feature = "linked")]
use libsqlite3_sys as _;

#[cfg(all(feature = "loadable-extension", feature = "linked"))]
compile_error!(
    "`loadable-extension` takes SQLite's functions from the program that loads the extension, and \
     `linked` (which `bundled` and `rusqlite` switch on) links them: build the extension with \
     `--no-default-features --features loadable-extension`"
);

#[cfg(all(test, feature = "linked"))]
mod tests;
