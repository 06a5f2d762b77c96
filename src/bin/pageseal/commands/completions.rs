//! `pageseal completions` and `pageseal man`: what belongs to an installation.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Command, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;

use crate::cli::Cli;
use crate::error::{CliError, Result};
use crate::stdout;

/// Arguments of `completions`.
#[derive(Args)]
pub(crate) struct Completions {
    /// The shell
    shell: Shell,
}

/// Arguments of `man`.
#[derive(Args)]
pub(crate) struct ManPages {
    /// Write one page a command into this directory, instead of the main page to standard output
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

pub(crate) fn completions(args: &Completions) -> Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "pageseal", &mut script);
    print(&script)
}

pub(crate) fn man(args: &ManPages) -> Result<ExitCode> {
    let mut command = Cli::command();
    command.build();
    let Some(dir) = &args.dir else {
        return print(&page(&command, "pageseal")?);
    };
    write(dir, "pageseal", &command)?;
    for subcommand in command
        .get_subcommands()
        .filter(|command| !command.is_hide_set())
    {
        write(
            dir,
            &format!("pageseal-{}", subcommand.get_name()),
            subcommand,
        )?;
    }
    Ok(ExitCode::SUCCESS)
}

fn page(command: &Command, name: &str) -> Result<Vec<u8>> {
    let mut page = Vec::new();
    // Clap wants its names to live forever; the process ends right after this.
    let name: &'static str = String::leak(name.to_owned());
    Man::new(command.clone().name(name))
        .render(&mut page)
        .map_err(|error| CliError::io("write", Path::new(name), &error))?;
    Ok(page)
}

fn write(dir: &Path, name: &str, command: &Command) -> Result {
    let path = dir.join(format!("{name}.1"));
    fs::write(&path, page(command, name)?).map_err(|error| CliError::io("write", &path, &error))
}

fn print(bytes: &[u8]) -> Result<ExitCode> {
    stdout::print(bytes).map(|()| ExitCode::SUCCESS)
}
