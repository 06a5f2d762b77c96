//! What is told of arguments that can't be understood, and of `--help`.

use std::ffi::OsStr;
use std::process::ExitCode;

use crate::error::{CliError, Kind};
use crate::{report, stdout};

/// Tells it: help and version as they are; errors as the parser puts them, or with
/// `--json` as every other error.
pub(crate) fn told(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        return match stdout::arrived(error.print()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                report::print_error(false, &error);
                error.kind.into()
            }
        };
    }
    if is_json() {
        report::print_error(true, &CliError::usage(in_one_line(&error.to_string())));
    } else {
        // There is nowhere else to tell it.
        let _ = error.print();
    }
    Kind::Usage.into()
}

/// Whether JSON was asked for, as far as that can be told of what was not understood.
fn is_json() -> bool {
    std::env::args_os()
        .skip(1)
        .take_while(|argument| argument != OsStr::new("--"))
        .any(|argument| argument == OsStr::new("--json"))
}

/// What is wrong and the parser's advice, without how the command is used at large.
fn in_one_line(text: &str) -> String {
    let text = text.strip_prefix("error: ").unwrap_or(text);
    let mut parts: Vec<String> = text
        .split("\n\n")
        .filter(|part| !part.starts_with("Usage:") && !part.starts_with("For more information"))
        .map(|part| part.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    parts.push("`--help` tells more".into());
    parts.join("; ")
}
