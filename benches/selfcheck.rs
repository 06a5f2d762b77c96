//! The harness, measured: plain SQLite beside itself, beside itself made 10 % slower, and
//! beside a build at another optimisation level.

fn main() -> std::process::ExitCode {
    pageseal_bench::selfcheck::main()
}
