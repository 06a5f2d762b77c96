//! Files: a workload's JSON and chart, and the page that shows all workloads measured so
//! far.

use std::fs;
use std::path::Path;

use crate::report::Report;
use crate::{Result, chart, headline, html};

/// Workloads in the order of the page.
const ORDER: [&str; 9] = [
    "crypto_speedtest",
    "budget_app",
    "hash_ingest",
    "streaming",
    "wal",
    "small",
    "open",
    "integrity",
    "rekey",
];

/// Writes a report, then everything that is made of all reports.
pub(crate) fn write(directory: &Path, report: &Report) -> Result<()> {
    fs::create_dir_all(directory)?;
    let json = directory.join(format!("{}.json", report.workload));
    fs::write(&json, serde_json::to_string_pretty(report)?)?;

    let reports = read(directory);
    for report in &reports {
        let svg = chart::svg(&groups(report))?;
        fs::write(directory.join(format!("{}.svg", report.workload)), svg)?;
    }
    fs::write(
        directory.join("headline.svg"),
        chart::svg(&headline::groups(&reports))?,
    )?;
    fs::write(directory.join("headline.md"), headline::markdown(&reports))?;
    let page = directory.join("index.html");
    fs::write(&page, html::page(&reports)?)?;
    println!("\n  written: {} and {}", json.display(), page.display());
    Ok(())
}

/// A workload's chart: every step, and the total.
pub(crate) fn groups(report: &Report) -> Vec<chart::Group> {
    report
        .lines()
        .map(|step| headline::group(&step.name, report, step))
        .filter(|group| !group.bars.is_empty())
        .collect()
}

/// All reports in the directory that this version can read.
fn read(directory: &Path) -> Vec<Report> {
    let mut reports: Vec<Report> = Vec::new();
    for name in ORDER {
        let path = directory.join(format!("{name}.json"));
        if let Ok(text) = fs::read_to_string(&path) {
            match serde_json::from_str(&text) {
                Ok(report) => reports.push(report),
                Err(error) => println!("  left out {}: {error}", path.display()),
            }
        }
    }
    reports
}
