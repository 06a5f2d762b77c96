//! Small transactions, and connections that share a file.

mod support;

fn main() -> std::process::ExitCode {
    support::main("small")
}
