//! What power cuts, broken disks and full disks leave of a sealed database.
//!
//! The VFS below the shim is a store in memory, made with the `sqlite-vfs` crate,
//! that knows which bytes have been synced. Each workload runs once while the
//! store writes down what reaches it; then, for every write, truncation, sync,
//! creation and deletion, the power is cut behind it and the database opened
//! again from what a disk may have kept (`cuts`). In `faults`, one operation at a
//! time fails. `rekey` does both to `PRAGMA rekey`. In
//! `deferred` writes fail that the shim makes later than SQLite asked for them.
//!
//! ```sh
//! cargo test --test powerloss -- --nocapture
//! ```
//!
//! What `sqlite-vfs` 0.2 can't do, and what that means here: it fixes the sector
//! size at 1024 bytes; it copies the log's shared index instead of sharing it, so
//! that a log has one connection at a time; it does not say whether a deletion is
//! to be synced, so that deletions count as durable at once; a deletion that fails
//! is reported as `SQLITE_DELETE`, which as a result code means "interrupted"; its answer to
//! `SQLITE_FCNTL_VFSNAME` is memory that SQLite can't free, so `PRAGMA vfs_list`
//! and that control are not to be used on it.

mod cuts;
mod database;
mod deferred;
mod faults;
mod rekey;
mod rewrites;
mod store;
mod trace;
mod workload;

#[path = "../support/random.rs"]
mod random;
#[path = "../support/switches.rs"]
mod switches;
