//! An order with its cost, changed move by move.
//!
//! A move replaces a stretch of the order. Only units whose lines change are looked at again, and a line's cost is
//! remembered by what lies on it, so that most moves cost no count of visits at all.

pub use crate::memo::Memo;
use crate::problem::{Problem, View, Whole};
use crate::wish::Placed;
use fieldline_layout::constraint::LinePin;

/// An order of units and what it costs.
#[derive(Clone, Debug)]
pub struct State<'p> {
    problem: &'p Problem<'p>,
    order: Vec<usize>,
    place_of: Vec<usize>,
    /// By build: first bit of the unit at each place, bit behind it.
    spans: Vec<Vec<(u64, u64)>>,
    /// By build, in bytes.
    sizes: Vec<u64>,
    /// By view: what lies on each line.
    lines: Vec<Vec<Line>>,
    cost: u64,
    undo: Undo,
}

/// What lies on a line and what that costs.
#[derive(Clone, Copy, Debug, Default)]
struct Line {
    /// Exclusive or of the keys of all parts on it; 0 for none.
    key: u64,
    /// What that costs in a view of weight 1.
    value: u64,
    /// Number of the move that changed it last.
    changed: u64,
}

/// What the last move replaced.
#[derive(Clone, Debug, Default)]
struct Undo {
    first: usize,
    /// What stood there.
    order: Vec<usize>,
    /// Where the units that stand there now stood.
    places: Vec<usize>,
    spans: Vec<Vec<(u64, u64)>>,
    /// Touched units that lie elsewhere in the build looked at last: first bit before and now.
    moved: Vec<(usize, u64, u64)>,
    sizes: Vec<u64>,
    lines: Vec<(usize, usize, Line)>,
    cost: u64,
    moves: u64,
}

impl<'p> State<'p> {
    /// The state of an order, a permutation of the problem's units.
    pub fn new(problem: &'p Problem<'p>, order: &[usize], memo: &mut Memo) -> Self {
        let builds = problem.builds.len();
        let mut state = Self {
            problem,
            order: Vec::new(),
            place_of: vec![0; order.len()],
            spans: vec![Vec::new(); builds],
            sizes: vec![0; builds],
            lines: vec![Vec::new(); problem.views.len()],
            cost: 0,
            undo: Undo { spans: vec![Vec::new(); builds], ..Undo::default() },
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
        for (build, spans) in self.problem.builds.iter().zip(&mut self.spans) {
            spans.clear();
            let mut end = 0;
            for unit in order {
                let span = build.place(*unit, end);
                end = span.1;
                spans.push(span);
            }
        }
        for (size, (build, spans)) in self.sizes.iter_mut().zip(self.problem.builds.iter().zip(&self.spans)) {
            *size = build.size(spans.last().map_or(0, |span| span.1));
        }
        self.fill_lines(memo);
        self.cost = self.lines_cost() + self.size_cost() + self.problem.seam_cost(order.iter().copied());
    }

    fn fill_lines(&mut self, memo: &mut Memo) {
        for (index, view) in self.problem.views.iter().enumerate() {
            self.lines[index].clear();
            for place in 0..self.order.len() {
                let start = self.spans[view.build][place].0;
                for part in self.problem.parts_in(view.build, self.order[place]) {
                    let (first, last) = view.lines_of(start + part.start, start + part.end);
                    grow(&mut self.lines[index], last);
                    for line in first..=last {
                        self.lines[index][line].key ^= part.key;
                    }
                }
            }
            for line in 0..self.lines[index].len() {
                self.lines[index][line].value = self.value(index, line, memo);
            }
        }
    }

    fn lines_cost(&self) -> u64 {
        let views = self.problem.views.iter().zip(&self.lines);
        let costs = views.map(|(view, lines)| view.weight * lines.iter().map(|line| line.value).sum::<u64>());
        costs.sum()
    }

    fn size_cost(&self) -> u64 {
        let sizes = self.sizes.iter().zip(&self.problem.builds);
        sizes.map(|(size, build)| self.problem.size_cost(build, *size)).sum()
    }

    /// Units in order.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// First bit of the unit at each place in a build, and the bit behind it.
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
        let views = self.problem.views.iter().zip(&self.lines);
        let mut cells = Vec::new();
        let touched = views.map(|(view, lines)| {
            let numbers = (0..lines.len()).filter(|number| lines[*number].key != 0);
            let weights = numbers.map(|number| {
                self.cells_on(view, number, &mut cells);
                self.problem.touching(&cells)
            });
            weights.sum()
        });
        touched.collect()
    }

    /// What CPUs lose to each other on the lines of a view because of what lies together there, in lines touched.
    pub fn lost(&self, view: usize) -> u64 {
        let (Some(of), Some(lines)) = (self.problem.views.get(view), self.lines.get(view)) else { return 0 };
        let mut cells = Vec::new();
        let numbers = (0..lines.len()).filter(|number| lines[*number].key != 0);
        let lost = numbers.map(|number| {
            self.cells_on(of, number, &mut cells);
            self.problem.excess(&cells)
        });
        lost.sum()
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
        let kept = self.problem.kept();
        let spans = self.spans.first();
        kept.iter().all(|(unit, offset)| {
            let span = spans.and_then(|spans| spans.get(self.place_of[*unit]));
            span.is_some_and(|span| span.0 / 8 == *offset)
        })
    }

    /// Whether the units from place `first` on may be replaced by these, as far as offsets don't matter.
    pub fn allows(&self, first: usize, units: &[usize]) -> bool {
        let unit = |index: usize| self.problem.traits(index);
        let before = first.checked_sub(1).map(|place| self.order[place]);
        let behind = self.order.get(first + units.len()).copied();
        let mut around = before.into_iter().chain(units.iter().copied()).chain(behind);
        let Some(mut last) = around.next() else { return true };
        for next in around {
            if unit(last).region > unit(next).region || unit(last).is_bit_run && unit(next).is_bit_run {
                return false;
            }
            last = next;
        }
        let held = units.iter().filter(|index| unit(**index).keeps_order);
        held.is_sorted()
    }

    /// The places of the units that begin on the line, of the first view, where the unit at `place` begins.
    pub fn line_run(&self, place: usize) -> (usize, usize) {
        let Some(view) = self.problem.views.first() else {
            return (place, place + 1);
        };
        let spans = &self.spans[view.build];
        let line = |place: usize| view.line_of(spans[place].0);
        let here = line(place);
        let first = (0..place).rev().take_while(|place| line(*place) == here).last();
        let last = (place + 1..spans.len()).take_while(|place| line(*place) == here).last();
        (first.unwrap_or(place), last.unwrap_or(place) + 1)
    }

    /// Replaces the units from place `first` on, by a permutation of them, and returns the new cost.
    pub fn replace(&mut self, first: usize, units: &[usize], memo: &mut Memo) -> u64 {
        self.begin(first, units);
        for build in 0..self.problem.builds.len() {
            self.move_build(build);
        }
        self.settle(0, self.undo.lines.len(), memo);
        self.cost
    }

    /// Like [`State::replace`] if the cost rises by less than `bound`; otherwise the order stays, and `false` is
    /// returned. What rises too much in the first view already is not looked at in the others: they mostly agree, and
    /// an order that is worse in the first can be had by way of others.
    pub fn replace_below(&mut self, first: usize, units: &[usize], memo: &mut Memo, bound: f64) -> bool {
        self.begin(first, units);
        self.move_build(0);
        let views = self.undo.lines.iter().position(|(view, ..)| *view > 0).unwrap_or(self.undo.lines.len());
        self.settle(0, views, memo);
        let mut stays = self.rises_by(bound);
        if !stays {
            for build in 1..self.problem.builds.len() {
                self.move_build(build);
            }
            self.settle(views, self.undo.lines.len(), memo);
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

    /// Gives places their new units and remembers what was there.
    fn begin(&mut self, first: usize, units: &[usize]) {
        let after = first + units.len();
        let seams = self.seam_change(first, units);
        self.undo.first = first;
        self.undo.cost = self.cost;
        self.undo.moves += 1;
        self.undo.sizes.clone_from(&self.sizes);
        self.undo.lines.clear();
        self.undo.spans.iter_mut().for_each(Vec::clear);
        self.undo.order.clear();
        self.undo.order.extend_from_slice(&self.order[first..after]);
        self.undo.places.clear();
        for (place, unit) in (first..).zip(units) {
            self.undo.places.push(self.place_of[*unit]);
            self.order[place] = *unit;
        }
        for (place, unit) in (first..).zip(units) {
            self.place_of[*unit] = place;
        }
        self.cost = self.cost.wrapping_add(seams);
    }

    /// By how much seams cost more once units stand from place `first` on. Where a pair stays, nothing changes.
    fn seam_change(&self, first: usize, units: &[usize]) -> u64 {
        let before = first.saturating_sub(1);
        let end = (first + units.len() + 1).min(self.order.len());
        let old = &self.order[before..end];
        let kept = (&old[..first - before], &old[first - before + units.len()..]);
        let mut last: Option<(usize, usize)> = None;
        let mut change = 0_u64;
        for (old, new) in old.iter().zip(kept.0.iter().chain(units).chain(kept.1)) {
            if let Some((old_last, new_last)) = last
                && (old_last, old) != (new_last, new)
            {
                let (new, old) = (self.problem.seam(new_last, *new), self.problem.seam(old_last, *old));
                change = change.wrapping_add(new).wrapping_sub(old);
            }
            last = Some((*old, *new));
        }
        change
    }

    /// Places units anew for a build, and moves what they hold between the lines of its views.
    fn move_build(&mut self, build: usize) {
        let size = self.sizes[build];
        self.place_again(build);
        for view in 0..self.problem.views.len() {
            if self.problem.views[view].build == build {
                self.move_parts(view);
            }
        }
        self.put_spans(build);
        let of = &self.problem.builds[build];
        let change =
            self.problem.size_cost(of, self.sizes[build]).wrapping_sub(self.problem.size_cost(of, size));
        self.cost = self.cost.wrapping_add(change);
    }

    fn put_spans(&mut self, build: usize) {
        let other = &mut self.undo.spans[build];
        let first = self.undo.first;
        self.spans[build][first..first + other.len()].swap_with_slice(other);
    }

    /// Places the new units, and those behind them up to the first that stays where it is, into `undo.spans`. What
    /// stays where it is in between is taken over.
    fn place_again(&mut self, index: usize) {
        let build = &self.problem.builds[index];
        let undo = &mut self.undo;
        let (first, old, new) = (undo.first, &self.spans[index], &mut undo.spans[index]);
        let after = first + undo.order.len();
        let end_before = |place: usize| place.checked_sub(1).map_or(0, |before| old[before].1);
        undo.moved.clear();
        let mut end = end_before(first);
        while first + new.len() < after {
            let place = first + new.len();
            if end == end_before(place) {
                let stays = equal(&undo.order[new.len()..], &self.order[place..after]);
                new.extend_from_slice(&old[place..place + stays]);
                end = end_of(new, end);
            }
            let Some(unit) = self.order[..after].get(first + new.len()) else { break };
            let span = build.place(*unit, end);
            end = span.1;
            let from = old[undo.places[new.len()]].0;
            if from != span.0 && self.problem.whole_in(index, *unit).end > 0 {
                undo.moved.push((*unit, from, span.0));
            }
            new.push(span);
        }
        for (unit, before) in self.order[after..].iter().zip(&old[after..]) {
            let span = build.place(*unit, end);
            if span == *before {
                return;
            }
            end = span.1;
            if before.0 != span.0 && self.problem.whole_in(index, *unit).end > 0 {
                undo.moved.push((*unit, before.0, span.0));
            }
            new.push(span);
        }
        self.sizes[index] = build.size(end);
    }

    /// Takes parts off the lines they leave and puts them on those they come to.
    fn move_parts(&mut self, index: usize) {
        let view = self.problem.views[index];
        for moved in 0..self.undo.moved.len() {
            let (unit, old, new) = self.undo.moved[moved];
            self.move_unit(index, unit, (old, new), self.problem.whole_in(view.build, unit));
        }
    }

    /// Moves a unit's parts between lines, all at once where they lie on one line before and after.
    #[inline]
    fn move_unit(&mut self, index: usize, unit: usize, (old, new): (u64, u64), whole: Whole) {
        let view = self.problem.views[index];
        let before = view.lines_of(old + whole.start, old + whole.end);
        let after = view.lines_of(new + whole.start, new + whole.end);
        if before.0 == before.1 && after.0 == after.1 {
            if before != after {
                self.toggle(index, before, whole.key);
                self.toggle(index, after, whole.key);
            }
            return;
        }
        for part in self.problem.parts_in(view.build, unit) {
            self.toggle(index, view.lines_of(old + part.start, old + part.end), part.key);
            self.toggle(index, view.lines_of(new + part.start, new + part.end), part.key);
        }
    }

    #[inline]
    fn toggle(&mut self, view: usize, (first, last): (usize, usize), key: u64) {
        let lines = &mut self.lines[view];
        grow(lines, last);
        for (number, line) in (first..).zip(&mut lines[first..=last]) {
            if line.changed != self.undo.moves {
                self.undo.lines.push((view, number, *line));
                line.changed = self.undo.moves;
            }
            line.key ^= key;
        }
    }

    /// Adds to the cost what changed lines `first..end` cost more than before.
    fn settle(&mut self, first: usize, end: usize, memo: &mut Memo) {
        for index in first..end {
            let (view, number, before) = self.undo.lines[index];
            let key = self.lines[view][number].key;
            if key != before.key {
                let value = self.value(view, number, memo);
                self.lines[view][number].value = value;
                let change = value.wrapping_sub(before.value).wrapping_mul(self.problem.views[view].weight);
                self.cost = self.cost.wrapping_add(change);
            }
        }
    }

    /// Takes the last replacement back.
    pub fn undo(&mut self) {
        let first = self.undo.first;
        for (place, unit) in (first..).zip(&self.undo.order) {
            self.order[place] = *unit;
            self.place_of[*unit] = place;
        }
        for build in 0..self.spans.len() {
            self.put_spans(build);
        }
        for (view, number, line) in self.undo.lines.drain(..) {
            self.lines[view][number] = line;
        }
        std::mem::swap(&mut self.sizes, &mut self.undo.sizes);
        self.cost = self.undo.cost;
    }

    fn value(&self, view: usize, number: usize, memo: &mut Memo) -> u64 {
        let key = self.lines[view][number].key;
        if key == 0 {
            return 0;
        }
        let known = *memo.entry(key);
        if known.0 == key {
            return known.1;
        }
        self.cells_on(&self.problem.views[view], number, &mut memo.cells);
        let value = self.problem.line_cost(&memo.cells);
        *memo.entry(key) = (key, value);
        value
    }

    fn cells_on(&self, view: &View, number: usize, cells: &mut Vec<u32>) {
        cells.clear();
        let spans = &self.spans[view.build];
        let from = spans.partition_point(|span| span.1 == 0 || view.line_of(span.1 - 1) < number);
        for (unit, span) in self.order[from..].iter().zip(&spans[from..]) {
            if view.line_of(span.0) > number {
                break;
            }
            for part in self.problem.parts_in(view.build, *unit) {
                let (first, last) = view.lines_of(span.0 + part.start, span.0 + part.end);
                if (first..=last).contains(&number) {
                    cells.push(part.cell);
                }
            }
        }
    }
}

/// How many units at the beginning are the same.
fn equal(one: &[usize], other: &[usize]) -> usize {
    one.iter().zip(other).take_while(|(one, other)| one == other).count()
}

/// Where the last span ends, or `end` if there is none.
fn end_of(spans: &[(u64, u64)], end: u64) -> u64 {
    spans.last().map_or(end, |span| span.1)
}

fn grow(lines: &mut Vec<Line>, last: usize) {
    if lines.len() <= last {
        lines.resize(last + 1, Line::default());
    }
}
