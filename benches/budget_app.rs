//! A household-budget app's small table.

mod support;

fn main() -> std::process::ExitCode {
    support::main("budget_app")
}
