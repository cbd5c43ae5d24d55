//! The visits of one struct, learnt from a profile.

use crate::cost::LineSharing;
use crate::cost::counter::VisitCounter;
use crate::cost::sharing::SampledLosses;
use crate::random::{Random, mix};
use crate::result::VisitEvidence;
use crate::visits::draw::{RunsOnObject, draw, function_patterns, mixture_patterns};
use crate::visits::misses::{relative_misses, reweighted};
use crate::visits::occurrences::{self, collect_accesses};
use crate::visits::sufficiency::SampleSufficiency;
use crate::visits::touch::{self, collect_touches};
use crate::visits::{
    AccessPattern, FunctionTouch, Mixture, NameRanks, StructOccurrence, TouchedRanges, Visits, WindowTable,
    find_occurrences,
};
use fieldline_access::AccessProfile;
use fieldline_access::access::{Access, CpuAccess, Window};
use fieldline_layout::Layout;
use fieldline_layout::constraint::Constraints;
use std::collections::{BTreeMap, BTreeSet};

/// Visits drawn in all.
const DRAWN_VISITS: usize = 8_192;
/// Visits drawn as if functions ran alone, and as often as they miss; and in a resample, which only judges orders: the
/// choice of samples differs by more than that of draws.
const DRAWN_OTHERWISE: usize = 4_096;
/// With fewer windows with several samples, operations can't be separated.
const FEWEST_WINDOWS: f32 = 500.0;

/// Visits of one struct and the samples behind them.
#[derive(Clone, Debug)]
pub struct VisitModel {
    /// The touched ranges.
    pub ranges: TouchedRanges,
    /// The functions that touch them.
    pub touches: Vec<FunctionTouch>,
    /// All accesses, with offsets into the struct.
    pub accesses: Vec<Access>,
    /// Those by CPU, likewise.
    pub cpus: Vec<CpuAccess>,
    /// Visits of functions that run together.
    pub together: Visits,
    /// Visits as if each function ran alone.
    pub alone: Visits,
    /// Visits as often as they miss the CPU's own caches; none in a resample.
    pub missing: Visits,
    /// Visits half of which are drawn as often as they run, and half as often as they miss; none in a resample.
    pub balanced: Visits,
    /// How CPUs take lines from each other, scaled to `together`.
    pub sharing: LineSharing,
    /// The evidence for the visits.
    pub evidence: VisitEvidence,
    /// Samples of the struct, and how many advice needs.
    pub sufficiency: SampleSufficiency,
    /// Where objects begin modulo 256, and how many do.
    pub phases: BTreeMap<u64, u64>,
    /// Seed of later draws.
    pub seed: u64,
    /// Which functions run together, if there are enough windows.
    mixture: Option<Mixture>,
}

/// Windows and ranked names of a profile, for one struct: the same for all weights of time blocks.
pub(crate) struct StructWindows<'p> {
    names: NameRanks,
    table: WindowTable<'p>,
}

impl<'p> StructWindows<'p> {
    pub(crate) fn new(profile: &'p AccessProfile, layout: &Layout) -> Self {
        let names = NameRanks::new(profile);
        let accesses = collect_accesses(profile, layout, &find_occurrences(profile, layout));
        let entries = occurrences::window_entries(profile, &accesses, &names);
        let targets: Vec<_> = entries.into_values().flatten().collect();
        Self { table: WindowTable::new(&profile.windows, &names, &targets), names }
    }
}

/// The samples that visits are learnt from.
pub(crate) struct ModelSamples<'p> {
    /// Accesses; its windows aren't looked at.
    pub(crate) profile: &'p AccessProfile,
    pub(crate) windows: &'p StructWindows<'p>,
    /// How often a window counts.
    pub(crate) count: &'p dyn Fn(&Window) -> u64,
    /// Whether an order is found by them, or only judged or improved: then only visits of functions together are drawn.
    pub(crate) is_planned: bool,
    /// Whether visits of functions alone are drawn.
    pub(crate) is_drawn_alone: bool,
    /// A model of much the same samples, from which the mixture has a warm start.
    pub(crate) known: Option<&'p VisitModel>,
}

impl VisitModel {
    /// Learns the visits of a struct. `line` is the cacheline size of the recorded machine in bytes.
    pub fn new(profile: &AccessProfile, layout: &Layout, constraints: &Constraints, line: u64) -> Self {
        let windows = StructWindows::new(profile, layout);
        let count = |window: &Window| window.count;
        let count: &dyn Fn(&Window) -> u64 = &count;
        let samples = ModelSamples {
            profile,
            windows: &windows,
            count,
            is_planned: true,
            is_drawn_alone: true,
            known: None,
        };
        Self::learn(&samples, layout, constraints, line)
    }

    /// Learns visits from samples.
    pub(crate) fn learn(
        samples: &ModelSamples<'_>,
        layout: &Layout,
        constraints: &Constraints,
        line: u64,
    ) -> Self {
        let profile = samples.profile;
        let names = &samples.windows.names;
        let occurrences = find_occurrences(profile, layout);
        let accesses = collect_accesses(profile, layout, &occurrences);
        let ranges = TouchedRanges::new(layout, constraints, &accesses);
        let entries = occurrences::window_entries(profile, &accesses, names);
        let touches = collect_touches(&accesses, &entries, &ranges, names);
        let seed = accesses.iter().fold(layout.fingerprint(), |seed, access| {
            mix(mix(seed ^ access.ip) ^ access.offset ^ access.samples() << 32)
        });
        let alone = function_patterns(&touches);
        let cpus: Vec<CpuAccess> = occurrences::cpu_accesses(profile, &occurrences, layout.size).collect();
        let phases = collect_phases(profile, &occurrences);
        let runs = runs_on_object(&cpus, &phases);
        let mixed = learn_mixture(samples, &touches, runs, seed);
        let (mixture, together) =
            mixed.map_or_else(|| (None, alone.clone()), |(mixture, patterns)| (Some(mixture), patterns));
        let visits = |patterns: &[AccessPattern], count: usize, stream: u64| {
            let sets = draw(patterns, &touches, count, &mut Random::new(mix(seed ^ stream)));
            Visits::new(ranges.len(), sets)
        };
        let count_if = |is_drawn: bool| if is_drawn { DRAWN_OTHERWISE } else { 0 };
        let (planned, drawn_alone) = (count_if(samples.is_planned), count_if(samples.is_drawn_alone));
        let drawn_together = if samples.known.is_some() { DRAWN_OTHERWISE } else { DRAWN_VISITS };
        let misses = relative_misses(&together, &touches);
        let by_misses = || visits(&reweighted(&together, |pattern| misses[pattern]), planned, 4);
        let by_both = || visits(&reweighted(&together, balance(&together, &misses)), planned, 5);
        let ((together_visits, alone), (missing, balanced)) = rayon::join(
            || rayon::join(|| visits(&together, drawn_together, 1), || visits(&alone, drawn_alone, 3)),
            || rayon::join(by_misses, by_both),
        );
        let line_cost = lost_line_cost(&together_visits, &together, &accesses);
        let by_line = group_by_declared_line(&ranges, line);
        let losses = SampledLosses::new(profile.find_type(&layout.name), &accesses, line);
        Self {
            together: together_visits,
            alone,
            missing,
            balanced,
            sharing: LineSharing::new(&ranges, &cpus, losses, &by_line, line_cost),
            evidence: VisitEvidence::new(profile, names, &touches, &together),
            sufficiency: SampleSufficiency::from_accesses(&accesses),
            phases,
            ranges,
            touches,
            accesses,
            cpus,
            seed,
            mixture,
        }
    }

    /// The same visits to objects that begin elsewhere.
    pub(crate) fn with_phases(self, phases: BTreeMap<u64, u64>) -> Self {
        Self { phases, ..self }
    }

    /// Lines of `line` bytes that a visit is expected to touch in the declared layout, of an object that
    /// begins on one.
    pub fn lines_per_visit(&self, line: u64) -> f64 {
        let counter = VisitCounter::new(&self.together);
        let by_line = group_by_declared_line(&self.ranges, line);
        let touched: u64 = by_line.iter().map(|ranges| counter.touching_weight(ranges)).sum();
        touched as f64 / self.together.total().max(1) as f64
    }

    /// Whether there are enough samples for advice.
    pub fn is_sufficient(&self) -> bool {
        self.sufficiency.is_sufficient() && !self.together.is_empty()
    }
}

/// A mixture, learnt from a known one if there is any, and its patterns; nothing if the windows are too few
/// to learn any.
fn learn_mixture(
    samples: &ModelSamples<'_>,
    touches: &[FunctionTouch],
    runs: RunsOnObject,
    seed: u64,
) -> Option<(Mixture, Vec<AccessPattern>)> {
    let mut targets: Vec<_> = touches.iter().flat_map(|touch| touch.entries.iter().copied()).collect();
    targets.sort_unstable();
    targets.dedup();
    let corpus = samples.windows.table.corpus(samples.count);
    if corpus.joint_windows() < FEWEST_WINDOWS {
        return None;
    }
    let mixture = match samples.known.and_then(|known| known.mixture.as_ref()) {
        None => corpus.learn(&targets, &mut Random::new(mix(seed))),
        Some(known) => corpus.learn_warm(known),
    };
    let patterns = mixture_patterns(&corpus, &mixture, touches, runs);
    Some((mixture, patterns))
}

/// How often functions run on an object within a visit: again and again if each CPU has no more than one object.
fn runs_on_object(cpus: &[CpuAccess], phases: &BTreeMap<u64, u64>) -> RunsOnObject {
    let objects: u64 = phases.values().sum();
    let cpus: BTreeSet<u32> = cpus.iter().map(|access| access.cpu).collect();
    if objects > 0 && objects <= cpus.len() as u64 { RunsOnObject::Many } else { RunsOnObject::One }
}

/// A factor for each pattern, so that half of the visits are as often as they run and half as often as they miss.
fn balance<'m>(patterns: &[AccessPattern], misses: &'m [f64]) -> impl Fn(usize) -> f64 + use<'m> {
    let all: f64 = patterns.iter().map(|pattern| pattern.weight).sum();
    let missed: f64 = patterns.iter().zip(misses).map(|(pattern, missed)| pattern.weight * missed).sum();
    move |pattern| 1.0 + misses[pattern] * all / missed.max(f64::MIN_POSITIVE)
}

/// The cost of a line lost to another CPU: one more line in a visit. Accesses by CPU are in samples, visits
/// in draws.
fn lost_line_cost(visits: &Visits, patterns: &[AccessPattern], accesses: &[Access]) -> f64 {
    let samples: u64 = accesses.iter().map(Access::samples).sum();
    let events: f64 = accesses.iter().map(touch::events).sum();
    let weights: f64 = patterns.iter().map(|pattern| pattern.weight).sum();
    let visits_in_samples = weights * samples as f64 / events;
    if visits_in_samples > 0.0 { visits.total() as f64 / visits_in_samples } else { 0.0 }
}

/// Ranges by the line they begin on as declared.
fn group_by_declared_line(ranges: &TouchedRanges, line: u64) -> Vec<Vec<u32>> {
    let mut lines: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
    for (number, range) in (0..).zip(ranges.iter()) {
        lines.entry(range.offset / line.max(1)).or_default().push(number);
    }
    lines.into_values().collect()
}

fn collect_phases(profile: &AccessProfile, occurrences: &[StructOccurrence]) -> BTreeMap<u64, u64> {
    let mut phases: BTreeMap<u64, u64> = BTreeMap::new();
    for occurrence in occurrences {
        let known = profile.types.get(occurrence.type_index);
        for (phase, objects) in known.iter().flat_map(|known| &known.phases) {
            *phases.entry((phase + occurrence.base) % 256).or_default() += objects;
        }
    }
    phases
}
