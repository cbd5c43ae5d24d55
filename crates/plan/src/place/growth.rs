//! What a new member does to sizes and offsets.

use super::addition::{Addition, inserted};
use crate::options::PlanOptions;
use crate::result::SizeForecast;
use fieldline_layout::{Layout, Member, abi};

/// A layout before and after, for every line size.
pub(super) struct Growth {
    /// With the new member, as the program was compiled.
    pub(super) own: Layout,
    /// Own line size first: its bytes, the layout before and the one after.
    pub(super) builds: Vec<(u64, Layout, Layout)>,
    /// Declared indices of members whose offset changes.
    pub(super) shifted: Vec<usize>,
    /// Of these, the ones that get to another cacheline and to another place on it, at any line size.
    pub(super) pushed: Vec<usize>,
    /// Bytes of holes or padding that the new member uses.
    pub(super) hole: u64,
}

impl Growth {
    /// With the new member behind the first `place` declared members; `None` if it can't be laid out.
    pub(super) fn new(addition: &Addition<'_>, place: usize, options: &PlanOptions) -> Option<Self> {
        let layout = addition.layout;
        let declared: Vec<usize> = (0..layout.members.len()).collect();
        let mut lines = vec![options.build_line];
        lines.extend(options.lines.iter().filter(|line| **line != options.build_line));
        let mut builds = Vec::new();
        for line in lines {
            let before = abi::reorder_for_line(layout, &declared, options.build_line, line)?;
            builds.push((line, before, inserted(addition, place, options.build_line, line)?));
        }
        let own = inserted(addition, place, options.build_line, options.build_line)?;
        let moves = |index: &usize| {
            let pair = layout.members.get(*index).zip(own.members.get(behind(*index, place)));
            pair.is_some_and(|(before, after)| before.bit_offset != after.bit_offset)
        };
        let shifted: Vec<usize> = declared.into_iter().filter(moves).collect();
        let pushed = shifted.iter().copied().filter(|index| is_pushed(&builds, *index, place)).collect();
        let added = own.size.saturating_sub(layout.size);
        let hole = own.members.get(place).map_or(0, |member| member.bit_size / 8).saturating_sub(added);
        Some(Self { own, builds, shifted, pushed, hole })
    }

    pub(super) fn sizes(&self) -> Vec<SizeForecast> {
        let sizes = self.builds.iter();
        sizes.map(|(line, before, after)| SizeForecast::new(None, *line, before.size, after.size)).collect()
    }
}

/// Index of a declared member once there is a new one in a place.
pub(super) fn behind(index: usize, place: usize) -> usize {
    index + usize::from(index >= place)
}

fn is_pushed(builds: &[(u64, Layout, Layout)], index: usize, place: usize) -> bool {
    builds.iter().any(|(line, before, after)| {
        let pair = before.members.get(index).zip(after.members.get(behind(index, place)));
        pair.is_some_and(|(before, after)| lines_differ(before, after, *line))
    })
}

/// Whether a member gets to other lines. One that moves by whole lines keeps its neighbours and doesn't count.
fn lines_differ(before: &Member, after: &Member, line: u64) -> bool {
    let line = line.max(1);
    let lines = |member: &Member| {
        let last = member.offset().saturating_add(member.size().max(1)) - 1;
        (member.offset() / line, last / line)
    };
    let moves_by_lines = after.offset().abs_diff(before.offset()).is_multiple_of(line);
    lines(before) != lines(after) && !moves_by_lines
}
