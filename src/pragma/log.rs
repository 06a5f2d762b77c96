//! `cipher_log`, `cipher_log_level`, `cipher_log_source` and `cipher_profile`: what
//! is logged, and where to.

use core::fmt;

/// Where log lines or query times go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogTarget {
    /// `off`: nowhere.
    Off,
    /// `stdout`.
    Stdout,
    /// `stderr`.
    Stderr,
    /// `device` or `logcat`: the system's own log.
    Device,
    /// A file, by name, to be appended to.
    File(Vec<u8>),
}

impl LogTarget {
    /// Reads the value of `cipher_log` or `cipher_profile`. Every other word is the
    /// name of a file.
    #[must_use]
    pub fn parse(value: &[u8]) -> Self {
        let is = |word: &str| value.eq_ignore_ascii_case(word.as_bytes());
        if is("off") {
            Self::Off
        } else if is("stdout") {
            Self::Stdout
        } else if is("stderr") {
            Self::Stderr
        } else if is("device") || is("logcat") {
            Self::Device
        } else {
            Self::File(value.to_vec())
        }
    }
}

/// How much is logged; each level includes those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LogLevel {
    /// Nothing.
    None,
    /// What made a statement fail.
    Error,
    /// What is probably not meant.
    Warn,
    /// What happens once a connection.
    Info,
    /// Each step.
    Debug,
    /// Each page.
    Trace,
}

impl LogLevel {
    /// Reads the value of `cipher_log_level`. As in SQLCipher a word that is no
    /// level switches the log off.
    #[must_use]
    pub fn parse(value: &[u8]) -> Self {
        [
            Self::Error,
            Self::Warn,
            Self::Info,
            Self::Debug,
            Self::Trace,
        ]
        .into_iter()
        .find(|level| value.eq_ignore_ascii_case(level.as_str().as_bytes()))
        .unwrap_or(Self::None)
    }

    /// The level's name, which `cipher_log_level` answers with.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "NONE",
            Self::Error => "ERROR",
            Self::Warn => "WARN",
            Self::Info => "INFO",
            Self::Debug => "DEBUG",
            Self::Trace => "TRACE",
        }
    }
}

/// One part of the code that logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LogSource {
    /// Keys, pages, pragmas.
    Core,
    /// Memory.
    Memory,
    /// Locks.
    Mutex,
    /// Cryptography.
    Provider,
}

impl LogSource {
    /// In the order in which `cipher_log_source` lists them.
    const ALL: [Self; 4] = [Self::Core, Self::Memory, Self::Mutex, Self::Provider];

    const fn as_str(self) -> &'static str {
        match self {
            Self::Core => "CORE",
            Self::Memory => "MEMORY",
            Self::Mutex => "MUTEX",
            Self::Provider => "PROVIDER",
        }
    }

    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// What one `PRAGMA cipher_log_source = …` does to the set of sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LogSourceChange {
    /// `NONE`: no source.
    None,
    /// `ANY`: every source.
    Any,
    /// One more source.
    Add(LogSource),
    /// A word that is no source: the set stays as it is.
    Keep,
}

impl LogSourceChange {
    /// Reads the value of `cipher_log_source`.
    #[must_use]
    pub fn parse(value: &[u8]) -> Self {
        let is = |word: &str| value.eq_ignore_ascii_case(word.as_bytes());
        if is("NONE") {
            return Self::None;
        }
        if is("ANY") {
            return Self::Any;
        }
        LogSource::ALL
            .into_iter()
            .find(|source| is(source.as_str()))
            .map_or(Self::Keep, Self::Add)
    }
}

/// The sources whose lines are logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LogSources(u8);

impl LogSources {
    /// No source.
    pub const NONE: Self = Self(0);
    /// Every source, also those that are yet to come.
    pub const ANY: Self = Self(u8::MAX);

    /// Carries out one pragma.
    pub fn change(&mut self, change: LogSourceChange) {
        match change {
            LogSourceChange::None => *self = Self::NONE,
            LogSourceChange::Any => *self = Self::ANY,
            LogSourceChange::Add(source) => self.0 |= source.bit(),
            LogSourceChange::Keep => {}
        }
    }

    /// Whether lines of this source are logged.
    #[must_use]
    pub const fn contains(self, source: LogSource) -> bool {
        self.0 & source.bit() != 0
    }
}

impl fmt::Display for LogSources {
    /// As `cipher_log_source` answers: `NONE`, `ANY` or names with blanks between.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::NONE => return f.write_str("NONE"),
            Self::ANY => return f.write_str("ANY"),
            _ => {}
        }
        let mut separator = "";
        for source in LogSource::ALL {
            if self.contains(source) {
                write!(f, "{separator}{}", source.as_str())?;
                separator = " ";
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets() {
        for (value, target) in [
            ("off", LogTarget::Off),
            ("STDOUT", LogTarget::Stdout),
            ("stderr", LogTarget::Stderr),
            ("device", LogTarget::Device),
            ("logcat", LogTarget::Device),
            ("/tmp/off", LogTarget::File(b"/tmp/off".to_vec())),
            ("", LogTarget::File(Vec::new())),
        ] {
            assert_eq!(LogTarget::parse(value.as_bytes()), target, "{value}");
        }
    }

    #[test]
    fn levels() {
        for name in ["ERROR", "WARN", "INFO", "DEBUG", "TRACE", "NONE"] {
            assert_eq!(LogLevel::parse(name.as_bytes()).as_str(), name);
            assert_eq!(
                LogLevel::parse(name.to_lowercase().as_bytes()).as_str(),
                name
            );
        }
        assert_eq!(LogLevel::parse(b"loud"), LogLevel::None);
        assert!(LogLevel::Trace > LogLevel::Error);
    }

    #[test]
    fn sources_add_up() {
        let mut sources = LogSources::ANY;
        assert_eq!(sources.to_string(), "ANY");
        for (value, answer) in [
            ("none", "NONE"),
            ("PROVIDER", "PROVIDER"),
            ("Core", "CORE PROVIDER"),
            ("nonsense", "CORE PROVIDER"),
            ("MEMORY", "CORE MEMORY PROVIDER"),
            ("MUTEX", "CORE MEMORY MUTEX PROVIDER"),
            ("ANY", "ANY"),
            ("CORE", "ANY"),
        ] {
            sources.change(LogSourceChange::parse(value.as_bytes()));
            assert_eq!(sources.to_string(), answer, "{value}");
        }
        assert!(sources.contains(LogSource::Mutex));
        assert!(!LogSources::NONE.contains(LogSource::Mutex));
    }
}
