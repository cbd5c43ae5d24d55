//! Arrays of members whose ends nothing shows.

use crate::meaning::code::evaluator::Evaluator;
use crate::meaning::code::operand::number;
use crate::meaning::judge::callee::{Does, does};
use crate::meaning::types::{Type, lossy};
use crate::meaning::value::{Base, Sum, Term, Value, constant};
use crate::uses::UseDemand;

impl<'t> Evaluator<'_, '_, 't> {
    /// An array whose end nothing shows: it keeps its neighbour.
    pub(in crate::meaning) fn beyond(&mut self, record: &'t [u8], member: &'t [u8], what: String) {
        let Some((_, subject)) = self.subject(record) else { return };
        let Some(number) = subject.number(member) else { return };
        match subject.label(number + 1) {
            Some(next) => {
                let next = next.clone();
                self.tell_pins(record, &[member, next.as_bytes()], what);
            }
            None => self.tell(record, UseDemand::Offset, vec![number], what),
        }
    }

    /// `at < 11`: a variable stays below a number. What a loop says holds in it; other tests may say less.
    pub(in crate::meaning) fn bounded(&mut self, left: &Value<'t>, sign: &[u8], right: &Value<'t>) {
        let (value, number, is_closed) = match sign {
            b"<" | b"!=" => (left, right, false),
            b"<=" => (left, right, true),
            b">" => (right, left, false),
            b">=" => (right, left, true),
            _ => return,
        };
        let (Some(name), Some(number)) = (value.name, constant(number)) else { return };
        let number = number.saturating_add(i64::from(is_closed));
        match self.bounds.get_mut(name).filter(|_| !self.is_head) {
            Some(bound) => *bound = number.min(*bound),
            None => _ = self.bounds.insert(name, number),
        }
    }

    /// Elements of a member by a number that goes up to more than it has: those of the members behind it.
    pub(in crate::meaning) fn goes_beyond(&mut self, array: &Value<'t>, index: &Value<'t>) {
        let world = self.world();
        let bound = index.name.and_then(|name| self.bounds.get(name)).copied();
        let width = world.pointee(&array.ty).and_then(|element| world.size(&element));
        let (Some(bound), Some(width)) = (bound.and_then(|bound| u64::try_from(bound).ok()), width) else {
            return;
        };
        for sum in self.sums_of(array) {
            let (Some(Base::Object(record)), [(true, Term::Offset(own, member))]) =
                (sum.base, sum.terms.as_slice())
            else {
                continue;
            };
            let Some((_, subject)) = self.subject(record).filter(|_| record == *own) else { continue };
            let Some((first, placed)) = subject.number(member).zip(subject.member(member)) else { continue };
            let end = placed.offset.saturating_add(bound.saturating_mul(width));
            let reached = subject.members.iter().filter(|other| other.offset < end).count();
            if reached > first + 1 && placed.size > 0 {
                let what = format!("elements of {} are counted up to {bound}", lossy(member));
                self.tell(record, UseDemand::Boundary, (first..reached).collect(), what);
            }
        }
    }

    /// The number of elements of a row, in an index from a piece up to here: `row * 3 + column`.
    pub(in crate::meaning) fn rows(&self, begin: usize) -> Option<u64> {
        let pieces = self.cursor.pieces.get(begin..self.cursor.at)?;
        let mut pairs = pieces.windows(3).filter(|three| three.get(1).is_some_and(|sign| sign.text == b"*"));
        let elements = pairs.find_map(|three| three.iter().find_map(|piece| number(piece.text)))?;
        u64::try_from(elements).ok()
    }

    /// Rows that are as long as a member: each but the first is another member's.
    pub(in crate::meaning) fn counted_in_rows(&mut self, array: &Value<'t>, row: Option<u64>) {
        let world = self.world();
        let width = world.pointee(&array.ty).and_then(|element| world.size(&element));
        let Some(bytes) = row.zip(width).map(|(row, width)| row.saturating_mul(width)) else { return };
        for sum in self.sums_of(array) {
            let Some((record, member)) = sum.member() else { continue };
            let size = self.subject(record).and_then(|(_, subject)| Some(subject.member(member)?.size));
            if size.is_some_and(|size| size > 0 && size <= bytes) {
                let what = format!("elements of {} are counted in rows of as many as it has", lossy(member));
                self.tell_whole(record, what);
            }
        }
    }

    /// Arrays that are handed with a number that nothing compares with their size.
    pub(in crate::meaning) fn counted_arrays(
        &mut self,
        name: &[u8],
        arguments: &[Value<'t>],
        all: &[Vec<Sum<'t>>],
    ) {
        let alone = self.printed_alone(name, arguments, all);
        let first = alone.as_ref().map_or(arguments.len(), |(first, _)| *first);
        let world = self.world();
        let is_unknown = |(argument, sums): (&Value<'t>, &Vec<Sum<'t>>)| {
            let is_number = matches!(world.resolve(&argument.ty), Type::Number(..));
            is_number && !argument.is_type && (sums.is_empty() || sums.iter().any(Sum::has_other))
        };
        if !arguments.iter().zip(all).any(is_unknown) {
            return;
        }
        let is_text = |number: usize| {
            let texts = alone.as_ref().map(|(_, texts)| texts.as_slice()).unwrap_or_default();
            number.checked_sub(first).is_some_and(|number| texts.get(number) == Some(&true))
        };
        for (number, (argument, sums)) in arguments.iter().zip(all).enumerate() {
            let is_array = matches!(world.resolve(&argument.ty), Type::Array(..)) && !is_text(number);
            for (record, member) in sums.iter().filter(|_| is_array).filter_map(Sum::member) {
                self.beyond(record, member, format!("{} is handed its address with a number", lossy(name)));
            }
        }
    }

    /// An object's bytes by their first address and that behind them.
    pub(in crate::meaning) fn between(&mut self, name: &[u8], arguments: &[Value<'t>], all: &[Vec<Sum<'t>>]) {
        let world = self.world();
        let is_record = |value: &Value<'t>| matches!(world.pointee(&value.ty), Some(Type::Record(_)) | None);
        let sums: Vec<&Sum<'t>> = arguments
            .iter()
            .zip(all)
            .filter(|(argument, _)| !argument.is_type && !is_record(argument))
            .flat_map(|(_, sums)| sums)
            .collect();
        for first in sums.iter().filter(|sum| sum.terms.is_empty()) {
            let Some(Base::Object(record)) = first.base else { continue };
            let is_end = |sum: &&&Sum<'t>| {
                sum.base == Some(Base::Behind(record))
                    || sum.base == first.base && !sum.terms.is_empty() && sum.offsets().count() == 0
            };
            if sums.iter().any(|sum| is_end(&sum)) {
                self.tell_whole(record, format!("{} is handed where its bytes begin and end", lossy(name)));
            }
        }
        self.object_to_object(name, arguments, all);
        self.counted_end(name, arguments, all);
        let all: Vec<Sum<'t>> = all.iter().flatten().cloned().collect();
        self.over_members(&all);
    }

    /// Bytes of unknown origin whose end is counted by the size of a record: they are those of such records.
    fn counted_end(&mut self, name: &[u8], arguments: &[Value<'t>], all: &[Vec<Sum<'t>>]) {
        let world = self.world();
        if !self.is_cpp || !world.is_complete || does(name) != Does::Unknown {
            return;
        }
        let is_bytes = |value: &Value<'t>| world.pointee(&value.ty) == Some(Type::Byte);
        for (pair, sums) in arguments.windows(2).zip(all.iter().skip(1)) {
            for sum in sums.iter().filter(|sum| pair.iter().all(is_bytes) && sum.base.is_none()) {
                let sizes = sum.terms.iter().filter_map(|(added, term)| match term {
                    Term::Size(record) if *added => Some(*record),
                    _ => None,
                });
                for record in sizes {
                    self.tell_whole(
                        record,
                        format!("{} is handed where its bytes begin and end", lossy(name)),
                    );
                }
            }
        }
    }

    /// The bytes from one object to another.
    fn object_to_object(&mut self, name: &[u8], arguments: &[Value<'t>], all: &[Vec<Sum<'t>>]) {
        let world = self.world();
        if !self.is_cpp || does(name) != Does::Unknown {
            return;
        }
        let bytes =
            arguments.iter().zip(all).filter(|(value, _)| world.pointee(&value.ty) == Some(Type::Byte));
        let starts = bytes.filter_map(|(_, sums)| match sums.as_slice() {
            [Sum { base: Some(Base::Object(record)), terms }] if terms.is_empty() => Some(*record),
            _ => None,
        });
        let starts: Vec<&'t [u8]> = starts.collect();
        for pair in starts.windows(2) {
            if let [first, second] = pair
                && first == second
            {
                self.tell_whole(first, format!("{} is handed where its bytes begin and end", lossy(name)));
            }
        }
    }

    /// An address in one member beside the end of another: all between them stays.
    pub(in crate::meaning) fn over_members(&mut self, sums: &[Sum<'t>]) {
        for end in sums {
            let Some(last) = self.member_ended(end) else { continue };
            let begins = |sum: &&Sum<'t>| sum.base == end.base && sum.base.is_some();
            let first = sums.iter().filter(begins).find_map(|sum| {
                sum.member().filter(|(record, member)| *record == last.0 && *member != last.1)
            });
            let Some((record, first)) = first else { continue };
            let Some((_, subject)) = self.subject(record) else { continue };
            let [Some(from), Some(to)] = [subject.number(first), subject.number(last.1)] else { continue };
            let members = (from.min(to)..=from.max(to)).collect();
            let what = format!("a range goes from {} to the end of {}", lossy(first), lossy(last.1));
            self.tell(record, UseDemand::Boundary, members, what);
        }
    }

    /// The member that an address is the end of.
    fn member_ended(&self, sum: &Sum<'t>) -> Option<(&'t [u8], &'t [u8])> {
        let [(true, Term::Offset(record, member)), (true, more)] = sum.terms.as_slice() else { return None };
        let size = self.subject(record).and_then(|(_, subject)| Some(subject.member(member)?.size))?;
        let is_end = match more {
            Term::MemberSize(own, other) => own == record && other == member,
            Term::Number(number) => u64::try_from(*number).is_ok_and(|number| number >= size && size > 0),
            _ => false,
        };
        is_end.then_some((*record, *member))
    }

    /// A text that is copied without its end.
    pub(in crate::meaning) fn endless_text(&mut self, arguments: &[Value<'t>], all: &[Vec<Sum<'t>>]) {
        let ([_, from, ..], [to, _, length, ..]) = (arguments, all) else { return };
        for (record, member) in to.iter().filter(|_| from.is_text).filter_map(Sum::member) {
            let size = self.subject(record).and_then(|(_, subject)| Some(subject.member(member)?.size));
            let fills = |sum: &Sum<'t>| match sum.terms.as_slice() {
                [(true, Term::Number(number))] => u64::try_from(*number).ok() == size,
                [(true, Term::MemberSize(..))] => true,
                _ => false,
            };
            if length.iter().any(fills) {
                self.beyond(record, member, "a text is copied that has, perhaps, no end there".to_owned());
            }
        }
    }
}
