//! By which lines an order is counted, and what lies on them.

/// Line size, build and phase under which lines are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// Index in the builds of a problem.
    pub build: usize,
    /// Weight of a line touched.
    pub weight: u64,
    /// Whether its lines are pairs that one fetch brings, not lines of a machine.
    pub pairs: bool,
    /// Logarithm of the line size in bits.
    shift: u32,
    /// Where objects begin within a line, in bits.
    phase: u64,
}

impl View {
    /// A view on lines of `line` bytes, a power of two, of objects that begin `phase` bytes into a line.
    pub fn new(build: usize, line: u64, phase: u64, weight: u64) -> Self {
        Self { build, weight, pairs: false, shift: line.max(1).trailing_zeros() + 3, phase: phase * 8 }
    }

    /// A view on pairs of lines of `line` bytes that begin at multiples of two lines.
    pub fn on_pairs(build: usize, line: u64, phase: u64, weight: u64) -> Self {
        Self { pairs: true, ..Self::new(build, line.saturating_mul(2), phase, weight) }
    }

    /// Line size in bytes.
    pub fn line(&self) -> u64 {
        1 << (self.shift - 3)
    }

    /// The largest part of `granule` bits that begins at its multiples within lines, too.
    pub(crate) fn granule(&self, granule: u64) -> u64 {
        let whole = granule.min(1 << self.shift);
        let phase = self.phase & (whole - 1);
        if phase == 0 { whole } else { 1 << phase.trailing_zeros() }
    }

    /// The line of a bit.
    #[inline]
    pub fn line_of(&self, bit: u64) -> usize {
        ((bit + self.phase) >> self.shift) as usize
    }

    /// First and last line of the bits `start..end`.
    #[inline]
    pub fn lines_of(&self, start: u64, end: u64) -> (usize, usize) {
        (self.line_of(start), self.line_of(end - 1))
    }
}

/// A cell as the search sees it, in bits from the start of its unit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub(crate) cell: u32,
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// Random number that stands for the cell (Zobrist, 1970).
    pub(crate) key: u64,
}

/// What a unit's parts are together.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Whole {
    /// First touched bit from the start of the unit, and the bit behind the last; equal if none is.
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// Exclusive or of all keys.
    pub(crate) key: u64,
}

impl Whole {
    pub(crate) fn new(parts: &[Part]) -> Self {
        Self {
            start: parts.iter().map(|part| part.start).min().unwrap_or(0),
            end: parts.iter().map(|part| part.end).max().unwrap_or(0),
            key: parts.iter().fold(0, |key, part| key ^ part.key),
        }
    }
}
