//! `pageseal sql`: SQL on a database, encrypted or not.

mod complete;
mod prompt;
mod rows;

use std::ffi::OsString;
use std::io::{self, IsTerminal, Read, Write};
use std::path::Path;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use pageseal::offline::{Access, Files, Look};
use rusqlite::fallible_iterator::FallibleIterator;
use rusqlite::{Batch, Connection, OpenFlags};

use crate::args::Common;
use crate::database::{open_encrypted, open_plaintext, open_plaintext_for_reading};
use crate::error::{CliError, Kind, Result};
use crate::interrupt::{self, Statement};
use crate::key::{self, Ask};
use crate::open::{SourceArgs, find_settings};
use crate::stdout;
use crate::target::Mode as UriMode;

use rows::Printer;

/// Arguments of `sql`.
#[derive(Args)]
pub(crate) struct Sql {
    #[command(flatten)]
    source: SourceArgs,

    /// SQL to run [default: standard input, or a prompt at a terminal]
    #[arg(value_name = "SQL")]
    sql: Vec<OsString>,

    /// How to print rows [default: table at a terminal, else list]
    #[arg(short, long, value_enum)]
    mode: Option<Mode>,

    /// Print no column names
    #[arg(long)]
    no_header: bool,

    /// Do not write to the database
    #[arg(short, long)]
    readonly: bool,

    /// Create the database if it does not exist
    #[arg(long, conflicts_with = "readonly")]
    create: bool,
}

/// How rows are printed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mode {
    /// A table with lines
    Table,
    /// Values between `|`
    List,
    /// Comma-separated values
    Csv,
    /// Values between tabs
    Tsv,
    /// An array of objects
    Json,
    /// One value a line
    Line,
    /// SQL literals
    Quote,
}

pub(crate) fn run(args: &Sql, common: &Common) -> Result<ExitCode> {
    let db = open(args, common)?;
    interrupt::install()?;
    let at_terminal = io::stdout().is_terminal();
    let mode = match (common.json, args.mode) {
        (true, _) => Mode::Json,
        (false, Some(mode)) => mode,
        (false, None) if at_terminal => Mode::Table,
        (false, None) => Mode::List,
    };
    let mut printer = Printer::new(mode, !args.no_header);
    if !args.sql.is_empty() {
        for sql in &args.sql {
            let sql = sql
                .to_str()
                .ok_or_else(|| CliError::usage("the SQL is not UTF-8"))?;
            execute(&db, sql, &mut printer)?;
        }
    } else if io::stdin().is_terminal() && at_terminal {
        prompt::run(&db, &mut printer)?;
    } else {
        let mut sql = String::new();
        io::stdin()
            .read_to_string(&mut sql)
            .map_err(|error| CliError::io("read", Path::new("standard input"), &error))?;
        execute(&db, &sql, &mut printer)?;
    }
    db.close().map_err(|(_, error)| error)?;
    Ok(ExitCode::SUCCESS)
}

fn open(args: &Sql, common: &Common) -> Result<Connection> {
    let (target, chosen) = args.source.choose_live()?;
    let path = &target.path;
    let (readonly, create) = how(args, target.mode)?;
    let is_new = match std::fs::metadata(path) {
        Ok(metadata) => metadata.len() == 0,
        Err(error) if error.kind() == io::ErrorKind::NotFound && create => true,
        Err(error) => return Err(CliError::io("open", path, &error)),
    };
    let mut access = Access {
        key: pageseal::Key::passphrase(""),
        choice: chosen.choice,
        salt: chosen.salt,
    };
    if is_new {
        if readonly {
            return Err(pageseal::offline::OfflineError::Empty(path.clone()).into());
        }
        if chosen.probe {
            return Err(CliError::usage(
                "--compat auto: a new file needs a version, 1 to 4",
            ));
        }
        access.key = key::get(args.source.key.source(), Ask::New(path))?;
        return open_encrypted(path, &access, WRITING, target.shared_wal);
    }
    {
        let files = Files::open(path)?;
        if matches!(Look::at(&files)?, Look::Plaintext(_)) {
            if args.source.key.source().is_some() {
                return Err(pageseal::offline::OfflineError::NotEncrypted(path.clone()).into());
            }
            drop(files);
            return open_plain(path, readonly);
        }
        access.key = key::get(args.source.key.source(), Ask::Existing(path))?;
        if chosen.probe {
            find_settings(&files, &mut access, common)?;
        }
    }
    let flags = match readonly {
        true => OpenFlags::SQLITE_OPEN_READ_ONLY,
        false => WRITING,
    };
    open_encrypted(path, &access, flags, target.shared_wal)
}

/// Flags to write with. What is attached is opened with the same flags and may be new;
/// that the database itself is there has been seen to before.
const WRITING: OpenFlags = OpenFlags::SQLITE_OPEN_READ_WRITE.union(OpenFlags::SQLITE_OPEN_CREATE);

/// Whether to read only and whether to create, by the options and the URI, which must
/// not contradict each other.
fn how(args: &Sql, mode: Option<UriMode>) -> Result<(bool, bool)> {
    match mode {
        Some(UriMode::ReadOnly) if args.create => Err("--create and mode=ro"),
        Some(UriMode::ReadWrite) if args.create => Err("--create and mode=rw"),
        Some(UriMode::ReadWrite) if args.readonly => Err("--readonly and mode=rw"),
        Some(UriMode::Create) if args.readonly => Err("--readonly and mode=rwc"),
        None => Ok((args.readonly, args.create)),
        Some(mode) => Ok((mode == UriMode::ReadOnly, mode == UriMode::Create)),
    }
    .map_err(|both| CliError::usage(format!("{both} contradict each other")))
}

fn open_plain(path: &Path, readonly: bool) -> Result<Connection> {
    if !readonly {
        return open_plaintext(path, WRITING);
    }
    let db = open_plaintext_for_reading(path)?;
    // A hot journal may have had to be rolled back first.
    db.execute_batch("PRAGMA query_only = ON")?;
    Ok(db)
}

/// Runs one or more statements and prints their rows. Ctrl-C ends the statement.
fn execute(db: &Connection, sql: &str, printer: &mut Printer) -> Result {
    let _guard = Statement::new(db.get_interrupt_handle());
    let mut batch = Batch::new(db, sql);
    while let Some(mut statement) = batch.next().map_err(failed)? {
        let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let mut out = io::BufWriter::new(io::stdout().lock());
        let mut rows = statement.raw_query();
        let mut print = || -> Result {
            printer.begin(&names);
            while let Some(row) = rows.next().map_err(failed)? {
                printer.row(row, &mut out).map_err(broken_pipe)?;
            }
            Ok(())
        };
        let result = print();
        if !names.is_empty() {
            printer.end(&mut out).map_err(broken_pipe)?;
        }
        out.flush().map_err(broken_pipe)?;
        result?;
    }
    Ok(())
}

fn failed(error: rusqlite::Error) -> CliError {
    let error = CliError::from(error);
    match error.kind {
        // A key that was right at the start is not wrong now.
        Kind::WrongKey => CliError::new(Kind::Damaged, error.to_string()),
        _ => error,
    }
}

/// Whoever reads our output has seen enough.
fn broken_pipe(error: io::Error) -> CliError {
    if error.kind() == io::ErrorKind::BrokenPipe {
        std::process::exit(0);
    }
    stdout::failed(&error)
}
