//! Configurations by which lines are counted, and the touched bits on them.

/// A configuration: line size, build and phase under which lines are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineConfig {
    /// Index in the builds of a problem.
    pub build: usize,
    /// Weight of a line touched.
    pub weight: u64,
    /// Whether its lines are pairs that one fetch loads, not lines of a machine.
    pub is_line_pair: bool,
    /// Logarithm of the line size in bits.
    shift: u32,
    /// Where objects begin within a line, in bits.
    phase: u64,
}

impl LineConfig {
    /// The configuration for lines of `line` bytes, a power of two, of objects that begin `phase` bytes into
    /// a line.
    pub fn new(build: usize, line: u64, phase: u64, weight: u64) -> Self {
        Self { build, weight, is_line_pair: false, shift: line.max(1).trailing_zeros() + 3, phase: phase * 8 }
    }

    /// The configuration for pairs of lines of `line` bytes that begin at multiples of two lines.
    pub fn on_pairs(build: usize, line: u64, phase: u64, weight: u64) -> Self {
        Self { is_line_pair: true, ..Self::new(build, line.saturating_mul(2), phase, weight) }
    }

    /// Line size in bytes.
    pub fn line(&self) -> u64 {
        1 << (self.shift - 3)
    }

    /// The largest part of `granule` bits that begins at its multiples within lines, too.
    pub(crate) fn line_granule(&self, granule: u64) -> u64 {
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

/// A touched range in bits from the start of its unit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TouchedBits {
    pub(crate) range: u32,
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// Random number that stands for the touched range (Zobrist, 1970).
    pub(crate) key: u64,
}

/// The hull of a unit's touched bits.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TouchedHull {
    /// First touched bit from the start of the unit, and the bit behind the last; equal if none is.
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// Exclusive or of all keys.
    pub(crate) key: u64,
}

impl TouchedHull {
    pub(crate) fn new(all_bits: &[TouchedBits]) -> Self {
        Self {
            start: all_bits.iter().map(|bits| bits.start).min().unwrap_or(0),
            end: all_bits.iter().map(|bits| bits.end).max().unwrap_or(0),
            key: all_bits.iter().fold(0, |key, bits| key ^ bits.key),
        }
    }
}
