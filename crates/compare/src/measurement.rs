//! Measured values: the metric each is of, its unit, and which direction is better.

use serde::{Deserialize, Serialize};

/// Which values of a metric are better.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BetterDirection {
    /// Smaller ones: times, latencies, misses.
    Lower,
    /// Larger ones: throughput.
    Higher,
    /// Neither is known.
    #[default]
    Unknown,
}

impl BetterDirection {
    /// The direction that a unit implies: rates are better when higher, times when lower.
    #[must_use]
    pub fn from_unit(unit: &str) -> Self {
        let unit = unit.trim().to_ascii_lowercase();
        let is_rate = ["/s", "/sec", "/second", "/min", "bits/sec"].iter().any(|end| unit.ends_with(end));
        let time = [
            "s", "sec", "secs", "seconds", "second", "ms", "msec", "msecs", "us", "usec", "usecs", "µs",
            "ns", "nsec", "nsecs", "min", "minutes", "hours",
        ];
        match () {
            () if is_rate
                || unit.contains("per sec")
                || ["mbps", "gbps", "rps", "iops"].contains(&unit.as_str()) =>
            {
                Self::Higher
            }
            () if time.contains(&unit.as_str())
                || ["s/op", "sec/op", "secs/op"].iter().any(|end| unit.ends_with(end)) =>
            {
                Self::Lower
            }
            () => Self::Unknown,
        }
    }
}

/// The average by which runs of a metric are compared in normalised tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum RunAverage {
    /// The arithmetic mean.
    #[default]
    #[serde(rename = "AMean")]
    Arithmetic,
    /// The harmonic mean, for rates over equal work.
    #[serde(rename = "HMean")]
    Harmonic,
    /// The median.
    Median,
}

impl RunAverage {
    /// The name in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Arithmetic => "AMean",
            Self::Harmonic => "HMean",
            Self::Median => "Median",
        }
    }

    /// The average of a name in tables, in any case.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        match name.trim().to_ascii_lowercase().as_str() {
            "amean" | "mean" => Some(Self::Arithmetic),
            "hmean" => Some(Self::Harmonic),
            "median" => Some(Self::Median),
            _ => None,
        }
    }
}

/// The identity of a metric: values with the same one are runs of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct MetricId {
    /// The machine, if runs of several are compared.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub machine: String,
    /// The benchmark, such as `hackbench`.
    pub test: String,
    /// The parameter it ran with, such as `16-groups`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub case: String,
    /// The quantity, such as `time`.
    pub measure: String,
}

impl MetricId {
    /// Test, case and quantity as one name.
    #[must_use]
    pub fn name(&self) -> String {
        let parts = [&self.machine, &self.test, &self.case, &self.measure];
        let parts: Vec<&str> =
            parts.into_iter().filter(|part| !part.is_empty()).map(String::as_str).collect();
        parts.join(" ")
    }
}

/// Traits of a metric beside its identity.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MetricTraits {
    /// The unit as the tool writes it; empty of counts.
    pub unit: String,
    /// Which values are better.
    pub better: BetterDirection,
    /// The average in normalised tables.
    pub average: RunAverage,
    /// The quantity in the head of a normalised table, such as `time in seconds`.
    #[serde(skip)]
    pub quantity: String,
    /// The head of the column of cases, such as `Clients`.
    #[serde(skip)]
    pub axis: String,
    /// The name of the metric's normalised table.
    #[serde(skip)]
    pub table: String,
    /// Whether the tool itself marks it as a main result: others are left out of normalised tables.
    #[serde(skip)]
    pub is_key: bool,
}

/// Runs that a tool has summed up itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Repeats {
    /// How many.
    pub runs: usize,
    /// Their standard deviation.
    pub deviation: f64,
}

/// A value in a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurement {
    /// The metric.
    pub metric: MetricId,
    /// Its traits.
    pub traits: MetricTraits,
    /// The value, finite.
    pub value: f64,
    /// Set if the value is the mean of so many runs.
    pub repeats: Option<Repeats>,
    /// Whether the text itself names test and case, so that its file's name adds nothing.
    pub is_named: bool,
}

/// A metric that a tool always prints: its names, unit and direction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KnownMetric {
    pub(crate) test: &'static str,
    pub(crate) measure: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) better: BetterDirection,
    pub(crate) average: RunAverage,
    pub(crate) quantity: &'static str,
    pub(crate) axis: &'static str,
    pub(crate) table: &'static str,
    pub(crate) is_key: bool,
}

impl KnownMetric {
    /// A main result: compared by arithmetic means, its table named as the test.
    pub(crate) const fn new(test: &'static str, measure: &'static str, unit: &'static str) -> Self {
        Self {
            test,
            measure,
            unit,
            better: BetterDirection::Unknown,
            average: RunAverage::Arithmetic,
            quantity: measure,
            axis: "Case",
            table: "",
            is_key: true,
        }
    }

    pub(crate) const fn lower(self) -> Self {
        Self { better: BetterDirection::Lower, ..self }
    }

    pub(crate) const fn higher(self) -> Self {
        Self { better: BetterDirection::Higher, ..self }
    }

    /// A result beside the main ones.
    pub(crate) const fn minor(self) -> Self {
        Self { is_key: false, ..self }
    }

    /// A value of a case; an empty one is named by the file.
    pub(crate) fn value(&self, case: &str, value: f64) -> Measurement {
        Measurement {
            metric: MetricId {
                machine: String::new(),
                test: self.test.to_owned(),
                case: case.to_owned(),
                measure: self.measure.to_owned(),
            },
            traits: MetricTraits {
                unit: self.unit.to_owned(),
                better: self.better,
                average: self.average,
                quantity: self.quantity.to_owned(),
                axis: self.axis.to_owned(),
                table: self.table.to_owned(),
                is_key: self.is_key,
            },
            value,
            repeats: None,
            is_named: false,
        }
    }
}
