//! Runs of variants: values of files put together by metric.

use crate::measurement::{Measurement, MetricId, MetricTraits, Repeats};
use crate::statistics::summary::RunSummary;
use std::collections::HashMap;

/// The values of a metric in one variant, a run each, in the order of files and lines.
#[derive(Clone, Debug, PartialEq)]
pub struct RunSeries {
    /// The metric.
    pub metric: MetricId,
    /// Its traits.
    pub traits: MetricTraits,
    /// A value a run.
    pub runs: Vec<f64>,
    /// Runs that a tool summed up itself, for values that are their mean.
    pub repeats: Vec<Option<Repeats>>,
}

impl RunSeries {
    /// Sums the runs up. A single value that a tool made of several runs counts as these; of several such values each
    /// is a run.
    #[must_use]
    pub fn summary(&self) -> Option<RunSummary> {
        match (self.runs.as_slice(), self.repeats.as_slice()) {
            ([mean], [Some(repeats)]) => RunSummary::from_repeats(repeats.runs, *mean, repeats.deviation),
            (runs, _) => RunSummary::from_runs(runs),
        }
    }
}

/// The runs of one variant: a kernel, or a build of a program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VariantRuns {
    /// Its name in tables.
    pub name: String,
    /// Its metrics, as they appeared first.
    pub series: Vec<RunSeries>,
    places: HashMap<MetricId, usize>,
}

impl VariantRuns {
    /// A variant without runs.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    /// Adds what a file of a label, on a machine, holds.
    pub fn add(&mut self, measurements: Vec<Measurement>, label: &str, machine: &str) {
        for mut measurement in measurements {
            if !measurement.is_named {
                name_by_label(&mut measurement, label);
            }
            if measurement.metric.machine.is_empty() {
                machine.clone_into(&mut measurement.metric.machine);
            }
            self.push(measurement);
        }
    }

    fn push(&mut self, measurement: Measurement) {
        let Measurement { metric, traits, value, repeats, .. } = measurement;
        let next = self.series.len();
        let place = *self.places.entry(metric.clone()).or_insert(next);
        if place == next {
            self.series.push(RunSeries { metric, traits, runs: Vec::new(), repeats: Vec::new() });
        }
        if let Some(series) = self.series.get_mut(place) {
            series.runs.push(value);
            series.repeats.push(repeats);
        }
    }

    /// The series of a metric.
    #[must_use]
    pub fn find(&self, metric: &MetricId) -> Option<&RunSeries> {
        self.series.get(*self.places.get(metric)?)
    }
}

/// Completes a metric's test and case by the label of its file. Where the text has no case, the label is the case;
/// else it belongs to the test's name.
fn name_by_label(measurement: &mut Measurement, label: &str) {
    let metric = &mut measurement.metric;
    let mut rest: Vec<&str> = Vec::new();
    for part in label.split('/').filter(|part| !part.is_empty()) {
        // dbench and tbench print the same.
        if metric.test == "tbench" && part.split(['-', '_', '.', ' ']).any(|word| word == "dbench") {
            "dbench".clone_into(&mut metric.test);
        }
        let behind = part.strip_prefix(metric.test.as_str()).filter(|_| !metric.test.is_empty());
        match behind {
            Some("") => {}
            // `hackbench-16` says no more than the case `16-groups`.
            Some(behind) if is_same_number(behind, &metric.case) => {}
            None if is_same_number(part, &metric.case) => {}
            Some(behind) if metric.case.is_empty() && behind.starts_with(['-', '_', '.']) => {
                rest.push(behind.get(1..).unwrap_or_default());
            }
            Some(behind) if behind.starts_with(['-', '_', '.']) => {
                part.clone_into(&mut metric.test);
                part.clone_into(&mut measurement.traits.table);
            }
            _ => rest.push(part),
        }
    }
    if rest.is_empty() {
        return;
    }
    let rest = rest.join(" ");
    if metric.case.is_empty() {
        metric.case = rest;
        return;
    }
    let is_number = rest.bytes().all(|byte| byte.is_ascii_digit());
    metric.test = format!("{}{}{rest}", metric.test, if is_number { '-' } else { ' ' });
    metric.test.clone_into(&mut measurement.traits.table);
}

/// Whether a part of a name and a case have the same number, and the part has nothing else to say.
fn is_same_number(part: &str, case: &str) -> bool {
    let part = part.trim_start_matches(['-', '_', '.', ' ']);
    let number = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let (own, other) = (number(part), number(case));
    let is_equal = own > 0 && part.get(..own) == case.get(..other);
    is_equal && (part.len() == own || part == case)
}
