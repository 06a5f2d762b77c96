//! A corpus of password hashes: load, index, look up.

mod support;

fn main() -> std::process::ExitCode {
    support::main("hash_ingest")
}
