//! The groups of an order: members meant to share a cacheline, their kind, and whether the source should
//! align them.
//!
//! Members that begin on one line are a group; lines that visits hardly touch are one group with their
//! neighbours of that kind. Alignment is judged, not applied: a group is worth aligning only where no build
//! pays a byte for it.

use crate::cost::BuildPlacement;
use crate::judge::planner::Planner;
use crate::judge::purpose::{FunctionCounts, find_stem, rank_functions};
use crate::result::{Group, GroupAlignment, GroupKind, Padding, rounded};
use fieldline_access::AccessProfile;
use fieldline_access::access::Access;
use fieldline_layout::abi::{GroupMarkerKind, size_with_group};
use std::collections::BTreeSet;

/// Line sizes in bytes for which padding is reported: those of machines Linux runs on.
const PADDING_LINES: [u64; 4] = [32, 64, 128, 256];
/// A group that fewer of the visits touch is cold.
const RARE: f64 = 0.05;
/// Below this share of stores a group is mostly read, as for members.
const MOSTLY: f64 = 0.1;

/// Consecutive units of an order, with their visits and stores.
#[derive(Clone, Copy, Debug)]
struct GroupSpan {
    first: usize,
    end: usize,
    visits: f64,
    stores: f64,
}

impl GroupSpan {
    fn kind(&self) -> GroupKind {
        match (self.visits < RARE, self.stores < MOSTLY) {
            (true, _) => GroupKind::Cold,
            (false, true) => GroupKind::HotReadMostly,
            (false, false) => GroupKind::HotWritten,
        }
    }
}

impl Planner<'_> {
    pub(crate) fn groups(&self, order: &[usize], profile: &AccessProfile) -> Vec<Group> {
        let Some(recorded) = self.matrix.builds.first() else { return Vec::new() };
        let spans = recorded.spans(order);
        let sized = PADDING_LINES
            .map(|line| BuildPlacement::new(self.layout, self.constraints, self.options.build_line, line));
        let group_spans = self.group_spans(order, &spans);
        let mut all = FunctionCounts::new();
        self.model.accesses.iter().for_each(|access| count_function(&mut all, profile, access));
        let group = |span: &GroupSpan| {
            let units: BTreeSet<usize> = order[span.first..span.end].iter().copied().collect();
            let mut counts = FunctionCounts::new();
            self.accesses_to(&units).for_each(|access| count_function(&mut counts, profile, access));
            let total = all.values().sum::<u64>().max(1) as f64;
            Group {
                share: rounded(counts.values().sum::<u64>() as f64 / total, 1_000.0),
                together: rounded(self.share_together(&units), 1_000.0),
                gathered: self.is_gathered(&units),
                purpose: find_stem(&counts, &all, &self.layout.name),
                functions: rank_functions(&counts),
                drifts: self.drifts(order, span),
                ..self.group(order, &spans, span, &sized)
            }
        };
        group_spans.iter().map(group).collect()
    }

    /// Units by the line they begin on; consecutive cold lines are one group.
    fn group_spans(&self, order: &[usize], spans: &[(u64, u64)]) -> Vec<GroupSpan> {
        let line = |index: &usize| spans[*index].0 / (self.options.build_line * 8).max(1);
        let places: Vec<usize> = (0..order.len()).collect();
        let mut group_spans: Vec<GroupSpan> = Vec::new();
        for run in places.chunk_by(|this, other| line(this) == line(other)) {
            let mut next = self.group_span(order, run[0], run[0] + run.len());
            let is_cold = |span: &GroupSpan| span.kind() == GroupKind::Cold;
            if let Some(before) = group_spans.last().filter(|before| is_cold(before) && is_cold(&next)) {
                let joined = self.group_span(order, before.first, next.end);
                if is_cold(&joined) {
                    next = joined;
                    group_spans.pop();
                }
            }
            group_spans.push(next);
        }
        group_spans
    }

    fn group_span(&self, order: &[usize], first: usize, end: usize) -> GroupSpan {
        let units: BTreeSet<usize> = order[first..end].iter().copied().collect();
        let ranges = (0..).zip(self.model.ranges.iter()).filter(|(_, range)| units.contains(&range.unit));
        let ranges: Vec<u32> = ranges.map(|(number, _)| number).collect();
        let touched = self.together.touching_weight(&ranges);
        let (loads, stores) = self.accesses(&units);
        GroupSpan {
            first,
            end,
            visits: touched as f64 / self.model.together.total().max(1) as f64,
            stores: stores as f64 / (loads + stores).max(1) as f64,
        }
    }

    /// Share of the visits that touch any of some units.
    pub(crate) fn share_touching(&self, units: &BTreeSet<usize>) -> f64 {
        let ranges = (0..).zip(self.model.ranges.iter()).filter(|(_, range)| units.contains(&range.unit));
        let ranges: Vec<u32> = ranges.map(|(number, _)| number).collect();
        self.together.touching_weight(&ranges) as f64 / self.model.together.total().max(1) as f64
    }

    /// Loads and stores of units, in events if the recording has periods.
    fn accesses(&self, units: &BTreeSet<usize>) -> (u64, u64) {
        self.accesses_to(units).fold((0, 0), |(loads, stores), access| {
            let counts = match access.loads.period.saturating_add(access.stores.period) {
                0 => (access.loads.samples, access.stores.samples),
                _ => (access.loads.period, access.stores.period),
            };
            (u64::saturating_add(loads, counts.0), u64::saturating_add(stores, counts.1))
        })
    }

    /// Accesses to members of units.
    fn accesses_to(&self, units: &BTreeSet<usize>) -> impl Iterator<Item = &Access> {
        let members = units.iter().flat_map(|unit| &self.constraints.units[*unit].members);
        let members: Vec<_> = members.filter_map(|index| self.layout.members.get(*index)).collect();
        self.model.accesses.iter().filter(move |access| {
            let end = access.offset.saturating_add(access.size.max(1));
            members.iter().any(|member| member.bit_offset < end * 8 && access.offset * 8 < member.bit_end())
        })
    }

    /// Share of the visits that touch any of some units which touch several.
    fn share_together(&self, units: &BTreeSet<usize>) -> f64 {
        let unit_of: Vec<usize> = self.model.ranges.iter().map(|range| range.unit).collect();
        let (mut any, mut several) = (0, 0);
        for (ranges, weight) in self.model.together.sets() {
            let touched: BTreeSet<usize> = ranges
                .iter()
                .filter_map(|range| unit_of.get(*range))
                .filter(|unit| units.contains(unit))
                .copied()
                .collect();
            any += if touched.is_empty() { 0 } else { *weight };
            several += if touched.len() > 1 { *weight } else { 0 };
        }
        several as f64 / any.max(1) as f64
    }

    /// Whether touched units were declared on several lines of the recorded build.
    fn is_gathered(&self, units: &BTreeSet<usize>) -> bool {
        let touched: BTreeSet<usize> = self.model.ranges.iter().map(|range| range.unit).collect();
        let first = |unit: &usize| self.constraints.units.get(*unit)?.members.first();
        let members = units.intersection(&touched).filter_map(first);
        let offsets = members.filter_map(|index| Some(self.layout.members.get(*index)?.bit_offset / 8));
        offsets.map(|offset| offset / self.options.build_line.max(1)).collect::<BTreeSet<u64>>().len() > 1
    }

    /// Names of other builds for lines of the recorded size in which a group lies on more lines.
    fn drifts(&self, order: &[usize], span: &GroupSpan) -> Vec<String> {
        let line = self.options.build_line.max(1);
        let lines = |build: &BuildPlacement| {
            let spans = build.spans(order);
            let (first, last) = (spans.get(span.first)?, spans.get(span.end.checked_sub(1)?)?);
            Some((last.1.div_ceil(8).saturating_sub(1) / line).saturating_sub(first.0 / 8 / line))
        };
        let recorded = self.matrix.builds.first().and_then(lines);
        let others =
            self.matrix.builds.iter().zip(&self.matrix.build_names).filter(|(build, _)| build.line == line);
        let drifting = others.filter(|(build, _)| lines(build) > recorded);
        drifting.filter_map(|(_, name)| name.clone()).collect()
    }

    fn group(
        &self,
        order: &[usize],
        spans: &[(u64, u64)],
        span: &GroupSpan,
        sized: &[BuildPlacement],
    ) -> Group {
        let kind = span.kind();
        let places = span.first..span.end;
        let (start, end) = (spans[span.first].0, spans[span.end - 1].1);
        let padding = sized.iter().map(|build| self.padding(order, span, build, self.options.pointer));
        let first = order.get(span.first).zip(self.matrix.builds.first());
        let slot = first.and_then(|(unit, build)| build.unit_slots(*unit).first());
        let (alignment, reason) = match kind {
            GroupKind::Cold => (GroupAlignment::None, "no line is kept for it".to_owned()),
            _ if slot.is_some_and(|slot| slot.align >= self.options.build_line) => {
                (GroupAlignment::None, "its first member is aligned to the line already".to_owned())
            }
            _ => self.alignment(order, span),
        };
        Group {
            kind,
            members: self.constraints.member_order(&order[places]),
            bytes: end.div_ceil(8) - start / 8,
            first_offset: start / 8,
            visits: rounded(span.visits, 1_000.0),
            stores: rounded(span.stores, 1_000.0),
            alignment,
            why: format!(
                "{:.0}% of visits touch it, {:.0}% of its accesses are stores; {reason}",
                100.0 * span.visits,
                100.0 * span.stores
            ),
            padding: if kind == GroupKind::Cold { Vec::new() } else { padding.collect() },
            share: 0.0,
            together: 0.0,
            gathered: false,
            purpose: None,
            functions: Vec::new(),
            drifts: Vec::new(),
        }
    }

    /// Aligned where no build pays for it, else conditionally where none pays for that, else not at all.
    fn alignment(&self, order: &[usize], span: &GroupSpan) -> (GroupAlignment, String) {
        let builds = self.matrix.builds_with_pointer_sizes(self.options).into_iter();
        let costs: Vec<Padding> =
            builds.map(|(build, pointer)| self.padding(order, span, build, pointer)).collect();
        let worst = |bytes: fn(&Padding) -> u64| costs.iter().max_by_key(|cost| bytes(cost)).copied();
        let pair = worst(|cost| cost.aligned).zip(worst(|cost| cost.conditional));
        let Some((plain, conditional)) = pair else { return (GroupAlignment::None, String::new()) };
        let own = self.options.build_line;
        let costly = format!("aligning it costs up to {} B (for {} B lines)", plain.aligned, plain.line);
        match (plain.aligned, conditional.conditional) {
            (0, _) => (GroupAlignment::Aligned, "aligning it costs no byte in any build".to_owned()),
            (_, 0) => (GroupAlignment::Conditional, format!("{costly}, only for {own} B lines none")),
            (_, bytes) => {
                let still = format!("still {bytes} B (for {} B lines)", conditional.line);
                (GroupAlignment::None, format!("{costly}, only for {own} B lines {still}"))
            }
        }
    }

    fn padding(&self, order: &[usize], span: &GroupSpan, build: &BuildPlacement, long: u64) -> Padding {
        let count = |units: &[usize]| units.iter().map(|unit| build.unit_slots(*unit).len()).sum::<usize>();
        let slots: Vec<_> = order.iter().flat_map(|unit| build.unit_slots(*unit)).copied().collect();
        let range = (count(&order[..span.first]), count(&order[..span.end]));
        let size = |marks| size_with_group(&slots, range, marks, build.line, long, build.align, build.tail);
        let grows = |marks| size(marks).saturating_sub(size(GroupMarkerKind::Named));
        Padding {
            line: build.line,
            aligned: grows(GroupMarkerKind::Aligned),
            conditional: grows(GroupMarkerKind::AlignedAt(self.options.build_line)),
        }
    }
}

fn count_function<'f>(counts: &mut FunctionCounts<'f>, profile: &'f AccessProfile, access: &Access) {
    if let Some(name) = profile.functions.get(access.function as usize) {
        *counts.entry(name).or_default() += access.samples();
    }
}
