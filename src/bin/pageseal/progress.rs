//! Progress bars: on a terminal, and only for what takes longer than a second.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use pageseal::offline::Progress;

use crate::args::Common;

/// How long something may take without a bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// What the numbers of a bar count.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Bytes, with throughput.
    Bytes,
    /// Something that nobody wants to see counted.
    Share,
}

/// A progress bar.
pub(crate) struct Bar {
    bar: ProgressBar,
    start: Instant,
    wanted: bool,
    shown: AtomicBool,
}

impl Bar {
    /// A bar for `what`, not yet shown.
    pub(crate) fn new(what: &'static str, unit: Unit, common: &Common) -> Self {
        let template = match unit {
            Unit::Bytes => {
                "{msg} [{bar:32}] {percent:>3}%  {bytes} of {total_bytes}  {binary_bytes_per_sec}  {eta} left"
            }
            Unit::Share => "{msg} [{bar:32}] {percent:>3}%  {eta} left",
        };
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("█▉▊▋▌▍▎▏ "));
        }
        bar.set_message(what);
        Self {
            bar,
            start: Instant::now(),
            wanted: !common.quiet && std::io::stderr().is_terminal(),
            shown: AtomicBool::new(false),
        }
    }

    /// Takes the bar away; how long it all took.
    pub(crate) fn finish(&self) -> Duration {
        self.bar.finish_and_clear();
        self.start.elapsed()
    }
}

impl Progress for Bar {
    fn begin(&self, bytes: u64) {
        self.bar.set_length(bytes);
        self.bar.set_position(0);
    }

    fn advance(&self, bytes: u64) {
        self.bar.inc(bytes);
        if self.wanted
            && self.start.elapsed() > PATIENCE
            && !self.shown.swap(true, Ordering::Relaxed)
        {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    }
}

/// A sign of life for what can't tell how far it is.
pub(crate) struct Spinner {
    bar: ProgressBar,
    start: Instant,
}

impl Spinner {
    pub(crate) fn new(what: &'static str, common: &Common) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}  {elapsed}") {
            bar.set_style(style);
        }
        bar.set_message(what);
        if !common.quiet && std::io::stderr().is_terminal() {
            bar.set_draw_target(ProgressDrawTarget::stderr());
            bar.enable_steady_tick(PATIENCE);
        }
        Self {
            bar,
            start: Instant::now(),
        }
    }

    /// Takes it away; how long it all took.
    pub(crate) fn finish(&self) -> Duration {
        self.bar.finish_and_clear();
        self.start.elapsed()
    }
}
