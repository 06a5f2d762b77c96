//! What all benches share: the harness, and the VFS that it measures.

use std::process::ExitCode;

use pageseal_bench::Shim;

/// The only place where the benchmarks touch pageseal; everything else is SQL.
const PAGESEAL: Shim = Shim {
    vfs: "pageseal",
    register: || match pageseal::register() {
        Ok(_) => Ok(()),
        Err(error) => Err(error.into()),
    },
    switches: &[
        ("no-read-ahead", || pageseal::set_read_ahead(false)),
        ("read-ahead-thread", || {
            pageseal::set_read_ahead_thread(true)
        }),
        ("no-write-behind", || pageseal::set_write_behind(false)),
    ],
};

/// Runs the bench of this name.
pub(crate) fn main(workload: &str) -> ExitCode {
    pageseal_bench::main(workload, Some(PAGESEAL))
}
