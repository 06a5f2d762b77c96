//! The command line of pageseal.
//!
//! ```text
//! main -> cli (what can be said) -> commands (one a file) -> open, key, target, output
//!      -> error (one line, an exit code)
//! ```

#![forbid(unsafe_code)]

mod args;
mod cli;
mod commands;
mod database;
mod describe;
mod error;
mod interrupt;
mod key;
mod open;
mod output;
mod progress;
mod report;
mod stdout;
mod target;
mod usage;

use std::process::ExitCode;

use clap::Parser;

use cli::{Cli, Command};
use commands::{
    completions, copy, decrypt, diff, encrypt, info, migrate, probe, recover, rekey, sql, verify,
};

fn main() -> ExitCode {
    let Cli { common, command } = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage::told(&error),
    };
    let result = match &command {
        Command::Info(args) => info::run(args, &common),
        Command::Probe(args) => probe::run(args, &common),
        Command::Verify(args) => verify::run(args, &common),
        Command::Decrypt(args) => decrypt::run(args, &common),
        Command::Encrypt(args) => encrypt::run(args, &common),
        Command::Copy(args) => copy::run(args, &common),
        Command::Rekey(args) => rekey::run(args, &common),
        Command::Migrate(args) => migrate::run(args, &common),
        Command::Recover(args) => recover::run(args, &common),
        Command::Sql(args) => sql::run(args, &common),
        Command::Diff(args) => diff::run(args, &common),
        Command::Completions(args) => completions::completions(args),
        Command::Man(args) => completions::man(args),
    };
    result.unwrap_or_else(|error| {
        report::print_error(common.json, &error);
        error.kind.into()
    })
}
