//! Rows, printed in several ways.

use std::io::{self, Write};

use rusqlite::Row;
use rusqlite::types::ValueRef;
use serde_json::Value;
use unicode_width::UnicodeWidthStr;

use super::Mode;
use crate::describe::hex;

/// Rows of a table that are laid out together: memory stays flat.
const TABLE_ROWS: usize = 500;

/// Widest column of a table, in characters.
const WIDEST: usize = 60;

/// Prints the rows of one statement after the other.
pub(super) struct Printer {
    pub(super) mode: Mode,
    pub(super) header: bool,
    names: Vec<String>,
    rows: u64,
    table: Vec<Vec<String>>,
}

impl Printer {
    pub(super) fn new(mode: Mode, header: bool) -> Self {
        Self {
            mode,
            header,
            names: Vec::new(),
            rows: 0,
            table: Vec::new(),
        }
    }

    /// A statement with these columns starts.
    pub(super) fn begin(&mut self, names: &[String]) {
        self.names = names.to_vec();
        self.rows = 0;
        self.table.clear();
    }

    /// A row of it.
    pub(super) fn row(&mut self, row: &Row<'_>, out: &mut impl Write) -> io::Result<()> {
        let values = (0..self.names.len())
            .map(|index| row.get_ref(index).map_err(io::Error::other))
            .collect::<io::Result<Vec<_>>>()?;
        self.rows += 1;
        match self.mode {
            Mode::Table => {
                self.table
                    .push(values.iter().map(|value| cell(value)).collect());
                if self.table.len() == TABLE_ROWS {
                    self.print_table(out)?;
                }
            }
            Mode::Json => {
                // In the order of the columns, which a JSON object of the library
                // does not keep.
                let fields: Vec<_> = self
                    .names
                    .iter()
                    .zip(&values)
                    .map(|(name, value)| format!("{}:{}", Value::from(name.as_str()), json(value)))
                    .collect();
                out.write_all(if self.rows == 1 { b"[" } else { b",\n " })?;
                write!(out, "{{{}}}", fields.join(","))?;
            }
            Mode::Line => {
                if self.rows > 1 {
                    writeln!(out)?;
                }
                let width = self
                    .names
                    .iter()
                    .map(|name| name.width())
                    .max()
                    .unwrap_or(0);
                for (name, value) in self.names.iter().zip(&values) {
                    let pad = width - name.width();
                    writeln!(out, "{:pad$}{name} = {}", "", visible(&plain(value)))?;
                }
            }
            Mode::List | Mode::Csv | Mode::Tsv | Mode::Quote => {
                if self.rows == 1 && self.header && self.mode != Mode::Quote {
                    let names: Vec<_> = self.names.iter().map(|name| self.field(name)).collect();
                    writeln!(out, "{}", names.join(self.separator()))?;
                }
                let fields: Vec<_> = values
                    .iter()
                    .map(|value| match self.mode {
                        Mode::Quote => literal(value),
                        _ => self.field(&plain(value)),
                    })
                    .collect();
                writeln!(out, "{}", fields.join(self.separator()))?;
            }
        }
        Ok(())
    }

    /// The statement has ended.
    pub(super) fn end(&mut self, out: &mut impl Write) -> io::Result<()> {
        match self.mode {
            Mode::Table if !self.table.is_empty() => self.print_table(out),
            Mode::Json if self.rows == 0 => writeln!(out, "[]"),
            Mode::Json => writeln!(out, "]"),
            _ => Ok(()),
        }
    }

    fn separator(&self) -> &'static str {
        match self.mode {
            Mode::Csv | Mode::Quote => ",",
            Mode::Tsv => "\t",
            _ => "|",
        }
    }

    /// A text as a field: quoted as RFC 4180 asks in CSV, escaped in TSV.
    fn field(&self, text: &str) -> String {
        match self.mode {
            Mode::Csv if text.contains(['"', ',', '\n', '\r']) => {
                format!("\"{}\"", text.replace('"', "\"\""))
            }
            Mode::Tsv => text
                .replace('\\', "\\\\")
                .replace('\t', "\\t")
                .replace('\n', "\\n")
                .replace('\r', "\\r"),
            _ => text.to_owned(),
        }
    }

    fn print_table(&mut self, out: &mut impl Write) -> io::Result<()> {
        let mut widths: Vec<usize> = match self.header {
            true => self
                .names
                .iter()
                .map(|name| visible(name).width())
                .collect(),
            false => vec![0; self.names.len()],
        };
        for row in &self.table {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.width());
            }
        }
        let rule = |left: &str, middle: &str, right: &str| {
            let parts: Vec<_> = widths.iter().map(|width| "─".repeat(width + 2)).collect();
            format!("{left}{}{right}", parts.join(middle))
        };
        let line = |cells: &[String]| {
            let parts: Vec<_> = cells
                .iter()
                .zip(&widths)
                .map(|(cell, width)| format!(" {cell}{} ", " ".repeat(width - cell.width())))
                .collect();
            format!("│{}│", parts.join("│"))
        };
        writeln!(out, "{}", rule("┌", "┬", "┐"))?;
        if self.header {
            let names: Vec<_> = self.names.iter().map(|name| visible(name)).collect();
            writeln!(out, "{}", line(&names))?;
            writeln!(out, "{}", rule("├", "┼", "┤"))?;
        }
        for row in &self.table {
            writeln!(out, "{}", line(row))?;
        }
        writeln!(out, "{}", rule("└", "┴", "┘"))?;
        self.table.clear();
        Ok(())
    }
}

/// A value as text; a blob as a literal.
fn plain(value: &ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => String::new(),
        ValueRef::Text(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        value => literal(value),
    }
}

/// A value as SQL writes it.
fn literal(value: &ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => "NULL".to_owned(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => real(*number),
        ValueRef::Text(bytes) => {
            format!("'{}'", String::from_utf8_lossy(bytes).replace('\'', "''"))
        }
        ValueRef::Blob(bytes) => format!("x'{}'", hex(bytes)),
    }
}

/// A number that reads back as the same.
fn real(number: f64) -> String {
    match number {
        f64::INFINITY => "9.0e+999".to_owned(),
        f64::NEG_INFINITY => "-9.0e+999".to_owned(),
        number if number != 0.0 && !(1e-5..1e15).contains(&number.abs()) => format!("{number:e}"),
        number => format!("{number:?}"),
    }
}

fn json(value: &ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => (*number).into(),
        ValueRef::Real(number) => (*number).into(),
        ValueRef::Text(bytes) => String::from_utf8_lossy(bytes).into_owned().into(),
        value => literal(value).into(),
    }
}

/// A value as a cell of a table: not too wide, and nothing that moves the cursor.
fn cell(value: &ValueRef<'_>) -> String {
    let text = match value {
        ValueRef::Null => "NULL".to_owned(),
        ValueRef::Blob(bytes) if bytes.len() > WIDEST / 2 => {
            return format!("x'{}…' ({} bytes)", hex(&bytes[..8]), bytes.len());
        }
        value => visible(&plain(value)),
    };
    if text.width() <= WIDEST {
        return text;
    }
    let mut short = String::new();
    for c in text.chars() {
        if short.width() + 2 > WIDEST {
            break;
        }
        short.push(c);
    }
    short + "…"
}

/// A text without control characters, which could steer the terminal.
fn visible(text: &str) -> String {
    if !text.chars().any(char::is_control) {
        return text.to_owned();
    }
    text.chars()
        .map(|c| match c.is_control() {
            true => c.escape_default().to_string(),
            false => c.to_string(),
        })
        .collect()
}
