//! The counts of one run, as values that `compare` reads.

use super::caches::{CacheScale, MachineCounts, MissCounts};
use super::machine::ScoredMachine;
use super::subjects::Subjects;
use fieldline_compare::csv::{self, CsvValue};
use fieldline_compare::measurement::{BetterDirection, MetricId};

/// The test's name of the figures over all accesses.
pub const ALL_ACCESSES: &str = "all accesses";

/// Figures that are compared together: each set is a folder of its own, since tests are adjusted for how many there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FigureSet {
    /// By struct and over all accesses.
    Structs,
    /// By function.
    Functions,
    /// As the first, with caches of half the size.
    HalfCaches,
    /// As the first, with caches of twice the size.
    DoubleCaches,
}

impl FigureSet {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Structs, Self::Functions, Self::HalfCaches, Self::DoubleCaches];

    /// The name of its folder.
    #[must_use]
    pub fn folder(self) -> &'static str {
        match self {
            Self::Structs => "runs",
            Self::Functions => "functions",
            Self::HalfCaches => "half-caches",
            Self::DoubleCaches => "double-caches",
        }
    }
}

/// The figures of a trace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TraceFigures {
    sets: Vec<(FigureSet, Vec<CsvValue>)>,
    /// Accesses in all.
    pub accesses: u64,
}

impl TraceFigures {
    pub(super) fn new(
        subjects: &Subjects,
        counts: &[((CacheScale, u64), MachineCounts)],
        structs: &[String],
        machine: &ScoredMachine,
    ) -> Self {
        let accesses = subjects.structs.len() as u64;
        let mut figures = Self { sets: Vec::new(), accesses };
        for ((scale, line), counts) in counts {
            let set = match scale {
                CacheScale::Whole => FigureSet::Structs,
                CacheScale::Half => FigureSet::HalfCaches,
                CacheScale::Double => FigureSet::DoubleCaches,
            };
            let lines =
                machine.lines.iter().position(|known| known == line).and_then(|at| subjects.lines.get(at));
            for (index, name) in structs.iter().enumerate() {
                let count_in = |list: &[u64]| list.get(index).copied().unwrap_or(0);
                let visits = count_in(&subjects.visits);
                if visits == 0 {
                    continue;
                }
                if let Some(lines) = lines.filter(|_| *scale == CacheScale::Whole) {
                    figures.add(
                        set,
                        (name, *line),
                        "lines per visit",
                        count_in(lines) as f64 / visits as f64,
                        "",
                    );
                }
                let counted = counts.structs.get(index).copied().unwrap_or_default();
                figures.add_misses(set, (name, *line), counted, (visits, "visits"));
            }
            figures.add_misses(set, (ALL_ACCESSES, *line), counts.all, (accesses, "accesses"));
            if *scale == CacheScale::Whole {
                figures.add_functions(*line, &subjects.names, &counts.functions);
            }
        }
        figures
    }

    fn add_functions(&mut self, line: u64, names: &[String], counts: &[MissCounts]) {
        let per = 1000.0 / self.accesses.max(1) as f64;
        for (name, counts) in names.iter().zip(counts) {
            let misses = counts.shared as f64 * per;
            self.add(FigureSet::Functions, (name, line), "modelled LLC misses", misses, "/1000 accesses");
        }
    }

    fn add_misses(
        &mut self,
        set: FigureSet,
        subject: (&str, u64),
        counts: MissCounts,
        (over, noun): (u64, &'static str),
    ) {
        let unit = if noun == "visits" { "/1000 visits" } else { "/1000 accesses" };
        let per = 1000.0 / over.max(1) as f64;
        for (measure, count) in [
            ("modelled L2 misses", counts.second),
            ("modelled LLC misses", counts.shared),
            ("modelled HITM", counts.modified),
        ] {
            self.add(set, subject, measure, count as f64 * per, unit);
        }
    }

    fn add(
        &mut self,
        set: FigureSet,
        (test, line): (&str, u64),
        measure: &str,
        value: f64,
        unit: &'static str,
    ) {
        let value = CsvValue {
            metric: MetricId {
                test: test.to_owned(),
                case: format!("{line} B"),
                measure: measure.to_owned(),
                ..MetricId::default()
            },
            value,
            unit,
            better: BetterDirection::Lower,
        };
        match self.sets.iter_mut().find(|(known, _)| *known == set) {
            Some((_, values)) => values.push(value),
            None => self.sets.push((set, vec![value])),
        }
    }

    /// The values of a set.
    #[must_use]
    pub fn values(&self, set: FigureSet) -> &[CsvValue] {
        self.sets.iter().find(|(known, _)| *known == set).map_or(&[], |(_, values)| values)
    }

    /// The file of a set: `setup` says how the run was made.
    #[must_use]
    pub fn csv(&self, set: FigureSet, setup: &str) -> String {
        csv::write(setup, self.values(set))
    }
}
