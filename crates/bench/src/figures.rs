//! The results of a run, as CSV that `compare` reads.

use fieldline_compare::csv::{self, CsvValue};
use fieldline_compare::measurement::{BetterDirection, MetricId};

/// A measured value.
#[derive(Clone, Debug, PartialEq)]
pub struct BenchFigure {
    /// The quantity.
    pub measure: String,
    /// The value.
    pub value: f64,
    /// Its unit; empty of counts.
    pub unit: &'static str,
    /// Which values are better.
    pub better: BetterDirection,
}

/// The results of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunFigures {
    /// The tree and the load, such as `d3w10 messages`.
    pub case: String,
    /// All values.
    pub figures: Vec<BenchFigure>,
    /// The text of /proc/lock_stat of the run, if it was wanted.
    pub lock_stat: Option<String>,
    /// Remarks on the run.
    pub notes: Vec<String>,
}

impl RunFigures {
    pub(crate) fn add(&mut self, measure: &str, value: f64, unit: &'static str, better: BetterDirection) {
        self.figures.push(BenchFigure { measure: measure.to_owned(), value, unit, better });
    }

    /// A value by its name.
    #[must_use]
    pub fn value(&self, measure: &str) -> Option<f64> {
        self.figures.iter().find(|figure| figure.measure == measure).map(|figure| figure.value)
    }

    /// The file of a run: `setup` says how it was made, in lines that `compare` leaves out.
    #[must_use]
    pub fn csv(&self, setup: &str) -> String {
        let values = self.figures.iter().map(|figure| CsvValue {
            metric: MetricId {
                test: "cgroup-tree".to_owned(),
                case: self.case.clone(),
                measure: figure.measure.clone(),
                ..MetricId::default()
            },
            value: figure.value,
            unit: figure.unit,
            better: figure.better,
        });
        csv::write(setup, &values.collect::<Vec<_>>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fieldline_compare::readers;

    #[test]
    fn compare_reads_values_units_and_directions() {
        let mut run = RunFigures {
            case: "d1w2 a \"b\", c".to_owned(),
            figures: Vec::new(),
            lock_stat: None,
            notes: Vec::new(),
        };
        run.add("wakeup p99", 12.5, "us", BetterDirection::Lower);
        run.add("usage", 79.5, "%", BetterDirection::Unknown);
        let read = readers::read(&run.csv("fieldline bench\n--depth 1")).unwrap();
        let names: Vec<_> =
            read.iter().map(|found| (found.metric.name(), found.value, found.traits.better)).collect();
        assert_eq!(
            names,
            [
                ("cgroup-tree d1w2 a \"b\", c wakeup p99".to_owned(), 12.5, BetterDirection::Lower),
                ("cgroup-tree d1w2 a \"b\", c usage".to_owned(), 79.5, BetterDirection::Unknown),
            ]
        );
        assert_eq!(run.value("usage"), Some(79.5));
    }
}
