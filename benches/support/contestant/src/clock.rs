//! Time, as a step measures it.

use std::fs;
use std::time::{Duration, Instant};

/// Adds up the parts of a step that are measured.
#[derive(Debug)]
pub struct Stopwatch {
    slow_percent: u32,
    total: Duration,
    waited: Option<Duration>,
}

impl Stopwatch {
    /// A stopwatch at zero. With `slow_percent` it makes everything take that much
    /// longer: the harness's self-check must notice.
    #[must_use]
    pub fn new(slow_percent: u32) -> Self {
        Self {
            slow_percent,
            total: Duration::ZERO,
            waited: run_queue_wait().map(|_| Duration::ZERO),
        }
    }

    /// Measures `work`, on top of what was measured before.
    pub fn time<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let queued = run_queue_wait();
        let start = Instant::now();
        let result = work();
        let mut elapsed = start.elapsed();
        if self.slow_percent > 0 {
            let goal = elapsed + elapsed * self.slow_percent / 100;
            while elapsed < goal {
                std::hint::spin_loop();
                elapsed = start.elapsed();
            }
        }
        self.total += elapsed;
        if let (Some(sum), Some(before), Some(after)) =
            (self.waited.as_mut(), queued, run_queue_wait())
        {
            *sum += after.saturating_sub(before);
        }
        result
    }

    /// What was measured.
    #[must_use]
    pub fn total(&self) -> Duration {
        self.total
    }

    /// How long this thread was ready to run while it was measured, but had no CPU.
    #[must_use]
    pub fn waited(&self) -> Option<Duration> {
        self.waited
    }
}

/// Linux: the second figure of `schedstat`, in nanoseconds.
fn run_queue_wait() -> Option<Duration> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanos = text.split_whitespace().nth(1)?.parse().ok()?;
    Some(Duration::from_nanos(nanos))
}
