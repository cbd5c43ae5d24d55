//! Wishes about cachelines inside the search: members that share one, that share none, that stand together.
//!
//! A wished member gets cells of its own, touched or not, that no visit knows. What they cost on a line leads the
//! search to orders that keep the wishes ([`Terms`]); whether an order does keep them is then read off its offsets
//! ([`Placed::keeps`]), and one that doesn't is never offered.

use crate::cost::view::Part;
use crate::cost::{BuildSlots, View};
use crate::random::Random;
use fieldline_layout::constraint::{Constraints, LineKind, LinePin};
use std::borrow::Cow;
use std::cmp::Reverse;

/// Cost of a line that breaks a wish, in lines in every visit: more than a visit can gain, yet a search may pass it.
pub(crate) const BREACH: u64 = 4;

/// What wishes cost by the cells on a line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Terms {
    /// Cells from this number on are wishes'.
    first: u32,
    /// By such cell, the wish.
    wish_of: Vec<u32>,
    /// By wish, what it asks and how many cells it has.
    wishes: Vec<(LineKind, usize)>,
    /// Cost of a breach in a view of weight 1.
    weight: u64,
}

impl Terms {
    /// Gives the members of each wish cells behind the first `cells`, and parts; `visits` is the weight of all visits.
    pub(crate) fn new(
        constraints: &Constraints,
        cells: usize,
        visits: u64,
        parts: &mut [Vec<Part>],
        random: &mut Random,
    ) -> Self {
        let mut terms =
            Self { first: cells as u32, weight: visits.saturating_mul(BREACH), ..Self::default() };
        for (wish, pin) in (0..).zip(&constraints.lines) {
            terms.wishes.push((pin.kind, pin.parts.len()));
            for bits in &pin.parts {
                let cell = terms.first + terms.wish_of.len() as u32;
                terms.wish_of.push(wish);
                parts[bits.unit].push(Part { cell, start: bits.start, end: bits.end, key: random.bits() });
            }
        }
        terms
    }

    /// The cells that visits know.
    #[inline]
    pub(crate) fn visited<'c>(&self, cells: &'c [u32]) -> Cow<'c, [u32]> {
        match self.wishes.is_empty() {
            true => Cow::Borrowed(cells),
            false => cells.iter().copied().filter(|cell| *cell < self.first).collect(),
        }
    }

    /// What the wishes cost on a line with these cells, in a view of weight 1. A group costs on every line.
    #[inline]
    pub(crate) fn cost(&self, cells: &[u32]) -> u64 {
        if self.wishes.is_empty() {
            return 0;
        }
        let mut here = vec![0_usize; self.wishes.len()];
        let wishes = cells.iter().filter_map(|cell| self.wish_of.get(cell.checked_sub(self.first)? as usize));
        for wish in wishes {
            here[*wish as usize] += 1;
        }
        let breaches = here.iter().zip(&self.wishes).map(|(here, (kind, all))| match (kind, *here) {
            (_, 0) => 0,
            (LineKind::Same, here) => usize::from(here < *all),
            (LineKind::Apart, here) => here - 1,
            (LineKind::Group, _) => 1,
        });
        breaches.sum::<usize>() as u64 * self.weight
    }
}

/// By unit, the group it belongs to; the first of several.
pub(crate) fn groups(constraints: &Constraints) -> Vec<Option<u32>> {
    let mut groups = vec![None; constraints.units.len()];
    let pins = (0..).zip(&constraints.lines).filter(|(_, pin)| pin.kind == LineKind::Group);
    for (number, pin) in pins {
        for unit in pin.units() {
            groups[unit].get_or_insert(number);
        }
    }
    groups
}

pub(crate) struct Placed<'a> {
    pub(crate) builds: &'a [BuildSlots],
    pub(crate) views: &'a [View],
    /// By build and unit: first bit, and the bit behind the last.
    pub(crate) spans: &'a [Vec<(u64, u64)>],
    pub(crate) place_of: &'a [usize],
}

impl Placed<'_> {
    /// Whether an order keeps a wish. Members that must lie apart do so in every view. For those that share a line the
    /// compiler's own line size counts, where most objects begin.
    pub(crate) fn keeps(&self, pin: &LinePin) -> bool {
        match pin.kind {
            LineKind::Apart => self.recorded().all(|view| self.are_apart(pin, view)),
            LineKind::Same => self.own_views().all(|view| self.lines(pin, view) == 1),
            LineKind::Group => {
                self.is_contiguous(pin)
                    && self.own_views().all(|view| self.lines(pin, view) <= self.fewest(pin, view))
            }
        }
    }

    /// Views on the recorded machine's layout, for whatever line size: elsewhere units may be other inside.
    fn recorded(&self) -> impl Iterator<Item = &View> {
        self.views.iter().filter(|view| self.builds.get(view.build).is_some_and(BuildSlots::is_recorded))
    }

    fn own_views(&self) -> impl Iterator<Item = &View> {
        let recorded = self.builds.iter().enumerate().filter(|(_, build)| build.is_recorded());
        recorded.filter_map(|(index, build)| {
            let own = self.views.iter().filter(move |view| view.build == index && view.line() == build.line);
            own.reduce(|best, view| if view.weight > best.weight { view } else { best })
        })
    }

    /// First and last line of each member.
    fn lines_of(&self, pin: &LinePin, view: &View) -> impl Iterator<Item = (usize, usize)> {
        pin.parts.iter().map(|part| {
            let start = self.spans[view.build][part.unit].0;
            view.lines_of(start + part.start, start + part.end)
        })
    }

    fn are_apart(&self, pin: &LinePin, view: &View) -> bool {
        let mut lines: Vec<(usize, usize)> = self.lines_of(pin, view).collect();
        lines.sort_unstable();
        lines.windows(2).all(|pair| pair[0].1 < pair[1].0)
    }

    /// How many lines there are from the first with bits of the members to the last.
    fn lines(&self, pin: &LinePin, view: &View) -> usize {
        let all = self.lines_of(pin, view).reduce(|all, lines| (all.0.min(lines.0), all.1.max(lines.1)));
        all.map_or(0, |(first, last)| last - first + 1)
    }

    fn is_contiguous(&self, pin: &LinePin) -> bool {
        let mut places: Vec<usize> = pin.units().iter().map(|unit| self.place_of[*unit]).collect();
        places.sort_unstable();
        places.windows(2).all(|pair| pair[1] == pair[0] + 1)
    }

    /// The fewest lines that hold a group's units: those of the largest alignment first, from a line's start on.
    fn fewest(&self, pin: &LinePin, view: &View) -> usize {
        let build = &self.builds[view.build];
        let mut units = pin.units();
        units.sort_by_key(|unit| (Reverse(build.align_of(*unit)), *unit));
        let end = units.iter().fold(0, |end, unit| build.place(*unit, end).1);
        usize::try_from(end.div_ceil(view.line() * 8)).unwrap_or(usize::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(kinds: &[(LineKind, usize)]) -> Terms {
        let wish_of = (0..).zip(kinds).flat_map(|(wish, kind)| vec![wish; kind.1]).collect();
        Terms { first: 10, wish_of, wishes: kinds.to_vec(), weight: 1 }
    }

    #[test]
    fn a_line_costs_by_what_it_breaks() {
        let terms = terms(&[(LineKind::Same, 3), (LineKind::Apart, 3), (LineKind::Group, 2)]);
        let cost = |cells: &[u32]| terms.cost(cells);
        assert_eq!(cost(&[1, 2, 3]), 0, "visits' own cells");
        assert_eq!([cost(&[10, 11, 12]), cost(&[10, 12]), cost(&[1, 10])], [0, 1, 1]);
        assert_eq!([cost(&[13]), cost(&[13, 14]), cost(&[13, 14, 15])], [0, 1, 2]);
        assert_eq!([cost(&[16]), cost(&[16, 17])], [1, 1], "on two lines a group costs twice");
        assert_eq!(*terms.visited(&[1, 10, 9, 17]), [1, 9]);
    }
}
