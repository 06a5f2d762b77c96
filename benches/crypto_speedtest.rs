//! The fifteen classic SQL tests.

mod support;

fn main() -> std::process::ExitCode {
    support::main("crypto_speedtest")
}
