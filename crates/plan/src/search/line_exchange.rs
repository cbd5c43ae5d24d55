//! Exchanges of units between cachelines, evaluated without offsets.
//!
//! Sets of units of equal total size can be exchanged between two lines while nothing else moves: sorted by
//! alignment they leave no hole. The cost then follows from the ranges on the lines alone, about three times
//! faster than by placing units again. After many exchanges the order is placed byte by byte
//! ([`OrderState`]), and kept only if its true cost is as predicted.

use crate::cost::{CostCache, LineConfig, OrderState, Problem};
use crate::random::Random;
use std::cmp::Reverse;

/// Most units of one line in an exchange.
const MAX_EXCHANGED: usize = 4;

/// Exchanges of units between the lines of an order.
#[derive(Clone, Debug)]
pub struct LineExchanges<'p> {
    problem: &'p Problem<'p>,
    units: Vec<ExchangeUnit>,
    ranges: Vec<u32>,
    /// Touched units that may be exchanged.
    hot: Vec<u32>,
    bins: Vec<LineBin>,
    partitions: Vec<LinePartition>,
    /// By region, the units that may be exchanged in the order loaded last.
    partners: Vec<Vec<u32>>,
    outgoing: Vec<u32>,
    incoming: Vec<u32>,
    /// Cost change of the exchanges since then.
    change: f64,
    /// Partition, line, key and cost of the lines evaluated last.
    priced: Vec<(usize, u32, u64, u64)>,
    order: Vec<usize>,
}

#[derive(Clone, Debug, Default)]
struct ExchangeUnit {
    /// Exclusive or of its touched ranges' keys.
    key: u64,
    /// Its part of all ranges.
    ranges: (u32, u32),
    /// Whether it leaves its bin in the exchange being evaluated.
    leaves: bool,
    bits: u64,
    align: u64,
    region: usize,
    /// Whether it may be exchanged at all.
    is_free: bool,
    /// Its bin in the order loaded last, if it may be exchanged there.
    bin: Option<u32>,
}

/// Two bins, and the key of all that changes between them.
#[derive(Clone, Copy, Debug)]
struct LineExchange {
    from: u32,
    to: u32,
    key: u64,
}

/// Units of one region that begin on one line.
#[derive(Clone, Debug, Default)]
struct LineBin {
    first: usize,
    end: usize,
    /// Those that may be exchanged.
    units: Vec<u32>,
    /// The last one, if it ends on another line: it begins where it does only behind all others.
    crosses: Option<usize>,
    is_changed: bool,
}

/// The lines of one or more configurations with the same partition.
#[derive(Clone, Debug, Default)]
struct LinePartition {
    weight: u64,
    /// By bin, its line.
    line_of: Vec<u32>,
    lines: Vec<PartitionLine>,
}

#[derive(Clone, Debug, Default)]
struct PartitionLine {
    key: u64,
    value: u64,
    bins: Vec<u32>,
    /// Ranges of units that aren't exchanged.
    fixed: Vec<(u32, u64)>,
}

impl<'p> LineExchanges<'p> {
    /// Exchanges for a problem.
    pub fn new(problem: &'p Problem<'p>) -> Self {
        let mut ranges = Vec::new();
        let units = 0..problem.constraints.units.len();
        let units: Vec<_> = units.map(|unit| ExchangeUnit::new(problem, unit, &mut ranges)).collect();
        let hot = (0..).zip(&units).filter(|(_, unit)| unit.is_free && unit.ranges.0 < unit.ranges.1);
        Self {
            problem,
            hot: hot.map(|(unit, _)| unit).collect(),
            partners: vec![Vec::new(); units.iter().map(|unit| unit.region + 1).max().unwrap_or(0)],
            units,
            ranges,
            bins: Vec::new(),
            partitions: Vec::new(),
            outgoing: Vec::new(),
            incoming: Vec::new(),
            change: 0.0,
            priced: Vec::new(),
            order: Vec::new(),
        }
    }

    /// Loads the lines of an order.
    pub fn load(&mut self, state: &OrderState<'p>, memo: &mut CostCache) {
        self.change = 0.0;
        self.bins.clear();
        self.partners.iter_mut().for_each(Vec::clear);
        let Some(config) = self.problem.configs.first() else { return };
        self.fill_bins(state, config);
        self.partitions.clear();
        for config in &self.problem.configs {
            if self.problem.builds[config.build].is_recorded() {
                self.add_partition(state, config);
            }
        }
        for partition in 0..self.partitions.len() {
            for line in 0..self.partitions[partition].lines.len() {
                let current = &self.partitions[partition].lines[line];
                let value = self.line_value(current, current.key, &[], memo);
                self.partitions[partition].lines[line].value = value;
            }
        }
    }

    fn fill_bins(&mut self, state: &OrderState<'p>, config: &LineConfig) {
        let spans = state.spans(config.build);
        let mut last = None;
        for (place, index) in state.order().iter().enumerate() {
            let span = spans[*index];
            let (line, end) = config.lines_of(span.0, span.1.max(span.0 + 1));
            let unit = &mut self.units[*index];
            if last != Some((line, unit.region)) {
                self.bins.push(LineBin { first: place, end: place, ..LineBin::default() });
                last = Some((line, unit.region));
            }
            let number = (self.bins.len() - 1) as u32;
            unit.bin = (unit.is_free && line == end).then_some(number);
            if let Some(bin) = self.bins.last_mut() {
                bin.end = place + 1;
                bin.crosses = (line != end).then_some(*index);
                if unit.bin.is_some() {
                    bin.units.push(*index as u32);
                    self.partners[unit.region].push(*index as u32);
                }
            }
        }
    }

    /// Adds the partition of a configuration, or its weight to an equal one.
    fn add_partition(&mut self, state: &OrderState<'p>, config: &LineConfig) {
        let spans = state.spans(config.build);
        let mut partition = LinePartition { weight: config.weight, ..LinePartition::default() };
        let mut numbers: Vec<Option<u32>> = Vec::new();
        for (number, bin) in (0..).zip(&self.bins) {
            let line = config.line_of(spans[state.order()[bin.first]].0);
            if numbers.len() <= line {
                numbers.resize(line + 1, None);
            }
            let line = *numbers[line].get_or_insert_with(|| {
                partition.lines.push(PartitionLine::default());
                (partition.lines.len() - 1) as u32
            });
            partition.line_of.push(line);
            let added = &mut partition.lines[line as usize];
            added.bins.push(number);
            added.key = bin.units.iter().fold(added.key, |key, unit| key ^ self.units[*unit as usize].key);
        }
        for unit in state.order().iter().filter(|unit| self.units[**unit].bin.is_none()) {
            let start = spans[*unit].0;
            for bits in &self.problem.touched_bits[config.build][*unit] {
                let (first, last) = config.lines_of(start + bits.start, start + bits.end);
                for line in numbers.iter().skip(first).take(last + 1 - first).flatten() {
                    let line = &mut partition.lines[*line as usize];
                    line.key ^= bits.key;
                    line.fixed.push((bits.range, bits.key));
                }
            }
        }
        let is_equal = |(this, other): (&PartitionLine, &PartitionLine)| {
            this.key == other.key && this.fixed == other.fixed
        };
        let mut partitions = self.partitions.iter_mut();
        match partitions.find(|other| {
            other.line_of == partition.line_of && other.lines.iter().zip(&partition.lines).all(is_equal)
        }) {
            Some(other) => other.weight += partition.weight,
            None => self.partitions.push(partition),
        }
    }

    /// Tries an exchange; applies it if the cost rises by less than `bound`.
    pub fn try_exchange(&mut self, random: &mut Random, memo: &mut CostCache, bound: f64) {
        let Some(exchange) = self.draw(random) else { return };
        let change = self.change_of(exchange, memo, bound);
        if change < bound {
            self.change += change;
            self.apply(exchange);
        }
    }

    /// Cost change of a random exchange.
    pub fn probe(&mut self, random: &mut Random, memo: &mut CostCache) -> Option<f64> {
        let exchange = self.draw(random)?;
        Some(self.change_of(exchange, memo, f64::INFINITY))
    }

    /// Draws units of two bins that can be exchanged and whose ranges differ.
    fn draw(&mut self, random: &mut Random) -> Option<LineExchange> {
        let unit = self.hot.get(random.below(self.hot.len())).copied()?;
        let from = self.units[unit as usize].bin?;
        let partners = &self.partners[self.units[unit as usize].region];
        let partner = partners[random.below(partners.len())];
        let to = self.units[partner as usize].bin?;
        if from == to || !self.balance((unit, from), (partner, to), random) {
            return None;
        }
        let units = self.outgoing.iter().chain(&self.incoming);
        let key = units.fold(0, |key, unit| key ^ self.units[*unit as usize].key);
        (key != 0).then_some(LineExchange { from, to, key })
    }

    /// Draws units of two bins, the first given, until both sets have equal size.
    fn balance(&mut self, (unit, from): (u32, u32), (partner, to): (u32, u32), random: &mut Random) -> bool {
        let bits = |unit: u32| self.units[unit as usize].bits;
        self.outgoing.clear();
        self.incoming.clear();
        self.outgoing.push(unit);
        self.incoming.push(partner);
        let (mut given, mut taken) = (bits(unit), bits(partner));
        while given != taken {
            let (chosen, bin, sum) = match given < taken {
                true => (&mut self.outgoing, from, &mut given),
                false => (&mut self.incoming, to, &mut taken),
            };
            let units = &self.bins[bin as usize].units;
            let more = units[random.below(units.len())];
            if chosen.len() >= MAX_EXCHANGED || chosen.contains(&more) {
                return false;
            }
            chosen.push(more);
            *sum += bits(more);
        }
        true
    }

    /// Cost change of an exchange; some number above `bound` if it is more than that.
    fn change_of(&mut self, exchange: LineExchange, memo: &mut CostCache, bound: f64) -> f64 {
        self.mark_leaving(true);
        let mut change = 0_i64;
        self.priced.clear();
        for (number, partition) in self.partitions.iter().enumerate() {
            let (this, other) =
                (partition.line_of[exchange.from as usize], partition.line_of[exchange.to as usize]);
            if this == other {
                continue;
            }
            for (line, incoming) in [(this, &self.incoming), (other, &self.outgoing)] {
                let current = &partition.lines[line as usize];
                let key = current.key ^ exchange.key;
                let value = self.line_value(current, key, incoming, memo);
                change += (value as i64 - current.value as i64).saturating_mul(partition.weight as i64);
                self.priced.push((number, line, key, value));
            }
            if change as f64 >= bound {
                break;
            }
        }
        self.mark_leaving(false);
        change as f64
    }

    fn mark_leaving(&mut self, leaves: bool) {
        for unit in self.outgoing.iter().chain(&self.incoming) {
            self.units[*unit as usize].leaves = leaves;
        }
    }

    /// Cost of a line whose ranges have this key: those on it without units that leave, with units that come.
    fn line_value(&self, line: &PartitionLine, key: u64, incoming: &[u32], memo: &mut CostCache) -> u64 {
        if key == 0 {
            return 0;
        }
        let known = *memo.entry(key);
        if known.0 == key {
            return known.1;
        }
        let mut ranges = std::mem::take(&mut memo.ranges);
        ranges.clear();
        ranges.extend(line.fixed.iter().map(|(range, _)| *range));
        for bin in &line.bins {
            for unit in &self.bins[*bin as usize].units {
                if !self.units[*unit as usize].leaves {
                    self.push_ranges(*unit, &mut ranges);
                }
            }
        }
        incoming.iter().for_each(|unit| self.push_ranges(*unit, &mut ranges));
        let value = self.problem.line_cost(&ranges);
        memo.ranges = ranges;
        *memo.entry(key) = (key, value);
        value
    }

    #[inline]
    fn push_ranges(&self, unit: u32, ranges: &mut Vec<u32>) {
        let (first, end) = self.units[unit as usize].ranges;
        for range in &self.ranges[first as usize..end as usize] {
            ranges.push(*range);
        }
    }

    /// Applies the exchange evaluated last.
    fn apply(&mut self, exchange: LineExchange) {
        for (partition, line, key, value) in self.priced.drain(..) {
            let line = &mut self.partitions[partition].lines[line as usize];
            (line.key, line.value) = (key, value);
        }
        for (units, source, incoming) in
            [(&self.outgoing, exchange.from, exchange.to), (&self.incoming, exchange.to, exchange.from)]
        {
            for unit in units {
                let bin = &mut self.bins[source as usize];
                bin.units.retain(|other| other != unit);
                bin.is_changed = true;
                self.bins[incoming as usize].units.push(*unit);
                self.units[*unit as usize].bin = Some(incoming);
            }
        }
    }

    /// Cost change of all exchanges since an order was loaded.
    pub fn total_change(&self) -> f64 {
        self.change
    }

    /// The order after all exchanges, or `None` if there were none.
    pub fn exchanged_order(&mut self, state: &OrderState<'p>) -> Option<&[usize]> {
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
            let stay = before.iter().filter(|unit| self.units[**unit].bin.is_none());
            self.order.extend(stay.filter(|unit| bin.crosses != Some(**unit)));
            self.order.extend(bin.units.iter().map(|unit| *unit as usize));
            self.order[first..].sort_unstable_by_key(|unit| (Reverse(self.units[*unit].align), *unit));
            self.order.extend(bin.crosses);
        }
        state.allows(0, &self.order).then_some(self.order.as_slice())
    }
}

impl ExchangeUnit {
    fn new(problem: &Problem<'_>, unit: usize, ranges: &mut Vec<u32>) -> Self {
        let first = ranges.len() as u32;
        ranges.extend(problem.unit_touched_bits(unit).iter().map(|bits| bits.range));
        let constraint = &problem.constraints.units[unit];
        let hull = problem.hulls[0][unit];
        let build = problem.builds.first();
        let is_plain = build.is_some_and(|build| build.granule(unit).is_some());
        Self {
            key: hull.key,
            ranges: (first, ranges.len() as u32),
            leaves: false,
            bits: problem.unit_bits(unit),
            align: problem.unit_align(unit),
            region: constraint.region as usize,
            is_free: is_plain
                && constraint.kept_offset().is_none()
                && !constraint.is_bit_run
                && !constraint.keeps_order(),
            bin: None,
        }
    }
}
