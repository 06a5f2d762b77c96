//! Batches: when pages are read before they are asked for, and written after they
//! were given. Sealing and opening several pages together is several times faster
//! than one at a time, and so is one large read or write than many small ones.
//!
//! [`ahead`] reads, [`behind`] writes pages of the database, and `vfs::log` keeps
//! frames of the log by the same rules. Both can be turned off, and then every page
//! is read when it is asked for and written when it is given.

mod ahead;
mod behind;
mod pages;
mod worker;

pub use ahead::{set_read_ahead, set_read_ahead_thread};
pub use behind::set_write_behind;

pub(crate) use ahead::{ReadAhead, read_ahead, read_ahead_as};
pub(crate) use behind::{MOST_PAGES, WriteBehind, is_write_behind};
