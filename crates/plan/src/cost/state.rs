//! An order with its cost, changed move by move.
//!
//! A move replaces a stretch of the order. Only units that lie elsewhere afterwards are looked at again, and a line's
//! cost is remembered by what lies on it, so that most moves cost no count of visits at all. Where units that are laid out
//! alike change places, nothing else moves, so nothing else is looked at.

use crate::cost::lines::{Lines, Memo};
use crate::cost::wish::Placed;
use crate::cost::{Problem, View};
use fieldline_layout::constraint::LinePin;

/// First bit of a unit, and the bit behind its last.
type Span = (u64, u64);

/// An order of units and what it costs.
#[derive(Clone, Debug)]
pub struct OrderState<'p> {
    problem: &'p Problem<'p>,
    order: Vec<usize>,
    place_of: Vec<usize>,
    /// By build and unit.
    spans: Vec<Vec<Span>>,
    /// By build, in bytes.
    sizes: Vec<u64>,
    lines: Vec<Lines>,
    cost: u64,
    undo: Undo,
}

#[derive(Clone, Debug, Default)]
struct Undo {
    first: usize,
    /// What stood there.
    order: Vec<usize>,
    /// Places whose units were exchanged, if that is all.
    exchanged: Option<(usize, usize)>,
    /// By build, units that lie elsewhere now, and where they lay.
    moved: Vec<Vec<(usize, Span)>>,
    sizes: Vec<u64>,
    cost: u64,
}

impl<'p> OrderState<'p> {
    /// The state of an order, a permutation of the problem's units.
    pub fn new(problem: &'p Problem<'p>, order: &[usize], memo: &mut Memo) -> Self {
        let builds = problem.builds.len();
        let mut state = Self {
            problem,
            order: Vec::new(),
            place_of: vec![0; order.len()],
            spans: vec![vec![(0, 0); order.len()]; builds],
            sizes: vec![0; builds],
            lines: vec![Lines::default(); problem.views.len()],
            cost: 0,
            undo: Undo { moved: vec![Vec::new(); builds], ..Undo::default() },
        };
        state.reset(order, memo);
        state
    }

    /// The state of an order that won't change.
    pub fn of(problem: &'p Problem<'p>, order: &[usize]) -> Self {
        Self::new(problem, order, &mut Memo::brief())
    }

    /// Takes another order.
    pub fn reset(&mut self, order: &[usize], memo: &mut Memo) {
        self.order = order.to_vec();
        for (place, unit) in order.iter().enumerate() {
            self.place_of[*unit] = place;
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
        let lines = problem
            .views
            .iter()
            .zip(&self.lines)
            .map(|(view, lines)| view.weight * lines.values.iter().sum::<u64>());
        let sizes =
            self.sizes.iter().zip(&problem.builds).map(|(size, build)| problem.size_cost(build, *size));
        self.cost = lines.sum::<u64>() + sizes.sum::<u64>() + problem.neighbours.cost(order);
    }

    fn fill_lines(&mut self, memo: &mut Memo) {
        for (index, view) in self.problem.views.iter().enumerate() {
            let lines = &mut self.lines[index];
            lines.clear();
            for (unit, span) in self.spans[view.build].iter().enumerate() {
                for part in &self.problem.parts_in[view.build][unit] {
                    let on = view.lines_of(span.0 + part.start, span.0 + part.end);
                    lines.reach(on.1);
                    lines.toggle(on, part.key);
                }
            }
            for line in 0..self.lines[index].keys.len() {
                let value = self.value(index, line, memo);
                self.lines[index].values[line] = value;
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

    /// Where a unit stands in the order.
    #[inline]
    pub fn place_of(&self, unit: usize) -> usize {
        self.place_of[unit]
    }

    /// Cost of the order.
    #[inline]
    pub fn cost(&self) -> u64 {
        self.cost
    }

    /// Sizes in bytes, by build.
    pub fn sizes(&self) -> &[u64] {
        &self.sizes
    }

    /// Lines that all visits touch together, by view.
    pub fn touched(&self) -> Vec<u64> {
        (0..self.lines.len()).map(|view| self.sum(view, |cells| self.problem.touching(cells))).collect()
    }

    /// What CPUs lose to each other on the lines of a view because of what lies together there, in lines touched.
    pub fn lost(&self, view: usize) -> u64 {
        self.sum(view, |cells| self.problem.excess(cells))
    }

    /// What the cells on each line of a view come to, in all.
    fn sum(&self, view: usize, count: impl Fn(&[u32]) -> u64) -> u64 {
        let (Some(of), Some(lines)) = (self.problem.views.get(view), self.lines.get(view)) else { return 0 };
        let mut cells = Vec::new();
        let counts = lines.taken().map(|line| {
            self.cells_on(of, line, &mut cells);
            count(&cells)
        });
        counts.sum()
    }

    /// Whether no size exceeds its limit, kept members lie where they must, and wishes about lines are kept.
    pub fn fits(&self) -> bool {
        let mut sizes = self.sizes.iter().zip(&self.problem.builds);
        let fits = sizes.all(|(size, build)| *size <= build.size_limit) && self.keeps_offsets();
        fits && self.broken().next().is_none()
    }

    /// Wishes about lines that the order doesn't keep.
    pub fn broken(&self) -> impl Iterator<Item = &'p LinePin> {
        let problem = self.problem;
        let placed = Placed {
            builds: &problem.builds,
            views: &problem.views,
            spans: &self.spans,
            place_of: &self.place_of,
        };
        problem.constraints.lines.iter().filter(move |pin| !placed.keeps(pin))
    }

    /// Whether kept members lie where they must.
    #[inline]
    pub fn keeps_offsets(&self) -> bool {
        let spans = self.spans.first();
        self.problem.kept.iter().all(|(unit, offset)| {
            let span = spans.and_then(|spans| spans.get(*unit));
            span.is_some_and(|span| span.0 / 8 == *offset)
        })
    }

    /// Whether the units from place `first` on may be replaced by these, as far as offsets don't matter.
    pub fn allows(&self, first: usize, units: &[usize]) -> bool {
        let neighbours = &self.problem.neighbours;
        let before = first.checked_sub(1).map(|place| self.order[place]);
        let behind = self.order.get(first + units.len()).copied();
        let mut around = before.into_iter().chain(units.iter().copied()).chain(behind);
        let Some(mut last) = around.next() else { return true };
        for next in around {
            if !neighbours.may_follow(last, next) {
                return false;
            }
            last = next;
        }
        neighbours.keep_order(units)
    }

    /// The places of the units that begin on the line, of the first view, where the unit at `place` begins.
    pub fn line_run(&self, place: usize) -> (usize, usize) {
        let Some(view) = self.problem.views.first() else {
            return (place, place + 1);
        };
        let spans = &self.spans[view.build];
        let line = |place: usize| view.line_of(spans[self.order[place]].0);
        let here = line(place);
        let first = (0..place).rev().take_while(|place| line(*place) == here).last();
        let last = (place + 1..self.order.len()).take_while(|place| line(*place) == here).last();
        (first.unwrap_or(place), last.unwrap_or(place) + 1)
    }

    /// Replaces the units from place `first` on, by a permutation of them, if the cost rises by less than `bound`;
    /// otherwise the order stays, and `false` is returned. What rises too much in the first view already is not looked
    /// at in the others: they mostly agree, and an order that is worse in the first can be had by way of others.
    pub fn replace_below(&mut self, first: usize, units: &[usize], memo: &mut Memo, bound: f64) -> bool {
        let after = first + units.len();
        let seams = self.seam_change(first, units);
        self.remember();
        self.undo.first = first;
        self.undo.order.clear();
        self.undo.order.extend_from_slice(&self.order[first..after]);
        for (place, unit) in (first..).zip(units) {
            self.order[place] = *unit;
            self.place_of[*unit] = place;
        }
        self.cost = self.cost.wrapping_add(seams);
        self.place_again(0);
        self.settle_below(memo, bound)
    }

    /// Like [`OrderState::replace_below`] for units at two places, in order, that are laid out alike in all builds.
    pub fn exchange_below(&mut self, one: usize, other: usize, memo: &mut Memo, bound: f64) -> bool {
        let units = (self.order[one], self.order[other]);
        let before = self.seams_around(one, other);
        self.remember();
        self.undo.exchanged = Some((one, other));
        self.order.swap(one, other);
        (self.place_of[units.0], self.place_of[units.1]) = (other, one);
        let after = self.seams_around(one, other);
        self.cost = self.cost.wrapping_add(after).wrapping_sub(before);
        for (spans, moved) in self.spans.iter_mut().zip(&mut self.undo.moved) {
            moved.extend([(units.0, spans[units.0]), (units.1, spans[units.1])]);
            spans.swap(units.0, units.1);
        }
        self.settle_below(memo, bound)
    }

    /// Places behind which something else stands once two units are exchanged: those before either and themselves.
    fn seams_at(one: usize, other: usize) -> impl Iterator<Item = usize> {
        let before = [one.checked_sub(1), Some(one), other.checked_sub(1).filter(|place| *place != one)];
        before.into_iter().flatten().chain([other])
    }

    /// Cost of the seams around two places, the first before the second.
    fn seams_around(&self, one: usize, other: usize) -> u64 {
        let seams = Self::seams_at(one, other).filter_map(|place| {
            Some(self.problem.neighbours.seam(*self.order.get(place)?, *self.order.get(place + 1)?))
        });
        seams.sum()
    }

    /// Whether units at two places, in order, may be exchanged, offsets and units that keep their order apart.
    pub fn allows_exchange(&self, one: usize, other: usize) -> bool {
        let unit = |place: usize| match place {
            _ if place == one => self.order.get(other).copied(),
            _ if place == other => self.order.get(one).copied(),
            _ => self.order.get(place).copied(),
        };
        Self::seams_at(one, other).all(|place| {
            let pair = unit(place).zip(unit(place + 1));
            pair.is_none_or(|(before, behind)| self.problem.neighbours.may_follow(before, behind))
        })
    }

    /// Counts lines anew after a move; takes it back if the cost rises by `bound` or more.
    fn settle_below(&mut self, memo: &mut Memo, bound: f64) -> bool {
        let views = self.problem.views.len();
        let looked = usize::from(self.problem.views.first().is_some_and(|view| view.build == 0));
        for view in 0..looked {
            self.move_parts(view, memo);
        }
        let mut stays = self.rises_by(bound);
        if !stays {
            let builds = if self.undo.exchanged.is_none() { self.problem.builds.len() } else { 0 };
            for build in 1..builds {
                self.place_again(build);
            }
            for view in looked..views {
                self.move_parts(view, memo);
            }
            stays = self.rises_by(bound) || !self.keeps_offsets();
        }
        if stays {
            self.undo();
        }
        !stays
    }

    fn rises_by(&self, bound: f64) -> bool {
        self.cost > self.undo.cost && (self.cost - self.undo.cost) as f64 >= bound
    }

    /// Begins a move: remembers what it costs before.
    fn remember(&mut self) {
        self.undo.exchanged = None;
        self.undo.cost = self.cost;
        self.undo.sizes.clone_from(&self.sizes);
        self.undo.moved.iter_mut().for_each(Vec::clear);
        self.lines.iter_mut().for_each(Lines::forget);
    }

    /// By how much seams cost more once units stand from place `first` on.
    fn seam_change(&self, first: usize, units: &[usize]) -> u64 {
        let after = first + units.len();
        let old = &self.order[first..after];
        let neighbours = &self.problem.neighbours;
        let mut change = 0_u64;
        let mut last = first.checked_sub(1).map(|place| (self.order[place], self.order[place]));
        let behind = self.order.get(after).map(|unit| (unit, unit));
        for (old, new) in old.iter().zip(units).chain(behind) {
            if let Some((old_last, new_last)) = last {
                let (new, old) = (neighbours.seam(new_last, *new), neighbours.seam(old_last, *old));
                change = change.wrapping_add(new).wrapping_sub(old);
            }
            last = Some((*old, *new));
        }
        change
    }

    /// Places units anew in a build, from the first replaced one up to where nothing lies elsewhere.
    fn place_again(&mut self, build: usize) {
        let of = &self.problem.builds[build];
        let (spans, moved) = (&mut self.spans[build], &mut self.undo.moved[build]);
        let (first, after) = (self.undo.first, self.undo.first + self.undo.order.len());
        let mut end = first.checked_sub(1).map_or(0, |before| spans[self.order[before]].1);
        for (place, unit) in (first..).zip(&self.order[first..]) {
            let (old, new) = (spans[*unit], of.place(*unit, end));
            if new != old {
                moved.push((*unit, old));
                spans[*unit] = new;
            } else if place >= after {
                return;
            }
            end = new.1;
        }
        let (old, new) = (self.sizes[build], of.size(end));
        if new != old {
            self.sizes[build] = new;
            let change = self.problem.size_cost(of, new).wrapping_sub(self.problem.size_cost(of, old));
            self.cost = self.cost.wrapping_add(change);
        }
    }

    /// Takes parts off the lines they leave, puts them on those they come to, and counts what the lines cost more.
    fn move_parts(&mut self, index: usize, memo: &mut Memo) {
        let view = &self.problem.views[index];
        let Some((low, high)) = self.reach(view) else { return };
        let (spans, lines) = (&self.spans[view.build], &mut self.lines[index]);
        lines.keep(view.line_of(low), view.line_of(high - 1));
        for (unit, old) in &self.undo.moved[view.build] {
            let (old, new) = (old.0, spans[*unit].0);
            let whole = self.problem.wholes[view.build][*unit];
            if whole.end == 0 || old == new {
                continue;
            }
            let before = view.lines_of(old + whole.start, old + whole.end);
            let after = view.lines_of(new + whole.start, new + whole.end);
            if before.0 != before.1 || after.0 != after.1 {
                for part in &self.problem.parts_in[view.build][*unit] {
                    lines.toggle(view.lines_of(old + part.start, old + part.end), part.key);
                    lines.toggle(view.lines_of(new + part.start, new + part.end), part.key);
                }
            } else if before != after {
                lines.toggle(before, whole.key);
                lines.toggle(after, whole.key);
            }
        }
        let weight = view.weight;
        for line in self.lines[index].moved() {
            if let Some(before) = self.lines[index].changed(line) {
                let value = self.value(index, line, memo);
                self.lines[index].values[line] = value;
                self.cost = self.cost.wrapping_add(value.wrapping_sub(before).wrapping_mul(weight));
            }
        }
    }

    /// First bit that a touched unit leaves or comes to in the last move, and the bit behind the last.
    fn reach(&self, view: &View) -> Option<(u64, u64)> {
        let spans = &self.spans[view.build];
        let mut reach: Option<(u64, u64)> = None;
        for (unit, old) in &self.undo.moved[view.build] {
            let whole = self.problem.wholes[view.build][*unit];
            if whole.end > 0 {
                let new = spans[*unit].0;
                let (low, high) = (old.0.min(new) + whole.start, old.0.max(new) + whole.end);
                reach = Some(reach.map_or((low, high), |reach| (reach.0.min(low), reach.1.max(high))));
            }
        }
        reach
    }

    /// Takes the last replacement back.
    pub fn undo(&mut self) {
        if let Some((one, other)) = self.undo.exchanged {
            self.order.swap(one, other);
            (self.place_of[self.order[one]], self.place_of[self.order[other]]) = (one, other);
        } else {
            for (place, unit) in (self.undo.first..).zip(&self.undo.order) {
                self.order[place] = *unit;
                self.place_of[*unit] = place;
            }
        }
        for (spans, moved) in self.spans.iter_mut().zip(&self.undo.moved) {
            for (unit, span) in moved {
                spans[*unit] = *span;
            }
        }
        self.lines.iter_mut().for_each(Lines::restore);
        std::mem::swap(&mut self.sizes, &mut self.undo.sizes);
        self.cost = self.undo.cost;
    }

    fn value(&self, view: usize, line: usize, memo: &mut Memo) -> u64 {
        let key = self.lines[view].keys[line];
        if key == 0 {
            return 0;
        }
        let known = *memo.entry(key);
        if known.0 == key {
            return known.1;
        }
        self.cells_on(&self.problem.views[view], line, &mut memo.cells);
        let value = self.problem.line_cost(&memo.cells);
        *memo.entry(key) = (key, value);
        value
    }

    fn cells_on(&self, view: &View, line: usize, cells: &mut Vec<u32>) {
        cells.clear();
        let spans = &self.spans[view.build];
        let is_before = |unit: &usize| spans[*unit].1 == 0 || view.line_of(spans[*unit].1 - 1) < line;
        let from = self.order.partition_point(is_before);
        for unit in &self.order[from..] {
            let start = spans[*unit].0;
            if view.line_of(start) > line {
                break;
            }
            for part in &self.problem.parts_in[view.build][*unit] {
                let (first, last) = view.lines_of(start + part.start, start + part.end);
                if (first..=last).contains(&line) {
                    cells.push(part.cell);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seams_are_those_before_and_behind_either_place() {
        let at = |one, other| OrderState::seams_at(one, other).collect::<Vec<_>>();
        assert_eq!(at(2, 5), [1, 2, 4, 5]);
        assert_eq!(at(2, 3), [1, 2, 3], "neighbours share one");
        assert_eq!(at(0, 4), [0, 3, 4], "nothing stands before the first");
    }
}
