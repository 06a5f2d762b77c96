//! The few figures that README and `benches/HISTORY.md` show: one line a kind of work.

use std::fmt::Write as _;

use crate::chart::Group;
use crate::contestants::{PAGESEAL, PLAIN, SQLCIPHER};
use crate::format;
use crate::report::{Report, StepReport};
use crate::stats::Spread;
use crate::summary;

/// What it is called, and the step that it is.
struct Headline {
    name: &'static str,
    workload: &'static str,
    step: &'static str,
}

const fn line(name: &'static str, workload: &'static str, step: &'static str) -> Headline {
    Headline {
        name,
        workload,
        step,
    }
}

const HEADLINES: [Headline; 13] = [
    line("the fifteen tests", "crypto_speedtest", "total"),
    line("bulk load", "hash_ingest", "load"),
    line("index build", "hash_ingest", "index, sorted in memory"),
    line("sequential write", "streaming", "write"),
    line("sequential read", "streaming", "read the rows"),
    line("full scan, small cache", "streaming", "full scan"),
    line("random lookups, small cache", "streaming", "random point"),
    line("WAL commits, NORMAL", "wal", "synchronous NORMAL"),
    line("WAL checkpoint", "wal", "checkpoint of"),
    line("cached lookups", "small", "cached row"),
    line("two connections", "small", "two connections"),
    line("open with a passphrase", "open", "version 4: passphrase, 3"),
    line("integrity check", "integrity", "cipher_integrity_check"),
];

/// The headlines that these reports hold.
fn found(reports: &[Report]) -> Vec<(&'static Headline, &Report, &StepReport)> {
    HEADLINES
        .iter()
        .filter_map(|headline| {
            let report = reports.iter().find(|r| r.workload == headline.workload)?;
            let step = report.lines().find(|s| s.name.contains(headline.step))?;
            Some((headline, report, step))
        })
        .collect()
}

/// The bars of the headline chart: what is a ratio to plain SQLite in the first place, of
/// those who take part in every workload.
pub(crate) fn groups(reports: &[Report]) -> Vec<Group> {
    let takes_part = |id: &str| {
        let mut all = reports.iter().map(|report| &report.contestants);
        all.all(|contestants| contestants.iter().any(|c| c.id == id))
    };
    found(reports)
        .into_iter()
        .filter(|(headline, ..)| !["open", "integrity"].contains(&headline.workload))
        .map(|(headline, report, step)| {
            let mut group = group(headline.name, report, step);
            group.bars.retain(|(entrant, _)| takes_part(&entrant.id));
            group
        })
        .collect()
}

/// A step's bars, without plain SQLite's own.
pub(crate) fn group(name: &str, report: &Report, step: &StepReport) -> Group {
    Group {
        name: name.to_owned(),
        bars: summary::figures(report, step)
            .into_iter()
            .filter_map(|figure| Some((figure.entrant.clone(), figure.to_plain?)))
            .collect(),
    }
}

/// A table in Markdown, and the row for the history.
pub(crate) fn markdown(reports: &[Report]) -> String {
    let found = found(reports);
    let Some((_, report, _)) = found.first() else {
        return String::new();
    };
    // One workload may have had others besides.
    let contestants = &report.contestants;
    let mut text = String::from("| |");
    for entrant in contestants {
        let _ = write!(text, " {} |", entrant.label);
    }
    text.push_str(" overhead of SQLCipher's |\n|---|");
    text.push_str(&"---:|".repeat(contestants.len() + 1));
    text.push('\n');
    for (headline, report, step) in &found {
        let _ = write!(text, "| {} |", headline.name);
        let figures = summary::figures(report, step);
        for entrant in contestants {
            let cell = figures.iter().find(|f| f.entrant.id == entrant.id);
            let cell = cell.map_or_else(
                || "-".to_owned(),
                |figure| match figure.to_plain {
                    Some(ratio) if ratio.median < 100.0 => {
                        format!("{}x", format::ratio(ratio.median))
                    }
                    _ => format::time(figure.time.median),
                },
            );
            let _ = write!(text, " {cell} |");
        }
        let overhead = summary::overhead(step, PAGESEAL, SQLCIPHER)
            .map_or_else(|| "-".to_owned(), |o| crate::table::overhead(&o));
        let _ = writeln!(text, " {overhead} |");
    }
    let _ = writeln!(text, "\n{}", report.machine.describe());
    let _ = writeln!(text, "\n{}", history(&found));
    text
}

/// A row for the history: pageseal's ratio to plain SQLite, and SQLCipher's.
fn history(found: &[(&Headline, &Report, &StepReport)]) -> String {
    let Some((_, report, _)) = found.first() else {
        return String::new();
    };
    let facts = report.agreement.facts.get(PLAIN);
    let rustc = facts.and_then(|f| f.build.rustc.split(' ').nth(1));
    let mut row = format!(
        "| {} | WHAT CHANGED | {} | {} | {} |",
        report.machine.commit,
        report.machine.cpu,
        rustc.unwrap_or("?"),
        facts.map_or("?", |f| f.sqlite_version.as_str())
    );
    for headline in &HEADLINES {
        let step = found.iter().find(|(h, ..)| h.name == headline.name);
        let cell = step.map_or_else(String::new, |(_, _, step)| {
            let of = |id| cell(step, id).unwrap_or_else(|| "-".into());
            format!("{} / {}", of(PAGESEAL), of(SQLCIPHER))
        });
        let _ = write!(row, " {cell} |");
    }
    row
}

/// A ratio to plain SQLite, or a time where there is none to speak of.
fn cell(step: &StepReport, id: &str) -> Option<String> {
    match summary::ratio(step, id, PLAIN) {
        Some(ratio) if ratio.median < 100.0 => Some(format::ratio(ratio.median)),
        _ => {
            let samples = step.samples.get(id)?;
            Some(format::time(Spread::of(samples.iter().copied())?.median))
        }
    }
}
