//! Bits of a member's address that are zero where the member stands now: marks in the lowest ones, tests for multiples.

use crate::meaning::code::evaluator::Evaluator;
use crate::meaning::types::{Type, lossy};
use crate::meaning::value::{Base, Left, Sum, Term, Value, constant};
use crate::uses::UseDemand;

/// Bytes that code may count on an address to be a multiple of, whatever it points to: marks of an unknown number of bits
/// have room below.
const OF_ANY: u64 = 8;

/// Most bytes that memory is known to begin at a multiple of: a cacheline.
const MOST: u64 = 64;

impl<'t> Evaluator<'_, '_, 't> {
    /// An address beside bits, or divided.
    pub(in crate::meaning) fn masked(&mut self, address: &Value<'t>, bits: &Value<'t>, sign: &[u8]) {
        let bits = constant(bits);
        let is_known = bits.is_some() || sign == b"%";
        let bytes = match sign {
            b"%" => bits.and_then(|by| u64::try_from(by).ok()).filter(|by| by.is_power_of_two()),
            _ => bits.map_or(Some(OF_ANY), multiple),
        };
        let Some(bytes) = bytes.filter(|bytes| (2..=MOST).contains(bytes)) else { return };
        for sum in self.sums_of(address) {
            self.counted_on_multiple(&sum, bytes, is_known);
        }
    }

    /// `is_known`: by bits that the code says. Of others there are as many as there is room for where the member is.
    fn counted_on_multiple(&mut self, sum: &Sum<'t>, bytes: u64, is_known: bool) {
        let (Some(Base::Object(record)), [(true, Term::Offset(own, member))]) =
            (sum.base, sum.terms.as_slice())
        else {
            return;
        };
        let Some((_, subject)) = self.subject(record).filter(|_| own == &record) else { return };
        let Some((number, placed)) = subject.number(member).zip(subject.member(member)) else { return };
        let ty = self.world().member(record, member).unwrap_or_default();
        let room = 1_u64.checked_shl(placed.offset.trailing_zeros()).unwrap_or(bytes);
        let bytes = if is_known { bytes } else { bytes.min(room) };
        // Its type sees to it wherever it stands.
        if self.world().alignment(&ty).is_multiple_of(bytes) || !placed.offset.is_multiple_of(bytes) {
            return;
        }
        let what = format!(
            "bits of the address of {} are used that are zero at multiples of {bytes} bytes",
            lossy(member)
        );
        self.tell(record, UseDemand::Offset, vec![number], what);
    }
}

impl<'t> Evaluator<'_, '_, 't> {
    /// A number is shifted or masked with a constant: what that leaves of it. If both are done to an address, the bits are
    /// a number, and tell members if they reach no further than the object.
    pub(in crate::meaning) fn taken_apart(
        &mut self,
        number: &Value<'t>,
        by: &Value<'t>,
        sign: &[u8],
    ) -> Option<Left> {
        let by = constant(by).and_then(|by| u64::try_from(by).ok()).filter(|by| *by > 0)?;
        let power = by.is_power_of_two();
        let left = match sign {
            b">>" => Left::Shifted(u32::try_from(by).ok()?),
            b"/" if power => Left::Shifted(by.trailing_zeros()),
            b"%" if power => Left::Masked(by - 1),
            b"&" => Left::Masked(by),
            _ => return None,
        };
        let bits = match (number.left, left) {
            (Some(Left::Shifted(by)), Left::Masked(mask)) => mask.checked_shl(by),
            (Some(Left::Masked(mask)), Left::Shifted(by)) => {
                mask.checked_shr(by).filter(|left| *left > 0).and(Some(mask))
            }
            _ => None,
        };
        for sum in bits.map(|_| self.sums_of(number)).unwrap_or_default() {
            self.numbered(&sum, bits.unwrap_or(0));
        }
        Some(left)
    }

    /// Addresses of members become numbers where these aren't followed to: elements of arrays. What is computed from them
    /// there may tell the members.
    pub(in crate::meaning) fn kept_as_numbers(&mut self, ty: &Type<'t>, sums: &[Sum<'t>]) {
        let world = self.world();
        let is_number = world.is_complete && matches!(world.resolve(ty), Type::Number(_, 8));
        for sum in sums.iter().filter(|sum| is_number && sum.base.is_some()) {
            self.numbered(sum, 0);
        }
    }

    fn numbered(&mut self, sum: &Sum<'t>, bits: u64) {
        let (Some(Base::Object(record)), [(true, Term::Offset(own, member))]) =
            (sum.base, sum.terms.as_slice())
        else {
            return;
        };
        let Some((_, subject)) = self.subject(record).filter(|_| own == &record) else { return };
        let Some(number) = subject.number(member) else { return };
        let size = self.world().extent(record).and_then(|extent| extent.size.checked_next_power_of_two());
        if size.is_none_or(|size| bits < size) {
            let what = format!("bits of the address of {} are a number", lossy(member));
            self.tell(record, UseDemand::Offset, vec![number], what);
        }
    }
}

/// The bytes that an address must be a multiple of for these bits to be zero, or all that are left of it.
fn multiple(bits: i64) -> Option<u64> {
    let is_rounding = bits < 0;
    let kept = if is_rounding { bits.trailing_zeros() } else { u64::BITS - bits.leading_zeros() };
    1_u64.checked_shl(kept)
}
