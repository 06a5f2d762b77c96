//! Damaged and hostile files: an error that names the page or file, never a panic,
//! never a row that was not written, never a write to a file that did not open.
//!
//! ```sh
//! cargo test --test hostile -- --nocapture
//! ```

mod crafted;
mod database;
mod forged;
mod journal;
mod judge;
mod kinds;
mod log;
mod other_files;
mod sample;

#[path = "../support/switches.rs"]
mod switches;
