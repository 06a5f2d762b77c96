//! The goals that pageseal sets itself, judged by what was measured. They are no gate:
//! a busy machine must not fail a build.

use std::fmt::Write as _;

use crate::contestants::{PAGESEAL, PAGESEAL_NO_HMAC, PLAIN, SQLCIPHER, SQLCIPHER_NO_HMAC};
use crate::report::{Report, StepReport};
use crate::stats::{Spread, Verdict};
use crate::summary;

/// A limit on what.
#[derive(Clone, Copy, Debug)]
enum Limit {
    /// Its time relative to plain SQLite's.
    ToPlain(f64),
    /// Its time relative to SQLCipher's.
    ToRival(f64),
    /// Its cost over plain SQLite relative to SQLCipher's.
    Overhead(f64),
    /// A further figure, by name.
    Figure(&'static str, f64),
}

/// A goal for every step whose name contains `step`.
struct Goal {
    workload: &'static str,
    step: &'static str,
    limit: Limit,
}

const fn goal(workload: &'static str, step: &'static str, limit: Limit) -> Goal {
    Goal {
        workload,
        step,
        limit,
    }
}

const GOALS: [Goal; 16] = [
    goal("crypto_speedtest", "total", Limit::Overhead(0.25)),
    goal("crypto_speedtest", "total", Limit::ToPlain(1.12)),
    goal("crypto_speedtest", ": ", Limit::Overhead(0.5)),
    goal("streaming", "full scan", Limit::Overhead(0.35)),
    goal("streaming", "random point lookups", Limit::Overhead(0.75)),
    goal("hash_ingest", "load", Limit::ToPlain(1.15)),
    goal("hash_ingest", "index", Limit::ToPlain(1.15)),
    goal(
        "hash_ingest",
        "random lookups",
        Limit::Figure("median_us", 1000.0),
    ),
    goal("wal", "synchronous NORMAL", Limit::Overhead(0.5)),
    goal("wal", "checkpoint of", Limit::ToPlain(1.1)),
    goal("small", "two connections", Limit::ToRival(0.5)),
    goal("small", "cached row", Limit::ToPlain(1.1)),
    goal("small", "cached row", Limit::ToRival(1.0)),
    goal("open", "version 4: passphrase, ", Limit::ToRival(0.9)),
    goal("open", "a pool of", Limit::ToRival(0.25)),
    goal("integrity", "cipher_integrity_check", Limit::ToRival(0.25)),
];

/// Above this a single one of the fifteen tests has a goal of its own, in nanoseconds.
const SINGLE_TEST: f64 = 20e6;
/// What a connection may hold beyond plain SQLite, in bytes.
const MEMORY: f64 = 8.0 * 1_048_576.0;
/// The workloads with one connection at a time.
const ONE_CONNECTION: [&str; 3] = ["crypto_speedtest", "hash_ingest", "streaming"];

/// What became of a goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Surely within the limit.
    Met,
    /// The interval holds the limit.
    Open,
    /// Surely not.
    Missed,
}

impl State {
    fn of(spread: &Spread, limit: f64) -> Self {
        if spread.high <= limit {
            Self::Met
        } else if spread.low > limit {
            Self::Missed
        } else {
            Self::Open
        }
    }

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::Open => "within noise",
            Self::Missed => "MISSED",
        }
    }
}

/// A goal and its state.
#[derive(Clone, Debug)]
pub(crate) struct Judged {
    pub(crate) what: String,
    pub(crate) state: State,
}

/// Every goal that this report says something about.
pub(crate) fn judge(report: &Report) -> Vec<Judged> {
    let mut judged = Vec::new();
    for goal in GOALS.iter().filter(|goal| goal.workload == report.workload) {
        for step in report.lines().filter(|step| step.name.contains(goal.step)) {
            judged.extend(judge_one(step, goal.limit));
        }
    }
    for step in report.lines() {
        judged.extend(without_hmac(step));
    }
    if ONE_CONNECTION.contains(&report.workload.as_str()) {
        judged.extend(memory(report));
    }
    judged
}

fn judge_one(step: &StepReport, limit: Limit) -> Option<Judged> {
    let (what, spread, limit) = match limit {
        Limit::ToPlain(limit) => ("x plain", summary::ratio(step, PAGESEAL, PLAIN)?, limit),
        Limit::ToRival(limit) => (
            "x SQLCipher",
            summary::ratio(step, PAGESEAL, SQLCIPHER)?,
            limit,
        ),
        Limit::Overhead(limit) => {
            let overhead = summary::overhead(step, PAGESEAL, SQLCIPHER)?;
            let rival = Spread::of(step.samples.get(SQLCIPHER)?.iter().copied())?;
            if step.name != "total" && rival.median < SINGLE_TEST {
                return None;
            }
            if overhead.in_noise {
                return cost_where_the_rival_has_none(step);
            }
            ("of SQLCipher's overhead", overhead.spread, limit)
        }
        Limit::Figure(name, limit) => {
            let value = *step.extra.get(PAGESEAL)?.get(name)?;
            (name, Spread::of([value])?, limit)
        }
    };
    Some(Judged {
        what: format!(
            "{}: {:.2} [{:.2}, {:.2}] {what}, goal {limit}",
            step.name, spread.median, spread.low, spread.high
        ),
        state: State::of(&spread, limit),
    })
}

/// A fraction of nothing: no figure, but a goal missed if it is slower all the same.
fn cost_where_the_rival_has_none(step: &StepReport) -> Option<Judged> {
    let (plain, rival) = (
        summary::ratio(step, PAGESEAL, PLAIN)?,
        summary::ratio(step, PAGESEAL, SQLCIPHER)?,
    );
    let slower = plain.verdict() == Verdict::Slower && rival.verdict() == Verdict::Slower;
    slower.then(|| Judged {
        what: format!(
            "{}: {:.2} [{:.2}, {:.2}] x plain, where SQLCipher's cost is within noise",
            step.name, plain.median, plain.low, plain.high
        ),
        state: State::Missed,
    })
}

/// Without HMAC never slower than SQLCipher without HMAC: told only where it is.
fn without_hmac(step: &StepReport) -> Option<Judged> {
    let spread = summary::ratio(step, PAGESEAL_NO_HMAC, SQLCIPHER_NO_HMAC)?;
    let state = match spread.verdict() {
        Verdict::Slower => State::Missed,
        _ => return None,
    };
    Some(Judged {
        what: format!(
            "{}, no HMAC: {:.2} [{:.2}, {:.2}] x SQLCipher without HMAC, goal 1",
            step.name, spread.median, spread.low, spread.high
        ),
        state,
    })
}

fn memory(report: &Report) -> Option<Judged> {
    let of = |id: &str| report.peak_memory.get(id).map(|&bytes| bytes as f64);
    let more = of(PAGESEAL)? - of(PLAIN)?;
    Some(Judged {
        what: format!(
            "peak memory: {} over plain, goal {}",
            crate::format::bytes(more),
            crate::format::bytes(MEMORY)
        ),
        state: State::of(&Spread::of([more])?, MEMORY),
    })
}

/// The goals on the terminal; nothing if none applies.
pub(crate) fn render(report: &Report) -> String {
    let judged = judge(report);
    let mut text = String::new();
    if !judged.is_empty() {
        text.push_str("\n  Goals:\n");
    }
    for goal in judged {
        let _ = writeln!(text, "    {:<12} {}", goal.state.word(), goal.what);
    }
    text
}
