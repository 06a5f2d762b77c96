//! Whole database files without SQLite, on every core: inspect, verify, decrypt,
//! encrypt, re-key, compare, salvage, and find out settings.
//!
//! ```text
//! Files (database, -journal, -wal)   which bytes count, without a key
//!   -> Snapshot (key, settings)      the last commit, page by page in plaintext
//!        -> rewrite, verify, compare, salvage
//! Files -> probe                     which settings fit a key
//! ```
//!
//! The source is only ever read. Nothing holds other programs off meanwhile; if one
//! writes, that is noticed at the end and the result thrown away
//! ([`OfflineError::Changed`]): for a database in use there is SQLite's backup.
//!
//! **Not in a process that has the database open.** On Unix a process that closes a file
//! gives up all the locks that it holds on it, whoever in the process took them; SQLite
//! guards against that only among its own connections. Look at such a database from
//! another process (the command line is one), or ask SQLite: `PRAGMA
//! cipher_integrity_check`, `VACUUM INTO`, the backup API.

mod access;
mod compare;
mod error;
mod file;
mod files;
mod header;
mod journal;
mod lanes;
mod look;
mod probe;
mod progress;
mod rewrite;
pub mod salvage;
mod snapshot;
mod verify;
mod wal;

pub use access::Access;
pub use compare::{Comparison, compare};
pub use error::OfflineError;
pub use file::{ReadFile, WriteFile};
pub use files::{Files, Place, side_path};
pub use header::{Encoding, Header};
pub use journal::{Journal, JournalState};
pub use lanes::available_threads;
pub use look::Look;
pub use probe::{Family, Found, Probe, families, probe};
pub use progress::Progress;
pub use rewrite::{check_layout, rewrite};
pub use snapshot::{BadPage, Fault, Snapshot};
pub use verify::{BadCopy, Finding, Verification, verify};
pub use wal::{Wal, WalState};
