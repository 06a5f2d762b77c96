//! The SQLite boundary: a VFS that wraps another one.
//!
//! `ffi` holds everything `extern "C"` and every call into SQLite; `lower` wraps
//! the VFS below; `kind` says what a file is, `file` where its calls go, and
//! `database`, `journal`, `log` and `scratch` are the kinds; `playback` is what a
//! journal must show before it changes a database, `sharing` and `mend` are what it
//! takes to write a log by turns with SQLCipher. `registry` leads from
//! a journal or log to its database, `caps` says what we promise SQLite of a file,
//! `code` turns failures into result codes.

mod batch;
mod caps;
mod check;
mod code;
mod database;
pub(crate) mod ffi;
mod file;
mod journal;
mod kind;
mod log;
mod lower;
mod mend;
mod playback;
mod registry;
mod rewrite;
mod scratch;
mod sharing;

pub use batch::{set_read_ahead, set_read_ahead_thread, set_write_behind};
#[cfg(feature = "loadable-extension")]
pub(crate) use ffi::register::base_is_default;
pub(crate) use ffi::register::{RegisterError, register};

pub(crate) use ffi::db::{Db, SqlError, Switch};
#[cfg(feature = "rusqlite")]
pub(crate) use ffi::host::{has_no_file, rekey, session_of, with_db};
pub(crate) use ffi::host::{session_in, sqlite_string};
