//! How often members were touched by branch stacks, against how often they were.

use super::score::{Object, object_at};
use super::trace::Trace;
use crate::research::rank;
use crate::tools::shell::say;
use anyhow::Result;
use fieldline_perfdata::perf_data::Error;
use fieldline_profile::attribute::Attribution;
use fieldline_typeflow::operands::target::Target;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A struct and the offset of what was touched in it.
type Place = (String, u64);

/// Columns of counts: all accesses, those that the code alone types, those that stacks show, and what these stand for.
pub(super) const THERE: usize = 0;
pub(super) const TYPED: usize = 1;
const SEEN: usize = 2;
const PERIODS: usize = 3;

/// Counts of places in the objects the program listed.
pub(super) struct Counts {
    places: BTreeMap<Place, [u64; 4]>,
    accesses: u64,
}

impl Counts {
    pub(super) fn new(
        program: &Path,
        objects: &[Object],
        trace: &Trace,
        attribution: &Attribution<'_>,
    ) -> Result<Self> {
        let mut places: BTreeMap<Place, [u64; 4]> = BTreeMap::new();
        let code = trace.code(program)?;
        for [_, address, ..] in trace.accesses().filter(|row| code.contains(&row[0])) {
            if let Some(object) = object_at(objects, address) {
                places.entry((object.ty.clone(), address - object.begin)).or_default()[THERE] += 1;
            }
        }
        let names: BTreeSet<String> = objects.iter().map(|object| object.ty.clone()).collect();
        let mut accesses = 0;
        attribution.each(0, |sample, found| {
            accesses += 1;
            if let Target::Place { ty, offset } = found.target
                && let Some(name) = attribution.answers.ty(ty).map(|entry| &entry.name.name)
                && names.contains(name)
            {
                let counts = places.entry((name.clone(), offset)).or_default();
                counts[SEEN] += 1;
                counts[PERIODS] += sample.period;
            }
            Ok::<(), Error>(())
        })?;
        Ok(Self { places, accesses })
    }

    /// The same with what another recording, of all accesses, shows as what the code can type.
    pub(super) fn against(mut self, all: &Self) -> Self {
        for (place, counts) in &all.places {
            self.places.entry(place.clone()).or_default()[TYPED] = counts[SEEN];
        }
        self
    }

    fn sum(&self, column: usize) -> u64 {
        self.places.values().filter_map(|counts| counts.get(column)).sum()
    }

    /// The rank correlation of what stacks show with another column.
    pub(super) fn rank_correlation(&self, with: usize) -> f64 {
        let pairs = self.places.values().map(|counts| (counts[with], counts[SEEN]));
        rank::correlation(&pairs.collect::<Vec<_>>())
    }

    pub(super) fn print(&self, name: &str, depth: usize) {
        let share = |column| self.sum(PERIODS) as f64 / self.sum(column).max(1) as f64;
        say(&format!(
            "  {name} by stacks of {depth} branches: {} accesses, {} of them in {} places of listed objects. Rank correlation \
             {:.4} with what the code can type, {:.4} with all; sum of periods {:.3} of the {} accesses that it can, {:.3} of \
             all {}",
            self.accesses,
            self.sum(SEEN),
            self.places.len(),
            self.rank_correlation(TYPED),
            self.rank_correlation(THERE),
            share(TYPED),
            self.sum(TYPED),
            share(THERE),
            self.sum(THERE),
        ));
    }
}
