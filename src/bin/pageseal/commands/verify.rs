//! `pageseal verify`: is every page what was written?

use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use pageseal::offline::{Place, Snapshot, Verification, verify};
use serde_json::{Value, json};

use crate::args::Common;
use crate::error::{Kind, Result};
use crate::open::SourceArgs;
use crate::progress::{Bar, Unit};
use crate::report::{self, bytes, count, numbers};

/// Most page numbers that are listed for people.
const MOST: usize = 40;

/// Arguments of `verify`.
#[derive(Args)]
pub(crate) struct Verify {
    #[command(flatten)]
    source: SourceArgs,
}

pub(crate) fn run(args: &Verify, common: &Common) -> Result<ExitCode> {
    let (snapshot, _) = args.source.damaged_snapshot(common)?;
    let bar = Bar::new("verifying", Unit::Bytes, common);
    let report = verify(&snapshot, common.threads(), &bar)?;
    let elapsed = bar.finish();
    report::print(common, &json(&snapshot, &report, elapsed), || {
        text(&snapshot, &report, elapsed)
    })?;
    Ok(match report.is_damaged() {
        true => Kind::Damaged.into(),
        false => ExitCode::SUCCESS,
    })
}

fn json(snapshot: &Snapshot, report: &Verification, elapsed: Duration) -> Value {
    let place = |place: Place| match place {
        Place::Wal(_) => "wal",
        Place::Journal(_) => "journal",
        Place::Database => "database",
    };
    let copies = |copies: &[pageseal::offline::BadCopy]| -> Vec<Value> {
        copies
            .iter()
            .map(|copy| {
                json!({
                    "index": copy.index,
                    "page": copy.page.pgno,
                    "fault": copy.page.fault.to_string(),
                    "committed": copy.is_content,
                })
            })
            .collect()
    };
    let bad: Vec<_> = report
        .bad
        .iter()
        .map(|finding| {
            json!({
                "page": finding.page.pgno,
                "fault": finding.page.fault.to_string(),
                "content_in": place(finding.content),
                "lost": finding.is_loss(),
            })
        })
        .collect();
    json!({
        "file": snapshot.files().path().to_string_lossy(),
        "damaged": report.is_damaged(),
        "authenticated": report.authenticated,
        "page_size": snapshot.page_size(),
        "pages": report.pages,
        "missing_pages": report.missing,
        "bad_pages": bad,
        "wal_frames": report.frames,
        "bad_wal_frames": copies(&report.bad_frames),
        "journal_pages": report.records,
        "bad_journal_pages": copies(&report.bad_records),
        "bytes": report.bytes,
        "seconds": elapsed.as_secs_f64(),
    })
}

fn text(snapshot: &Snapshot, report: &Verification, elapsed: Duration) -> String {
    let path = snapshot.files().path().display();
    let mut looked_at = vec![count(report.pages.into(), "page")];
    if report.frames > 0 {
        looked_at.push(count(report.frames, "WAL frame"));
    }
    if report.records > 0 {
        looked_at.push(count(report.records, "journal page"));
    }
    let speed = report.bytes as f64 / elapsed.as_secs_f64().max(1e-9);
    let looked_at = format!(
        "{} of {} bytes in {:.2} s ({}/s)",
        looked_at.join(" and "),
        snapshot.page_size(),
        elapsed.as_secs_f64(),
        bytes(speed as u64)
    );
    let mut text = match (report.is_damaged(), report.authenticated) {
        (true, _) => format!("{path}: DAMAGED; {looked_at}\n"),
        (false, true) => format!("{path}: all authentic; {looked_at}\n"),
        (false, false) => format!(
            "{path}: no fault found; {looked_at}\n\
             Without HMAC nothing authenticates: only page 1 and pages of zeros can be told.\n"
        ),
    };
    let lost: Vec<_> = report.bad.iter().filter(|bad| bad.is_loss()).collect();
    for fault in [
        pageseal::offline::Fault::Hmac,
        pageseal::offline::Fault::Header,
        pageseal::offline::Fault::Zeros,
        pageseal::offline::Fault::Missing,
    ] {
        let pages: Vec<_> = lost
            .iter()
            .filter(|finding| finding.page.fault == fault)
            .map(|finding| finding.page.pgno)
            .collect();
        if !pages.is_empty() {
            text += &format!(
                "  {} bad ({fault}): {}\n",
                count(pages.len() as u64, "page"),
                numbers(pages.into_iter(), MOST)
            );
        }
    }
    if report.missing > 0 {
        text += &format!(
            "  {} missing: the header counts {}, the file ends after {}\n",
            count(report.missing.into(), "page"),
            snapshot.pages(),
            report.pages
        );
    }
    let superseded = report.bad.iter().filter(|bad| !bad.is_loss());
    let superseded: Vec<_> = superseded.map(|finding| finding.page.pgno).collect();
    if !superseded.is_empty() {
        text += &format!(
            "  {} bad in the database file but whole in its side file, which will repair it: {}\n",
            count(superseded.len() as u64, "page"),
            numbers(superseded.into_iter(), MOST)
        );
    }
    for (copies, name) in [
        (&report.bad_frames, "WAL frame"),
        (&report.bad_records, "journal page"),
    ] {
        for copy in copies.iter().take(MOST) {
            text += &format!(
                "  {name} {} (page {}) bad: {}{}\n",
                copy.index,
                copy.page.pgno,
                copy.page.fault,
                if copy.is_content {
                    ""
                } else {
                    "; superseded or not committed"
                },
            );
        }
    }
    text
}
