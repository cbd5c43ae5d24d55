//! How often members were touched by branch stacks, against how often they were.

use super::score::Object;
use super::trace::Trace;
use crate::shell::say;
use anyhow::Result;
use fieldline_profile::attribute::target::Target;
use fieldline_profile::perf_data::Error;
use fieldline_profile::run::Attribution;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A struct and the offset of what was touched in it.
type Place = (String, u64);

/// Counts of places in the objects the program listed.
pub(super) struct Counts {
    /// What was touched, by the program's code, and what branch stacks show: accesses, and what they stand for.
    places: BTreeMap<Place, [u64; 3]>,
    runs: u64,
}

impl Counts {
    pub(super) fn new(
        program: &Path,
        objects: &[Object],
        trace: &Trace,
        attribution: &Attribution<'_>,
    ) -> Result<Self> {
        let mut places: BTreeMap<Place, [u64; 3]> = BTreeMap::new();
        let code = trace.code(program)?;
        for [_, address, ..] in trace.accesses().filter(|row| code.contains(&row[0])) {
            let past = objects.partition_point(|object| object.begin <= address);
            let object = past.checked_sub(1).and_then(|index| objects.get(index));
            if let Some(object) = object.filter(|object| address - object.begin < object.size) {
                places.entry((object.ty.clone(), address - object.begin)).or_default()[0] += 1;
            }
        }
        let names: BTreeSet<String> = objects.iter().map(|object| object.ty.clone()).collect();
        let mut runs = 0;
        attribution.each(0, |sample, found| {
            runs += 1;
            if let Target::Place { ty, offset } = found.target
                && let Some(name) = attribution.answers.ty(ty).map(|entry| &entry.name.name)
                && names.contains(name)
            {
                let counts = places.entry((name.clone(), offset)).or_default();
                counts[1] += 1;
                counts[2] += sample.period;
            }
            Ok::<(), Error>(())
        })?;
        Ok(Self { places, runs })
    }

    fn sum(&self, column: usize) -> u64 {
        self.places.values().filter_map(|counts| counts.get(column)).sum()
    }

    /// Spearman's rank correlation: Pearson's of the ranks, of which equal counts share the mean.
    pub(super) fn rank_correlation(&self) -> f64 {
        let column = |column: usize| -> Vec<f64> {
            let values: Vec<u64> = self.places.values().map(|counts| counts[column]).collect();
            let below = |value: u64| values.iter().filter(|other| **other < value).count() as f64;
            let alike = |value: u64| values.iter().filter(|other| **other == value).count() as f64;
            values.iter().map(|value| below(*value) + (alike(*value) - 1.0) / 2.0).collect()
        };
        let (known, found) = (column(0), column(1));
        let mean = (known.len() as f64 - 1.0) / 2.0;
        let product =
            |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - mean) * (b - mean)).sum::<f64>();
        product(&known, &found) / (product(&known, &known) * product(&found, &found)).sqrt()
    }

    pub(super) fn print(&self, name: &str, depth: usize) {
        say(&format!(
            "  {name} by stacks of {depth} branches: {} accesses in runs, {} of them in {} places of listed objects, rank \
             correlation {:.4}, sum of periods {:.3} of the {} accesses there were",
            self.runs,
            self.sum(1),
            self.places.len(),
            self.rank_correlation(),
            self.sum(2) as f64 / self.sum(0).max(1) as f64,
            self.sum(0),
        ));
        for ((ty, offset), [there, seen, period]) in &self.places {
            if *there >= 1000 && (period * 10 < there * 9 || period * 10 > there * 11) {
                say(&format!("    {ty} +{offset}: {seen} seen, for {period} of {there}"));
            }
        }
    }
}
