//! The measuring side of the benchmarks.
//!
//! A bench binary is both: started by `cargo bench` it measures; started by itself with
//! `--serve` it is a contestant. Each round starts one fresh process a contestant, hands
//! each step to all of them in an order drawn anew, and compares what they answer:
//!
//! ```text
//! options -> contestants -> agree (may they be compared?) -> rounds -> report
//!                                                              |          |
//!                                             process, one a contestant   summary (stats)
//!                                                                         |
//!                                                             table, chart, html, goals
//! ```

#![warn(clippy::pedantic)]
#![allow(clippy::missing_errors_doc, clippy::missing_panics_doc)] // either ends a benchmark
#![allow(clippy::doc_markdown)] // SQLite and SQLCipher are names, not code
#![allow(clippy::cast_precision_loss)] // nanoseconds and bytes of benchmarks, far below 2^52

mod agree;
mod chart;
mod contestants;
mod format;
mod goals;
mod headline;
mod html;
mod machine;
mod options;
mod output;
mod process;
mod report;
mod rounds;
pub mod selfcheck;
pub mod stats;
mod summary;
mod table;

use std::path::Path;
use std::process::ExitCode;

pub use pageseal_bench_contestant::Result;

use contestants::Contestant;
use options::Options;

/// What the bench binary brings: the VFS to measure.
#[derive(Clone, Copy, Debug)]
pub struct Shim {
    /// The name it registers under.
    pub vfs: &'static str,
    /// Registers it in this process.
    pub register: fn() -> Result<()>,
    /// What can be set for a whole process, by name: `--with NAME` adds a contestant
    /// that is run with it.
    pub switches: &'static [(&'static str, fn())],
}

/// The first argument of a process that is to be a contestant.
const SERVE: &str = "--serve";

/// Runs a bench: the whole `main` of a bench binary.
#[must_use]
pub fn main(workload: &str, shim: Option<Shim>) -> ExitCode {
    exit_code(serve_or(shim, |options| {
        if !options.selects(workload) {
            return Ok(());
        }
        measure(workload, &options, shim)
    }))
}

/// Serves as a contestant if this process was started as one, and does `otherwise` if not.
fn serve_or(shim: Option<Shim>, otherwise: impl FnOnce(Options) -> Result<()>) -> Result<()> {
    if std::env::args().nth(1).as_deref() == Some(SERVE) {
        if let Some(shim) = shim {
            (shim.register)()?;
            for name in std::env::args().skip(2) {
                let switch = shim.switches.iter().find(|(known, _)| *known == name);
                switch
                    .ok_or_else(|| format!("no switch is called {name}"))?
                    .1();
            }
        }
        return pageseal_bench_contestant::serve();
    }
    match Options::parse()? {
        Some(options) => otherwise(options),
        None => Ok(()),
    }
}

fn exit_code(result: Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn measure(workload: &str, options: &Options, shim: Option<Shim>) -> Result<()> {
    let contestants = contestants::choose(options, shim)?;
    let report = compare(workload, options, contestants)?;
    if options.is_test() {
        // So little work says nothing about time.
        println!(
            "{workload}: {} contestants agree in {} steps",
            report.contestants.len(),
            report.steps.len()
        );
        return Ok(());
    }
    print!("{}", table::render(&report));
    print!("{}", goals::render(&report));
    output::write(&options.output(), &report)
}

/// Runs a workload with these contestants.
fn compare(
    workload: &str,
    options: &Options,
    contestants: Vec<Contestant>,
) -> Result<report::Report> {
    let place = options.place(workload)?;
    println!("{workload}: databases in {}", shown(place.path()));
    let agreement = agree::check(&contestants, options, place.path())?;
    if !options.is_test() {
        print!("{}", agreement.render());
    }
    rounds::run(workload, options, contestants, agreement, place.path())
}

fn shown(path: &Path) -> String {
    match machine::file_system(path) {
        Some(kind) => format!("{} ({kind})", path.display()),
        None => path.display().to_string(),
    }
}
