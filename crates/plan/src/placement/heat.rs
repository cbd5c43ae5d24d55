//! Accesses to the lines a new member would lie on, and visits before and after.
//!
//! A visit is the bytes one function touches, weighted by its samples. A member that is touched together with
//! others belongs to the visits that touch one of them.

use super::growth::{LayoutGrowth, MemberAddition, lines, shifted_index};
use super::result::{LineHeat, VisitChange};
use crate::options::PlanOptions;
use crate::result::{BeforeAfter, rounded};
use crate::visits::find_occurrences;
use crate::visits::occurrences::{collect_accesses, cpu_accesses};
use fieldline_access::access::{Access, AccessProfile};
use fieldline_layout::{Layout, Member};
use std::collections::{BTreeMap, BTreeSet};

/// Bytes of a declared member: its index, where in it, how many.
type MemberBytes = (usize, u64, u64);

/// The bytes a function touches, and its samples.
#[derive(Default)]
struct FunctionVisit {
    bytes: BTreeSet<MemberBytes>,
    samples: u64,
    touches_new: bool,
}

/// Accesses by offset inside members, so that they move with them.
pub(super) struct ProfileHeat {
    accesses: Vec<(MemberBytes, Access)>,
    /// CPUs that stored there.
    stores: Vec<(MemberBytes, u32)>,
    visits: Vec<FunctionVisit>,
    pub(super) samples: u64,
    lines: Vec<u64>,
    /// Whether objects' homes are known, so that losses of other CPUs can be counted.
    has_homes: bool,
}

impl ProfileHeat {
    pub(super) fn new(profile: &AccessProfile, addition: &MemberAddition<'_>, options: &PlanOptions) -> Self {
        let layout = addition.layout;
        let found = find_occurrences(profile, layout);
        let bytes = |access: &Access| bytes_of(layout, access.offset, access.size);
        let accesses = collect_accesses(profile, layout, &found).into_iter();
        let accesses: Vec<_> = accesses.filter_map(|access| Some((bytes(&access)?, access))).collect();
        let stores = cpu_accesses(profile, &found, layout.size).filter(|cpu| cpu.stores > 0);
        let mut profile_types = found.iter().filter_map(|source| profile.types.get(source.type_index));
        Self {
            stores: stores.filter_map(|cpu| Some((bytes_of(layout, cpu.offset, 1)?, cpu.cpu))).collect(),
            visits: visits(&accesses, addition.with),
            samples: accesses.iter().map(|(_, access)| access.samples()).sum(),
            accesses,
            lines: options.lines.clone(),
            has_homes: profile_types.any(|profile_type| !profile_type.homes.is_none()),
        }
    }

    pub(super) fn is_touched(&self, index: usize) -> bool {
        self.accesses.iter().any(|((member, _, _), _)| *member == index)
    }

    /// Accesses to the lines the new member lies on, of `line` bytes.
    pub(super) fn line_heat(&self, growth: &LayoutGrowth, place: usize, line: u64) -> LineHeat {
        let Some(new) = growth.own.members.get(place) else { return LineHeat::default() };
        let wanted = lines(new.offset(), new.size(), line);
        let is_here = |bytes: &MemberBytes| {
            let here = locate(&growth.own, *bytes, place).map(|(offset, size)| lines(offset, size, line));
            here.is_some_and(|here| here.start() <= wanted.end() && wanted.start() <= here.end())
        };
        let mut heat = LineHeat::default();
        for (_, access) in self.accesses.iter().filter(|(bytes, _)| is_here(bytes)) {
            heat.loads += access.loads.samples;
            heat.stores += access.stores.samples;
            heat.lost += if self.has_homes { access.away.lost } else { access.lost_line_samples() };
        }
        let writers = self.stores.iter().filter(|(bytes, _)| is_here(bytes)).map(|(_, cpu)| *cpu);
        heat.writers = writers.collect::<BTreeSet<u32>>().len();
        let samples = heat.loads + heat.stores;
        let spans = wanted.end() - wanted.start() + 1;
        let cachelines = growth.own.cachelines(line).max(1);
        heat.hot = samples.saturating_mul(cachelines) > self.samples.saturating_mul(spans);
        heat.share = rounded(samples as f64 / self.samples.max(1) as f64, 10_000.0);
        heat
    }

    /// Lines per visit by line size, before and after, and those of them that only the new member is on.
    pub(super) fn visits(&self, growth: &LayoutGrowth, place: usize) -> Vec<VisitChange> {
        let change = |line: &u64| {
            let (_, before, after) = growth.builds.iter().find(|build| build.0 == *line)?;
            let new = after.members.get(place)?;
            let without = self.mean(after, place, None, *line);
            let lines = BeforeAfter {
                before: self.mean(before, before.members.len(), None, *line),
                after: self.mean(after, place, Some(new), *line),
            };
            Some(VisitChange { line: *line, lines, own: rounded(lines.after - without, 1_000.0) })
        };
        self.lines.iter().filter_map(change).collect()
    }

    /// Lines per visit, to three digits.
    fn mean(&self, layout: &Layout, place: usize, new: Option<&Member>, line: u64) -> f64 {
        let weights: u64 = self.visits.iter().map(|visit| visit.samples).sum();
        let touched = self.visits.iter().map(|visit| visit.samples * visit.lines(layout, place, new, line));
        rounded(touched.sum::<u64>() as f64 / weights.max(1) as f64, 1_000.0)
    }
}

impl FunctionVisit {
    fn lines(&self, layout: &Layout, place: usize, new: Option<&Member>, line: u64) -> u64 {
        let declared = self.bytes.iter().filter_map(|bytes| locate(layout, *bytes, place));
        let new = new.filter(|_| self.touches_new).map(|new| (new.offset(), new.size()));
        let touched = declared.chain(new).flat_map(|(offset, size)| lines(offset, size, line));
        touched.collect::<BTreeSet<u64>>().len() as u64
    }
}

fn visits(accesses: &[(MemberBytes, Access)], with: &[usize]) -> Vec<FunctionVisit> {
    let mut by_function: BTreeMap<u32, FunctionVisit> = BTreeMap::new();
    for (bytes, access) in accesses {
        let visit = by_function.entry(access.function).or_default();
        visit.bytes.insert(*bytes);
        visit.samples += access.samples();
        visit.touches_new |= with.contains(&bytes.0);
    }
    by_function.into_values().collect()
}

/// The member that holds bytes of a struct, and where in it they lie. Bytes beyond the member are left out.
fn bytes_of(layout: &Layout, offset: u64, size: u64) -> Option<MemberBytes> {
    let index = layout.member_at(offset)?;
    let member = &layout.members[index];
    let within = offset - member.offset();
    Some((index, within, size.clamp(1, member.size().saturating_sub(within).max(1))))
}

/// The bytes of a declared member once a new member is inserted.
fn locate(layout: &Layout, (index, within, size): MemberBytes, place: usize) -> Option<(u64, u64)> {
    let member = layout.members.get(shifted_index(index, place))?;
    Some((member.offset().saturating_add(within), size))
}
