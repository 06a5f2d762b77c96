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
    let sink = match target {
        LogTarget::Off => Sink::Off,
        LogTarget::Stdout => Sink::Stdout,
        LogTarget::Stderr => Sink::Stderr,
        LogTarget::Device => return false,
        LogTarget::File(name) => {
            let Ok(name) = String::from_utf8(name) else {
                return false;
            };
            match OpenOptions::new()
                .append(true)
                .create(true)
                .open(PathBuf::from(name))
            {
                Ok(file) => Sink::File(file),
                Err(_) => return false,
            }
        }
    };
    output().sink = sink;
    true
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
    // There is nobody to tell that a log can't be written.
    let _ = match &mut output.sink {
        Sink::Off => Ok(()),
        Sink::Stdout => io::stdout().write_all(line.as_bytes()),
        Sink::Stderr => io::stderr().write_all(line.as_bytes()),
        Sink::File(file) => file.write_all(line.as_bytes()),
    };
}
