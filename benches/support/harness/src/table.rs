//! The tables on the terminal.

use std::fmt::Write as _;

use crate::format;
use crate::report::{Report, StepReport};
use crate::stats::{Spread, Verdict};
use crate::summary::{self, Figure, Overhead};

/// All of a workload's steps, then what is known about the whole.
pub(crate) fn render(report: &Report) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "\n{}: {}", report.workload, report.about);
    let _ = writeln!(text, "  {}", report.reading);
    let _ = writeln!(text, "  {}", report.machine.describe());
    if report.starved > 0.02 {
        let _ = writeln!(
            text,
            "  The machine was busy: contestants waited for a CPU {:.0} % of the time.",
            report.starved * 100.0
        );
    }
    for refused in &report.agreement.refused {
        let _ = writeln!(text, "  NOT COMPARABLE: {refused}");
    }
    for step in report.lines() {
        text.push_str(&step_table(report, step));
    }
    text.push_str(&whole(report));
    text
}

fn step_table(report: &Report, step: &StepReport) -> String {
    let mut text = String::new();
    let _ = writeln!(
        text,
        "\n  {}\n  {:<34} {:>9}  {:>21}  {:>22}  {:>22}  {:>22}",
        step.name,
        "",
        "median",
        "min .. max",
        "x plain [interval]",
        "x SQLCipher",
        "overhead / SQLCipher's"
    );
    for figure in summary::figures(report, step) {
        let _ = writeln!(text, "{}", row(&figure, step));
    }
    for (id, why) in &step.skipped {
        let _ = writeln!(text, "    {id}: not measured, {why}");
    }
    text
}

fn row(figure: &Figure<'_>, step: &StepReport) -> String {
    let time = &figure.time;
    let mut row = format!(
        "    {:<32} {:>9}  {:>9} .. {:>8}  {:>22}  {:>22}  {:>22}  {}",
        figure.entrant.label,
        format::time(time.median),
        format::time(time.min),
        format::time(time.max),
        figure.to_plain.as_ref().map(ratio).unwrap_or_default(),
        figure.to_rival.as_ref().map(ratio).unwrap_or_default(),
        figure.overhead.as_ref().map(overhead).unwrap_or_default(),
        format::throughput(step.unit, step.amount, time.median),
    );
    for (name, value) in step.extra.get(&figure.entrant.id).into_iter().flatten() {
        let _ = write!(row, ", {name} {}", format::three(*value));
    }
    row
}

/// `1.23 [1.20, 1.27]`, or that it is within noise.
pub(crate) fn ratio(spread: &Spread) -> String {
    let mark = match spread.verdict() {
        Verdict::Same => "~",
        Verdict::Faster | Verdict::Slower => "",
    };
    format!(
        "{mark}{} [{}, {}]",
        format::ratio(spread.median),
        format::ratio(spread.low),
        format::ratio(spread.high)
    )
}

/// `0.41 [0.38, 0.44]`, or that there is nothing to compare with.
pub(crate) fn overhead(overhead: &Overhead) -> String {
    if overhead.in_noise {
        return "SQLCipher's is noise".into();
    }
    let spread = &overhead.spread;
    format!(
        "{:.2} [{:.2}, {:.2}]",
        spread.median, spread.low, spread.high
    )
}

fn whole(report: &Report) -> String {
    let mut text = String::from("\n  ~ within noise.  Database size and peak memory:\n");
    for entrant in &report.contestants {
        let of = |map: &std::collections::BTreeMap<String, u64>| {
            map.get(&entrant.id)
                .map_or_else(|| "-".to_owned(), |&b| format::bytes(b as f64))
        };
        let _ = writeln!(
            text,
            "    {:<32} {:>10}  {:>10}",
            entrant.label,
            of(&report.sizes),
            of(&report.peak_memory)
        );
    }
    text
}
