//! What lies on the lines of a view and what that costs: with a way back, and remembered.

/// Lines remembered, a power of two: as many as a processor's second cache holds. Twice as many save no time.
const REMEMBERED: usize = 1 << 15;
/// Likewise, for what is not looked at again.
const BRIEFLY: usize = 1 << 6;

#[derive(Clone, Debug, Default)]
pub(crate) struct Lines {
    /// By line, exclusive or of the keys of all parts on it; 0 for none.
    pub(crate) keys: Vec<u64>,
    /// By line, what that costs in a view of weight 1.
    pub(crate) values: Vec<u64>,
    /// First line that the last move may have changed.
    first: usize,
    /// What was there before it, and what that cost.
    kept: Vec<(u64, u64)>,
}

impl Lines {
    pub(crate) fn clear(&mut self) {
        self.keys.clear();
        self.values.clear();
        self.kept.clear();
    }

    /// Lines on which anything lies.
    pub(crate) fn taken(&self) -> impl Iterator<Item = usize> {
        (0..self.keys.len()).filter(|line| self.keys[*line] != 0)
    }

    #[inline]
    pub(crate) fn reach(&mut self, line: usize) {
        if self.keys.len() <= line {
            self.keys.resize(line + 1, 0);
            self.values.resize(line + 1, 0);
        }
    }

    /// Forgets the way back: a move begins.
    #[inline]
    pub(crate) fn forget(&mut self) {
        self.kept.clear();
    }

    /// Remembers the way back for all that a move can change.
    #[inline]
    pub(crate) fn keep(&mut self, first: usize, last: usize) {
        self.reach(last);
        self.first = first;
        let (keys, values) = (&self.keys[first..=last], &self.values[first..=last]);
        self.kept.extend(keys.iter().copied().zip(values.iter().copied()));
    }

    /// Puts a part on lines, or takes it off them.
    #[inline]
    pub(crate) fn toggle(&mut self, (first, last): (usize, usize), key: u64) {
        for line in &mut self.keys[first..=last] {
            *line ^= key;
        }
    }

    /// Lines looked at by the last move.
    #[inline]
    pub(crate) fn moved(&self) -> std::ops::Range<usize> {
        self.first..self.first + self.kept.len()
    }

    /// Cost of a line before the last move, if other things lie on it now.
    #[inline]
    pub(crate) fn changed(&self, line: usize) -> Option<u64> {
        let (key, value) = self.kept[line - self.first];
        (key != self.keys[line]).then_some(value)
    }

    #[inline]
    pub(crate) fn restore(&mut self) {
        for (line, (key, value)) in (self.first..).zip(&self.kept) {
            (self.keys[line], self.values[line]) = (*key, *value);
        }
        self.kept.clear();
    }
}

/// Weights of lines by what lies on them, with room to work in. Each key has one place; a newer one takes it.
#[derive(Clone, Debug)]
pub struct Memo {
    values: Vec<(u64, u64)>,
    places: usize,
    /// Room to gather cells in.
    pub(crate) cells: Vec<u32>,
}

impl Default for Memo {
    fn default() -> Self {
        Self { values: Vec::new(), places: REMEMBERED, cells: Vec::new() }
    }
}

impl Memo {
    /// For an order that is looked at once.
    pub(crate) fn brief() -> Self {
        Self { places: BRIEFLY, ..Self::default() }
    }

    /// Where the value of a key is kept.
    #[inline]
    pub(crate) fn entry(&mut self, key: u64) -> &mut (u64, u64) {
        if self.values.is_empty() {
            self.values = vec![(0, 0); self.places];
        }
        &mut self.values[key as usize & (self.places - 1)]
    }
}
