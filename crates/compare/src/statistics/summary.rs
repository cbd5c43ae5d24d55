//! One series of runs: mean, median, scatter, with intervals.

use super::distribution::{fair_coin_at_most, t_quantile};
use serde::{Deserialize, Serialize};

/// The share of intervals that hold the true value.
pub const CONFIDENCE: f64 = 0.95;

/// Both ends of a 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConfidenceInterval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl ConfidenceInterval {
    /// Both ends, if they are finite.
    #[must_use]
    pub fn new(low: f64, high: f64) -> Option<Self> {
        (low.is_finite() && high.is_finite()).then_some(Self { low: low.min(high), high: low.max(high) })
    }

    /// Whether a value lies within, ends included.
    #[must_use]
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

/// Figures of one series of runs. Those that the runs do not give are `None`: of one run there is no scatter.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunSummary {
    /// Runs.
    pub runs: usize,
    /// The arithmetic mean.
    pub mean: f64,
    /// The standard deviation, with n - 1.
    pub deviation: Option<f64>,
    /// The 95 % interval of the mean, by Student's t.
    pub mean_interval: Option<ConfidenceInterval>,
    /// The middle run, or the mean of the two middle ones.
    pub median: f64,
    /// The interval between two runs that holds the median with at least 95 %, by order statistics; six runs or more.
    pub median_interval: Option<ConfidenceInterval>,
    /// The harmonic mean, of positive values only.
    pub harmonic_mean: Option<f64>,
}

impl RunSummary {
    /// Sums runs up; `None` if there are none, or if they are too large to sum.
    #[must_use]
    pub fn from_runs(runs: &[f64]) -> Option<Self> {
        let mean = mean(runs)?;
        let deviation = deviation(runs, mean);
        let mut sorted = runs.to_vec();
        sorted.sort_by(f64::total_cmp);
        Some(Self {
            runs: runs.len(),
            mean,
            deviation,
            mean_interval: mean_interval(runs.len(), mean, deviation),
            median: middle(&sorted)?,
            median_interval: median_interval(&sorted),
            harmonic_mean: harmonic_mean(runs),
        })
    }

    /// The summary of runs that a tool has summed up itself. It keeps no single runs, so the median and the harmonic
    /// mean are the mean.
    #[must_use]
    pub fn from_repeats(runs: usize, mean: f64, deviation: f64) -> Option<Self> {
        let deviation = Some(deviation).filter(|deviation| deviation.is_finite() && runs > 1);
        (mean.is_finite() && runs > 0).then(|| Self {
            runs,
            mean,
            deviation,
            mean_interval: mean_interval(runs, mean, deviation),
            median: mean,
            median_interval: None,
            harmonic_mean: Some(mean).filter(|mean| *mean > 0.0),
        })
    }

    /// The coefficient of variation, in percent of the mean.
    #[must_use]
    pub fn variation(&self) -> Option<f64> {
        let variation = 100.0 * self.deviation? / self.mean.abs();
        variation.is_finite().then_some(variation)
    }

    /// The standard error of the mean.
    #[must_use]
    pub fn standard_error(&self) -> Option<f64> {
        Some(self.deviation? / (self.runs as f64).sqrt())
    }
}

fn mean(runs: &[f64]) -> Option<f64> {
    let count = runs.len() as f64;
    let first = runs.iter().map(|run| run / count).sum::<f64>();
    // A second pass takes away the rounding of the first.
    let mean = first + runs.iter().map(|run| (run - first) / count).sum::<f64>();
    (!runs.is_empty() && mean.is_finite()).then_some(mean)
}

fn deviation(runs: &[f64], mean: f64) -> Option<f64> {
    let degrees = runs.len().checked_sub(1).filter(|degrees| *degrees > 0)? as f64;
    let squares: f64 = runs.iter().map(|run| (run - mean).powi(2)).sum();
    let deviation = (squares / degrees).sqrt();
    deviation.is_finite().then_some(deviation)
}

fn mean_interval(runs: usize, mean: f64, deviation: Option<f64>) -> Option<ConfidenceInterval> {
    let degrees = runs.checked_sub(1)? as f64;
    let half = t_quantile(0.5 + CONFIDENCE / 2.0, degrees)? * deviation? / (runs as f64).sqrt();
    ConfidenceInterval::new(mean - half, mean + half)
}

fn middle(sorted: &[f64]) -> Option<f64> {
    let upper = *sorted.get(sorted.len() / 2)?;
    match sorted.len() % 2 {
        0 => sorted.get(sorted.len() / 2 - 1).map(|lower| lower / 2.0 + upper / 2.0),
        _ => Some(upper),
    }
}

/// The innermost pair of runs, as many from both ends, that holds the median with at least 95 %.
fn median_interval(sorted: &[f64]) -> Option<ConfidenceInterval> {
    let count = sorted.len();
    let is_enough = |outside: &usize| {
        let tail = fair_coin_at_most(*outside as u64, count as u64);
        tail.is_some_and(|tail| 2.0 * tail <= 1.0 - CONFIDENCE)
    };
    let outside = (0..count / 2).take_while(is_enough).last()?;
    ConfidenceInterval::new(*sorted.get(outside)?, *sorted.get(count - 1 - outside)?)
}

fn harmonic_mean(runs: &[f64]) -> Option<f64> {
    let is_positive = runs.iter().all(|run| *run > 0.0);
    let inverses = runs.iter().map(|run| 1.0 / run).sum::<f64>();
    Some(runs.len() as f64 / inverses).filter(|mean| is_positive && mean.is_finite())
}
