//! Much data through a small cache: scans, lookups, blobs, small files.

mod support;

fn main() -> std::process::ExitCode {
    support::main("streaming")
}
