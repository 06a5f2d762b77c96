//! Opening a database: passphrase, raw key, pool.

mod support;

fn main() -> std::process::ExitCode {
    support::main("open")
}
