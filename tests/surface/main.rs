//! The SQL surface through the VFS.
#![allow(missing_docs)]

mod ahead;
mod rekey;
mod shared_wal;
mod typed;
