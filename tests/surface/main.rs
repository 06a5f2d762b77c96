//! The SQL surface through the VFS.
#![allow(missing_docs)]

mod rekey;
mod typed;
