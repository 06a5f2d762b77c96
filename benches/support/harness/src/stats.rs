//! How noise is judged.
//!
//! A shared machine's speed drifts by more than what is to be measured, so nothing here
//! compares averages of separate runs. Contestants are measured in turn within a round,
//! step by step, and every ratio is taken **within a round**: what slows the machine for
//! a while slows both sides of it. Reported is the median of the rounds' ratios.
//!
//! How far that median can be trusted comes from the rounds themselves, without assuming
//! how noise is distributed: the true median lies above the k-th smallest of n values
//! unless fewer than k of n fair coins fell one way (the sign test). The interval printed
//! is the narrowest such one with at least 95 % confidence, or smallest to largest where
//! there are too few rounds for that (then the confidence is lower, and stated).
//!
//! A difference is **within noise** when that interval contains 1, and also when it is
//! below 1 %: where code and data happen to lie in memory moves that much.

use serde::{Deserialize, Serialize};

/// Differences below this are never called one.
pub const FLOOR: f64 = 0.01;

/// Some values' middle and spread.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// The middle value.
    pub median: f64,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
    /// Where the true median may lie: from here
    pub low: f64,
    /// to here.
    pub high: f64,
}

/// What a ratio says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Faster than what it is compared with.
    Faster,
    /// Within noise.
    Same,
    /// Slower.
    Slower,
}

impl Spread {
    /// Of at least one value.
    #[must_use]
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        let n = values.len();
        let (&min, &max) = (values.first()?, values.last()?);
        let rank = rank(n);
        let middle = usize::midpoint(0, n - 1);
        Some(Self {
            median: if n % 2 == 1 {
                values[middle]
            } else {
                f64::midpoint(values[middle], values[middle + 1])
            },
            min,
            max,
            low: values[rank - 1],
            high: values[n - rank],
        })
    }

    /// Read as a ratio.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        if self.low > 1.0 && self.median > 1.0 + FLOOR {
            Verdict::Slower
        } else if self.high < 1.0 && self.median < 1.0 - FLOOR {
            Verdict::Faster
        } else {
            Verdict::Same
        }
    }
}

/// The k for which the k-th smallest and the k-th largest of `n` values hold the median
/// between them with at least 95 % confidence; 1 if none does.
fn rank(n: usize) -> usize {
    (1..=n.div_ceil(2))
        .take_while(|&k| 2.0 * tail(n, k) <= 0.05)
        .last()
        .unwrap_or(1)
}

/// The confidence of [`Spread::low`] to [`Spread::high`] for `n` values.
#[must_use]
pub fn confidence(n: usize) -> f64 {
    (1.0 - 2.0 * tail(n, rank(n))).max(0.0)
}

/// The chance that fewer than `k` of `n` fair coins show heads.
fn tail(n: usize, k: usize) -> f64 {
    let mut ways = 1.0;
    let mut sum = 0.0;
    for i in 0..k {
        sum += ways;
        ways = ways * (n - i) as f64 / (i + 1) as f64;
    }
    sum * 0.5_f64.powi(i32::try_from(n).unwrap_or(i32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ranks_are_those_of_the_tables() {
        // The sign test's critical values at 5 %, two-sided, plus one.
        for (n, k) in [
            (1, 1),
            (5, 1),
            (6, 1),
            (8, 1),
            (9, 2),
            (12, 3),
            (15, 4),
            (20, 6),
        ] {
            assert_eq!(rank(n), k, "of {n}");
        }
        assert!((confidence(5) - 0.9375).abs() < 1e-9);
        assert!((confidence(9) - 0.960_937_5).abs() < 1e-9);
        assert!(confidence(1).abs() < 1e-9);
    }

    #[test]
    fn medians_and_intervals() {
        let odd = Spread::of([3.0, 1.0, 2.0]).unwrap();
        assert_eq!((odd.median, odd.min, odd.max), (2.0, 1.0, 3.0));
        let even = Spread::of([4.0, 1.0, 2.0, 3.0]).unwrap();
        assert!((even.median - 2.5).abs() < 1e-9);
        let nine = Spread::of((1..=9).map(f64::from)).unwrap();
        assert_eq!((nine.low, nine.high), (2.0, 8.0));
        assert!(Spread::of([]).is_none());
    }

    #[test]
    fn a_ratio_is_judged_by_its_interval_and_the_floor() {
        let verdict = |values: &[f64]| Spread::of(values.iter().copied()).unwrap().verdict();
        assert_eq!(
            verdict(&[1.08, 1.10, 1.11, 1.12, 1.09, 1.1]),
            Verdict::Slower
        );
        assert_eq!(verdict(&[0.98, 1.10, 1.11, 1.12, 1.09, 1.1]), Verdict::Same);
        assert_eq!(verdict(&[1.004, 1.005, 1.006]), Verdict::Same);
        assert_eq!(verdict(&[0.5, 0.51, 0.52]), Verdict::Faster);
    }
}
