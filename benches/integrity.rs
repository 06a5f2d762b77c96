//! `PRAGMA cipher_integrity_check` of a large file.

mod support;

fn main() -> std::process::ExitCode {
    support::main("integrity")
}
