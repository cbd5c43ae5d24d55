//! Two series of runs: the ratio of their means with its interval (Fieller 1954), Welch's t-test and the paired one.

use super::distribution::{t_quantile, t_two_sided};
use super::summary::{CONFIDENCE, ConfidenceInterval, RunSummary};
use serde::{Deserialize, Serialize};

/// The 95 % interval of a ratio of two means.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum RatioInterval {
    /// Between two ratios.
    Bounded(ConfidenceInterval),
    /// The first mean may be zero, so that no ratio is excluded, or all but some.
    Unbounded,
}

impl RatioInterval {
    /// Both ends, if there are any.
    #[must_use]
    pub fn bounds(&self) -> Option<ConfidenceInterval> {
        match self {
            Self::Bounded(interval) => Some(*interval),
            Self::Unbounded => None,
        }
    }
}

/// Two means and how surely they differ: the terms that ratio and test are made of.
#[derive(Clone, Copy, Debug)]
struct Terms {
    base: f64,
    other: f64,
    /// Squared standard errors of both means, and their covariance.
    base_error: f64,
    other_error: f64,
    covariance: f64,
    /// Runs of both series; `None` of pairs, whose degrees of freedom are `pairs - 1`.
    counts: Option<(f64, f64)>,
    pairs: f64,
}

/// The result of a comparison of two series.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Contrast {
    /// The other mean divided by the base's; `None` if that is zero.
    pub ratio: Option<f64>,
    /// The interval of the ratio; `None` where a series is a single run.
    #[serde(rename = "ratio_interval")]
    pub interval: Option<RatioInterval>,
    /// Student's t of the difference; infinite where no run scatters and the means differ.
    pub t: Option<f64>,
    /// Degrees of freedom (Welch and Satterthwaite).
    pub degrees: Option<f64>,
    /// The two-sided p-value of equal means.
    pub p: Option<f64>,
}

/// Compares two independent series (Welch 1947).
#[must_use]
pub fn welch(base: &RunSummary, other: &RunSummary) -> Contrast {
    let square = |summary: &RunSummary| summary.standard_error().map(|error| error * error);
    let terms = square(base).zip(square(other)).map(|(base_error, other_error)| Terms {
        base: base.mean,
        other: other.mean,
        base_error,
        other_error,
        covariance: 0.0,
        counts: Some((base.runs as f64, other.runs as f64)),
        pairs: 0.0,
    });
    Contrast::new(base.mean, other.mean, terms)
}

/// Compares series whose runs belong together one by one. `None` if they are not as many.
#[must_use]
pub fn paired(base: &[f64], other: &[f64]) -> Option<Contrast> {
    let (first, second) = (RunSummary::from_runs(base)?, RunSummary::from_runs(other)?);
    let count = base.len() as f64;
    let products = base.iter().zip(other).map(|(left, right)| (left - first.mean) * (right - second.mean));
    let covariance = products.sum::<f64>() / (count - 1.0) / count;
    let errors = first.standard_error().zip(second.standard_error());
    let terms = errors.map(|(base_error, other_error)| Terms {
        base: first.mean,
        other: second.mean,
        base_error: base_error * base_error,
        other_error: other_error * other_error,
        covariance,
        counts: None,
        pairs: count,
    });
    (base.len() == other.len()).then(|| Contrast::new(first.mean, second.mean, terms))
}

impl Contrast {
    fn new(base: f64, other: f64, terms: Option<Terms>) -> Self {
        let ratio = Some(other / base).filter(|ratio| ratio.is_finite());
        let t = terms.and_then(|terms| terms.t());
        let degrees = terms.and_then(|terms| terms.degrees(1.0));
        let p = t.and_then(|t| if t.is_infinite() { Some(0.0) } else { t_two_sided(t, degrees?) });
        // Runs that all are equal, on both sides, give no degrees of freedom, and nothing to doubt.
        let p = if t == Some(0.0) && degrees.is_none() { Some(1.0) } else { p };
        let interval = terms.and_then(|terms| terms.fieller());
        Self { ratio, interval, t: t.filter(|t| t.is_finite()), degrees, p }
    }
}

impl Terms {
    /// The variance of `other - ratio * base`.
    fn variance(&self, ratio: f64) -> f64 {
        let variance = self.other_error - 2.0 * ratio * self.covariance + ratio * ratio * self.base_error;
        variance.max(0.0)
    }

    fn t(&self) -> Option<f64> {
        let difference = self.other - self.base;
        let t = if difference == 0.0 { 0.0 } else { difference / self.variance(1.0).sqrt() };
        (!t.is_nan()).then_some(t)
    }

    /// Degrees of freedom of [`Terms::variance`] (Satterthwaite 1946).
    fn degrees(&self, ratio: f64) -> Option<f64> {
        let Some((base_runs, other_runs)) = self.counts else { return Some(self.pairs - 1.0) };
        let base = ratio * ratio * self.base_error;
        // Divided first, since squares of large values overflow.
        let sum = base + self.other_error;
        let (base, other) = (base / sum, self.other_error / sum);
        let degrees = 1.0 / (base * base / (base_runs - 1.0) + other * other / (other_runs - 1.0));
        degrees.is_finite().then_some(degrees)
    }

    /// The ratios that a t-test of `other - ratio * base` does not reject. The degrees of freedom are those at the
    /// ratio of the means.
    fn fieller(&self) -> Option<RatioInterval> {
        let ratio = self.other / self.base;
        if !ratio.is_finite() {
            return Some(RatioInterval::Unbounded);
        }
        if self.base_error == 0.0 && self.other_error == 0.0 {
            return ConfidenceInterval::new(ratio, ratio).map(RatioInterval::Bounded);
        }
        let t = t_quantile(0.5 + CONFIDENCE / 2.0, self.degrees(ratio)?)?;
        // In units of the base's mean, so that squares stay small.
        let scale = self.base * self.base;
        let (base_error, other_error) = (self.base_error / scale, self.other_error / scale);
        let (covariance, square) = (self.covariance / scale, t * t);
        let lead = 1.0 - square * base_error;
        if lead <= 0.0 || lead.is_nan() {
            return Some(RatioInterval::Unbounded);
        }
        let middle = ratio - square * covariance;
        let rest = middle * middle - lead * (ratio * ratio - square * other_error);
        let half = rest.max(0.0).sqrt();
        ConfidenceInterval::new((middle - half) / lead, (middle + half) / lead).map(RatioInterval::Bounded)
    }
}
