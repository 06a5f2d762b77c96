//! Every `extern "C"` function, and every call into SQLite that is not a method
//! of the lower VFS. No panic leaves here.
//!
//! A call into SQLite may come back to the same file (a pragma run from within a
//! lock, a file control that finds a schema's name), so none is made while a file
//! is borrowed.

#![allow(unsafe_code)]

mod control;
pub(crate) mod db;
pub(crate) mod host;
pub(crate) mod index;
mod integrity;
mod io;
mod profile;
mod pulse;
pub(crate) mod register;
mod rekey;
mod vfs;
