//! What all benches share: the harness, and the VFS that it measures.

use std::process::ExitCode;

/// Runs the bench of this name.
pub(crate) fn main(workload: &str) -> ExitCode {
    pageseal_bench::main(workload, None)
}
