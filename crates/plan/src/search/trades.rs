//! Trades between cachelines, priced without looking at offsets.
//!
//! Units of two lines that are together equally long can change places while nothing else moves: sorted by alignment
//! they leave no hole. What a trade costs then follows from what lies on the lines alone, which is found about three times
//! faster than by placing units again. After many trades the order is placed byte by byte ([`OrderState`]), and kept only
//! if its true cost is what the trades promised.

use crate::cost::{Memo, OrderState, Problem, View};
use crate::random::Random;
use std::cmp::Reverse;

/// Most units that change lines from one side of a trade.
const TRADED: usize = 4;

/// Lines of an order and what lies on them.
#[derive(Clone, Debug)]
pub struct Trades<'p> {
    problem: &'p Problem<'p>,
    lots: Vec<Lot>,
    cells: Vec<u32>,
    /// Touched units that may trade.
    hot: Vec<u32>,
    bins: Vec<Bin>,
    sides: Vec<Side>,
    /// By region, the units that may trade in the order loaded last.
    partners: Vec<Vec<u32>>,
    give: Vec<u32>,
    take: Vec<u32>,
    /// What the trades since then cost more, and less.
    change: f64,
    /// Side, line, key and cost of the lines looked at last.
    priced: Vec<(usize, u32, u64, u64)>,
    order: Vec<usize>,
}

#[derive(Clone, Debug, Default)]
struct Lot {
    /// Exclusive or of its cells' keys.
    key: u64,
    /// Its stretch of all cells.
    cells: (u32, u32),
    /// Whether it leaves its bin in the trade being priced.
    leaves: bool,
    bits: u64,
    align: u64,
    region: usize,
    /// Whether it may trade at all.
    is_free: bool,
    /// Whether it does in the order loaded last, and where it is.
    bin: Option<u32>,
}

/// Two bins, and the key of all that changes between them.
#[derive(Clone, Copy, Debug)]
struct Trade {
    from: u32,
    to: u32,
    key: u64,
}

/// Units of one region that begin on one line.
#[derive(Clone, Debug, Default)]
struct Bin {
    first: usize,
    end: usize,
    /// Those that may trade.
    units: Vec<u32>,
    /// The last one, if it ends on another line: it begins where it does only behind all others.
    crosses: Option<usize>,
    is_changed: bool,
}

/// Lines as one or more views count them.
#[derive(Clone, Debug, Default)]
struct Side {
    weight: u64,
    /// By bin, its line.
    line_of: Vec<u32>,
    lines: Vec<Line>,
}

#[derive(Clone, Debug, Default)]
struct Line {
    key: u64,
    value: u64,
    bins: Vec<u32>,
    /// Cells of units that don't trade.
    fixed: Vec<(u32, u64)>,
}

impl<'p> Trades<'p> {
    /// Trades for a problem.
    pub fn new(problem: &'p Problem<'p>) -> Self {
        let mut cells = Vec::new();
        let units = 0..problem.constraints.units.len();
        let lots: Vec<Lot> = units.map(|unit| Lot::new(problem, unit, &mut cells)).collect();
        let hot = (0..).zip(&lots).filter(|(_, lot)| lot.is_free && lot.cells.0 < lot.cells.1);
        Self {
            problem,
            hot: hot.map(|(unit, _)| unit).collect(),
            partners: vec![Vec::new(); lots.iter().map(|lot| lot.region + 1).max().unwrap_or(0)],
            lots,
            cells,
            bins: Vec::new(),
            sides: Vec::new(),
            give: Vec::new(),
            take: Vec::new(),
            change: 0.0,
            priced: Vec::new(),
            order: Vec::new(),
        }
    }

    /// Takes the lines of an order.
    pub fn load(&mut self, state: &OrderState<'p>, memo: &mut Memo) {
        self.change = 0.0;
        self.bins.clear();
        self.partners.iter_mut().for_each(Vec::clear);
        let Some(view) = self.problem.views.first() else { return };
        self.fill_bins(state, view);
        self.sides.clear();
        for view in &self.problem.views {
            if self.problem.builds[view.build].is_recorded() {
                self.add_side(state, view);
            }
        }
        for side in 0..self.sides.len() {
            for line in 0..self.sides[side].lines.len() {
                let of = &self.sides[side].lines[line];
                let value = self.value(of, of.key, &[], memo);
                self.sides[side].lines[line].value = value;
            }
        }
    }

    fn fill_bins(&mut self, state: &OrderState<'p>, view: &View) {
        let spans = state.spans(view.build);
        let mut last = None;
        for (place, unit) in state.order().iter().enumerate() {
            let span = spans[*unit];
            let (line, end) = view.lines_of(span.0, span.1.max(span.0 + 1));
            let lot = &mut self.lots[*unit];
            if last != Some((line, lot.region)) {
                self.bins.push(Bin { first: place, end: place, ..Bin::default() });
                last = Some((line, lot.region));
            }
            let number = (self.bins.len() - 1) as u32;
            lot.bin = (lot.is_free && line == end).then_some(number);
            if let Some(bin) = self.bins.last_mut() {
                bin.end = place + 1;
                bin.crosses = (line != end).then_some(*unit);
                if lot.bin.is_some() {
                    bin.units.push(*unit as u32);
                    self.partners[lot.region].push(*unit as u32);
                }
            }
        }
    }

    /// Adds what a view counts, or its weight to a side that counts the same.
    fn add_side(&mut self, state: &OrderState<'p>, view: &View) {
        let spans = state.spans(view.build);
        let mut side = Side { weight: view.weight, ..Side::default() };
        let mut numbers: Vec<Option<u32>> = Vec::new();
        for (number, bin) in (0..).zip(&self.bins) {
            let line = view.line_of(spans[state.order()[bin.first]].0);
            if numbers.len() <= line {
                numbers.resize(line + 1, None);
            }
            let line = *numbers[line].get_or_insert_with(|| {
                side.lines.push(Line::default());
                (side.lines.len() - 1) as u32
            });
            side.line_of.push(line);
            let of = &mut side.lines[line as usize];
            of.bins.push(number);
            of.key = bin.units.iter().fold(of.key, |key, unit| key ^ self.lots[*unit as usize].key);
        }
        for unit in state.order().iter().filter(|unit| self.lots[**unit].bin.is_none()) {
            let start = spans[*unit].0;
            for part in &self.problem.parts_in[view.build][*unit] {
                let (first, last) = view.lines_of(start + part.start, start + part.end);
                for line in numbers.iter().skip(first).take(last + 1 - first).flatten() {
                    let line = &mut side.lines[*line as usize];
                    line.key ^= part.key;
                    line.fixed.push((part.cell, part.key));
                }
            }
        }
        let alike = |(one, other): (&Line, &Line)| one.key == other.key && one.fixed == other.fixed;
        let mut sides = self.sides.iter_mut();
        match sides
            .find(|other| other.line_of == side.line_of && other.lines.iter().zip(&side.lines).all(alike))
        {
            Some(other) => other.weight += side.weight,
            None => self.sides.push(side),
        }
    }

    /// Tries a trade; makes it if the cost rises by less than `bound`.
    pub fn step(&mut self, random: &mut Random, memo: &mut Memo, bound: f64) {
        let Some(trade) = self.draw(random) else { return };
        let change = self.price(trade, memo, bound);
        if change < bound {
            self.change += change;
            self.make(trade);
        }
    }

    /// What a trade would cost.
    pub fn probe(&mut self, random: &mut Random, memo: &mut Memo) -> Option<f64> {
        let trade = self.draw(random)?;
        Some(self.price(trade, memo, f64::INFINITY))
    }

    /// Draws units of two bins that can change places and don't touch the same.
    fn draw(&mut self, random: &mut Random) -> Option<Trade> {
        let unit = self.hot.get(random.below(self.hot.len())).copied()?;
        let from = self.lots[unit as usize].bin?;
        let partners = &self.partners[self.lots[unit as usize].region];
        let partner = partners[random.below(partners.len())];
        let to = self.lots[partner as usize].bin?;
        if from == to || !self.balance((unit, from), (partner, to), random) {
            return None;
        }
        let units = self.give.iter().chain(&self.take);
        let key = units.fold(0, |key, unit| key ^ self.lots[*unit as usize].key);
        (key != 0).then_some(Trade { from, to, key })
    }

    /// Draws units of two bins, the first given, until both sides are equally long.
    fn balance(&mut self, (unit, from): (u32, u32), (partner, to): (u32, u32), random: &mut Random) -> bool {
        let bits = |unit: u32| self.lots[unit as usize].bits;
        self.give.clear();
        self.take.clear();
        self.give.push(unit);
        self.take.push(partner);
        let (mut given, mut taken) = (bits(unit), bits(partner));
        while given != taken {
            let (side, bin, sum) = match given < taken {
                true => (&mut self.give, from, &mut given),
                false => (&mut self.take, to, &mut taken),
            };
            let units = &self.bins[bin as usize].units;
            let more = units[random.below(units.len())];
            if side.len() >= TRADED || side.contains(&more) {
                return false;
            }
            side.push(more);
            *sum += bits(more);
        }
        true
    }

    /// What it costs that two bins exchange units; something above `bound` if it is more than that.
    fn price(&mut self, trade: Trade, memo: &mut Memo, bound: f64) -> f64 {
        self.mark(true);
        let mut change = 0_i64;
        self.priced.clear();
        for (number, side) in self.sides.iter().enumerate() {
            let (one, other) = (side.line_of[trade.from as usize], side.line_of[trade.to as usize]);
            if one == other {
                continue;
            }
            for (line, come) in [(one, &self.take), (other, &self.give)] {
                let of = &side.lines[line as usize];
                let key = of.key ^ trade.key;
                let value = self.value(of, key, come, memo);
                change += (value as i64 - of.value as i64).saturating_mul(side.weight as i64);
                self.priced.push((number, line, key, value));
            }
            if change as f64 >= bound {
                break;
            }
        }
        self.mark(false);
        change as f64
    }

    fn mark(&mut self, leaves: bool) {
        for unit in self.give.iter().chain(&self.take) {
            self.lots[*unit as usize].leaves = leaves;
        }
    }

    /// What a line costs whose cells have this key: those on it but for units that leave, and those of units that come.
    fn value(&self, line: &Line, key: u64, come: &[u32], memo: &mut Memo) -> u64 {
        if key == 0 {
            return 0;
        }
        let known = *memo.entry(key);
        if known.0 == key {
            return known.1;
        }
        let mut cells = std::mem::take(&mut memo.cells);
        cells.clear();
        cells.extend(line.fixed.iter().map(|(cell, _)| *cell));
        for bin in &line.bins {
            for unit in &self.bins[*bin as usize].units {
                if !self.lots[*unit as usize].leaves {
                    self.push_cells(*unit, &mut cells);
                }
            }
        }
        come.iter().for_each(|unit| self.push_cells(*unit, &mut cells));
        let value = self.problem.line_cost(&cells);
        memo.cells = cells;
        *memo.entry(key) = (key, value);
        value
    }

    #[inline]
    fn push_cells(&self, unit: u32, cells: &mut Vec<u32>) {
        let (first, end) = self.lots[unit as usize].cells;
        for cell in &self.cells[first as usize..end as usize] {
            cells.push(*cell);
        }
    }

    /// Makes the trade priced last.
    fn make(&mut self, trade: Trade) {
        for (side, line, key, value) in self.priced.drain(..) {
            let line = &mut self.sides[side].lines[line as usize];
            (line.key, line.value) = (key, value);
        }
        for (units, leave, come) in [(&self.give, trade.from, trade.to), (&self.take, trade.to, trade.from)] {
            for unit in units {
                let bin = &mut self.bins[leave as usize];
                bin.units.retain(|other| other != unit);
                bin.is_changed = true;
                self.bins[come as usize].units.push(*unit);
                self.lots[*unit as usize].bin = Some(come);
            }
        }
    }

    /// Cost of all trades since an order was loaded.
    pub fn change(&self) -> f64 {
        self.change
    }

    /// The order after all trades, or `None` if there were none.
    pub fn order(&mut self, state: &OrderState<'p>) -> Option<&[usize]> {
        if !self.bins.iter().any(|bin| bin.is_changed) {
            return None;
        }
        self.order.clear();
        for bin in &self.bins {
            let (first, before) = (self.order.len(), &state.order()[bin.first..bin.end]);
            if !bin.is_changed {
                self.order.extend_from_slice(before);
                continue;
            }
            let stay = before.iter().filter(|unit| self.lots[**unit].bin.is_none());
            self.order.extend(stay.filter(|unit| bin.crosses != Some(**unit)));
            self.order.extend(bin.units.iter().map(|unit| *unit as usize));
            self.order[first..].sort_unstable_by_key(|unit| (Reverse(self.lots[*unit].align), *unit));
            self.order.extend(bin.crosses);
        }
        state.allows(0, &self.order).then_some(self.order.as_slice())
    }
}

impl Lot {
    fn new(problem: &Problem<'_>, unit: usize, cells: &mut Vec<u32>) -> Self {
        let first = cells.len() as u32;
        cells.extend(problem.parts(unit).iter().map(|part| part.cell));
        let of = &problem.constraints.units[unit];
        let whole = problem.wholes[0][unit];
        let build = problem.builds.first();
        let is_plain = build.is_some_and(|build| build.granule(unit).is_some());
        Self {
            key: whole.key,
            cells: (first, cells.len() as u32),
            leaves: false,
            bits: problem.unit_bits(unit),
            align: problem.unit_align(unit),
            region: of.region as usize,
            is_free: is_plain && of.kept_offset().is_none() && !of.is_bit_run && !of.keeps_order(),
            bin: None,
        }
    }
}
