//! Bits of an address that are known by where its object lies: marks in the lowest ones, tests for multiples.

use super::super::facts::{End, State};
use super::follower::Follower;
use crate::clang::{Cursor, Kind, Operator};
use crate::sum::nearby::{is_wrapping, outermost};
use crate::sum::plain::constant;
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

    /// The address is shifted or masked with a constant: if both are done, or what is left is told apart by numbers, the
    /// bits are one.
    pub(crate) fn taken_apart(&mut self, node: Index, state: State) {
        if state.is_number || state.level > 0 {
            return;
        }
        let view = self.unit.view;
        let Some((left, outer)) = outermost(view, node, is_wrapping) else { return };
        let bits = match (self.part(node), self.part(outer)) {
            (Some(Part::Shift(by)), Some(Part::Mask(mask))) => mask.checked_shl(by),
            (Some(Part::Mask(mask)), Some(Part::Shift(by))) => {
                mask.checked_shr(by).filter(|left| *left > 0).and(Some(mask))
            }
            (Some(Part::Mask(mask)), None) if self.decides(left, outer) => Some(mask),
            _ => None,
        };
        if let Some(bits) = bits {
            self.end(node, state, End::Numbered { bits });
        }
    }

    /// Whether a number chooses a case or an element, or is compared with one that the text says. Zero asks for a multiple.
    fn decides(&self, number: Index, outer: Index) -> bool {
        let view = self.unit.view;
        match view.tree.kind(outer) {
            Kind::Switch => true,
            Kind::Subscript => view.tree.values(outer).next() != Some(number),
            Kind::Binary => {
                let operator = view.cursor(outer).map(Cursor::binary_operator);
                let mut others = view.tree.values(outer).filter(|side| *side != number);
                matches!(operator, Some(Operator::Compare | Operator::Order))
                    && others.any(|other| constant(view, other).is_some_and(|other| other != 0))
            }
            _ => false,
        }
    }

    /// The bits that an operation with a constant leaves of a number.
    fn part(&self, node: Index) -> Option<Part> {
        let view = self.unit.view;
        let operator = view.cursor(node)?.binary_operator();
        let by = constant(view, view.tree.values(node).nth(1)?).and_then(|by| u64::try_from(by).ok())?;
        match operator {
            Operator::ShiftRight => u32::try_from(by).ok().map(Part::Shift),
            Operator::Divide => by.is_power_of_two().then(|| Part::Shift(by.trailing_zeros())),
            Operator::Remainder => by.is_power_of_two().then(|| Part::Mask(by - 1)),
            Operator::Bits if !view.cursor(node)?.joins_bits() => Some(Part::Mask(by)),
            _ => None,
        }
    }
}

/// Bits of a number that an operation leaves.
enum Part {
    /// All but so many of the lowest.
    Shift(u32),
    /// These.
    Mask(u64),
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
