//! `PRAGMA rekey` of a large file, in both journal modes.

mod support;

fn main() -> std::process::ExitCode {
    support::main("rekey")
}
