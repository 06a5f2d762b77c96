//! A workload: what there is to set up, and its steps in order.

use std::collections::BTreeMap;

use crate::Result;
use crate::answer::Answer;
use crate::clock::Stopwatch;
use crate::env::Env;
use crate::protocol::{Measured, Outline, StepOutline, Unit};

type Action<T> = Box<dyn FnMut(&mut Env) -> Result<T>>;

/// What a step measured.
#[derive(Debug)]
pub struct Outcome {
    measured: Measured,
}

impl Outcome {
    /// The time on the stopwatch, for so many units, with this answer.
    #[must_use]
    #[allow(clippy::cast_precision_loss)] // amounts are far below 2^52
    pub fn new(watch: &Stopwatch, amount: u64, answer: &Answer) -> Self {
        let nanos = |d: std::time::Duration| u64::try_from(d.as_nanos()).unwrap_or(u64::MAX);
        Self {
            measured: Measured {
                nanos: nanos(watch.total()),
                waited: watch.waited().map(nanos),
                amount: amount as f64,
                answer: answer.finish(),
                extra: BTreeMap::new(),
            },
        }
    }

    /// A further figure.
    #[must_use]
    pub fn with(mut self, name: &str, value: f64) -> Self {
        self.measured.extra.insert(name.to_owned(), value);
        self
    }
}

struct Step {
    outline: StepOutline,
    action: Action<Outcome>,
}

/// A workload, ready to run.
pub struct Plan {
    about: String,
    total: bool,
    setup: Option<Action<()>>,
    setup_once: bool,
    steps: Vec<Step>,
}

impl Plan {
    /// A workload without steps.
    #[must_use]
    pub fn new(about: &str) -> Self {
        Self {
            about: about.to_owned(),
            total: false,
            setup: None,
            setup_once: false,
            steps: Vec::new(),
        }
    }

    /// The sum of the steps is a figure of its own.
    #[must_use]
    pub fn with_total(mut self) -> Self {
        self.total = true;
        self
    }

    /// What the steps find there, built anew for each round.
    #[must_use]
    pub fn setup(mut self, action: impl FnMut(&mut Env) -> Result<()> + 'static) -> Self {
        self.setup = Some(Box::new(action));
        self
    }

    /// The steps only read: what was set up serves every round.
    #[must_use]
    pub fn setup_once(mut self) -> Self {
        self.setup_once = true;
        self
    }

    /// Adds a step.
    pub fn step(
        &mut self,
        name: impl Into<String>,
        unit: Unit,
        action: impl FnMut(&mut Env) -> Result<Outcome> + 'static,
    ) {
        self.steps.push(Step {
            outline: StepOutline {
                name: name.into(),
                unit,
                skip: None,
            },
            action: Box::new(action),
        });
    }

    /// The last step is not for this contestant.
    pub fn skip_last(&mut self, why: &str) {
        if let Some(step) = self.steps.last_mut() {
            step.outline.skip = Some(why.to_owned());
        }
    }

    /// What the harness needs to know.
    #[must_use]
    pub fn outline(&self) -> Outline {
        Outline {
            about: self.about.clone(),
            steps: self.steps.iter().map(|s| s.outline.clone()).collect(),
            total: self.total,
            has_setup: self.setup.is_some(),
            setup_once: self.setup_once,
        }
    }

    /// Builds what the steps find there.
    pub fn run_setup(&mut self, env: &mut Env) -> Result<()> {
        match &mut self.setup {
            Some(action) => action(env).and_then(|()| env.close()),
            None => Ok(()),
        }
    }

    /// Runs one step.
    pub fn run(&mut self, index: usize, env: &mut Env) -> Result<Measured> {
        let step = self.steps.get_mut(index).ok_or("no such step")?;
        Ok((step.action)(env)?.measured)
    }
}
