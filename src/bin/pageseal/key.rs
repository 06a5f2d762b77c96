//! Getting a key from where the arguments say, without leaving copies behind.

use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::path::Path;

use pageseal::Key;
use pageseal::format::key_text::parse_key;
use zeroize::Zeroizing;

use crate::args::{KeyForm, KeyFrom, KeySource};
use crate::error::{CliError, Result};

/// No passphrase is longer, and no file that is one by mistake is read to its end.
const MAX_KEY: usize = 1 << 16;

/// Whether a key that is asked for is typed twice.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ask<'a> {
    /// For the key that a file has.
    Existing(&'a Path),
    /// For the key that a file gets.
    New(&'a Path),
}

/// Gets a key from its source, or asks for it where there is none.
pub(crate) fn get(source: Option<KeySource>, ask: Ask<'_>) -> Result<Key> {
    let Some(source) = source else {
        return prompt(ask);
    };
    let bytes = match source.from {
        KeyFrom::Prompt => return prompt(ask),
        KeyFrom::Argument(text) => {
            eprintln!(
                "pageseal: warning: a key on the command line can be read by other users and stays in the shell's history"
            );
            Zeroizing::new(text.into_bytes())
        }
        KeyFrom::Env(name) => match std::env::var_os(&name) {
            Some(value) => Zeroizing::new(value.into_encoded_bytes()),
            None => {
                return Err(CliError::usage(format!(
                    "the environment variable {name} is not set"
                )));
            }
        },
        KeyFrom::File(path) if path == Path::new("-") => read(io::stdin().lock(), &path)?,
        KeyFrom::File(path) => {
            let file = File::open(&path).map_err(|error| CliError::io("open", &path, &error))?;
            read(file, &path)?
        }
        KeyFrom::Fd(fd) => {
            let path = fd_path(fd)?;
            let file = File::open(&path).map_err(|error| CliError::io("open", &path, &error))?;
            read(file, &path)?
        }
    };
    Ok(match source.form {
        KeyForm::Text => parse_key(without_line_end(&bytes))?,
        KeyForm::Raw => Key::from_raw_bytes(&bytes)?,
        KeyForm::Hex => {
            let digits = without_line_end(&bytes);
            let digits = digits
                .strip_prefix(b"x'")
                .or(digits.strip_prefix(b"X'"))
                .and_then(|rest| rest.strip_suffix(b"'"))
                .unwrap_or(digits);
            let digits = core::str::from_utf8(digits)
                .map_err(|_| CliError::from(pageseal::error::KeyError::NotHex))?;
            Key::from_raw_hex(digits)?
        }
    })
}

/// Reads all there is, in one allocation: one that grows leaves copies behind.
fn read(mut from: impl Read, path: &Path) -> Result<Zeroizing<Vec<u8>>> {
    let mut bytes = Zeroizing::new(vec![0; MAX_KEY + 1]);
    let mut len = 0;
    while len < bytes.len() {
        match from.read(&mut bytes[len..]) {
            Ok(0) => break,
            Ok(n) => len += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(CliError::io("read", path, &error)),
        }
    }
    if len > MAX_KEY {
        return Err(CliError::usage(format!(
            "{} is too long for a key; name the file that holds the key and nothing else",
            path.display()
        )));
    }
    bytes.truncate(len);
    Ok(bytes)
}

/// A text without the one line end that editors and `echo` add.
fn without_line_end(bytes: &[u8]) -> &[u8] {
    match bytes {
        [text @ .., b'\r', b'\n'] | [text @ .., b'\n'] => text,
        text => text,
    }
}

#[cfg(unix)]
fn fd_path(fd: u32) -> Result<std::path::PathBuf> {
    Ok(format!("/dev/fd/{fd}").into())
}

#[cfg(not(unix))]
fn fd_path(_: u32) -> Result<std::path::PathBuf> {
    Err(CliError::usage(
        "this system has no file descriptors to read a key from; use --key-file or --key-env",
    ))
}

fn prompt(ask: Ask<'_>) -> Result<Key> {
    if !io::stdin().is_terminal() {
        return Err(CliError::usage("no key, and no terminal to ask for it at")
            .hint("give one with --key-file, --key-fd or --key-env (a new one with --new-key-file and so on)"));
    }
    let line = |text: String| {
        rpassword::prompt_password(text)
            .map(Zeroizing::new)
            .map_err(|error| CliError::io("read the key from", Path::new("the terminal"), &error))
    };
    match ask {
        Ask::Existing(path) => Ok(parse_key(
            line(format!("Key of {}: ", path.display()))?.as_bytes(),
        )?),
        Ask::New(path) => {
            let first = line(format!("New key of {}: ", path.display()))?;
            let second = line("The same again: ".to_owned())?;
            if *first != *second {
                return Err(CliError::usage("the two keys differ; nothing was changed"));
            }
            Ok(parse_key(first.as_bytes())?)
        }
    }
}
