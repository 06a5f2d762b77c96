//! A database on the command line: a path, or a `file:` URI with settings.

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
    /// From an argument.
    pub(crate) fn parse(argument: &std::ffi::OsStr) -> Result<Self> {
        match argument
            .to_str()
            .and_then(|text| text.strip_prefix("file:"))
        {
            Some(rest) => Self::from_uri(rest),
            None => Ok(Self {
                path: argument.into(),
                settings: Vec::new(),
                salt: None,
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
        let UriOptions {
            key,
            settings,
            salt,
            ..
        } = uri::parse(parameters)?;
        if key.is_some() {
            return Err(CliError::usage(
                "a key in the URI can be read by other users and stays in the shell's history",
            )
            .hint("give it with --key-file, --key-fd or --key-env"));
        }
        let path = decode_percent(path);
        Ok(Self {
            path: String::from_utf8_lossy(&path).into_owned().into(),
            settings,
            salt,
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

fn apply(choice: &mut Choice, name: &str, value: &str) -> Result {
    if let Some(setting) = parse_setting(name, value.as_bytes())? {
        setting.apply(choice);
    }
    Ok(())
}

fn parse_salt(digits: &str) -> Result<Salt> {
    let byte = |at: usize| {
        digits
            .get(at..at + 2)
            .and_then(|pair| u8::from_str_radix(pair, 16).ok())
    };
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
        let decoded = digits
            .and_then(|digits| u8::from_str_radix(core::str::from_utf8(digits).ok()?, 16).ok());
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
