//! Variants compared metric by metric: statistics, and a verdict a row.

use crate::measurement::{BetterDirection, MetricId, MetricTraits, RunAverage};
use crate::runs::{RunSeries, VariantRuns};
use crate::statistics::contrast::{self, Contrast, RatioInterval};
use crate::statistics::holm;
use crate::statistics::summary::{ConfidenceInterval, RunSummary};
use serde::{Deserialize, Serialize};

/// The level below which an adjusted p-value counts as a difference.
pub const LEVEL: f64 = 0.05;

/// How to compare.
#[derive(Clone, Copy, Debug)]
pub struct CompareOptions {
    /// Whether the runs of variants belong together one by one (they alternated: A B A B).
    pub is_paired: bool,
    /// A difference of so many percent is not worth finding: an interval of the change that lies within shows that
    /// there is no larger one.
    pub margin: f64,
}

impl Default for CompareOptions {
    fn default() -> Self {
        Self { is_paired: false, margin: 5.0 }
    }
}

/// Why variants can't be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CompareError {
    /// Pairs that are none.
    #[error("{metric}: {base} runs of {base_name} and {other} of {other_name} are no pairs")]
    Unpaired {
        /// The metric's name.
        metric: String,
        /// Runs of the first variant.
        base: usize,
        /// The first variant.
        base_name: String,
        /// Runs of the other.
        other: usize,
        /// The other.
        other_name: String,
    },
    /// No metric is in both.
    #[error(
        "{base} and {other} have no metric in common: {base} has {base_metric}, {other} has {other_metric}"
    )]
    Disjoint {
        /// The first variant.
        base: String,
        /// Its first metric.
        base_metric: String,
        /// The other.
        other: String,
        /// Its first metric.
        other_metric: String,
    },
}

/// The verdict on a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RowVerdict {
    /// Significantly better.
    Better,
    /// Significantly worse.
    Worse,
    /// Significantly different, of a metric whose better direction is not known.
    Different,
    /// The interval of the change lies within the margin.
    NoDifferenceShown,
    /// The runs are too few or scatter too much to say anything.
    ProvesNothing,
}

impl RowVerdict {
    /// In words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Different => "different",
            Self::NoDifferenceShown => "no difference shown",
            Self::ProvesNothing => "proves nothing",
        }
    }
}

/// One variant against the base, in one metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RowChange {
    /// The change of the means, in percent of the base's.
    pub percent: Option<f64>,
    /// Its 95 % interval (Fieller), in percent.
    pub interval: Option<ConfidenceInterval>,
    /// Whether the interval has no ends, since the base's mean may be zero.
    pub is_unbounded: bool,
    /// Student's t, degrees of freedom, and the p-value of this row alone.
    #[serde(flatten)]
    pub contrast: Contrast,
    /// The p-value adjusted for all rows (Holm).
    pub adjusted_p: Option<f64>,
    /// The verdict.
    pub verdict: RowVerdict,
    /// Why, or with which reserve; may be empty.
    pub reason: String,
}

/// A metric with its statistics in all variants.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparisonRow {
    /// The metric.
    #[serde(flatten)]
    pub metric: MetricId,
    /// Its traits.
    #[serde(flatten)]
    pub traits: MetricTraits,
    /// A summary a variant; none where it has no runs.
    pub summaries: Vec<Option<RunSummary>>,
    /// A change a variant but the first.
    pub changes: Vec<Option<RowChange>>,
}

impl ComparisonRow {
    /// The average that the metric's tables show. The mean stands in for a harmonic mean that does not exist.
    #[must_use]
    pub fn average(&self, variant: usize) -> Option<f64> {
        let summary = self.summaries.get(variant)?.as_ref()?;
        Some(match self.traits.average {
            RunAverage::Arithmetic => summary.mean,
            RunAverage::Harmonic => summary.harmonic_mean.unwrap_or(summary.mean),
            RunAverage::Median => summary.median,
        })
    }

    /// By how many percent a variant's average is better than the base's; negative if it is worse. Metrics without a
    /// known direction count as better when higher.
    #[must_use]
    pub fn improvement(&self, variant: usize) -> Option<f64> {
        let change = (self.average(variant)? / self.average(0)? - 1.0) * 100.0;
        let improvement = if self.traits.better == BetterDirection::Lower { -change } else { change };
        improvement.is_finite().then_some(improvement)
    }
}

/// Variants compared: the file of `--format json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Names of the variants, the base first.
    pub variants: Vec<String>,
    /// Whether runs were compared in pairs.
    pub is_paired: bool,
    /// The margin of "no difference shown", in percent.
    pub margin: f64,
    /// How many tests were made, for which p-values are adjusted.
    pub tests: usize,
    /// A row a metric.
    pub rows: Vec<ComparisonRow>,
}

impl Comparison {
    /// Compares variants with the first one, in all metrics of any.
    ///
    /// # Errors
    ///
    /// A variant shares no metric with the base, or runs that should be pairs are not as many.
    pub fn new(variants: &[VariantRuns], options: CompareOptions) -> Result<Self, CompareError> {
        let mut metrics: Vec<&RunSeries> = Vec::new();
        for (index, variant) in variants.iter().enumerate() {
            let before = variants.get(..index).unwrap_or_default();
            let is_new =
                |series: &&RunSeries| before.iter().all(|known| known.find(&series.metric).is_none());
            metrics.extend(variant.series.iter().filter(is_new));
        }
        check_shared(variants)?;
        let rows =
            metrics.iter().map(|series| row(variants, series, options)).collect::<Result<Vec<_>, _>>()?;
        let mut comparison = Self {
            variants: variants.iter().map(|variant| variant.name.clone()).collect(),
            is_paired: options.is_paired,
            margin: options.margin,
            tests: 0,
            rows,
        };
        comparison.adjust();
        comparison.judge(options);
        Ok(comparison)
    }

    /// Whether a row has a verdict.
    #[must_use]
    pub fn has(&self, verdict: RowVerdict) -> bool {
        self.rows.iter().flat_map(|row| row.changes.iter().flatten()).any(|change| change.verdict == verdict)
    }

    fn adjust(&mut self) {
        let changes = self.rows.iter().flat_map(|row| row.changes.iter().flatten());
        let p_values: Vec<Option<f64>> = changes.map(|change| change.contrast.p).collect();
        self.tests = p_values.iter().flatten().count();
        let adjusted = holm::adjust(&p_values);
        let changes = self.rows.iter_mut().flat_map(|row| row.changes.iter_mut().flatten());
        for (change, adjusted) in changes.zip(adjusted) {
            change.adjusted_p = adjusted;
        }
    }

    fn judge(&mut self, options: CompareOptions) {
        for row in &mut self.rows {
            let summaries = row.summaries.clone();
            let base = summaries.first().copied().flatten();
            for (change, other) in row.changes.iter_mut().zip(summaries.iter().skip(1)) {
                let (Some(change), Some(base), Some(other)) = (change, base.as_ref(), other.as_ref()) else {
                    continue;
                };
                (change.verdict, change.reason) = judge(change, base, other, row.traits.better, options);
            }
        }
    }
}

fn check_shared(variants: &[VariantRuns]) -> Result<(), CompareError> {
    let Some((base, others)) = variants.split_first() else { return Ok(()) };
    let is_disjoint =
        |other: &&VariantRuns| other.series.iter().all(|series| base.find(&series.metric).is_none());
    let first =
        |variant: &VariantRuns| variant.series.first().map(|series| series.metric.name()).unwrap_or_default();
    match others.iter().find(is_disjoint) {
        Some(other) => Err(CompareError::Disjoint {
            base: base.name.clone(),
            base_metric: first(base),
            other: other.name.clone(),
            other_metric: first(other),
        }),
        None => Ok(()),
    }
}

fn row(
    variants: &[VariantRuns],
    series: &RunSeries,
    options: CompareOptions,
) -> Result<ComparisonRow, CompareError> {
    let found: Vec<Option<&RunSeries>> =
        variants.iter().map(|variant| variant.find(&series.metric)).collect();
    let summaries: Vec<Option<RunSummary>> =
        found.iter().map(|series| series.and_then(RunSeries::summary)).collect();
    let mut changes = Vec::new();
    for (index, variant) in variants.iter().enumerate().skip(1) {
        let both = found.first().copied().flatten().zip(found.get(index).copied().flatten());
        let sums = summaries.first().copied().flatten().zip(summaries.get(index).copied().flatten());
        let Some(((base, other), (base_sum, other_sum))) = both.zip(sums) else {
            changes.push(None);
            continue;
        };
        let contrast = if options.is_paired {
            contrast::paired(&base.runs, &other.runs).ok_or_else(|| CompareError::Unpaired {
                metric: series.metric.name(),
                base: base.runs.len(),
                base_name: variants.first().map(|base| base.name.clone()).unwrap_or_default(),
                other: other.runs.len(),
                other_name: variant.name.clone(),
            })?
        } else {
            contrast::welch(&base_sum, &other_sum)
        };
        changes.push(Some(RowChange::new(contrast)));
    }
    Ok(ComparisonRow { metric: series.metric.clone(), traits: series.traits.clone(), summaries, changes })
}

impl RowChange {
    fn new(contrast: Contrast) -> Self {
        let percent = |ratio: f64| (ratio - 1.0) * 100.0;
        let bounds = contrast.interval.and_then(|interval| interval.bounds());
        let interval =
            bounds.and_then(|bounds| ConfidenceInterval::new(percent(bounds.low), percent(bounds.high)));
        Self {
            percent: contrast.ratio.map(percent),
            interval,
            is_unbounded: contrast.interval == Some(RatioInterval::Unbounded),
            contrast,
            adjusted_p: None,
            verdict: RowVerdict::ProvesNothing,
            reason: String::new(),
        }
    }
}

/// The verdict on a change, and what must be said with it.
fn judge(
    change: &RowChange,
    base: &RunSummary,
    other: &RunSummary,
    better: BetterDirection,
    options: CompareOptions,
) -> (RowVerdict, String) {
    let fewest = base.runs.min(other.runs);
    if fewest < 2 {
        return (RowVerdict::ProvesNothing, "n = 1".to_owned());
    }
    let variation = base.variation().into_iter().chain(other.variation()).reduce(f64::max);
    let effect = change.percent.map(f64::abs);
    let is_above = variation.zip(effect).is_some_and(|(variation, effect)| variation > effect);
    let scatter = variation.map_or(String::new(), |variation| {
        let above = effect.filter(|_| is_above).map(|effect| format!(" above the change of {effect:.1} %"));
        format!("CV {variation:.1} %{}", above.unwrap_or_default())
    });
    let is_significant = change.adjusted_p.is_some_and(|p| p < LEVEL);
    if is_significant {
        let is_lower = other.mean < base.mean;
        let verdict = match better {
            BetterDirection::Unknown => RowVerdict::Different,
            BetterDirection::Lower if is_lower => RowVerdict::Better,
            BetterDirection::Higher if !is_lower => RowVerdict::Better,
            _ => RowVerdict::Worse,
        };
        let reason = match verdict {
            RowVerdict::Different => "which direction is better is not known".to_owned(),
            _ if is_above => scatter,
            _ => String::new(),
        };
        return (verdict, reason);
    }
    let within =
        |interval: ConfidenceInterval| -options.margin <= interval.low && interval.high <= options.margin;
    let never_scatter = [base, other].iter().all(|summary| summary.deviation == Some(0.0));
    let is_equal = base.mean == other.mean && never_scatter;
    if change.interval.is_some_and(within) || is_equal {
        return (RowVerdict::NoDifferenceShown, scatter);
    }
    let few = format!("n = {fewest}");
    let reason = if is_above || scatter.is_empty() { scatter } else { format!("{few}, {scatter}") };
    (RowVerdict::ProvesNothing, if reason.is_empty() { few } else { reason })
}
