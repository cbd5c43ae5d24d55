//! A member to be added, and its effect on sizes and offsets.

use crate::options::PlanOptions;
use fieldline_layout::constraint::PlacementRequests;
use fieldline_layout::{Layout, Member, abi};
use std::ops::RangeInclusive;

/// A member that somebody wants to add.
#[derive(Clone, Copy, Debug)]
pub struct MemberAddition<'a> {
    /// The struct as declared.
    pub layout: &'a Layout,
    /// Requests of the source and the user.
    pub requests: &'a PlacementRequests,
    /// For each declared member the `#if` conditions around it, outermost first; empty without source.
    pub guards: &'a [Vec<String>],
    /// The new member; its offset counts for nothing.
    pub member: &'a Member,
    /// The member as the user declares it.
    pub declaration: &'a str,
    /// Alignment in bytes the program's ABI gives no scalar more than.
    pub align_limit: u64,
    /// Declared members it is touched together with.
    pub with: &'a [usize],
    /// Whether it is rarely touched.
    pub is_cold: bool,
}

/// A layout before and after, for every line size.
pub(super) struct LayoutGrowth {
    /// With the new member, as the program was compiled.
    pub(super) own: Layout,
    /// Own line size first: its bytes, the layout before and the one after.
    pub(super) builds: Vec<(u64, Layout, Layout)>,
    /// Declared indices of members whose offset changes.
    pub(super) shifted: Vec<usize>,
    /// Of these, the ones that get to another cacheline and to another offset on it, at any line size.
    pub(super) pushed: Vec<usize>,
    /// Bytes of holes or padding that the new member uses.
    pub(super) hole: u64,
}

impl LayoutGrowth {
    /// With the new member behind the first `place` declared members; `None` if it can't be laid out.
    pub(super) fn new(addition: &MemberAddition<'_>, place: usize, options: &PlanOptions) -> Option<Self> {
        let layout = addition.layout;
        let declared: Vec<usize> = (0..layout.members.len()).collect();
        let new = abi::NewMember { member: addition.member, align_limit: addition.align_limit };
        let build_line = options.build_line;
        let others = options.lines.iter().copied().filter(|line| *line != build_line);
        let mut builds = Vec::new();
        for line in std::iter::once(build_line).chain(others) {
            let before = abi::reorder_for_line(layout, &declared, build_line, line)?;
            builds.push((line, before, abi::insert_for_line(layout, new, place, build_line, line)?));
        }
        let own = builds.first()?.2.clone();
        let moves = |index: &usize| {
            let pair = layout.members.get(*index).zip(own.members.get(shifted_index(*index, place)));
            pair.is_some_and(|(before, after)| before.bit_offset != after.bit_offset)
        };
        let shifted: Vec<usize> = declared.into_iter().filter(moves).collect();
        let is_pushed = |index: &usize| {
            builds.iter().any(|(line, before, after)| {
                let pair = before.members.get(*index).zip(after.members.get(shifted_index(*index, place)));
                pair.is_some_and(|(before, after)| is_on_other_lines(before, after, *line))
            })
        };
        let pushed = shifted.iter().copied().filter(is_pushed).collect();
        let added = own.size.saturating_sub(layout.size);
        let hole = own.members.get(place).map_or(0, |member| member.bit_size / 8).saturating_sub(added);
        Some(Self { own, builds, shifted, pushed, hole })
    }
}

impl LayoutGrowth {
    /// Whether the new member takes unused room: nothing moves, and the struct keeps its size.
    pub(super) fn fits_hole(&self, layout: &Layout) -> bool {
        self.shifted.is_empty() && self.own.size <= layout.size
    }
}

/// Whether a new member lies on lines of another one: with all its bytes, or with its first one if it is larger
/// than a line.
pub(super) fn is_on_line_of(new: &Member, other: &Member, line: u64) -> bool {
    let (own, theirs) = (lines(new.offset(), new.size(), line), lines(other.offset(), other.size(), line));
    theirs.contains(own.start()) && (new.size() > line.max(1) || theirs.contains(own.end()))
}

/// Index of a declared member once a new one is inserted.
pub(super) fn shifted_index(index: usize, place: usize) -> usize {
    index + usize::from(index >= place)
}

/// Whether a member gets to other lines. One that moves by whole lines keeps its neighbours and doesn't
/// count.
fn is_on_other_lines(before: &Member, after: &Member, line: u64) -> bool {
    let lines_of = |member: &Member| lines(member.offset(), member.size(), line);
    let moves_by_lines = after.offset().abs_diff(before.offset()).is_multiple_of(line.max(1));
    lines_of(before) != lines_of(after) && !moves_by_lines
}

/// The lines of some bytes.
pub(super) fn lines(offset: u64, size: u64, line: u64) -> RangeInclusive<u64> {
    let line = line.max(1);
    offset / line..=offset.saturating_add(size.max(1) - 1) / line
}
