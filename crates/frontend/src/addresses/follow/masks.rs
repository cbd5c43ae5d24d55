//! Bits of an address that are known by where its object lies: marks in the lowest ones, tests for multiples.

use super::super::facts::{End, State};
use super::follower::Follower;
use crate::clang::{Cursor, Operator};
use crate::tree::Index;

/// Bytes that code may count on an address to be a multiple of, whatever it points to: marks of an unknown number of bits
/// have room below.
const OF_ANY: u64 = 8;

/// Most bytes that memory is known to begin at a multiple of: a cacheline. Pages and such don't begin where objects do.
pub(super) const MOST: u64 = 64;

impl Follower<'_, '_, '_, '_> {
    /// The address is an operand beside bits.
    pub(crate) fn masked(&mut self, node: Index, bits: Index, state: State) {
        if state.is_number {
            return;
        }
        let view = self.unit.view;
        let bits = view.cursor(bits).and_then(Cursor::constant);
        let is_rest = view.cursor(node).map(Cursor::binary_operator) == Some(Operator::Remainder);
        let bytes = if is_rest { rest(bits) } else { bits.map_or(Some(OF_ANY), multiple) };
        if let Some(bytes) = bytes.filter(|bytes| (2..=MOST).contains(bytes)) {
            self.end(node, state, End::Masked { bytes });
        }
    }
}

/// The bytes that an address must be a multiple of for these bits to be zero, or all that are left of it.
fn multiple(bits: i64) -> Option<u64> {
    let bits = bits.cast_unsigned();
    let is_rounding = bits.leading_ones() > 0;
    let kept = if is_rounding { bits.trailing_zeros() } else { u64::BITS - bits.leading_zeros() };
    1_u64.checked_shl(kept)
}

/// The same for the rest of a division.
fn rest(by: Option<i64>) -> Option<u64> {
    by.and_then(|by| u64::try_from(by).ok()).filter(|by| by.is_power_of_two())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_zero_at_multiples() {
        for (bits, bytes) in [(1, 2), (3, 4), (4, 8), (!1, 2), (!7, 8), (-64, 64), (0, 1), (-1, 1)] {
            assert_eq!(multiple(bits), Some(bytes), "{bits}");
        }
        assert_eq!(rest(Some(8)), Some(8));
        assert_eq!(rest(Some(12)), None);
        assert_eq!(rest(None), None);
    }
}
