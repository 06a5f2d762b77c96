//! Write-ahead log: small commits, checkpoint, readers beside a writer.

mod support;

fn main() -> std::process::ExitCode {
    support::main("wal")
}
