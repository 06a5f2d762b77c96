//! Where the process's log lines go beside SQLite's error log, as `cipher_log`,
//! `cipher_log_level` and `cipher_log_source` have set it. Nowhere, at first.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::log::{LogLevel, LogSource, LogSourceChange, LogSources, LogTarget};

enum Sink {
    Off,
    Stdout,
    Stderr,
    File(File),
}

impl Sink {
    /// `None` where that is not possible: a file must open, and there is no system
    /// log to write to.
    fn open(target: LogTarget) -> Option<Self> {
        Some(match target {
            LogTarget::Off => Self::Off,
            LogTarget::Stdout => Self::Stdout,
            LogTarget::Stderr => Self::Stderr,
            LogTarget::Device => return None,
            LogTarget::File(name) => {
                let name = PathBuf::from(String::from_utf8(name).ok()?);
                let mut options = OpenOptions::new();
                Self::File(options.append(true).create(true).open(name).ok()?)
            }
        })
    }

    fn write(&mut self, line: &str) {
        // There is nobody to tell that a log can't be written.
        let _ = match self {
            Self::Off => Ok(()),
            Self::Stdout => io::stdout().write_all(line.as_bytes()),
            Self::Stderr => io::stderr().write_all(line.as_bytes()),
            Self::File(file) => file.write_all(line.as_bytes()),
        };
    }
}

/// Where the lines of `cipher_profile` go. A connection may write to it for as long as
/// it likes, so it is never closed; there is one for each target.
pub struct Lines {
    target: LogTarget,
    sink: Mutex<Sink>,
}

impl Lines {
    /// The one for a target; `None` where that is not possible.
    #[must_use]
    pub fn to(target: LogTarget) -> Option<&'static Self> {
        static ALL: Mutex<Vec<&'static Lines>> = Mutex::new(Vec::new());
        let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lines) = all.iter().find(|lines| lines.target == target) {
            return Some(lines);
        }
        let sink = Mutex::new(Sink::open(target.clone())?);
        let lines = Box::leak(Box::new(Self { target, sink }));
        all.push(lines);
        Some(lines)
    }

    /// Writes text, with its line ends.
    pub fn write(&self, text: &str) {
        let mut sink = self.sink.lock().unwrap_or_else(PoisonError::into_inner);
        sink.write(text);
    }
}

struct Output {
    sink: Sink,
    level: LogLevel,
    sources: LogSources,
}

static OUTPUT: Mutex<Output> = Mutex::new(Output {
    sink: Sink::Off,
    level: LogLevel::Warn,
    sources: LogSources::ANY,
});

fn output() -> MutexGuard<'static, Output> {
    OUTPUT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sends the lines somewhere else. Returns whether that is possible: a file must
/// open, and there is no system log to write to.
pub(super) fn set_target(target: LogTarget) -> bool {
    let sink = Sink::open(target);
    let possible = sink.is_some();
    if let Some(sink) = sink {
        output().sink = sink;
    }
    possible
}

/// Sets the level, if one is given, and returns it.
pub(super) fn level(new: Option<LogLevel>) -> LogLevel {
    let mut output = output();
    if let Some(level) = new {
        output.level = level;
    }
    output.level
}

/// Changes the sources, if a change is given, and returns them.
pub(super) fn sources(change: Option<LogSourceChange>) -> LogSources {
    let mut output = output();
    if let Some(change) = change {
        output.sources.change(change);
    }
    output.sources
}

/// Writes a line, if its level and source are wanted.
pub fn write(level: LogLevel, source: LogSource, text: &str) {
    let mut output = output();
    if level > output.level || !output.sources.contains(source) {
        return;
    }
    let line = format!("{} {text}\n", level.as_str());
    output.sink.write(&line);
}
