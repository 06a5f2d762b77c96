//! pageseal's side of the line protocol, as `pageseal-peer` is SQLCipher's: see
//! `tests/peer/src/main.rs` for the requests. Here are those that crashes need.

use std::collections::HashMap;
use std::io::{self, BufRead, Write};
use std::process::ExitCode;

use rusqlite::fallible_iterator::FallibleIterator;
use rusqlite::types::ValueRef;
use rusqlite::{Batch, Connection};

use crate::kills::as_strs;
use crate::process::Answer;
use crate::wire::{Value, encode_text, escape, from_hex, unescape};

/// Serves until the input ends.
pub(crate) fn run() -> ExitCode {
    let mut worker = Worker::default();
    match worker.serve(io::stdin().lock(), io::stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever asked has gone.
        Err(_) => ExitCode::FAILURE,
    }
}

/// The connections of a process, or of a thread.
#[derive(Default)]
pub(crate) struct Worker {
    connections: HashMap<String, Connection>,
}

/// Code, extended code and text, as the protocol has them.
struct Failed(i32, i32, String);

impl From<rusqlite::Error> for Failed {
    fn from(error: rusqlite::Error) -> Self {
        match &error {
            rusqlite::Error::SqliteFailure(code, text) => Failed(
                code.extended_code & 0xff,
                code.extended_code,
                text.clone().unwrap_or_else(|| error.to_string()),
            ),
            other => Failed(0, 0, other.to_string()),
        }
    }
}

fn bad(text: &str) -> Failed {
    Failed(0, 0, text.to_owned())
}

impl Worker {
    fn serve(&mut self, input: impl BufRead, mut output: impl Write) -> io::Result<()> {
        crate::switches::apply();
        pageseal::register().map_err(io::Error::other)?;
        for line in input.lines() {
            let mut rows = Vec::new();
            let result = words(&line?).and_then(|words| self.answer(&as_strs(&words), &mut rows));
            for row in rows {
                writeln!(output, "row {row}")?;
            }
            match result {
                Ok(()) => writeln!(output, "ok")?,
                Err(Failed(code, extended, text)) => {
                    writeln!(output, "err {code} {extended} {}", escape(text.as_bytes()))?;
                }
            }
            output.flush()?;
        }
        Ok(())
    }

    /// Answers a request of this very process.
    pub(crate) fn ask(&mut self, words: &[&str]) -> Answer {
        let mut rows = Vec::new();
        self.answer(words, &mut rows)
            .map_err(|Failed(_, extended, text)| (extended, text))?;
        let row = |row: &String| row.split(' ').map(Value::decode).collect();
        rows.iter()
            .map(row)
            .collect::<Option<_>>()
            .ok_or_else(|| (0, "a row that was not understood".to_owned()))
    }

    fn answer(&mut self, words: &[&str], rows: &mut Vec<String>) -> Result<(), Failed> {
        match *words {
            ["open", name, path, key] => {
                let key = from_hex(key)
                    .and_then(|bytes| String::from_utf8(bytes).ok())
                    .ok_or_else(|| bad("the key is not text in hexadecimal"))?;
                let conn = Connection::open(format!("file:{path}?vfs=pageseal"))?;
                conn.query_row(&format!("PRAGMA key = \"{key}\""), [], |_| Ok(()))?;
                self.connections.insert(name.to_owned(), conn);
                Ok(())
            }
            ["exec", name, sql] => execute(self.get(name)?, sql, &mut Vec::new()),
            ["query", name, sql] => execute(self.get(name)?, sql, rows),
            ["close", name] => {
                let conn = self.connections.remove(name);
                let conn = conn.ok_or_else(|| bad("no such connection"))?;
                Ok(conn.close().map_err(|(_, error)| error)?)
            }
            _ => Err(bad("cannot understand")),
        }
    }

    fn get(&self, name: &str) -> Result<&Connection, Failed> {
        let conn = self.connections.get(name);
        conn.ok_or_else(|| bad("no such connection"))
    }
}

/// The words of a line.
fn words(line: &str) -> Result<Vec<String>, Failed> {
    let word = |word| {
        unescape(word)
            .and_then(|bytes| String::from_utf8(bytes).ok())
            .ok_or_else(|| bad("bad escape"))
    };
    line.split(' ').map(word).collect()
}

fn execute(conn: &Connection, sql: &str, out: &mut Vec<String>) -> Result<(), Failed> {
    let mut batch = Batch::new(conn, sql);
    while let Some(mut statement) = batch.next()? {
        let columns = statement.column_count();
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let values = (0..columns)
                .map(|column| row.get_ref(column).map(encode))
                .collect::<rusqlite::Result<Vec<_>>>()?;
            out.push(values.join(" "));
        }
    }
    Ok(())
}

fn encode(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => Value::Null.encode(),
        ValueRef::Integer(i) => Value::Integer(i).encode(),
        ValueRef::Real(r) => Value::Real(r).encode(),
        ValueRef::Text(t) => encode_text(t),
        ValueRef::Blob(b) => Value::Blob(b.to_vec()).encode(),
    }
}
