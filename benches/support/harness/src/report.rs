//! What a run measured: everything that the JSON holds and the tables are made of.

use std::collections::BTreeMap;

use pageseal_bench_contestant::protocol::{Scale, Unit};
use serde::{Deserialize, Serialize};

use crate::agree::Agreement;
use crate::machine::Machine;

/// A contestant, as the reports name it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Entrant {
    pub(crate) id: String,
    pub(crate) label: String,
    /// Whose overhead over plain SQLite its own is a fraction of.
    pub(crate) rival: Option<String>,
}

/// One step of a workload. Values are by contestant, samples one a round, in the same
/// order for all.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct StepReport {
    pub(crate) name: String,
    pub(crate) unit: Unit,
    pub(crate) amount: f64,
    /// Nanoseconds.
    pub(crate) samples: BTreeMap<String, Vec<f64>>,
    /// Further figures, the median of the rounds.
    pub(crate) extra: BTreeMap<String, BTreeMap<String, f64>>,
    /// Who did not take part, and why.
    pub(crate) skipped: BTreeMap<String, String>,
}

/// A workload's run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Report {
    pub(crate) workload: String,
    pub(crate) about: String,
    pub(crate) scale: Scale,
    pub(crate) rounds: usize,
    /// How the rounds are to be read.
    pub(crate) reading: String,
    /// Where the databases were.
    pub(crate) place: String,
    pub(crate) machine: Machine,
    pub(crate) contestants: Vec<Entrant>,
    pub(crate) agreement: Agreement,
    pub(crate) steps: Vec<StepReport>,
    /// The sum of the steps, where that means something.
    pub(crate) total: Option<StepReport>,
    /// Bytes of the database file at the end.
    pub(crate) sizes: BTreeMap<String, u64>,
    /// The most memory that a process held in the first measured round, in bytes.
    pub(crate) peak_memory: BTreeMap<String, u64>,
    /// Of the measured time, how much the contestants were ready to run but had no CPU.
    pub(crate) starved: f64,
}

impl Report {
    /// The steps, and the total as the last.
    pub(crate) fn lines(&self) -> impl Iterator<Item = &StepReport> {
        self.steps.iter().chain(&self.total)
    }
}

impl StepReport {
    /// The sum of several steps, for those who took part in all of them.
    pub(crate) fn sum(steps: &[Self]) -> Option<Self> {
        let first = steps.first()?;
        let mut samples = BTreeMap::new();
        for id in first.samples.keys() {
            let Some(columns) = steps
                .iter()
                .map(|step| step.samples.get(id))
                .collect::<Option<Vec<_>>>()
            else {
                continue;
            };
            let rounds = columns[0].len();
            let sums = (0..rounds)
                .map(|round| columns.iter().map(|column| column[round]).sum())
                .collect();
            samples.insert(id.clone(), sums);
        }
        Some(Self {
            name: "total".into(),
            unit: first.unit,
            amount: steps.iter().map(|step| step.amount).sum(),
            samples,
            extra: BTreeMap::new(),
            skipped: BTreeMap::new(),
        })
    }
}
