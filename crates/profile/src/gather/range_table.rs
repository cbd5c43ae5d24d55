//! Straight-line ranges of branch stacks, as linked, and values by range.

use fieldline_debuginfo::LinkedAddress;
use fieldline_perfdata::perf_data::EventIndex;
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;

/// A straight-line range of the program, of an event's samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct LinkedRange {
    /// Its first instruction.
    pub(crate) begin: LinkedAddress,
    /// Its last instruction.
    pub(crate) end: LinkedAddress,
    pub(crate) event: EventIndex,
}

/// Ranges, each once, with numbers in the order in which they were added.
#[derive(Debug, Default)]
pub(crate) struct RangeTable {
    ranges: Vec<LinkedRange>,
    numbers: FxHashMap<LinkedRange, u32>,
}

impl RangeTable {
    /// Adds a range, if it is new.
    pub(crate) fn add(&mut self, range: LinkedRange) {
        if let Entry::Vacant(entry) = self.numbers.entry(range) {
            entry.insert(self.ranges.len() as u32);
            self.ranges.push(range);
        }
    }

    pub(crate) fn shrink(&mut self) {
        self.ranges.shrink_to_fit();
        self.numbers.shrink_to_fit();
    }

    /// All ranges, by number.
    pub(crate) fn ranges(&self) -> &[LinkedRange] {
        &self.ranges
    }

    /// The number of a range, if it is known.
    #[inline]
    pub(crate) fn number(&self, range: &LinkedRange) -> Option<u32> {
        self.numbers.get(range).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_knows_each_range_once() {
        let range = |begin, end, event| LinkedRange {
            begin: LinkedAddress(begin),
            end: LinkedAddress(end),
            event: EventIndex(event),
        };
        let all = [range(1, 2, 0), range(1, 3, 0), range(1, 2, 1), range(0, 2, 0)];
        let mut table = RangeTable::default();
        all.iter().chain(&all).for_each(|range| table.add(*range));
        table.shrink();
        assert_eq!(table.ranges(), all);
        assert_eq!(all.map(|range| table.number(&range)), [0, 1, 2, 3].map(Some));
        assert_eq!(table.number(&range(2, 1, 0)), None);
    }
}
