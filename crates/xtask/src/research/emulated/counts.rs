//! Accesses of members by branch stacks, against all accesses.

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

/// A struct and an offset in it.
type MemberOffset = (String, u64);

/// Columns of counts: all accesses, those that the code alone types, those that stacks show, and their sum of periods.
pub(super) const ACTUAL: usize = 0;
pub(super) const TYPED: usize = 1;
const SAMPLED: usize = 2;
const PERIOD_SUMS: usize = 3;

/// Counts by offset in the objects that the program listed.
pub(super) struct MemberCounts {
    counts: BTreeMap<MemberOffset, [u64; 4]>,
    accesses: u64,
}

impl MemberCounts {
    pub(super) fn new(
        program: &Path,
        objects: &[Object],
        trace: &Trace,
        found: &Attribution<'_>,
    ) -> Result<Self> {
        let mut counts: BTreeMap<MemberOffset, [u64; 4]> = BTreeMap::new();
        let code = trace.code(program)?;
        for [_, address, ..] in trace.accesses().filter(|access| code.contains(&access[0])) {
            if let Some(object) = object_at(objects, address) {
                counts.entry((object.ty.clone(), address - object.begin)).or_default()[ACTUAL] += 1;
            }
        }
        let names: BTreeSet<String> = objects.iter().map(|object| object.ty.clone()).collect();
        let mut accesses = 0;
        found.for_each_sample(0, |sample, attributed| {
            accesses += 1;
            if let Target::Exact { ty, offset } = attributed.target
                && let Some(name) = found.answers.type_entry(ty).map(|entry| &entry.name.name)
                && names.contains(name)
            {
                let columns = counts.entry((name.clone(), offset)).or_default();
                columns[SAMPLED] += 1;
                columns[PERIOD_SUMS] += sample.period;
            }
            Ok::<(), Error>(())
        })?;
        Ok(Self { counts, accesses })
    }

    /// The same with the accesses that the code can type, from a recording of all accesses.
    pub(super) fn compared_with(mut self, all: &Self) -> Self {
        for (place, counts) in &all.counts {
            self.counts.entry(place.clone()).or_default()[TYPED] = counts[SAMPLED];
        }
        self
    }

    fn sum(&self, column: usize) -> u64 {
        self.counts.values().filter_map(|counts| counts.get(column)).sum()
    }

    /// The rank correlation of accesses shown by stacks with another column.
    pub(super) fn rank_correlation(&self, column: usize) -> f64 {
        let pairs = self.counts.values().map(|counts| (counts[column], counts[SAMPLED]));
        statistics::rank_correlation(&pairs.collect::<Vec<_>>())
    }

    pub(super) fn print(&self, name: &str, depth: usize) {
        let [all, typed, sampled, periods] = [ACTUAL, TYPED, SAMPLED, PERIOD_SUMS].map(|name| self.sum(name));
        let [of_all, of_typed] = [all, typed].map(|sum| periods as f64 / sum.max(1) as f64);
        let [with_all, with_typed] = [ACTUAL, TYPED].map(|column| self.rank_correlation(column));
        print_line!(
            "  {name} by stacks of {depth} branches: {} accesses, {sampled} of them in {} places of listed objects. Rank \
             correlation {with_typed:.4} with what the code can type, {with_all:.4} with all; sum of periods {of_typed:.3} \
             of the {typed} accesses that it can, {of_all:.3} of all {all}",
            self.accesses,
            self.counts.len()
        );
    }
}
