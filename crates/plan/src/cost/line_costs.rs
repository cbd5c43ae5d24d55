//! Touched bits on the lines of a configuration, their cost with undo, and a cache of costs.

/// Lines cached, a power of two: as many as a processor's second-level cache holds. Twice as many save no
/// time.
const CACHE_ENTRIES: usize = 1 << 15;
/// Likewise, for an order that is evaluated once.
const SMALL_CACHE_ENTRIES: usize = 1 << 6;

#[derive(Clone, Debug, Default)]
pub(crate) struct LineCosts {
    /// By line, exclusive or of the keys of all touched bits on it; 0 for none.
    pub(crate) keys: Vec<u64>,
    /// By line, its cost in a configuration of weight 1.
    pub(crate) costs: Vec<u64>,
    /// First line that the last move may have changed.
    first: usize,
    /// Keys and costs before it.
    saved: Vec<(u64, u64)>,
}

impl LineCosts {
    pub(crate) fn clear(&mut self) {
        self.keys.clear();
        self.costs.clear();
        self.saved.clear();
    }

    /// Lines with touched bits.
    pub(crate) fn occupied_lines(&self) -> impl Iterator<Item = usize> {
        (0..self.keys.len()).filter(|line| self.keys[*line] != 0)
    }

    #[inline]
    pub(crate) fn ensure_line(&mut self, line: usize) {
        if self.keys.len() <= line {
            self.keys.resize(line + 1, 0);
            self.costs.resize(line + 1, 0);
        }
    }

    /// Drops what was saved: a move begins.
    #[inline]
    pub(crate) fn clear_saved(&mut self) {
        self.saved.clear();
    }

    /// Saves the lines that a move can change.
    #[inline]
    pub(crate) fn save(&mut self, first: usize, last: usize) {
        self.ensure_line(last);
        self.first = first;
        let (keys, values) = (&self.keys[first..=last], &self.costs[first..=last]);
        self.saved.extend(keys.iter().copied().zip(values.iter().copied()));
    }

    /// Adds touched bits to lines, or removes them.
    #[inline]
    pub(crate) fn toggle(&mut self, (first, last): (usize, usize), key: u64) {
        for line in &mut self.keys[first..=last] {
            *line ^= key;
        }
    }

    /// Lines that the last move may have changed.
    #[inline]
    pub(crate) fn saved_lines(&self) -> std::ops::Range<usize> {
        self.first..self.first + self.saved.len()
    }

    /// Cost of a line before the last move, if the move changed it.
    #[inline]
    pub(crate) fn changed_cost(&self, line: usize) -> Option<u64> {
        let (key, value) = self.saved[line - self.first];
        (key != self.keys[line]).then_some(value)
    }

    #[inline]
    pub(crate) fn restore(&mut self) {
        for (line, (key, value)) in (self.first..).zip(&self.saved) {
            (self.keys[line], self.costs[line]) = (*key, *value);
        }
        self.saved.clear();
    }
}

/// A direct-mapped cache of line costs by the ranges on the line, with a scratch buffer.
#[derive(Clone, Debug)]
pub struct CostCache {
    costs: Vec<(u64, u64)>,
    capacity: usize,
    /// Scratch buffer of ranges.
    pub(crate) ranges: Vec<u32>,
}

impl Default for CostCache {
    fn default() -> Self {
        Self { costs: Vec::new(), capacity: CACHE_ENTRIES, ranges: Vec::new() }
    }
}

impl CostCache {
    /// For an order that is evaluated once.
    pub(crate) fn small() -> Self {
        Self { capacity: SMALL_CACHE_ENTRIES, ..Self::default() }
    }

    /// The slot of a key.
    #[inline]
    pub(crate) fn entry(&mut self, key: u64) -> &mut (u64, u64) {
        if self.costs.is_empty() {
            self.costs = vec![(0, 0); self.capacity];
        }
        &mut self.costs[key as usize & (self.capacity - 1)]
    }
}
