//! What harness and contestant say to each other: one JSON value a line, a reply to
//! every request, in order.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::engine::{Settings, Variant};
use crate::facts::Facts;

/// How much a workload does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// Only to see that it runs (`cargo test`).
    Smoke,
    /// `--quick`: under a minute a bench.
    Quick,
    /// The figures that are quoted.
    Full,
}

impl Scale {
    /// The figure of this scale.
    #[must_use]
    pub fn pick<T>(self, smoke: T, quick: T, full: T) -> T {
        match self {
            Self::Smoke => smoke,
            Self::Quick => quick,
            Self::Full => full,
        }
    }
}

/// A workload, as one contestant is to run it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Job {
    /// The workload's name.
    pub workload: String,
    /// How much of it.
    pub scale: Scale,
    /// How to open databases.
    pub variant: Variant,
    /// What every contestant sets alike; a workload changes what it is about.
    pub settings: Settings,
    /// An existing directory of the contestant's own.
    pub dir: PathBuf,
}

/// From the harness.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// What are you? Answered with [`Reply::Facts`] about a database made on the spot.
    Facts(Job),
    /// Run something that has no database in it, to compare the builds themselves.
    Calibrate,
    /// Build what the workload finds there when it starts. Not measured, and done in a
    /// process of its own, so that nothing that a process remembers (a derived key, a
    /// warm cache) reaches the measurement.
    Setup(Job),
    /// Get ready to run the steps.
    Prepare(Job),
    /// Run one step and measure it. Steps come in order, each once.
    Step(usize),
    /// Close everything and say what was left; with `true`, look into the database too.
    Finish(bool),
    /// Open somebody else's file as if it were your own, and say what it holds.
    Digest(Job, PathBuf),
}

/// From the contestant.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// To [`Request::Facts`].
    Facts(Box<Facts>),
    /// To [`Request::Calibrate`].
    Calibrated {
        /// Nanoseconds of a fixed amount of SQL in memory: SQLite's C code.
        sqlite: u64,
        /// Nanoseconds of a fixed loop: the Rust code.
        rust: u64,
    },
    /// To [`Request::Setup`].
    Ready,
    /// To [`Request::Prepare`].
    Prepared(Outline),
    /// To [`Request::Step`].
    Measured(Measured),
    /// To [`Request::Finish`].
    Finished(Finished),
    /// To [`Request::Digest`]: the digest of the contents.
    Contents(String),
    /// Anything that went wrong. It ends the benchmark.
    Failed(String),
}

/// A workload's steps, as the contestant is about to run them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outline {
    /// What the workload is, in a sentence.
    pub about: String,
    /// The steps in order.
    pub steps: Vec<StepOutline>,
    /// Whether the sum of the steps means something.
    pub total: bool,
    /// Whether [`Request::Setup`] has something to do.
    pub has_setup: bool,
    /// Whether the steps only read, so that what was set up can serve every round.
    pub setup_once: bool,
}

/// One step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepOutline {
    /// Its name, the same for every contestant.
    pub name: String,
    /// What is counted.
    pub unit: Unit,
    /// Why this contestant does not take part, if it does not.
    pub skip: Option<String>,
}

/// What a step does many of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Bytes moved, shown as MB/s.
    Bytes,
    /// Rows.
    Rows,
    /// SQL statements.
    Statements,
    /// Committed transactions.
    Commits,
    /// Rows looked up one at a time.
    Lookups,
    /// Connections opened.
    Opens,
}

/// One measured step.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Measured {
    /// Wall-clock nanoseconds.
    pub nanos: u64,
    /// Of these, how long the measuring thread was ready to run but had no CPU, where
    /// the system tells: somebody else's load.
    pub waited: Option<u64>,
    /// How many units were done.
    pub amount: f64,
    /// A digest of what the queries returned. Must be the same for every contestant.
    pub answer: String,
    /// Further figures by name (with the unit in the name).
    pub extra: BTreeMap<String, f64>,
}

/// What was left when the steps were done.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Finished {
    /// A digest of every table, if asked for. Must be the same for every contestant.
    pub contents: Option<String>,
    /// `PRAGMA integrity_check`, if asked for.
    pub integrity: Option<String>,
    /// Bytes of the database file.
    pub size: u64,
    /// Whether the file starts like a plaintext database.
    pub plaintext: bool,
    /// The most memory that the process ever held, in bytes, where the system tells.
    pub peak_memory: Option<u64>,
}
