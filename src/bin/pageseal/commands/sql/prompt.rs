//! The interactive prompt. What is typed is kept in memory only: it may hold keys.

use clap::ValueEnum;
use rusqlite::Connection;
use rustyline::error::ReadlineError;
use rustyline::{Config, DefaultEditor};

use super::complete::is_complete;
use super::rows::Printer;
use super::{Mode, execute};
use crate::error::{CliError, Kind, Result};
use crate::stdout;

const HELP: &str = "\
SQL ends with a semicolon. Besides:
  .tables          list tables and views
  .schema [NAME]   show how they were made
  .mode MODE       print rows as table, list, csv, tsv, json, line or quote
  .headers on|off  print column names
  .quit            leave (or Ctrl-D)";

/// Reads and runs SQL until the end.
pub(super) fn run(db: &Connection, printer: &mut Printer) -> Result {
    let failed = |error: ReadlineError| CliError::new(Kind::Io, format!("the prompt: {error}"));
    let config = Config::builder().auto_add_history(true).build();
    let mut editor = DefaultEditor::with_config(config).map_err(failed)?;
    say(&format!("SQLite {}; .help tells more", rusqlite::version()))?;
    let mut sql = String::new();
    loop {
        let prompt = if sql.is_empty() {
            "pageseal> "
        } else {
            "     ...> "
        };
        match editor.readline(prompt) {
            Ok(line) if sql.is_empty() && line.trim_start().starts_with('.') => {
                match dot(db, line.trim(), printer) {
                    Ok(true) => return Ok(()),
                    Ok(false) => {}
                    Err(error) => eprintln!("{error}"),
                }
            }
            Ok(line) => {
                sql.push_str(&line);
                sql.push('\n');
                if is_complete(&sql) {
                    if let Err(error) = execute(db, &sql, printer) {
                        eprintln!("{error}");
                    }
                    sql.clear();
                }
            }
            Err(ReadlineError::Interrupted) => sql.clear(),
            Err(ReadlineError::Eof) => return Ok(()),
            Err(error) => return Err(failed(error)),
        }
    }
}

/// Runs a dot command; returns whether it was the last.
fn dot(db: &Connection, line: &str, printer: &mut Printer) -> Result<bool> {
    let mut words = line.split_whitespace();
    let command = words.next().unwrap_or_default();
    let word = words.next();
    match (command, word) {
        (".quit" | ".exit" | ".q", _) => return Ok(true),
        (".help", _) => say(HELP)?,
        (".tables", _) => execute(
            db,
            "SELECT schema, type, name FROM pragma_table_list \
             WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY schema, name",
            printer,
        )?,
        (".schema", name) => schema(db, name)?,
        (".mode", Some(name)) => match Mode::from_str(name, true) {
            Ok(mode) => printer.mode = mode,
            Err(_) => say(HELP)?,
        },
        (".headers", Some("on")) => printer.header = true,
        (".headers", Some("off")) => printer.header = false,
        _ => say(HELP)?,
    }
    Ok(false)
}

fn schema(db: &Connection, name: Option<&str>) -> Result {
    let sql = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL \
               AND (?1 IS NULL OR tbl_name = ?1 COLLATE NOCASE) ORDER BY rowid";
    let mut statement = db.prepare(sql)?;
    let mut rows = statement.query([name])?;
    while let Some(row) = rows.next()? {
        say(&format!("{};", row.get::<_, String>(0)?))?;
    }
    Ok(())
}

fn say(text: &str) -> Result {
    stdout::print(format!("{text}\n").as_bytes())
}
