//! Sizes that a program knows as numbers, and numbers too narrow for an offset.

use crate::meaning::code::evaluator::Evaluator;
use crate::meaning::types::{TargetStruct, Type};
use crate::meaning::value::{Term, Value, constant};

impl<'t> Evaluator<'_, '_, 't> {
    /// Keeps the sizes that a `switch` chooses by. Distances are numbers there.
    pub(in crate::meaning) fn switched_by(&mut self, value: &Value<'t>) {
        self.distance_is_number(value, "what cases are chosen by");
        if self.world().is_complete {
            self.offsets_are(value, "what cases are chosen by");
        }
        let sizes = sizes_of(value);
        self.switched.extend(sizes);
    }

    /// A label of a `switch`, or what a size is compared with: a size that is this number in some order, or isn't.
    pub(in crate::meaning) fn is_case(&mut self, label: &Value<'t>) {
        for record in self.switched.clone() {
            self.size_is(record, label, "its size chooses a case");
        }
    }

    /// `size == 24`
    pub(in crate::meaning) fn size_is_compared(&mut self, size: &Value<'t>, number: &Value<'t>) {
        for record in sizes_of(size) {
            self.size_is(record, number, "its size is compared with a number");
        }
    }

    /// `offset == 8`: a number that some member's offset may be, rather than one that says that there is none.
    pub(in crate::meaning) fn offset_is_compared(&mut self, offset: &Value<'t>, number: &Value<'t>) {
        let number = constant(number).and_then(|number| u64::try_from(number).ok());
        let Some(number) = number.filter(|number| *number > 0 && self.world().is_complete) else { return };
        let is_reached =
            |record: &[u8]| self.subject(record).is_some_and(|(_, subject)| number < largest(subject));
        let sums = offset.sums.iter().filter(|sum| sum.base.is_none());
        if sums.flat_map(|sum| sum.offsets()).any(|(_, record, _)| is_reached(record)) {
            self.offsets_are(offset, "compared with a number");
        }
    }

    fn size_is(&mut self, record: &'t [u8], number: &Value<'t>, what: &str) {
        let number = constant(number).and_then(|number| u64::try_from(number).ok());
        let subject = self.subject(record).filter(|_| self.world().is_complete);
        let (Some(number), Some((_, subject))) = (number, subject) else { return };
        let least: u64 = subject.members.iter().map(|member| member.size).sum();
        if (least..=largest(subject)).contains(&number) {
            self.tell_size(record, what.to_owned());
        }
    }

    /// A value that is kept in few bits: an offset that needs more in some order stays.
    pub(in crate::meaning) fn kept_in_bits(&mut self, value: &Value<'t>, bits: u32) {
        let offsets = value.sums.iter().filter(|sum| sum.base.is_none()).flat_map(|sum| sum.offsets());
        let mut records: Vec<&'t [u8]> = offsets.map(|(_, record, _)| record).collect();
        records.dedup();
        let is_narrow = |record: &&'t [u8]| {
            let subject = self.subject(record);
            subject.is_some_and(|(_, subject)| largest(subject) > 1_u64.checked_shl(bits).unwrap_or(u64::MAX))
        };
        if self.world().is_complete && records.iter().any(is_narrow) {
            self.offset_is_number(value, &format!("kept in {bits} bits"));
        }
    }

    /// A number that a byte keeps, with or without a sign.
    pub(in crate::meaning) fn kept_in_byte(&mut self, value: &Value<'t>) {
        self.kept_in_bits(value, i8::BITS - 1);
        self.distance_is_number(value, "kept in a byte");
    }

    /// The bits of a member, or of a number's type, if they are few.
    pub(in crate::meaning) fn bits_of(&self, record: &[u8], name: &[u8]) -> Option<u32> {
        let world = self.world();
        let member = world.records.get(record)?.members.iter().find(|member| member.name == name)?;
        member.bits.or_else(|| match world.resolve(&member.ty) {
            Type::Number(_, 2) => Some(i16::BITS - 1),
            _ => None,
        })
    }
}

/// Most bytes behind the last member.
const MOST_BEHIND: u64 = 16;

/// A size that no order exceeds: in front of each member there is less room than its own size.
fn largest(subject: &TargetStruct) -> u64 {
    let sizes = subject.members.iter().map(|member| member.size.saturating_mul(2));
    sizes.fold(MOST_BEHIND, u64::saturating_add).max(subject.size)
}

/// Records whose sizes a value may be.
fn sizes_of<'t>(value: &Value<'t>) -> Vec<&'t [u8]> {
    let numbers = value.sums.iter().filter(|sum| sum.base.is_none());
    let sizes = numbers.filter_map(|sum| match sum.terms.as_slice() {
        [(true, Term::Size(record))] => Some(*record),
        _ => None,
    });
    sizes.collect()
}
