//! How often members were touched by branch stacks, against how often they were.

use super::score::{Object, object_at};
use super::trace::Trace;
use crate::research::statistics;
use crate::tools::shell::print_line;
use anyhow::Result;
use fieldline_perfdata::perf_data::Error;
use fieldline_profile::attribute::Attribution;
use fieldline_typeflow::operands::target::Target;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A struct and the offset of what was touched in it.
type MemberOffset = (String, u64);

/// Columns of counts: all accesses, those that the code alone types, those that stacks show, and what these stand for.
pub(super) const ACTUAL: usize = 0;
pub(super) const TYPED: usize = 1;
const SAMPLED: usize = 2;
const PERIOD_SUMS: usize = 3;

/// Counts of places in the objects the program listed.
pub(super) struct MemberCounts {
    counts: BTreeMap<MemberOffset, [u64; 4]>,
    accesses: u64,
}

impl MemberCounts {
    pub(super) fn new(
        program: &Path,
        objects: &[Object],
        trace: &Trace,
        attribution: &Attribution<'_>,
    ) -> Result<Self> {
        let mut places: BTreeMap<MemberOffset, [u64; 4]> = BTreeMap::new();
        let code = trace.code(program)?;
        for [_, address, ..] in trace.accesses().filter(|row| code.contains(&row[0])) {
            if let Some(object) = object_at(objects, address) {
                places.entry((object.ty.clone(), address - object.begin)).or_default()[ACTUAL] += 1;
            }
        }
        let names: BTreeSet<String> = objects.iter().map(|object| object.ty.clone()).collect();
        let mut accesses = 0;
        attribution.for_each_sample(0, |sample, found| {
            accesses += 1;
            if let Target::Exact { ty, offset } = found.target
                && let Some(name) = attribution.answers.type_entry(ty).map(|entry| &entry.name.name)
                && names.contains(name)
            {
                let counts = places.entry((name.clone(), offset)).or_default();
                counts[SAMPLED] += 1;
                counts[PERIOD_SUMS] += sample.period;
            }
            Ok::<(), Error>(())
        })?;
        Ok(Self { counts: places, accesses })
    }

    /// The same with what another recording, of all accesses, shows as what the code can type.
    pub(super) fn compared_with(mut self, all: &Self) -> Self {
        for (place, counts) in &all.counts {
            self.counts.entry(place.clone()).or_default()[TYPED] = counts[SAMPLED];
        }
        self
    }

    fn sum(&self, column: usize) -> u64 {
        self.counts.values().filter_map(|counts| counts.get(column)).sum()
    }

    /// The rank correlation of what stacks show with another column.
    pub(super) fn rank_correlation(&self, with: usize) -> f64 {
        let pairs = self.counts.values().map(|counts| (counts[with], counts[SAMPLED]));
        statistics::rank_correlation(&pairs.collect::<Vec<_>>())
    }

    pub(super) fn print(&self, name: &str, depth: usize) {
        let share = |column| self.sum(PERIOD_SUMS) as f64 / self.sum(column).max(1) as f64;
        print_line!(
            "  {name} by stacks of {depth} branches: {} accesses, {} of them in {} places of listed objects. Rank correlation \
             {:.4} with what the code can type, {:.4} with all; sum of periods {:.3} of the {} accesses that it can, {:.3} of \
             all {}",
            self.accesses,
            self.sum(SAMPLED),
            self.counts.len(),
            self.rank_correlation(TYPED),
            self.rank_correlation(ACTUAL),
            share(TYPED),
            self.sum(TYPED),
            share(ACTUAL),
            self.sum(ACTUAL),
        );
    }
}
