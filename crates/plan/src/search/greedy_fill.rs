//! An initial order: lines filled one after the other with units that visits touch together.
//!
//! Where many members are always touched together, single moves gain nothing until most share a line; filling
//! lines greedily finds such groups at once.

use crate::cost::Problem;
use std::cmp::Reverse;

/// An order whose lines of `line` bytes hold what is touched together, if one keeps the constraints.
pub fn fill_lines(problem: &Problem<'_>, start: &[usize], line: u64) -> Option<Vec<usize>> {
    let region = |unit: &usize| problem.constraints.units[*unit].region;
    let order: Vec<usize> = start
        .chunk_by(|this, other| region(this) == region(other))
        .flat_map(|units| {
            let (hot, cold) = units.iter().partition(|unit| !problem.unit_touched_bits(**unit).is_empty());
            GreedyFill { problem, hot, cold, line: line * 8 }.run()
        })
        .collect();
    problem.is_legal(&order).then_some(order)
}

/// Units of one region not yet on a line.
struct GreedyFill<'p> {
    problem: &'p Problem<'p>,
    hot: Vec<usize>,
    cold: Vec<usize>,
    line: u64,
}

impl GreedyFill<'_> {
    fn run(mut self) -> Vec<usize> {
        let mut order = Vec::new();
        while !self.hot.is_empty() {
            let mut units = self.next_line();
            let used: u64 = units.iter().map(|unit| self.problem.unit_bits(*unit)).sum();
            units.extend(self.fill_up(used));
            units.sort_by_key(|unit| (Reverse(self.problem.unit_align(*unit)), *unit));
            order.extend(units);
        }
        order.extend(self.cold);
        order
    }

    /// Takes the units of the next line: the hottest, and those that share most visits with it.
    fn next_line(&mut self) -> Vec<usize> {
        let mut units = Vec::new();
        let mut ranges: Vec<u32> = Vec::new();
        let mut room = self.line;
        while let Some(index) = self.best_unit(&ranges, room) {
            let unit = self.hot.remove(index);
            room = room.saturating_sub(self.problem.unit_bits(unit));
            ranges.extend(self.problem.unit_touched_bits(unit).iter().map(|bits| bits.range));
            units.push(unit);
        }
        units
    }

    /// Index of the best unit for a line that holds some ranges; one larger than a line gets one of its
    /// own.
    fn best_unit(&self, ranges: &[u32], room: u64) -> Option<usize> {
        let bits = |unit: usize| self.problem.unit_bits(unit);
        let here = self.problem.touching_weight(ranges);
        let fits = |unit: usize| bits(unit) <= room || ranges.is_empty();
        let scores = self.hot.iter().enumerate().filter(|(_, unit)| fits(**unit));
        let scores = scores.map(|(index, unit)| {
            let mut both: Vec<_> =
                self.problem.unit_touched_bits(*unit).iter().map(|bits| bits.range).collect();
            let own = self.problem.touching_weight(&both);
            both.extend_from_slice(ranges);
            let saved =
                if ranges.is_empty() { own } else { here + own - self.problem.touching_weight(&both) };
            (u128::from(saved) * 64 / u128::from(bits(*unit).clamp(8, self.line)), own, Reverse(index))
        });
        let best = scores.max()?;
        (best.0 > 0 || ranges.is_empty()).then_some(best.2.0)
    }

    /// Takes untouched units that fit behind what a line holds already.
    fn fill_up(&mut self, used: u64) -> Vec<usize> {
        let mut room = used.next_multiple_of(self.line) - used;
        let mut units = Vec::new();
        self.cold.retain(|unit| {
            let bits = self.problem.unit_bits(*unit);
            let taken = bits > 0 && bits <= room;
            if taken {
                room -= bits;
                units.push(*unit);
            }
            !taken
        });
        units
    }
}
