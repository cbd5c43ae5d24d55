//! Cacheline requests as constraints: members that share a line, that share none, that are contiguous.

use super::requests::{CachelineRequestKind, PlacementRequests};
use super::units::Unit;
use crate::layout::{Layout, Member};

/// A [`CachelineRequest`](super::CachelineRequest) in terms of units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CachelineConstraint {
    /// Its kind.
    pub kind: CachelineRequestKind,
    /// The members' bits within their units; members without bits are left out.
    pub ranges: Vec<UnitBits>,
    /// The request and where it comes from, for reports.
    pub reason: String,
}

/// Bits of a unit, from its first bit in the declared layout. A unit's inside never changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitBits {
    /// Index in [`super::Constraints::units`].
    pub unit: usize,
    /// First bit.
    pub start: u64,
    /// Behind the last bit, more than `start`.
    pub end: u64,
}

impl CachelineConstraint {
    /// The units it is about, each once, in declared order.
    pub fn units(&self) -> Vec<usize> {
        let mut units: Vec<usize> = self.ranges.iter().map(|part| part.unit).collect();
        units.sort_unstable();
        units.dedup();
        units
    }

    /// Whether units that begin at these bits satisfy it on lines of `line` bytes, with any gaps in a group.
    pub fn is_satisfied(&self, line: u64, begin: impl Fn(usize) -> u64) -> bool {
        let line = line.max(1).saturating_mul(8);
        let lines_of = |part: &UnitBits| {
            let begin = begin(part.unit);
            (begin.saturating_add(part.start) / line, begin.saturating_add(part.end - 1) / line)
        };
        let mut taken: Vec<(u64, u64)> = self.ranges.iter().map(lines_of).collect();
        taken.sort_unstable();
        let shares = taken.windows(2).any(|pair| pair[1].0 <= pair[0].1);
        let bits = self.ranges.iter().map(|part| part.end - part.start).fold(0, u64::saturating_add);
        let first = taken.first().map_or(0, |lines| lines.0);
        let lines = taken.iter().map(|lines| lines.1).max().unwrap_or(0) - first + 1;
        match self.kind {
            CachelineRequestKind::Same => lines == 1,
            CachelineRequestKind::Separate => !shares,
            CachelineRequestKind::Group => lines <= bits.div_ceil(line),
        }
    }
}

/// Requests as constraints. A request of which fewer than two members have bits asks nothing.
pub(super) fn line_constraints(
    layout: &Layout,
    requests: &PlacementRequests,
    units: &[Unit],
) -> Vec<CachelineConstraint> {
    let pins = requests.line_requests.iter().map(|request| CachelineConstraint {
        kind: request.kind,
        ranges: request.members.iter().filter_map(|member| unit_bits(layout, units, *member)).collect(),
        reason: request.reason.clone(),
    });
    pins.filter(|constraint| constraint.ranges.len() > 1).collect()
}

fn unit_bits(layout: &Layout, units: &[Unit], index: usize) -> Option<UnitBits> {
    let unit = units.iter().position(|unit| unit.members.contains(&index))?;
    let members = units[unit].members.iter().filter_map(|member| layout.members.get(*member));
    let first = members.map(|member| member.bit_offset).min()?;
    let member: &Member = layout.members.get(index)?;
    let start = member.bit_offset.checked_sub(first)?;
    (member.bit_size > 0).then_some(UnitBits { unit, start, end: start.checked_add(member.bit_size)? })
}

/// An order with each group gathered behind the first of it, as far as they are of one region.
pub(super) fn gather(mut order: Vec<usize>, units: &[Unit], pins: &[CachelineConstraint]) -> Vec<usize> {
    for constraint in pins.iter().filter(|pin| pin.kind == CachelineRequestKind::Group) {
        let group = constraint.units();
        let Some(position) = order.iter().position(|unit| group.contains(unit)) else { continue };
        let region = units[order[position]].region;
        let joins = |unit: &usize| group.contains(unit) && units[*unit].region == region;
        let (mut front, back) = (order[..position].to_vec(), &order[position..]);
        front.extend(back.iter().filter(|unit| joins(unit)));
        front.extend(back.iter().filter(|unit| !joins(unit)));
        order = front;
    }
    order
}
