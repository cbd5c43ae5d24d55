//! Numbers that parameters and members are given.

use super::super::facts::{Given, Place};
use super::super::follow;
use super::super::names;
use super::super::numbers::number;
use super::reader::Reader;
use crate::clang::{Cursor, Kind, Operator, Type};
use crate::records::named_holder;
use crate::records::positions::{Position, positions};
use crate::sum::{Sum, Term};
use crate::tree::Index;

/// Most variables on the way to a number.
const DEEPEST: usize = 4;

/// No offset is as large.
const TOO_LARGE: i64 = 1 << 16;

impl<'u> Reader<'_, '_, '_, 'u> {
    /// Arguments of a call.
    pub(crate) fn numbers_of_call(&mut self, index: Index) {
        let view = self.unit.view;
        let named = follow::function(view, index);
        if named.is_some_and(Cursor::is_of_system) {
            return self.numbers_written(index);
        }
        let Some(ty) = named.map(Cursor::ty).or_else(|| follow::pointed_to(view, index)) else { return };
        for (number, argument) in follow::arguments(view, index).into_iter().enumerate() {
            let parameter = u32::try_from(number).ok().and_then(|number| ty.parameter(number));
            if !parameter.is_some_and(is_integer) {
                continue;
            }
            let place = match named {
                Some(function) => names::parameter(function, number),
                None => names::callback(ty, number),
            };
            self.gives(&place, argument, DEEPEST);
        }
    }

    /// Members that a library writes numbers to.
    fn numbers_written(&mut self, index: Index) {
        let view = self.unit.view;
        for argument in follow::arguments(view, index) {
            let address = view.peeled(argument);
            let is_address = view.cursor(address).map(Cursor::unary_operator) == Some(Operator::AddressOf);
            let inner = view.tree.only(address).filter(|_| is_address).map(|inner| view.peeled(inner));
            let member = inner.and_then(|inner| view.cursor(inner)?.referenced());
            if let Some(member) = member.filter(|member| is_number_member(*member)) {
                self.numbers.insert((names::variable(member), Given::Unknown(0)));
            }
        }
    }

    /// `member = number`
    pub(crate) fn numbers_assigned(&mut self, index: Index) {
        let view = self.unit.view;
        let Some(operator) = view.cursor(index).map(Cursor::binary_operator) else { return };
        let mut sides = view.tree.values(index);
        let (Some(left), Some(right)) = (sides.next(), sides.next()) else { return };
        let is_member = view.tree.kind(left) == Kind::MemberAccess;
        let member = view.cursor(left).filter(|_| is_member).and_then(Cursor::referenced);
        let Some(member) = member.filter(|member| is_number_member(*member)) else { return };
        match operator {
            Operator::Assign => self.gives(&names::variable(member), right, DEEPEST),
            Operator::Move | Operator::Scale => {
                self.numbers.insert((names::variable(member), Given::Unknown(0)));
            }
            _ => {}
        }
    }

    /// `{ number }`
    pub(crate) fn numbers_listed(&mut self, list: Index) {
        let view = self.unit.view;
        for value in view.tree.children(list).collect::<Vec<_>>() {
            let names = view.tree.children(value).filter(|child| view.tree.kind(*child) == Kind::MemberName);
            let member = names.last().and_then(|name| view.cursor(name)?.referenced());
            let value = view.tree.children(value).last();
            if let (Some(member), Some(value)) = (member.filter(|member| is_number_member(*member)), value) {
                self.gives(&names::variable(member), value, DEEPEST);
            }
        }
        for (value, position) in positions(view.tree, view.records, list) {
            if let Position::Member(member) = position
                && is_number_member(member)
            {
                self.gives(&names::variable(member), value, DEEPEST);
            }
        }
    }

    /// A function whose address is taken is handed what callers of such functions hand over.
    pub(crate) fn numbers_of_callback(&mut self, function: Cursor<'u>, ty: Type<'u>) {
        for number in 0..ty.parameter_count() {
            let parameter = u32::try_from(number).ok().and_then(|number| ty.parameter(number));
            if parameter.is_some_and(is_integer) {
                let from = Given::From(names::callback(ty, number));
                self.numbers.insert((names::parameter(function, number), from));
            }
        }
    }

    fn gives(&mut self, place: &Place, value: Index, depth: usize) {
        let view = self.unit.view;
        let sum = view.sum(value);
        if sum.has_offsets() {
            self.numbers.insert((place.clone(), self.offset(value, &sum)));
            return;
        }
        if let Some(number) = self.plain_number(value) {
            if (0..TOO_LARGE).contains(&number) {
                let given = if sum.sizes(true).next().is_some() { Given::Size } else { Given::Number };
                self.numbers.insert((place.clone(), given(number)));
            }
            return;
        }
        let peeled = view.peeled(value);
        let named = matches!(view.tree.kind(peeled), Kind::Name | Kind::MemberAccess);
        let declared = view.cursor(peeled).filter(|_| named).and_then(Cursor::referenced);
        if let Some(declared) = declared {
            match declared.kind() {
                Kind::Member => {
                    self.numbers.insert((place.clone(), Given::From(names::variable(declared))));
                    return;
                }
                Kind::Parameter => {
                    if let Some(from) = follow::parameter_of(declared) {
                        self.numbers.insert((place.clone(), Given::From(from)));
                        return;
                    }
                }
                _ => {
                    let given = view.flow.given(declared.identity());
                    if depth > 0 && !given.is_empty() && !view.flow.is_changed(declared.identity()) {
                        return given.iter().for_each(|given| self.gives(place, *given, depth - 1));
                    }
                }
            }
        }
        let is_sum = sum.terms.iter().all(|(is_added, term)| *is_added && !matches!(term, Term::Number(..0)));
        let sizes = sum.sizes(true).filter_map(|(ty, _)| i64::try_from(ty.size()?).ok());
        let least = if is_sum { sizes.fold(0, i64::saturating_add) } else { 0 };
        self.numbers.insert((place.clone(), Given::Unknown(least)));
    }
}

impl<'u> Reader<'_, '_, '_, 'u> {
    /// A number with an offset that the compiler takes.
    fn offset(&self, value: Index, sum: &Sum<'u>) -> Given {
        let path = match sum.terms.as_slice() {
            [(true, Term::Offset(path))] => path.first().and_then(|member| named_holder(*member)),
            _ => None,
        };
        let bytes = number(self.unit.view, value).and_then(|bytes| u64::try_from(bytes).ok());
        path.zip(bytes).map_or(Given::OffsetSum, |(record, bytes)| {
            let record = record.ty().canonical().declaration().unwrap_or(record).identifier();
            Given::Offset { record, bytes }
        })
    }

    /// The number that an expression of numbers alone is. An address as a number is constant, too, and libclang must
    /// not be asked for it.
    fn plain_number(&self, value: Index) -> Option<i64> {
        let view = self.unit.view;
        let is_plain = |node: Index| match view.tree.kind(node) {
            Kind::Integer | Kind::SizeOf | Kind::TypeName => true,
            Kind::Paren | Kind::Unary | Kind::Binary | Kind::Unexposed | Kind::Cast => {
                view.cursor(node).is_some_and(|node| is_integer(node.ty()))
            }
            Kind::Name => {
                let named = view.cursor(node).and_then(Cursor::referenced);
                named.is_some_and(|named| named.kind() == Kind::Enumerator)
            }
            _ => false,
        };
        let is_all = std::iter::once(value).chain(view.tree.below(value)).all(is_plain);
        view.cursor(value).filter(|_| is_all).and_then(Cursor::constant)
    }
}

/// Whether a type is one of numbers that an address may be moved by.
fn is_integer(ty: Type<'_>) -> bool {
    ty.is_integer() && !ty.is_enumeration()
}

fn is_number_member(member: Cursor<'_>) -> bool {
    member.kind() == Kind::Member && is_integer(member.ty()) && !member.is_bit_field()
}
