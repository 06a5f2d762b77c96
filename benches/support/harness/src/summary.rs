//! Figures out of samples: what the tables, the charts and the goals show.

use crate::contestants::PLAIN;
use crate::report::{Entrant, Report, StepReport};
use crate::stats::{Spread, Verdict};

/// One contestant in one step.
#[derive(Clone, Debug)]
pub(crate) struct Figure<'a> {
    pub(crate) entrant: &'a Entrant,
    /// Nanoseconds.
    pub(crate) time: Spread,
    /// Relative to plain SQLite.
    pub(crate) to_plain: Option<Spread>,
    /// Relative to its rival.
    pub(crate) to_rival: Option<Spread>,
    pub(crate) overhead: Option<Overhead>,
}

/// `(it - plain) / (rival - plain)`: 0 costs nothing, 1 costs what the rival costs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Overhead {
    pub(crate) spread: Spread,
    /// Whether the rival's own cost is lost in the noise: then this is a ratio to nothing.
    pub(crate) in_noise: bool,
}

/// Everybody who took part in the step.
pub(crate) fn figures<'a>(report: &'a Report, step: &StepReport) -> Vec<Figure<'a>> {
    report
        .contestants
        .iter()
        .filter_map(|entrant| {
            let rival = entrant.rival.as_deref();
            Some(Figure {
                entrant,
                time: Spread::of(step.samples.get(&entrant.id)?.iter().copied())?,
                to_plain: (entrant.id != PLAIN)
                    .then(|| ratio(step, &entrant.id, PLAIN))
                    .flatten(),
                to_rival: rival.and_then(|rival| ratio(step, &entrant.id, rival)),
                overhead: rival.and_then(|rival| overhead(step, &entrant.id, rival)),
            })
        })
        .collect()
}

/// One contestant's time relative to another's, taken within each round.
pub(crate) fn ratio(step: &StepReport, of: &str, to: &str) -> Option<Spread> {
    let (of, to) = (step.samples.get(of)?, step.samples.get(to)?);
    Spread::of(of.iter().zip(to).map(|(of, to)| of / to))
}

/// One contestant's cost over plain SQLite as a fraction of another's, within each round.
pub(crate) fn overhead(step: &StepReport, of: &str, rival: &str) -> Option<Overhead> {
    let plain = step.samples.get(PLAIN)?;
    let (of, against) = (step.samples.get(of)?, step.samples.get(rival)?);
    let rounds = of.iter().zip(against).zip(plain);
    let spread = Spread::of(rounds.map(|((of, against), plain)| {
        let (cost, theirs) = (of - plain, against - plain);
        if theirs > 0.0 {
            cost / theirs
        } else {
            // Not even the rival cost anything in this round: worse than any ratio.
            f64::INFINITY
        }
    }))?;
    let rival = ratio(step, rival, PLAIN)?;
    Some(Overhead {
        spread,
        in_noise: rival.verdict() != Verdict::Slower,
    })
}
