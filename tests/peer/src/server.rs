//! Reads requests, keeps the named connections, writes answers.

use std::collections::HashMap;
use std::io::{self, BufRead, Write};

use rusqlite::Connection;

use crate::error::Error;
use crate::wire::{Value, escape, from_hex, unescape};
use crate::{bank, content_hash, database};

/// The open connections by name.
#[derive(Default)]
pub(crate) struct Server {
    connections: HashMap<String, Connection>,
}

impl Server {
    /// Serves until `exit` or the end of the input.
    pub(crate) fn serve(&mut self, input: impl BufRead, mut output: impl Write) -> io::Result<()> {
        for line in input.lines() {
            let line = line?;
            if line == "exit" {
                break;
            }
            match self.answer(&line, &mut output) {
                Ok(word) if word.is_empty() => writeln!(output, "ok")?,
                Ok(word) => writeln!(output, "ok {}", escape(word.as_bytes()))?,
                Err(e) => writeln!(
                    output,
                    "err {} {} {}",
                    e.extended & 0xff,
                    e.extended,
                    escape(e.message.as_bytes())
                )?,
            }
            output.flush()?;
        }
        Ok(())
    }

    fn answer(&mut self, line: &str, output: &mut impl Write) -> Result<String, Error> {
        let words = line.split(' ').map(word).collect::<Result<Vec<_>, _>>()?;
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut row = |values: Vec<String>| -> Result<(), Error> {
            Ok(writeln!(output, "row {}", values.join(" "))?)
        };
        match words[..] {
            ["open", name, path, key] => self.open(name, path, key, false)?,
            ["open", name, path, key, "ro"] => self.open(name, path, key, true)?,
            ["key", name, key] => database::set_key(self.get(name)?, "main", &key_bytes(key)?)?,
            ["key", name, key, schema] => {
                database::set_key(self.get(name)?, schema, &key_bytes(key)?)?;
            }
            ["rekey", name, key] => {
                database::change_key(self.get(name)?, "main", &key_bytes(key)?)?;
            }
            ["rekey", name, key, schema] => {
                database::change_key(self.get(name)?, schema, &key_bytes(key)?)?;
            }
            ["exec", name, sql] => database::run(self.get(name)?, sql, |_| Ok(()))?,
            ["query", name, sql] => database::run(self.get(name)?, sql, row)?,
            ["content_hash", name, ref schema @ ..] => {
                let schema = schema.first().unwrap_or(&"main");
                let hash = content_hash::content_hash(self.get(name)?, schema)?;
                for (table, rows) in hash.tables {
                    let count = Value::Integer(rows.cast_signed());
                    row(vec![Value::Text(table).encode(), count.encode()])?;
                }
                return Ok(hash.sha256);
            }
            ["bank_setup", name, accounts, balance, pad] => {
                let (accounts, balance, pad) = (int(accounts)?, int(balance)?, int(pad)?);
                bank::set_up(self.get(name)?, accounts, balance, pad)?;
            }
            ["bank", name, count, log, ref knobs @ ..] => {
                let knobs = bank::Knobs::parse(knobs)?;
                return bank::run(self.get(name)?, int(count)?, log.as_ref(), &knobs);
            }
            ["close", name] => {
                let conn = self.connections.remove(name);
                let conn = conn.ok_or_else(|| Error::request(format!("no connection {name}")))?;
                conn.close().map_err(|(_, e)| e)?;
            }
            _ => return Err(Error::request(format!("cannot understand: {line}"))),
        }
        Ok(String::new())
    }

    fn open(&mut self, name: &str, path: &str, key: &str, read_only: bool) -> Result<(), Error> {
        let key = match key {
            "-" => None,
            hex => Some(key_bytes(hex)?),
        };
        let conn = database::open(path, key.as_deref(), read_only)?;
        self.connections.insert(name.to_owned(), conn);
        Ok(())
    }

    fn get(&self, name: &str) -> Result<&Connection, Error> {
        let conn = self.connections.get(name);
        conn.ok_or_else(|| Error::request(format!("no connection {name}")))
    }
}

fn word(escaped: &str) -> Result<String, Error> {
    let bytes = unescape(escaped).ok_or_else(|| Error::request("bad escape"))?;
    String::from_utf8(bytes).map_err(|e| Error::request(e.to_string()))
}

fn key_bytes(hex: &str) -> Result<Vec<u8>, Error> {
    from_hex(hex).ok_or_else(|| Error::request("the key is not hexadecimal"))
}

fn int(word: &str) -> Result<i64, Error> {
    word.parse()
        .map_err(|_| Error::request(format!("not a number: {word}")))
}
