//! The SQL surface through the VFS.
#![allow(missing_docs)]

mod ahead;
mod faults;
mod integrity;
mod rekey;
mod retry;
mod shared_wal;
mod typed;
