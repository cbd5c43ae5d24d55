//! An order with its cost, changed move by move.
//!
//! A move replaces consecutive units. Only units whose offsets change are evaluated again, and line costs are
//! cached by the ranges on the line, so that most moves count no visits. Where units with equal placement
//! rules are exchanged, nothing else moves.

mod counts;

use crate::cost::line_costs::{CostCache, LineCosts};
use crate::cost::line_requests::PlacedUnits;
use crate::cost::{LineConfig, Problem};
use fieldline_layout::constraint::CachelineConstraint;
use std::ops::Range;

/// First bit of a unit, and the bit behind its last.
type Span = (u64, u64);

/// An order of units and what it costs.
#[derive(Clone, Debug)]
pub struct OrderState<'p> {
    problem: &'p Problem<'p>,
    order: Vec<usize>,
    positions: Vec<usize>,
    /// By build and unit.
    spans: Vec<Vec<Span>>,
    /// By build, in bytes.
    sizes: Vec<u64>,
    lines: Vec<LineCosts>,
    cost: u64,
    undo: Undo,
}

#[derive(Clone, Debug, Default)]
struct Undo {
    first: usize,
    /// The units that stood there.
    order: Vec<usize>,
    /// Positions whose units were exchanged, if that is all.
    exchanged: Option<(usize, usize)>,
    /// By build, units whose offsets changed, with their former spans.
    shifted: Vec<Vec<(usize, Span)>>,
    sizes: Vec<u64>,
    cost: u64,
}

impl<'p> OrderState<'p> {
    /// The state of an order, a permutation of the problem's units.
    pub fn new(problem: &'p Problem<'p>, order: &[usize], memo: &mut CostCache) -> Self {
        let builds = problem.builds.len();
        let mut state = Self {
            problem,
            order: Vec::new(),
            positions: vec![0; order.len()],
            spans: vec![vec![(0, 0); order.len()]; builds],
            sizes: vec![0; builds],
            lines: vec![LineCosts::default(); problem.configs.len()],
            cost: 0,
            undo: Undo { shifted: vec![Vec::new(); builds], ..Undo::default() },
        };
        state.reset(order, memo);
        state
    }

    /// The state of an order that won't change.
    pub fn evaluate(problem: &'p Problem<'p>, order: &[usize]) -> Self {
        Self::new(problem, order, &mut CostCache::small())
    }

    /// Takes another order.
    pub fn reset(&mut self, order: &[usize], memo: &mut CostCache) {
        self.order = order.to_vec();
        for (position, unit) in order.iter().enumerate() {
            self.positions[*unit] = position;
        }
        let builds = self.problem.builds.iter().zip(&mut self.spans);
        for ((build, spans), size) in builds.zip(&mut self.sizes) {
            let mut end = 0;
            for unit in order {
                spans[*unit] = build.place(*unit, end);
                end = spans[*unit].1;
            }
            *size = build.size(end);
        }
        self.fill_lines(memo);
        let problem = self.problem;
        let lines = problem.configs.iter().zip(&self.lines);
        let lines = lines.map(|(config, lines)| config.weight * lines.costs.iter().sum::<u64>());
        let sizes = problem.builds.iter().zip(&self.sizes);
        let sizes = sizes.map(|(build, size)| problem.size_cost(build, *size));
        self.cost = lines.sum::<u64>() + sizes.sum::<u64>() + problem.adjacency.cost(order);
    }

    fn fill_lines(&mut self, memo: &mut CostCache) {
        for (index, config) in self.problem.configs.iter().enumerate() {
            let lines = &mut self.lines[index];
            lines.clear();
            for (unit, span) in self.spans[config.build].iter().enumerate() {
                for bits in &self.problem.touched_bits[config.build][unit] {
                    let touched = config.lines_of(span.0 + bits.start, span.0 + bits.end);
                    lines.ensure_line(touched.1);
                    lines.toggle(touched, bits.key);
                }
            }
            for line in 0..self.lines[index].keys.len() {
                let value = self.line_value(index, line, memo);
                self.lines[index].costs[line] = value;
            }
        }
    }

    /// Units in order.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// By unit, its first bit in a build, and the bit behind it.
    #[inline]
    pub(crate) fn spans(&self, build: usize) -> &[(u64, u64)] {
        &self.spans[build]
    }

    /// The position of a unit in the order.
    #[inline]
    pub fn position(&self, unit: usize) -> usize {
        self.positions[unit]
    }

    /// Cost of the order.
    #[inline]
    pub fn cost(&self) -> u64 {
        self.cost
    }

    /// Cost of the lines of a configuration, as if its weight were 1: lines touched and lost by all visits.
    pub fn line_cost(&self, config: usize) -> u64 {
        self.lines.get(config).map_or(0, |lines| lines.costs.iter().sum())
    }

    /// Sizes in bytes, by build.
    pub fn sizes(&self) -> &[u64] {
        &self.sizes
    }

    /// Whether no size exceeds its limit, pinned members keep their offsets, and requests about lines are
    /// kept.
    pub fn fits(&self) -> bool {
        let mut sizes = self.sizes.iter().zip(&self.problem.builds);
        let keeps_size = self.problem.constraints.keeps_size;
        let is_legal = |size: u64, limit: u64| if keeps_size { size == limit } else { size <= limit };
        let fits = sizes.all(|(size, build)| is_legal(*size, build.size_limit)) && self.keeps_offsets();
        fits && self.violated_pins().next().is_none()
    }

    /// Requests about lines that the order doesn't keep.
    pub fn violated_pins(&self) -> impl Iterator<Item = &'p CachelineConstraint> {
        let problem = self.problem;
        let (builds, configs) = (&problem.builds, &problem.configs);
        let placed = PlacedUnits { builds, configs, spans: &self.spans, positions: &self.positions };
        problem.constraints.line_constraints.iter().filter(move |pin| !placed.satisfies(pin))
    }

    /// Whether pinned members keep their offsets.
    #[inline]
    pub fn keeps_offsets(&self) -> bool {
        let spans = self.spans.first();
        self.problem.fixed_offsets.iter().all(|(unit, offset)| {
            let span = spans.and_then(|spans| spans.get(*unit));
            span.is_some_and(|span| span.0 / 8 == *offset)
        })
    }

    /// Whether these units may replace those from position `first` on; offsets aren't checked.
    pub fn allows(&self, first: usize, units: &[usize]) -> bool {
        let neighbours = &self.problem.adjacency;
        let before = first.checked_sub(1).map(|position| self.order[position]);
        let behind = self.order.get(first + units.len()).copied();
        let mut around = before.into_iter().chain(units.iter().copied()).chain(behind);
        let Some(mut last) = around.next() else { return true };
        for next in around {
            if !neighbours.may_follow(last, next) {
                return false;
            }
            last = next;
        }
        neighbours.is_order_kept(units)
    }

    /// The positions of the units that begin on the same line of the first configuration as the unit at
    /// `place`.
    pub fn units_on_line(&self, position: usize) -> (usize, usize) {
        let Some(config) = self.problem.configs.first() else { return (position, position + 1) };
        let spans = &self.spans[config.build];
        let line = |position: usize| config.line_of(spans[self.order[position]].0);
        let here = line(position);
        let first = (0..position).rev().take_while(|position| line(*position) == here).last();
        let last = (position + 1..self.order.len()).take_while(|position| line(*position) == here).last();
        (first.unwrap_or(position), last.unwrap_or(position) + 1)
    }

    /// Replaces the units from position `first` on by a permutation of them if the cost rises by less than
    /// `bound`; otherwise the order stays, and `false` is returned. A cost that rises too much in the first
    /// configuration is not evaluated in the others: they mostly agree.
    pub fn try_replace(&mut self, first: usize, units: &[usize], memo: &mut CostCache, bound: f64) -> bool {
        self.try_replace_within(first, units, memo, |_| bound)
    }

    /// Like [`OrderState::try_replace`], where the bound depends on the new order; below 0 the cost has to fall.
    pub fn try_replace_within(
        &mut self,
        first: usize,
        units: &[usize],
        memo: &mut CostCache,
        bound: impl FnOnce(&[usize]) -> f64,
    ) -> bool {
        let after = first + units.len();
        let adjacency_costs = self.adjacency_change(first, units);
        self.begin_move();
        self.undo.first = first;
        self.undo.order.clear();
        self.undo.order.extend_from_slice(&self.order[first..after]);
        for (position, unit) in (first..).zip(units) {
            self.order[position] = *unit;
            self.positions[*unit] = position;
        }
        let bound = bound(&self.order);
        self.cost = self.cost.wrapping_add(adjacency_costs);
        self.recompute_spans(0, first..after);
        self.apply_or_undo(memo, bound)
    }

    /// Like [`OrderState::try_replace`] for units at two positions, in order, that have equal placement
    /// rules in all builds whose lines are counted.
    pub fn try_exchange(&mut self, this: usize, other: usize, memo: &mut CostCache, bound: f64) -> bool {
        self.try_exchange_within(this, other, memo, |_| bound)
    }

    /// Like [`OrderState::try_exchange`], where the bound depends on the new order.
    pub fn try_exchange_within(
        &mut self,
        this: usize,
        other: usize,
        memo: &mut CostCache,
        bound: impl FnOnce(&[usize]) -> f64,
    ) -> bool {
        let units = (self.order[this], self.order[other]);
        let before = self.adjacency_cost_around(this, other);
        self.begin_move();
        self.undo.exchanged = Some((this, other));
        self.order.swap(this, other);
        (self.positions[units.0], self.positions[units.1]) = (other, this);
        let bound = bound(&self.order);
        let after = self.adjacency_cost_around(this, other);
        self.cost = self.cost.wrapping_add(after).wrapping_sub(before);
        let builds = self.problem.builds.iter().zip(self.spans.iter_mut().zip(&mut self.undo.shifted));
        for (_, (spans, shifted)) in builds.filter(|(build, _)| !build.is_limit_only) {
            shifted.extend([(units.0, spans[units.0]), (units.1, spans[units.1])]);
            spans.swap(units.0, units.1);
        }
        self.apply_or_undo(memo, bound)
    }

    /// Positions whose successor changes when two units are exchanged: those before either and themselves.
    fn changed_adjacencies(this: usize, other: usize) -> impl Iterator<Item = usize> {
        let before = [this.checked_sub(1), Some(this), other.checked_sub(1).filter(|place| *place != this)];
        before.into_iter().flatten().chain([other])
    }

    /// Cost of the neighbours around two positions, the first before the second.
    fn adjacency_cost_around(&self, this: usize, other: usize) -> u64 {
        let adjacency_costs = Self::changed_adjacencies(this, other).filter_map(|position| {
            Some(self.problem.adjacency.pair_cost(*self.order.get(position)?, *self.order.get(position + 1)?))
        });
        adjacency_costs.sum()
    }

    /// Whether units at two positions, in order, may be exchanged; offsets and units that keep their order
    /// aren't checked.
    pub fn allows_exchange(&self, this: usize, other: usize) -> bool {
        let unit = |position: usize| match position {
            _ if position == this => self.order.get(other).copied(),
            _ if position == other => self.order.get(this).copied(),
            _ => self.order.get(position).copied(),
        };
        Self::changed_adjacencies(this, other).all(|position| {
            let pair = unit(position).zip(unit(position + 1));
            pair.is_none_or(|(before, behind)| self.problem.adjacency.may_follow(before, behind))
        })
    }

    /// Counts lines again after a move; undoes it if the cost rises by `bound` or more.
    fn apply_or_undo(&mut self, memo: &mut CostCache, bound: f64) -> bool {
        let configs = self.problem.configs.len();
        let applied = usize::from(self.problem.configs.first().is_some_and(|config| config.build == 0));
        for config in 0..applied {
            self.move_touched_bits(config, memo);
        }
        let mut is_undone = self.rises_at_least(bound.max(0.0));
        if !is_undone {
            let changed = match self.undo.exchanged {
                Some((this, other)) => this..other + 1,
                None => self.undo.first..self.undo.first + self.undo.order.len(),
            };
            for (number, build) in self.problem.builds.iter().enumerate().skip(1) {
                if self.undo.exchanged.is_none() || build.is_limit_only {
                    self.recompute_spans(number, changed.clone());
                }
            }
            for config in applied..configs {
                self.move_touched_bits(config, memo);
            }
            is_undone = self.rises_at_least(bound) || !self.keeps_offsets();
        }
        if is_undone {
            self.undo();
        }
        !is_undone
    }

    fn rises_at_least(&self, bound: f64) -> bool {
        let rise = self.cost as f64 - self.undo.cost as f64;
        rise >= bound && (rise > 0.0 || bound < 0.0)
    }

    /// Begins a move: saves the cost before it.
    fn begin_move(&mut self) {
        self.undo.exchanged = None;
        self.undo.cost = self.cost;
        self.undo.sizes.clone_from(&self.sizes);
        self.undo.shifted.iter_mut().for_each(Vec::clear);
        self.lines.iter_mut().for_each(LineCosts::clear_saved);
    }

    /// Change of the neighbours' cost once units stand from position `first` on.
    fn adjacency_change(&self, first: usize, units: &[usize]) -> u64 {
        let after = first + units.len();
        let old = &self.order[first..after];
        let neighbours = &self.problem.adjacency;
        let mut change = 0_u64;
        let mut last = first.checked_sub(1).map(|position| (self.order[position], self.order[position]));
        let behind = self.order.get(after).map(|unit| (unit, unit));
        for (old, new) in old.iter().zip(units).chain(behind) {
            if let Some((old_last, new_last)) = last {
                let (new, old) = (neighbours.pair_cost(new_last, *new), neighbours.pair_cost(old_last, *old));
                change = change.wrapping_add(new).wrapping_sub(old);
            }
            last = Some((*old, *new));
        }
        change
    }

    /// Places units again in a build, from the first changed position up to the first unchanged offset behind the last.
    fn recompute_spans(&mut self, build: usize, changed: Range<usize>) {
        let rules = &self.problem.builds[build];
        let (spans, shifted) = (&mut self.spans[build], &mut self.undo.shifted[build]);
        let Range { start: first, end: after } = changed;
        let mut end = first.checked_sub(1).map_or(0, |before| spans[self.order[before]].1);
        for (position, unit) in (first..).zip(&self.order[first..]) {
            let (old, new) = (spans[*unit], rules.place(*unit, end));
            if new != old {
                shifted.push((*unit, old));
                spans[*unit] = new;
            } else if position >= after {
                return;
            }
            end = new.1;
        }
        let (old, new) = (self.sizes[build], rules.size(end));
        if new != old {
            self.sizes[build] = new;
            let change = self.problem.size_cost(rules, new).wrapping_sub(self.problem.size_cost(rules, old));
            self.cost = self.cost.wrapping_add(change);
        }
    }

    /// Moves touched bits between lines, and adds the change of the lines' costs.
    fn move_touched_bits(&mut self, index: usize, memo: &mut CostCache) {
        let config = &self.problem.configs[index];
        let Some((low, high)) = self.changed_bits(config) else { return };
        let (spans, lines) = (self.spans[config.build].as_slice(), &mut self.lines[index]);
        let hulls = self.problem.hulls[config.build].as_slice();
        lines.save(config.line_of(low), config.line_of(high - 1));
        for (unit, old) in &self.undo.shifted[config.build] {
            let (old, new) = (old.0, spans[*unit].0);
            let hull = hulls[*unit];
            if hull.end == 0 || old == new {
                continue;
            }
            let before = config.lines_of(old + hull.start, old + hull.end);
            let after = config.lines_of(new + hull.start, new + hull.end);
            if before.0 != before.1 || after.0 != after.1 {
                for bits in &self.problem.touched_bits[config.build][*unit] {
                    lines.toggle(config.lines_of(old + bits.start, old + bits.end), bits.key);
                    lines.toggle(config.lines_of(new + bits.start, new + bits.end), bits.key);
                }
            } else if before != after {
                lines.toggle(before, hull.key);
                lines.toggle(after, hull.key);
            }
        }
        let weight = config.weight;
        for line in self.lines[index].saved_lines() {
            if let Some(before) = self.lines[index].changed_cost(line) {
                let value = self.line_value(index, line, memo);
                self.lines[index].costs[line] = value;
                self.cost = self.cost.wrapping_add(value.wrapping_sub(before).wrapping_mul(weight));
            }
        }
    }

    /// First bit that touched units leave or reach in the last move, and the bit behind the last.
    fn changed_bits(&self, config: &LineConfig) -> Option<(u64, u64)> {
        let (spans, hulls) =
            (self.spans[config.build].as_slice(), self.problem.hulls[config.build].as_slice());
        let (mut first, mut last) = (u64::MAX, 0);
        for (unit, old) in &self.undo.shifted[config.build] {
            let (hull, new) = (hulls[*unit], spans[*unit].0);
            if hull.end > 0 {
                first = first.min(old.0.min(new) + hull.start);
                last = last.max(old.0.max(new) + hull.end);
            }
        }
        (first < last).then_some((first, last))
    }

    /// Undoes the last replacement.
    pub fn undo(&mut self) {
        if let Some((this, other)) = self.undo.exchanged {
            self.order.swap(this, other);
            (self.positions[self.order[this]], self.positions[self.order[other]]) = (this, other);
        } else {
            for (position, unit) in (self.undo.first..).zip(&self.undo.order) {
                self.order[position] = *unit;
                self.positions[*unit] = position;
            }
        }
        for (spans, shifted) in self.spans.iter_mut().zip(&self.undo.shifted) {
            for (unit, span) in shifted {
                spans[*unit] = *span;
            }
        }
        self.lines.iter_mut().for_each(LineCosts::restore);
        std::mem::swap(&mut self.sizes, &mut self.undo.sizes);
        self.cost = self.undo.cost;
    }

    fn line_value(&self, config: usize, line: usize, memo: &mut CostCache) -> u64 {
        let key = self.lines[config].keys[line];
        if key == 0 {
            return 0;
        }
        let known = *memo.entry(key);
        if known.0 == key {
            return known.1;
        }
        self.ranges_on_line(&self.problem.configs[config], line, &mut memo.ranges);
        let value = self.problem.line_cost(&memo.ranges);
        *memo.entry(key) = (key, value);
        value
    }

    fn ranges_on_line(&self, config: &LineConfig, line: usize, ranges: &mut Vec<u32>) {
        ranges.clear();
        let spans = self.spans[config.build].as_slice();
        let touched_bits = self.problem.touched_bits[config.build].as_slice();
        let is_before = |unit: &usize| spans[*unit].1 == 0 || config.line_of(spans[*unit].1 - 1) < line;
        let from = self.order.partition_point(is_before);
        for unit in &self.order[from..] {
            let start = spans[*unit].0;
            if config.line_of(start) > line {
                break;
            }
            for bits in &touched_bits[*unit] {
                let (first, last) = config.lines_of(start + bits.start, start + bits.end);
                if (first..=last).contains(&line) {
                    ranges.push(bits.range);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_adjacencies_surround_both_positions() {
        let adjacencies = |this, other| OrderState::changed_adjacencies(this, other).collect::<Vec<_>>();
        assert_eq!(adjacencies(2, 5), [1, 2, 4, 5]);
        assert_eq!(adjacencies(2, 3), [1, 2, 3], "neighbours share one");
        assert_eq!(adjacencies(0, 4), [0, 3, 4], "nothing stands before the first");
    }
}
