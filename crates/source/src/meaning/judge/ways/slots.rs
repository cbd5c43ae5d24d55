//! Pointers to pointers that are taken for others: what is written through one of them is read through another.

use crate::meaning::code::evaluator::Evaluator;
use crate::meaning::types::Type;
use crate::meaning::value::{Base, Kept, Sum, Value};

impl<'t> Evaluator<'_, '_, 't> {
    /// A pointer to pointers taken for one to pointers to another type.
    pub(in crate::meaning) fn pointers_to_pointers(
        &mut self,
        value: &Value<'t>,
        target: &Type<'t>,
        is_cast: bool,
    ) {
        let world = self.world();
        let inner = |ty: &Type<'t>| world.pointee(&world.pointee(ty)?);
        let (own, wanted) = (inner(&value.ty), inner(target));
        match (&own, &wanted) {
            (Some(Type::Record(own)), Some(Type::Record(wanted))) if is_cast && own != wanted => {
                self.records(own, wanted, true);
            }
            (Some(Type::Record(_)), Some(Type::Record(_))) => {}
            (Some(Type::Record(record)), other) if other.is_some() || self.is_open_pointer(target) => {
                self.escape(&[Sum::object(record)]);
            }
            // The pointer's own bytes: whoever gets them may put them together again.
            (Some(Type::Record(record)), None) if world.pointee(target) == Some(Type::Byte) => {
                self.escape(&[Sum::object(record)]);
            }
            // What is written there by its type is read without it.
            (Some(Type::Void | Type::Byte | Type::Number(..)), Some(Type::Record(record))) if is_cast => {
                self.escape(&[Sum::object(record)]);
            }
            _ => {}
        }
    }

    /// The address of a pointer to numbers that becomes one of anything: whoever gets it may write an address there.
    pub(in crate::meaning) fn filled_elsewhere(&mut self, value: &Value<'t>, target: &Type<'t>) {
        let world = self.world();
        let Some(kept) = value.target.filter(|_| world.is_complete) else { return };
        let inner = |ty: &Type<'t>| world.pointee(&world.pointee(ty)?);
        let Some(number @ Type::Number(..)) = inner(&value.ty) else { return };
        let becomes_open =
            self.is_open_pointer(target) || inner(target).is_some_and(|wanted| wanted != number);
        if !becomes_open {
            return;
        }
        let escaped = self.escaped_as(&number);
        for record in &escaped {
            self.start(record, &number, false);
        }
        let sums = [Sum { base: Some(Base::Escaped), terms: Vec::new() }];
        match kept {
            _ if escaped.is_empty() => {}
            Kept::Variable(name) => self.assign(name, &sums),
            Kept::Member(record, member) => self.keep_member(record, member, &sums),
        }
    }

    fn is_open_pointer(&self, ty: &Type<'t>) -> bool {
        matches!(self.world().pointee(ty), Some(Type::Void))
    }
}
