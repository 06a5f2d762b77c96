//! Does the harness tell the truth? Three contestants whose result is known.

use std::env;
use std::process::{Command, ExitCode};

use pageseal_bench_contestant::protocol::Scale;

use crate::contestants::{Contestant, PLAIN};
use crate::options::{Options, target_dir};
use crate::report::Report;
use crate::stats::{Spread, Verdict};
use crate::{Result, agree, compare, exit_code, serve_or, summary, table};

/// A short workload with long and short steps.
const WORKLOAD: &str = "crypto_speedtest";
/// How many of the fifteen steps may be called different by chance: at 96 % confidence
/// each, more than three in fifteen happens in less than 1 of 300 runs.
const BY_CHANCE: usize = 3;
const SLOW_PERCENT: u32 = 10;

/// The whole `main` of the self-check.
#[must_use]
pub fn main() -> ExitCode {
    exit_code(serve_or(None, |mut options| {
        if !options.selects("selfcheck") {
            return Ok(());
        }
        if options.scale == Scale::Smoke {
            // A test run: nothing can be said about time here.
            return Ok(());
        }
        if options.scale == Scale::Quick {
            options.rounds = options.rounds.max(9);
        }
        let report = twins_and_a_slow_one(&options)?;
        print!("{}", table::render(&report));
        println!();
        judge_twins(&report)?;
        judge_slow(&report)?;
        another_level(&options)?;
        println!("selfcheck: the harness sees what is there, and nothing else");
        Ok(())
    }))
}

/// Plain SQLite, itself once more, and itself made slower.
fn twins_and_a_slow_one(options: &Options) -> Result<Report> {
    let mut twin = Contestant::plain("twin")?;
    twin.label = "plain SQLite once more".into();
    let mut slow = Contestant::plain("slow")?;
    slow.label = format!("plain SQLite, {SLOW_PERCENT} % slower");
    slow.variant.slow_percent = SLOW_PERCENT;
    compare(
        WORKLOAD,
        options,
        vec![Contestant::plain(PLAIN)?, twin, slow],
    )
}

fn judge_twins(report: &Report) -> Result<()> {
    let total = report.total.as_ref().ok_or("no total")?;
    let ratio = summary::ratio(total, "twin", PLAIN).ok_or("no twin")?;
    let different = report
        .steps
        .iter()
        .filter_map(|step| summary::ratio(step, "twin", PLAIN))
        .filter(|ratio| ratio.verdict() != Verdict::Same)
        .count();
    println!(
        "  twins: total {}; {different} of {} steps called different",
        table::ratio(&ratio),
        report.steps.len()
    );
    if ratio.verdict() != Verdict::Same || different > BY_CHANCE {
        return Err("plain SQLite is found to differ from itself".into());
    }
    Ok(())
}

fn judge_slow(report: &Report) -> Result<()> {
    let total = report.total.as_ref().ok_or("no total")?;
    let ratio: Spread = summary::ratio(total, "slow", PLAIN).ok_or("no slow one")?;
    println!(
        "  slowed by {SLOW_PERCENT} %: total {}",
        table::ratio(&ratio)
    );
    let truth = 1.0 + f64::from(SLOW_PERCENT) / 100.0;
    if ratio.verdict() != Verdict::Slower || (ratio.median - truth).abs() > 0.05 {
        return Err("a slowed contestant is not found to be slower by as much".into());
    }
    Ok(())
}

/// The same bench binary, built at another level: must be refused for what it says of
/// itself, and measured to be slower, in case it lies. (Level 0, because SQLite at level
/// 1 is as fast as at 3: only what the build says tells these apart.)
fn another_level(options: &Options) -> Result<()> {
    println!("  building the self-check at opt-level 0 ...");
    let target = target_dir().join("selfcheck");
    let output = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args([
            "bench",
            "--bench",
            "selfcheck",
            "--no-run",
            "--message-format=json",
        ])
        .args(["--config", "profile.bench.opt-level=0"])
        .arg("--target-dir")
        .arg(&target)
        .stderr(std::process::Stdio::inherit())
        .output()?;
    let program = String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter(|message| message["target"]["name"] == "selfcheck")
        .find_map(|message| message["executable"].as_str().map(str::to_owned))
        .ok_or("the other build failed")?;

    let mut other = Contestant::plain("opt-level-0")?;
    other.program = program.into();
    let contestants = [Contestant::plain(PLAIN)?, other];
    let mut lenient = options.clone();
    lenient.allow_differences = true;
    let place = lenient.place("selfcheck")?;
    let agreement = agree::check(&contestants, &lenient, place.path())?;
    for refused in &agreement.refused {
        println!("  refused: {refused}");
    }
    let said = agreement
        .refused
        .iter()
        .any(|r| r.contains("optimisation level"));
    if !said {
        return Err("another optimisation level is not noticed".into());
    }
    let measured = agreement
        .calibration
        .get("opt-level-0")
        .is_some_and(|(sqlite, rust)| sqlite.low > 1.0 || rust.low > 1.0);
    if !measured {
        return Err("a build at another level is not measured to be slower".into());
    }
    Ok(())
}
