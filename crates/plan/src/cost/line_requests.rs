//! Requests about cachelines in the search: members that share one, that share none, that stand together.
//!
//! A requested member gets ranges of its own, touched or not, that belong to no visit. Their cost on a line
//! leads the search to orders that keep the requests ([`RequestCosts`]); whether an order keeps them is
//! checked by its offsets ([`PlacedUnits::satisfies`]), and one that doesn't is never offered.

use crate::cost::configuration::TouchedBits;
use crate::cost::{BuildPlacement, LineConfig};
use crate::random::Random;
use fieldline_layout::constraint::{CachelineConstraint, CachelineRequestKind, Constraints, UnitBits};
use std::borrow::Cow;
use std::cmp::Reverse;

/// Cost of a line that violates a request, in lines in every visit: more than a visit can gain, yet a search
/// may pass it.
pub(crate) const VIOLATION: u64 = 4;

/// The cost of requests by the ranges on a line.
#[derive(Clone, Debug, Default)]
pub(crate) struct RequestCosts {
    /// Ranges from this number on belong to requests.
    first: u32,
    /// By such range, the request.
    request_of: Vec<u32>,
    /// By request, its kind and number of ranges.
    requests: Vec<(CachelineRequestKind, usize)>,
    /// Cost of a violation in a configuration of weight 1.
    weight: u64,
}

impl RequestCosts {
    /// Gives the members of each request ranges behind the first `ranges`, and touched bits; `visits` is the
    /// weight of all visits.
    pub(crate) fn new(
        constraints: &Constraints,
        ranges: usize,
        visits: u64,
        parts: &mut [Vec<TouchedBits>],
        random: &mut Random,
    ) -> Self {
        let (first, weight) = (ranges as u32, visits.saturating_mul(VIOLATION));
        let mut costs = Self { first, weight, ..Self::default() };
        for (request, pin) in (0..).zip(&constraints.line_constraints) {
            costs.requests.push((pin.kind, pin.ranges.len()));
            for UnitBits { unit, start, end } in pin.ranges.iter().copied() {
                let range = first + costs.request_of.len() as u32;
                costs.request_of.push(request);
                parts[unit].push(TouchedBits { range, start, end, key: random.bits() });
            }
        }
        costs
    }

    /// The ranges that belong to visits.
    #[inline]
    pub(crate) fn visited_ranges<'c>(&self, ranges: &'c [u32]) -> Cow<'c, [u32]> {
        match self.requests.is_empty() {
            true => Cow::Borrowed(ranges),
            false => ranges.iter().copied().filter(|range| *range < self.first).collect(),
        }
    }

    /// The cost of requests on a line with these ranges, in a configuration of weight 1. A group costs on
    /// every line.
    #[inline]
    pub(crate) fn cost(&self, ranges: &[u32]) -> u64 {
        if self.requests.is_empty() {
            return 0;
        }
        let mut here = vec![0_usize; self.requests.len()];
        let request = |range: &u32| self.request_of.get(range.checked_sub(self.first)? as usize);
        for request in ranges.iter().filter_map(request) {
            here[*request as usize] += 1;
        }
        let violations = here.iter().zip(&self.requests).map(|(here, (kind, all))| match (kind, *here) {
            (_, 0) => 0,
            (CachelineRequestKind::Same, here) => usize::from(here < *all),
            (CachelineRequestKind::Separate, here) => here - 1,
            (CachelineRequestKind::Group, _) => 1,
        });
        violations.sum::<usize>() as u64 * self.weight
    }
}

/// By unit, the group it belongs to; the first of several.
pub(crate) fn unit_groups(constraints: &Constraints) -> Vec<Option<u32>> {
    let mut groups = vec![None; constraints.units.len()];
    let pins = (0..).zip(&constraints.line_constraints);
    for (number, pin) in pins.filter(|(_, pin)| pin.kind == CachelineRequestKind::Group) {
        for unit in pin.units() {
            groups[unit].get_or_insert(number);
        }
    }
    groups
}

pub(crate) struct PlacedUnits<'a> {
    pub(crate) builds: &'a [BuildPlacement],
    pub(crate) configs: &'a [LineConfig],
    /// By build and unit: first bit, and the bit behind the last.
    pub(crate) spans: &'a [Vec<(u64, u64)>],
    pub(crate) positions: &'a [usize],
}

impl PlacedUnits<'_> {
    /// Whether an order keeps a request. Members on separate lines are so in every configuration. For those
    /// that share a line, the compiler's line size and the most frequent phase count.
    pub(crate) fn satisfies(&self, pin: &CachelineConstraint) -> bool {
        let (mut recorded, mut own_lines) = (self.recorded_configs(), self.own_line_configs());
        match pin.kind {
            CachelineRequestKind::Separate => recorded.all(|config| self.is_separate(pin, config)),
            CachelineRequestKind::Same => own_lines.all(|config| self.line_count(pin, config) == 1),
            CachelineRequestKind::Group => {
                let is_tight = |config| self.line_count(pin, config) <= self.min_lines(pin, config);
                self.is_contiguous(pin) && own_lines.all(is_tight)
            }
        }
    }

    /// Configurations of the recorded machine's layout, for any line size: in other builds units may differ
    /// inside.
    fn recorded_configs(&self) -> impl Iterator<Item = &LineConfig> {
        let is_recorded = |build| self.builds.get(build).is_some_and(BuildPlacement::is_recorded);
        self.configs.iter().filter(move |config| is_recorded(config.build))
    }

    fn own_line_configs(&self) -> impl Iterator<Item = &LineConfig> {
        let recorded = self.builds.iter().enumerate().filter(|(_, build)| build.is_recorded());
        recorded.filter_map(|(index, build)| {
            let is_own = move |config: &&LineConfig| (config.build, config.line()) == (index, build.line);
            let own = self.configs.iter().filter(is_own);
            own.reduce(|best, config| if config.weight > best.weight { config } else { best })
        })
    }

    /// First and last line of each member.
    fn part_lines(&self, pin: &CachelineConstraint, config: &LineConfig) -> Vec<(usize, usize)> {
        let lines = pin.ranges.iter().map(|part| {
            let start = self.spans[config.build][part.unit].0;
            config.lines_of(start + part.start, start + part.end)
        });
        lines.collect()
    }

    fn is_separate(&self, pin: &CachelineConstraint, config: &LineConfig) -> bool {
        let mut lines = self.part_lines(pin, config);
        lines.sort_unstable();
        lines.windows(2).all(|pair| pair[0].1 < pair[1].0)
    }

    /// Lines from the first with bits of the members to the last.
    fn line_count(&self, pin: &CachelineConstraint, config: &LineConfig) -> usize {
        let lines = self.part_lines(pin, config).into_iter();
        let all = lines.reduce(|all, lines| (all.0.min(lines.0), all.1.max(lines.1)));
        all.map_or(0, |(first, last)| last - first + 1)
    }

    fn is_contiguous(&self, pin: &CachelineConstraint) -> bool {
        let mut positions: Vec<usize> = pin.units().iter().map(|unit| self.positions[*unit]).collect();
        positions.sort_unstable();
        positions.windows(2).all(|pair| pair[1] == pair[0] + 1)
    }

    /// The fewest lines that hold a group's units: those of the largest alignment first, from a line's start
    /// on.
    fn min_lines(&self, pin: &CachelineConstraint, config: &LineConfig) -> usize {
        let build = &self.builds[config.build];
        let mut units = pin.units();
        units.sort_by_key(|unit| (Reverse(build.unit_align(*unit)), *unit));
        let end = units.iter().fold(0, |end, unit| build.place(*unit, end).1);
        usize::try_from(end.div_ceil(config.line() * 8)).unwrap_or(usize::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(kinds: &[(CachelineRequestKind, usize)]) -> RequestCosts {
        let request_of = (0..).zip(kinds).flat_map(|(request, kind)| vec![request; kind.1]).collect();
        RequestCosts { first: 10, request_of, requests: kinds.to_vec(), weight: 1 }
    }

    #[test]
    fn a_line_costs_by_the_requests_it_violates() {
        let costs = terms(&[
            (CachelineRequestKind::Same, 3),
            (CachelineRequestKind::Separate, 3),
            (CachelineRequestKind::Group, 2),
        ]);
        let cost = |ranges: &[u32]| costs.cost(ranges);
        assert_eq!(cost(&[1, 2, 3]), 0, "visits' own cells");
        assert_eq!([cost(&[10, 11, 12]), cost(&[10, 12]), cost(&[1, 10])], [0, 1, 1]);
        assert_eq!([cost(&[13]), cost(&[13, 14]), cost(&[13, 14, 15])], [0, 1, 2]);
        assert_eq!([cost(&[16]), cost(&[16, 17])], [1, 1], "on two lines a group costs twice");
        assert_eq!(*costs.visited_ranges(&[1, 10, 9, 17]), [1, 9]);
    }
}
