//! SQLCipher, serving the benchmark harness.

// Links SQLCipher: the workloads only know `rusqlite`.
use rusqlite as _;

fn main() -> pageseal_bench_contestant::Result<()> {
    pageseal_bench_contestant::serve()
}
