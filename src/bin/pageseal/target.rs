//! A database on the command line: a path, or a `file:` URI with settings.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use pageseal::format::Choice;
use pageseal::pragma::settings::parse_setting;
use pageseal::pragma::{Setting, UriOptions, uri};
use pageseal::secret::{SALT_LEN, Salt};

use crate::args::GivenSettings;
use crate::error::{CliError, Result};

/// A database on the command line.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    /// Its path.
    pub(crate) path: PathBuf,
    settings: Vec<Setting>,
    salt: Option<Salt>,
    /// `cipher_shared_wal`, which only [`Target::parse_live`] takes.
    pub(crate) shared_wal: bool,
    /// `mode`, likewise.
    pub(crate) mode: Option<Mode>,
}

/// What SQLite's `mode` in a URI says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// `ro`
    ReadOnly,
    /// `rw`
    ReadWrite,
    /// `rwc`
    Create,
}

/// Settings, and whether they are to be found out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Chosen {
    pub(crate) choice: Choice,
    pub(crate) salt: Option<Salt>,
    /// `--compat auto`.
    pub(crate) probe: bool,
    /// Nothing was said about settings at all.
    pub(crate) by_default: bool,
}

impl Target {
    /// From an argument of a command that goes about the file in its own way.
    pub(crate) fn parse(argument: &OsStr) -> Result<Self> {
        let target = Self::parse_live(argument)?;
        let name = match (target.mode, target.shared_wal) {
            (Some(_), _) => "mode",
            (None, true) => "cipher_shared_wal",
            (None, false) => return Ok(target),
        };
        Err(not_here(name).hint("only `pageseal sql` takes it; leave it out"))
    }

    /// From an argument of a command that opens the database as SQLite does.
    pub(crate) fn parse_live(argument: &OsStr) -> Result<Self> {
        let bytes = argument.as_encoded_bytes();
        match bytes.strip_prefix(b"file:") {
            Some(rest) => Self::from_uri(core::str::from_utf8(rest).map_err(|_| {
                CliError::usage("the URI is not UTF-8")
                    .hint("write other bytes as %XX, or give the path without `file:`")
            })?),
            None => Ok(Self {
                path: argument.into(),
                settings: Vec::new(),
                salt: None,
                shared_wal: false,
                mode: None,
            }),
        }
    }

    fn from_uri(rest: &str) -> Result<Self> {
        let rest = rest.split_once('#').map_or(rest, |(before, _)| before);
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        let path = match path.strip_prefix("//") {
            None => path,
            Some(with_host) => {
                let at = with_host.find('/').unwrap_or(with_host.len());
                let (host, path) = with_host.split_at(at);
                if !["", "localhost"].contains(&host) {
                    return Err(CliError::usage(format!(
                        "the URI names another host, {host}"
                    )));
                }
                path
            }
        };
        let parameters: Vec<(Vec<u8>, Vec<u8>)> = query
            .split('&')
            .filter(|part| !part.is_empty())
            .map(|part| {
                let (name, value) = part.split_once('=').unwrap_or((part, ""));
                (decode_percent(name), decode_percent(value))
            })
            .collect();
        let parameters = parameters
            .iter()
            .map(|(name, value)| (name.as_slice(), value.as_slice()));
        let mode = mode(parameters.clone())?;
        let UriOptions {
            key,
            settings,
            salt,
            shared_wal,
            ..
        } = uri::parse(parameters)?;
        if key.is_some() {
            return Err(CliError::usage(
                "a key in the URI can be read by other users and stays in the shell's history",
            )
            .hint("give it with --key-file, --key-fd or --key-env"));
        }
        Ok(Self {
            path: path_of(decode_percent(path))?,
            settings,
            salt,
            shared_wal: shared_wal == Some(true),
            mode,
        })
    }

    /// The settings: `base`, changed by the URI, and that by the options.
    pub(crate) fn settings(
        &self,
        base: Choice,
        compat: Option<&str>,
        given: &GivenSettings,
        salt: Option<&str>,
    ) -> Result<Chosen> {
        let mut choice = base;
        for setting in &self.settings {
            setting.apply(&mut choice);
        }
        let probe = compat == Some("auto");
        if let Some(version) = compat.filter(|_| !probe) {
            apply(&mut choice, "cipher_compatibility", version)?;
        }
        for (name, value) in given {
            apply(&mut choice, name, value)?;
        }
        Ok(Chosen {
            choice,
            salt: salt.map(parse_salt).transpose()?.or(self.salt),
            probe,
            by_default: compat.is_none() && given.is_empty() && self.settings.is_empty(),
        })
    }
}

/// Parameters that are SQLite's, and what to do instead. Overlooked they would promise
/// what is not kept.
const FOREIGN: [(&str, &str); 5] = [
    ("vfs", "pageseal brings its own; leave it out"),
    ("cache", "leave it out"),
    ("immutable", "leave it out"),
    ("nolock", "leave it out"),
    ("psow", "leave it out"),
];

/// Takes `mode`, and refuses what is neither that nor one of our own parameters.
fn mode<'a>(parameters: impl Iterator<Item = (&'a [u8], &'a [u8])>) -> Result<Option<Mode>> {
    let mut mode = None;
    for (name, value) in parameters {
        let text = String::from_utf8_lossy(name);
        if name == b"mode" {
            let new = match value {
                b"ro" => Mode::ReadOnly,
                b"rw" => Mode::ReadWrite,
                b"rwc" => Mode::Create,
                _ => return Err(CliError::usage("mode: ro, rw or rwc is needed")),
            };
            if mode.replace(new).is_some() {
                return Err(CliError::usage("mode: one value is needed"));
            }
        } else if name == b"vfs" && value == b"pageseal" {
            // As it stands in the URIs of programs; it is what happens.
        } else if let Some((_, hint)) = FOREIGN.iter().find(|(foreign, _)| *foreign == text) {
            return Err(not_here(&text).hint(*hint));
        } else if !uri::is_ours(name) {
            return Err(CliError::usage(format!("unknown URI parameter {text:?}"))
                .hint("settings are named as in PRAGMA; a ? in a path is written %3F"));
        }
    }
    Ok(mode)
}

fn not_here(name: &str) -> CliError {
    CliError::usage(format!("the URI parameter {name} can't be honoured here"))
}

/// The path that a URI names, whatever its bytes.
fn path_of(bytes: Vec<u8>) -> Result<PathBuf> {
    if bytes.is_empty() {
        return Err(CliError::usage("the URI names no file"));
    }
    if bytes.contains(&0) {
        return Err(CliError::usage("the URI has %00 in its path"));
    }
    #[cfg(unix)]
    let path: OsString = std::os::unix::ffi::OsStringExt::from_vec(bytes);
    #[cfg(not(unix))]
    let path: OsString = String::from_utf8(bytes)
        .map_err(|_| CliError::usage("the path in the URI is not UTF-8"))?
        .into();
    Ok(path.into())
}

/// The byte that two hexadecimal digits write (and no sign, which `from_str_radix` takes).
fn hex_byte(digits: &[u8]) -> Option<u8> {
    let digit = |at: usize| char::from(*digits.get(at)?).to_digit(16);
    u8::try_from(digit(0)? * 16 + digit(1)?).ok()
}

fn apply(choice: &mut Choice, name: &str, value: &str) -> Result {
    if let Some(setting) = parse_setting(name, value.as_bytes())? {
        setting.apply(choice);
    }
    Ok(())
}

fn parse_salt(digits: &str) -> Result<Salt> {
    let byte = |at: usize| digits.as_bytes().get(at..at + 2).and_then(hex_byte);
    let bytes: Option<Vec<u8>> = (0..digits.len()).step_by(2).map(byte).collect();
    bytes
        .and_then(|bytes| <[u8; SALT_LEN]>::try_from(bytes).ok())
        .ok_or_else(|| CliError::usage("--salt: 32 hexadecimal digits are needed"))
}

fn decode_percent(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [byte, tail @ ..] = rest {
        let digits = tail.first_chunk::<2>().filter(|_| *byte == b'%');
        let decoded = digits.and_then(|digits| hex_byte(digits));
        match decoded {
            Some(decoded) => {
                out.push(decoded);
                rest = &tail[2..];
            }
            None => {
                out.push(*byte);
                rest = tail;
            }
        }
    }
    out
}
