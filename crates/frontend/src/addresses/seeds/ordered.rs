//! Functions that ask which of two addresses is the lower one, and members whose addresses they are handed.

use super::super::names;
use super::reader::Reader;
use crate::addresses::facts::Lent;
use crate::addresses::follow;
use crate::clang::{Cursor, Kind, Operator, TypeKind};
use crate::records::named_holder;
use crate::sum::Term;
use crate::sum::orders::ordered_sides;
use crate::sum::roots::{has_common_root, roots};
use crate::tree::Index;

impl<'u> Reader<'_, '_, '_, 'u> {
    /// `first < second`, where both are parameters that other units give.
    pub(crate) fn ordered(&mut self, index: Index) {
        let view = self.unit.view;
        let Some((left, right)) = ordered_sides(view, index) else { return };
        let is_record = |side: Index| {
            let own = view.cursor(side).and_then(|side| side.ty().pointee());
            own.is_some_and(|own| own.kind() == TypeKind::Record)
        };
        if !is_record(left) || !is_record(right) || has_common_root(view, left, right) {
            return;
        }
        let parameter = |side: Index| {
            let all = roots(view, side);
            let own = all.values().find(|own| own.kind() == Kind::Parameter).copied();
            own.and_then(follow::parameter_of)
        };
        if let Some(pair) = parameter(left).zip(parameter(right)) {
            self.ordered.insert(pair);
        }
    }

    /// The address of a member that is a record, for a function of another unit.
    pub(crate) fn lent(&mut self, call: Index) {
        let view = self.unit.view;
        let function = follow::function(view, call).filter(|function| function.definition().is_none());
        let Some(function) = function.filter(|function| !function.is_of_system()) else { return };
        for (number, argument) in follow::arguments(view, call).into_iter().enumerate() {
            let address = view.peeled(argument);
            if view.cursor(address).map(Cursor::unary_operator) != Some(Operator::AddressOf) {
                continue;
            }
            let sum = view.sum(address);
            let Some((true, Term::Offset(path))) = sum.terms.last() else { continue };
            let Some((first, last)) = path.first().zip(path.last()) else { continue };
            let holder = named_holder(*first).filter(|_| last.ty().kind() == TypeKind::Record);
            let Some(holder) = holder.filter(|_| view.records.part(*first).is_some()) else { continue };
            let offset = holder.ty().offset_of(&first.name()).unwrap_or(0);
            let place = names::parameter(function, number);
            let (holder, at) = (self.unit.shape(holder.ty()), self.unit.place(argument));
            self.lent.insert(Lent { place, holder, offset, at });
        }
    }
}
