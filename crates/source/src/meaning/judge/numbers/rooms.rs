//! Rooms of a fixed size, of which objects are cut, and tables that end within an object.

use crate::meaning::code::evaluator::Evaluator;
use crate::meaning::flows::Slot;
use crate::meaning::types::Type;
use crate::meaning::value::{Base, Sum, Term, Value};
use crate::uses::UseDemand;

impl<'t> Evaluator<'_, '_, 't> {
    fn grown_slot(&self, value: &Value<'t>) -> Option<Slot<'t>> {
        let own = value.name.map(|name| match self.local(name) {
            Some(_) => Slot::Grown(self.function, name),
            None => Slot::Grown(b"", name),
        });
        own.or(value.member.map(|(_, member)| Slot::Grown(b"", member)))
    }

    /// `used += size`: keeps what a variable or member counts by.
    pub(in crate::meaning) fn grown(&mut self, value: &Value<'t>, by: &Value<'t>) {
        let sizes: Vec<Sum<'t>> = sizes_in(&by.sums).into_iter().map(Sum::object).collect();
        if let Some(slot) = self.grown_slot(value).filter(|_| !sizes.is_empty()) {
            self.keep(slot, &sizes);
        }
    }

    /// Sizes of records that are counted against a number: how many there is room for depends on them.
    pub(in crate::meaning) fn room_compared(&mut self, left: &Value<'t>, right: &Value<'t>) {
        if !self.world().is_complete {
            return;
        }
        for (value, other) in [(left, right), (right, left)] {
            let grown = self.grown_records(value);
            let own = sizes_in(&value.sums);
            let is_room = other.sums.iter().any(is_room);
            let counted = self.grown_records(other);
            let all = own.iter().chain(&grown).filter(|record| is_room || counted.contains(record));
            for record in all.copied().collect::<Vec<_>>() {
                let what = "its size is counted against that of a room".to_owned();
                self.tell_size(record, what);
            }
        }
    }

    /// A number that is divided by another one: offsets and distances by a number of the program, or a room by the size of
    /// what it is for.
    pub(in crate::meaning) fn counted_in_parts(&mut self, left: &Value<'t>, right: &Value<'t>) {
        if !right.sums.iter().any(Sum::is_telling) {
            return self.offset_is_number(left, "counted in parts");
        }
        if !self.world().is_complete || !self.is_fixed_room(left) {
            return;
        }
        for record in sizes_in(&right.sums) {
            self.tell_size(record, "a room of a fixed size is divided by its size".to_owned());
        }
    }

    /// Whether a value is a number of the program, or the size of an array of bytes.
    fn is_fixed_room(&self, value: &Value<'t>) -> bool {
        let world = self.world();
        let is_bytes = |record: &[u8], member: &[u8]| {
            let ty = world.member(record, member).map(|ty| world.resolve(&ty));
            matches!(ty, Some(Type::Array(inner, _)) if world.resolve(&inner) == Type::Byte)
        };
        let is_room = |sum: &Sum<'t>| match (sum.base, sum.terms.as_slice()) {
            (None, [(true, Term::Number(_))]) => true,
            (None, [(true, Term::MemberSize(record, member))]) => is_bytes(record, member),
            _ => false,
        };
        value.sums.iter().any(is_room)
    }

    fn grown_records(&self, value: &Value<'t>) -> Vec<&'t [u8]> {
        let kept = self.grown_slot(value).map(|slot| self.kept(slot)).unwrap_or_default();
        let records = kept.iter().filter_map(|sum| match sum.base {
            Some(Base::Object(record)) => Some(record),
            _ => None,
        });
        records.collect()
    }

    /// `memory + (index << shift)`, of memory that nothing else is known of.
    pub(in crate::meaning) fn parts_counted(
        &self,
        left: &Value<'t>,
        right: &Value<'t>,
        sums: &mut Vec<Sum<'t>>,
    ) {
        let world = self.world();
        let is_memory = |value: &Value<'t>| matches!(world.pointee(&value.ty), Some(Type::Byte | Type::Void));
        if !world.is_complete || !is_memory(left) && !is_memory(right) {
            return;
        }
        let is_stride = |(added, term): &(bool, Term<'t>)| *added && *term == Term::Stride;
        for sum in sums.iter_mut().filter(|sum| sum.base.is_none() && sum.terms.iter().any(is_stride)) {
            *sum = Sum { base: Some(Base::Parts), terms: Vec::new() };
        }
    }

    /// `count * sizeof(struct s) + sizeof(void *)`: memory for so many objects and the first bytes of one more, as a
    /// table has that ends where the first member is null.
    pub(in crate::meaning) fn begun(&mut self, left: &Value<'t>, right: &Value<'t>, added: bool) {
        for (product, rest) in [(left, right), (right, left)].into_iter().take(1 + usize::from(added)) {
            let [Sum { base: None, terms }] = product.sums.as_slice() else { continue };
            let ([(true, Term::Size(record))], true) = (terms.as_slice(), product.is_product) else {
                continue;
            };
            let Some((_, subject)) = self.subject(record) else { continue };
            let bytes = match rest.sums.as_slice() {
                [sum] if sum.base.is_none() => sum.number(subject),
                _ => None,
            };
            let bytes = bytes.and_then(|bytes| u64::try_from(bytes).ok());
            let Some(bytes) = bytes.filter(|bytes| *bytes > 0 && *bytes < subject.size) else { continue };
            let end = if added { bytes } else { subject.size - bytes };
            let count = subject.members.iter().filter(|member| member.offset < end).count();
            let what = format!("memory is for the first {end} bytes of one more");
            self.tell(record, UseDemand::Positions(count), Vec::new(), what);
        }
    }
}

/// Records whose sizes are terms of sums.
fn sizes_in<'t>(sums: &[Sum<'t>]) -> Vec<&'t [u8]> {
    let terms =
        sums.iter().filter(|sum| !matches!(sum.base, Some(Base::Object(_)))).flat_map(|sum| &sum.terms);
    let sizes = terms.filter_map(|(_, term)| match term {
        Term::Size(record) => Some(*record),
        _ => None,
    });
    sizes.collect()
}

/// A number, the end of an array, or what is left of one.
fn is_room(sum: &Sum<'_>) -> bool {
    if sum.base.is_none() && sum.terms == [(true, Term::Stride)] {
        return true;
    }
    let is_place = matches!(sum.base, None | Some(Base::Bytes));
    let number = sum.terms.iter().filter(|(added, term)| *added && matches!(term, Term::Number(_))).count();
    let others = |(added, term): &(bool, Term<'_>)| match term {
        Term::Number(_) => true,
        Term::Other => !added,
        _ => false,
    };
    is_place && number == 1 && sum.terms.iter().all(others)
}
