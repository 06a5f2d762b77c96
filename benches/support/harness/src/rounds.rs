//! Measuring: rounds, and within a round step by step, each contestant in turn.

use std::collections::BTreeMap;
use std::fs;
use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use pageseal_bench_contestant::protocol::{
    Finished, Job, Measured, Outline, Reply, Request, StepOutline,
};
use pageseal_bench_contestant::random::Random;

use crate::agree::Agreement;
use crate::contestants::Contestant;
use crate::options::Options;
use crate::process::Process;
use crate::report::{Entrant, Report, StepReport};
use crate::stats::Spread;
use crate::{Result, machine};

/// The order of contestants is drawn from this.
const SEED: u64 = 20_260_101;

/// Runs the workload: one round to warm up, then the measured ones.
pub(crate) fn run(
    workload: &str,
    options: &Options,
    contestants: Vec<Contestant>,
    agreement: Agreement,
    place: &Path,
) -> Result<Report> {
    let mut runner = Runner {
        workload,
        options,
        contestants: &contestants,
        place,
        random: Random::new(SEED),
        outline: None,
        steps: Vec::new(),
        finished: BTreeMap::new(),
        measured_nanos: 0.0,
        waited_nanos: 0.0,
    };
    for round in 0..=options.rounds {
        progress(&format!("  round {round} of {}", options.rounds));
        runner.round(round)?;
    }
    progress("");
    runner.exchange()?;
    let outline = runner.outline.take().expect("at least one round");
    let steps: Vec<_> = outline
        .steps
        .iter()
        .zip(&runner.steps)
        .map(|(outline, column)| column.report(&outline.name, outline))
        .collect();
    let of_finished = |pick: fn(&Finished) -> Option<u64>| {
        runner
            .finished
            .iter()
            .filter_map(|(id, finished)| Some((id.clone(), pick(finished)?)))
            .collect()
    };
    Ok(Report {
        workload: workload.into(),
        about: outline.about,
        scale: options.scale,
        rounds: options.rounds,
        reading: options.describe_rounds(),
        place: crate::shown(place.parent().unwrap_or(place)),
        machine: machine::look(),
        total: outline.total.then(|| StepReport::sum(&steps)).flatten(),
        steps,
        sizes: of_finished(|finished| Some(finished.size)),
        peak_memory: of_finished(|finished| finished.peak_memory),
        starved: runner.waited_nanos / runner.measured_nanos.max(1.0),
        contestants: contestants
            .into_iter()
            .map(|c| Entrant {
                id: c.id,
                label: c.label,
                rival: c.rival,
            })
            .collect(),
        agreement,
    })
}

/// What one step measured, by contestant.
#[derive(Default)]
struct Column {
    samples: BTreeMap<String, Vec<Measured>>,
    skipped: BTreeMap<String, String>,
    answer: Option<(String, String)>,
}

struct Runner<'a> {
    workload: &'a str,
    options: &'a Options,
    contestants: &'a [Contestant],
    place: &'a Path,
    random: Random,
    outline: Option<Outline>,
    steps: Vec<Column>,
    finished: BTreeMap<String, Finished>,
    measured_nanos: f64,
    waited_nanos: f64,
}

impl Runner<'_> {
    fn round(&mut self, round: usize) -> Result<()> {
        let mut running = Vec::new();
        for index in self.order() {
            running.push((index, self.prepare(index, round)?));
        }
        let steps = self
            .outline
            .as_ref()
            .map_or(0, |outline| outline.steps.len());
        for step in 0..steps {
            self.random.shuffle(&mut running);
            for (index, (process, outline)) in &mut running {
                self.step(step, *index, process, outline, round)?;
            }
        }
        for (index, (mut process, outline)) in running {
            self.finish(index, &mut process, round)?;
            let last = round == self.options.rounds;
            if !(outline.setup_once || last) {
                fs::remove_dir_all(self.dir(&self.contestants[index]))?;
            }
        }
        self.same_contents()
    }

    fn order(&mut self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.contestants.len()).collect();
        self.random.shuffle(&mut order);
        order
    }

    fn dir(&self, contestant: &Contestant) -> PathBuf {
        self.place.join(&contestant.id)
    }

    fn job(&self, contestant: &Contestant) -> Job {
        Job {
            workload: self.workload.into(),
            scale: self.options.scale,
            variant: contestant.variant.clone(),
            settings: self.options.settings.clone(),
            dir: self.dir(contestant),
        }
    }

    /// A fresh process on a fresh database, ready for the first step.
    fn prepare(&mut self, index: usize, round: usize) -> Result<(Process, Outline)> {
        let contestant = &self.contestants[index];
        let job = self.job(contestant);
        fs::create_dir_all(&job.dir)?;
        let mut process = Process::start(contestant)?;
        let outline = process.expect(&Request::Prepare(job.clone()), |reply| match reply {
            Reply::Prepared(outline) => Some(outline),
            _ => None,
        })?;
        let names = |outline: &Outline| -> Vec<String> {
            outline.steps.iter().map(|s| s.name.clone()).collect()
        };
        if let Some(known) = &self.outline {
            if names(known) != names(&outline) {
                return Err(format!("{} has other steps", contestant.id).into());
            }
        } else {
            self.steps.resize_with(outline.steps.len(), Column::default);
            self.outline = Some(outline.clone());
        }
        if outline.has_setup && (round == 0 || !outline.setup_once) {
            Process::start(contestant)?.expect(&Request::Setup(job), |reply| {
                matches!(reply, Reply::Ready).then_some(())
            })?;
        }
        Ok((process, outline))
    }

    fn step(
        &mut self,
        step: usize,
        index: usize,
        process: &mut Process,
        outline: &Outline,
        round: usize,
    ) -> Result<()> {
        let id = &self.contestants[index].id;
        let column = &mut self.steps[step];
        let about = &outline.steps[step];
        if let Some(why) = &about.skip {
            column.skipped.insert(id.clone(), why.clone());
            return Ok(());
        }
        let mut measured = process.expect(&Request::Step(step), |reply| match reply {
            Reply::Measured(measured) => Some(measured),
            _ => None,
        })?;
        let (first, answer) = column
            .answer
            .get_or_insert_with(|| (id.clone(), measured.answer.clone()));
        if *answer != measured.answer {
            return Err(format!(
                "WRONG ANSWER in \"{}\", round {round}: {id} found {}, {first} found {answer}",
                about.name, measured.answer
            )
            .into());
        }
        if round > 0 {
            let waited = measured.waited.unwrap_or(0);
            self.measured_nanos += measured.nanos as f64;
            self.waited_nanos += waited as f64;
            if self.options.on_cpu {
                measured.nanos = measured.nanos.saturating_sub(waited);
            }
            column.samples.entry(id.clone()).or_default().push(measured);
        }
        Ok(())
    }

    /// Looks into the database in the first and the last round.
    fn finish(&mut self, index: usize, process: &mut Process, round: usize) -> Result<()> {
        let contestant = &self.contestants[index];
        let look = round == 0 || (round == self.options.rounds && !self.reads_only());
        let finished = process.expect(&Request::Finish(look), |reply| match reply {
            Reply::Finished(finished) => Some(finished),
            _ => None,
        })?;
        if let Some(integrity) = finished.integrity.as_deref().filter(|i| *i != "ok") {
            return Err(format!("{}: integrity_check says {integrity}", contestant.id).into());
        }
        if finished.plaintext == contestant.variant.encrypts() {
            return Err(format!("{}: plaintext {}", contestant.id, finished.plaintext).into());
        }
        let kept = self
            .finished
            .entry(contestant.id.clone())
            .or_insert_with(|| finished.clone());
        kept.contents = finished.contents.or(kept.contents.take());
        if round == 1 {
            // The round to warm up also looked into the database; this is a step's peak.
            kept.peak_memory = finished.peak_memory;
        }
        kept.size = finished.size;
        Ok(())
    }

    fn reads_only(&self) -> bool {
        self.outline
            .as_ref()
            .is_some_and(|outline| outline.setup_once)
    }

    /// All that took part in every step must have left the same database.
    fn same_contents(&self) -> Result<()> {
        let mut seen: Option<(&String, &String)> = None;
        for (id, finished) in &self.finished {
            if self
                .steps
                .iter()
                .any(|column| column.skipped.contains_key(id))
            {
                continue;
            }
            let Some(contents) = &finished.contents else {
                continue;
            };
            let (first, expected) = *seen.get_or_insert((id, contents));
            if expected != contents {
                return Err(format!("{id} and {first} left different databases").into());
            }
        }
        Ok(())
    }

    /// SQLCipher must be able to read what pageseal wrote, and the other way round.
    fn exchange(&self) -> Result<()> {
        for contestant in self.contestants {
            let Some(rival) = contestant
                .rival
                .as_ref()
                .and_then(|rival| self.contestants.iter().find(|c| c.id == *rival))
            else {
                continue;
            };
            for (reader, writer) in [(contestant, rival), (rival, contestant)] {
                let path = self.dir(writer).join("bench.db");
                let request = Request::Digest(self.job(reader), path);
                let contents = Process::start(reader)?
                    .expect(&request, |reply| match reply {
                        Reply::Contents(contents) => Some(contents),
                        _ => None,
                    })
                    .map_err(|e| format!("{} cannot read {}'s file: {e}", reader.id, writer.id))?;
                if self.finished[&writer.id].contents.as_ref() != Some(&contents) {
                    return Err(format!(
                        "{} reads something else in {}'s file",
                        reader.id, writer.id
                    )
                    .into());
                }
            }
        }
        Ok(())
    }
}

impl Column {
    fn report(&self, name: &str, outline: &StepOutline) -> StepReport {
        let mut extra: BTreeMap<String, BTreeMap<String, f64>> = BTreeMap::new();
        for (id, samples) in &self.samples {
            for figure in samples.iter().flat_map(|m| m.extra.keys()) {
                let values = samples.iter().filter_map(|m| m.extra.get(figure).copied());
                if let Some(spread) = Spread::of(values) {
                    extra
                        .entry(id.clone())
                        .or_default()
                        .insert(figure.clone(), spread.median);
                }
            }
        }
        let amount = self
            .samples
            .values()
            .find_map(|samples| Some(samples.first()?.amount))
            .unwrap_or_default();
        StepReport {
            name: name.into(),
            unit: outline.unit,
            amount,
            samples: self
                .samples
                .iter()
                .map(|(id, m)| (id.clone(), m.iter().map(|m| m.nanos as f64).collect()))
                .collect(),
            extra,
            skipped: self.skipped.clone(),
        }
    }
}

/// Tells a person who waits that something happens; nothing in a log.
fn progress(text: &str) {
    let mut err = std::io::stderr();
    if err.is_terminal() {
        let _ = write!(err, "\r{text:<40}\r");
        let _ = err.flush();
    }
}
