//! Console sessions: every line that starts with `$` is run, and what follows is
//! what it says (`[..]` stands for anything), then `? CODE` unless that is 0.
//!
//! Besides `pageseal` there are a few words to prepare and to look:
//!
//! ```text
//! $ vector NAME            copies a compatibility vector here
//! $ unchanged NAME         its files are still the same, byte by byte
//! $ damage FILE SIZE N...  flips a bit in pages of SIZE bytes
//! $ stock FILE SQL         rows as stock SQLite reads them
//! $ touch FILE, $ cp A B, $ rm FILE
//! ```

use std::fs::{self, File};
use std::process::Stdio;

use rusqlite::Connection;
use rusqlite::types::Value;

use crate::session::{Answer, Session, damage};

fn check(name: &str) {
    let path = format!("{}/tests/cli/cases/{name}.md", env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(&path).expect("the case");
    let actual = replay(&text);
    // Backslashes are no paths here, but SQL.
    let compare = snapbox::Assert::new().normalize_paths(false);
    compare
        .action_env("SNAPSHOTS")
        .eq(actual, snapbox::Data::read_from(path.as_ref(), None));
}

/// The text with today's answers.
fn replay(text: &str) -> String {
    let session = Session::new();
    let mut out = String::new();
    let mut in_block = false;
    for line in text.lines() {
        if line.starts_with("```") {
            in_block = !in_block && line == "```console";
            out += &format!("{line}\n");
        } else if !in_block {
            out += &format!("{line}\n");
        } else if let Some(command) = line.strip_prefix("$ ") {
            out += &format!("{line}\n{}", run(&session, command));
        }
    }
    out
}

fn run(session: &Session, command: &str) -> String {
    let words = split(command);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let page = |text: &str| text.parse::<usize>().expect("a number");
    match words[..] {
        ["vector", name] => drop(session.vector(name)),
        ["unchanged", name] => assert!(session.is_unchanged(name), "{name} has changed"),
        ["damage", file, size, ref pages @ ..] => {
            for pgno in pages {
                damage(&session.path(file), page(size), page(pgno));
            }
        }
        ["touch", file] => drop(File::create(session.path(file)).expect("a file")),
        ["cp", from, to] => drop(fs::copy(session.path(from), session.path(to)).expect("a copy")),
        ["rm", file] => fs::remove_file(session.path(file)).expect("a file"),
        ["stock", file, sql] => return stock(session, file, sql),
        ["pageseal", ref args @ ..] => return pageseal(session, args),
        _ => panic!("what is {command:?}?"),
    }
    String::new()
}

fn pageseal(session: &Session, args: &[&str]) -> String {
    let mut command = session.pageseal();
    let args = match args {
        [args @ .., "<", file] => {
            let file = File::open(session.path(file)).expect("standard input");
            command.stdin(Stdio::from(file));
            args
        }
        args => args,
    };
    let Answer {
        stdout,
        stderr,
        code,
    } = Answer::of(command.args(args));
    let code = match code {
        Some(0) => String::new(),
        code => format!("? {}\n", code.expect("a code")),
    };
    format!("{stdout}{stderr}{code}")
}

/// Words of a command, with the shell's quotes.
fn split(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = None;
    let mut quote = None;
    for c in command.chars() {
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            (c, Some(_)) => word.get_or_insert_with(String::new).push(c),
            ('\'' | '"', None) => {
                quote = Some(c);
                word.get_or_insert_with(String::new);
            }
            (' ', None) => words.extend(word.take()),
            (c, None) => word.get_or_insert_with(String::new).push(c),
        }
    }
    words.extend(word);
    words
}

fn stock(session: &Session, file: &str, sql: &str) -> String {
    let db = Connection::open(session.path(file)).expect("stock SQLite opens it");
    let mut statement = db.prepare(sql).expect("SQL");
    let columns = statement.column_count();
    let mut rows = statement.query([]).expect("rows");
    let mut out = String::new();
    while let Some(row) = rows.next().expect("a row") {
        let values: Vec<String> = (0..columns)
            .map(|column| match row.get(column).expect("a value") {
                Value::Null => String::new(),
                Value::Integer(number) => number.to_string(),
                Value::Real(number) => number.to_string(),
                Value::Text(text) => text,
                Value::Blob(bytes) => hex::encode(bytes),
            })
            .collect();
        out += &format!("{}\n", values.join("|"));
    }
    out
}

macro_rules! cases {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            check(stringify!($name));
        })*
    };
}

cases!(info probe verify decrypt encrypt copy rekey migrate recover sql diff usage);
