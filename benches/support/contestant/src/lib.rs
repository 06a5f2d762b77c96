//! The measured side of the benchmarks.
//!
//! This crate is compiled into every contestant: into the bench binaries (stock SQLite,
//! with and without pageseal above the disk) and into each peer under `benches/peers/`
//! (SQLCipher). A contestant is a process that [`serve`]s requests, one JSON value a
//! line: it says what it is ([`facts`]), runs a workload step by step and measures each
//! step itself, so that the pipe is never inside a measurement.
//!
//! It knows nothing about contestants, rounds and ratios: that is the harness.

#![warn(clippy::pedantic)]
#![allow(clippy::missing_errors_doc, clippy::missing_panics_doc)] // either ends a benchmark
#![allow(clippy::too_many_lines)] // a workload is a list of steps
#![allow(clippy::doc_markdown)] // SQLite and SQLCipher are names, not code

pub mod answer;
pub mod calibrate;
pub mod clock;
pub mod engine;
pub mod env;
pub mod facts;
pub mod plan;
pub mod protocol;
pub mod random;
mod serve;
pub mod words;
pub mod workloads;

pub use serve::serve;

/// Whatever goes wrong in a benchmark ends it; nobody matches on the reason.
pub type Result<T, E = Box<dyn std::error::Error + Send + Sync>> = std::result::Result<T, E>;
