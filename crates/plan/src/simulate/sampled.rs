//! Accesses drawn from a profile's visits, where there is no trace.
//!
//! Assumptions, as samples don't show it: a visit touches each of its ranges once, in declared order;
//! it writes a touched range as often as the samples there are stores; objects are equally popular and begin
//! on a line; each has a home CPU, homes are spread like samples over CPUs, and other CPUs come as often as
//! the profile's homes say; structs are visited as often as their samples and the length of their visits say;
//! nothing else is accessed between visits.

use crate::cost::VisitModel;
use crate::random::{Random, mix};
use crate::simulate::{TraceAccess, TraceObject};
use crate::visits::touch::events;
use crate::visits::{StructOccurrence, TouchedRange, find_occurrences};
use fieldline_access::AccessProfile;
use fieldline_access::access::HomeCounts;
use fieldline_cachemodel::MAX_CPUS;
use fieldline_layout::Layout;
use std::collections::BTreeMap;

/// Accesses of other objects that end a visit: visits are drawn one behind the other, so one is enough.
pub const GAP: u64 = 1;

/// Numbers of objects and visits to draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Population {
    /// Objects of each struct.
    pub objects: usize,
    /// Visits of all structs together.
    pub visits: usize,
}

/// A struct to draw visits of: its model and declared layout.
pub type SimulatedStruct<'s> = (&'s VisitModel, &'s Layout);

/// Drawn accesses and the objects they are to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SampledTrace {
    /// In order of time, in the declared layouts.
    pub accesses: Vec<TraceAccess>,
    /// By struct.
    pub objects: Vec<TraceObject>,
    /// CPUs that samples are of.
    pub cpus: usize,
}

/// Draws visits of structs. Equal inputs give equal accesses.
pub fn sample_trace(
    profile: &AccessProfile,
    subjects: &[SimulatedStruct<'_>],
    population: Population,
) -> SampledTrace {
    let numbers = cpu_numbers(profile, subjects);
    let count = population.objects.max(1);
    let found: Vec<VisitDistribution> =
        subjects.iter().map(|subject| VisitDistribution::new(profile, *subject, &numbers)).collect();
    let seed = subjects.iter().fold(0, |seed, subject| mix(seed ^ subject.0.seed));
    let mut random = Random::new(seed);
    let mut drawn = SampledTrace { cpus: numbers.len().max(1), ..SampledTrace::default() };
    let mut homes: Vec<Vec<usize>> = Vec::new();
    for (struct_index, (distribution, (_, layout))) in found.iter().zip(subjects).enumerate() {
        let base = (struct_index as u64 + 1) << 40;
        let stride = layout.size.next_multiple_of(4096).max(4096);
        let bases = (0..count as u64).map(|number| base + number * stride);
        drawn.objects.extend(bases.map(|base| TraceObject { base, size: layout.size, struct_index }));
        homes.push((0..count).map(|_| pick(&distribution.cpus, &mut random)).collect());
    }
    let rates: Vec<f64> = found.iter().map(|distribution| distribution.rate).collect();
    for _ in 0..population.visits {
        let struct_index = pick(&rates, &mut random);
        let Some((distribution, homes)) = found.get(struct_index).zip(homes.get(struct_index)) else {
            continue;
        };
        let object = random.below(count);
        let home = homes.get(object).copied().unwrap_or(0);
        let is_away = random.unit() < distribution.away;
        let cpu = if is_away { pick(&distribution.cpus, &mut random) } else { home };
        let Some(TraceObject { base, .. }) = drawn.objects.get(struct_index * count + object).copied() else {
            continue;
        };
        distribution.draw(cpu, base, &mut random, &mut drawn.accesses);
    }
    drawn
}

/// CPUs by number, and their indices among those with samples.
fn cpu_numbers(profile: &AccessProfile, subjects: &[SimulatedStruct<'_>]) -> BTreeMap<u32, usize> {
    let occurrences = subjects.iter().flat_map(|(_, layout)| find_occurrences(profile, layout));
    let types = occurrences.filter_map(|occurrence| profile.types.get(occurrence.type_index));
    let cpus: std::collections::BTreeSet<u32> =
        types.flat_map(|held| &held.cpus).map(|access| access.cpu).collect();
    cpus.into_iter().take(MAX_CPUS).zip(0..).collect()
}

/// An index, each as often as its weight says.
fn pick(weights: &[f64], random: &mut Random) -> usize {
    let mut left = random.unit() * weights.iter().sum::<f64>();
    let found = weights.iter().position(|weight| {
        left -= weight;
        left < 0.0
    });
    found.unwrap_or(0)
}

/// Bytes of a struct that visits touch.
#[derive(Clone, Copy, Debug, Default)]
struct TouchedBytes {
    offset: u64,
    size: u64,
    /// Share of the accesses that are stores.
    stores: f64,
}

#[derive(Clone, Debug, Default)]
struct VisitDistribution {
    /// Sets of touched bytes by offset, and their cumulative weights.
    sets: Vec<Vec<TouchedBytes>>,
    weights: Vec<f64>,
    cpus: Vec<f64>,
    /// How often a visit is not by the object's home, but by any CPU.
    away: f64,
    rate: f64,
}

impl VisitDistribution {
    fn new(
        profile: &AccessProfile,
        (model, layout): SimulatedStruct<'_>,
        numbers: &BTreeMap<u32, usize>,
    ) -> Self {
        let (sets, mut weights) = collect_visits(model, &collect_touched_bytes(model));
        let occurrences = find_occurrences(profile, layout);
        let touched: f64 = sets.iter().zip(&weights).map(|(set, weight)| set.len() as f64 * weight).sum();
        let length = touched / weights.iter().sum::<f64>().max(1.0);
        let all: f64 = model.accesses.iter().map(events).sum();
        let mut sum = 0.0;
        for weight in &mut weights {
            sum += *weight;
            *weight = sum;
        }
        Self {
            cpus: by_cpu(model, numbers),
            away: away_share(profile, &occurrences, numbers.len()),
            rate: if length > 0.0 { all / length } else { 0.0 },
            sets,
            weights,
        }
    }

    fn draw(&self, cpu: usize, base: u64, random: &mut Random, accesses: &mut Vec<TraceAccess>) {
        let point = random.unit() * self.weights.last().copied().unwrap_or(0.0);
        let Some(set) = self.sets.get(self.weights.partition_point(|weight| *weight <= point)) else {
            return;
        };
        accesses.extend(set.iter().map(|place| TraceAccess {
            cpu,
            address: base + place.offset,
            size: place.size,
            is_store: random.unit() < place.stores,
        }));
    }
}

/// Touched ranges in the declared layout, and their share of stores.
fn collect_touched_bytes(model: &VisitModel) -> Vec<TouchedBytes> {
    let ranges = model.ranges.iter();
    let place = |range: &TouchedRange| TouchedBytes { offset: range.offset, size: range.size, stores: 0.0 };
    let mut places: Vec<(TouchedBytes, f64, f64)> = ranges.map(|range| (place(range), 0.0, 0.0)).collect();
    for access in &model.accesses {
        let share = events(access) / access.samples().max(1) as f64;
        for range in model.ranges.touched(access.offset, access.size) {
            if let Some((_, loads, stores)) = places.get_mut(range) {
                *loads += share * access.loads.samples as f64;
                *stores += share * access.stores.samples as f64;
            }
        }
    }
    let shares = places.into_iter().map(|(place, loads, stores)| TouchedBytes {
        stores: if loads + stores > 0.0 { stores / (loads + stores) } else { 0.0 },
        ..place
    });
    shares.collect()
}

/// Visits as touched bytes by offset, with weights.
fn collect_visits(model: &VisitModel, places: &[TouchedBytes]) -> (Vec<Vec<TouchedBytes>>, Vec<f64>) {
    let visits = model.together.sets().iter().map(|(ranges, weight)| {
        let mut set: Vec<_> = ranges.iter().filter_map(|range| places.get(*range)).copied().collect();
        set.sort_by_key(|place| place.offset);
        (set, *weight as f64)
    });
    visits.unzip()
}

/// Samples of the struct by CPU.
fn by_cpu(model: &VisitModel, numbers: &BTreeMap<u32, usize>) -> Vec<f64> {
    let mut cpus = vec![0.0; numbers.len().max(1)];
    for access in &model.cpus {
        if let Some(cpu) = numbers.get(&access.cpu).and_then(|number| cpus.get_mut(*number)) {
            *cpu += (access.loads + access.stores) as f64;
        }
    }
    cpus
}

/// How often a visit is by any CPU, not the object's home: its other CPUs among all; always if homes aren't
/// known.
fn away_share(profile: &AccessProfile, occurrences: &[StructOccurrence], cpus: usize) -> f64 {
    let mut homes = HomeCounts::default();
    for held in occurrences.iter().filter_map(|occurrence| profile.types.get(occurrence.type_index)) {
        homes.add(held.homes);
    }
    if homes.samples == 0 || cpus < 2 {
        return 1.0;
    }
    (homes.others as f64 / homes.samples as f64 / (cpus - 1) as f64).min(1.0)
}
