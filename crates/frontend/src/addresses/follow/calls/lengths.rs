//! Lengths among the arguments of a call.

use super::super::super::facts::End;
use super::super::super::numbers;
use super::super::elements::bytes;
use super::{Does, Handed, function, is_number};
use crate::clang::{Cursor, Kind, Operator, Type, TypeKind};
use crate::sum::Term;
use crate::sum::roots::sources;
use crate::tree::Index;

impl<'u> Handed<'_, '_, '_, 'u> {
    /// Whether a length is no whole object's size and isn't made of offsets.
    pub(super) fn is_fixed(&self, index: Index) -> bool {
        let sum = self.view.sum(index);
        let is_whole =
            matches!(sum.terms.as_slice(), [(true, Term::Size(ty, None))] if ty.kind() == TypeKind::Record);
        !is_whole && !sum.has_offsets()
    }

    /// A size less an unknown number, or the lesser one of two, also where a variable has it.
    pub(super) fn is_rest(&self, index: Index) -> bool {
        sources(self.view, index).into_iter().any(|value| self.is_less(value))
    }

    fn is_less(&self, index: Index) -> bool {
        let view = self.view;
        let operator = view.cursor(index).map(Cursor::binary_operator);
        let right = view.tree.values(index).nth(1).filter(|_| view.tree.kind(index) == Kind::Binary);
        let is_unknown = right.is_some_and(|right| {
            let has_pointer = |below: Index| {
                view.cursor(below).is_some_and(|cursor| cursor.ty().kind() == TypeKind::Pointer)
            };
            !view.tree.below(right).any(has_pointer) && !view.sum(right).has_offsets()
        });
        operator == Some(Operator::Subtract) && is_unknown || view.tree.kind(index) == Kind::Conditional
    }

    pub(super) fn last_number(&self) -> Option<u64> {
        let last = self.arguments.last().copied()?;
        self.number_of(last)
    }

    /// The number that an expression always is, or the largest of those a variable is given.
    pub(super) fn number_of(&self, index: Index) -> Option<u64> {
        let cursor = self.view.cursor(index)?;
        let positive = |number: i64| u64::try_from(number).ok();
        if let Some(number) = cursor.constant().or_else(|| numbers::number(self.view, index)) {
            return positive(number);
        }
        let name = self.view.cursor(self.view.peeled(index))?.referenced()?;
        let given = self.view.flow.given(name.identity());
        let numbers: Option<Vec<u64>> =
            given.iter().map(|value| positive(self.view.cursor(*value)?.constant()?)).collect();
        numbers.and_then(|numbers| numbers.into_iter().max())
    }

    /// The bytes that a function reads: an argument behind the pointer, or any that is made of sizes.
    pub(super) fn length(&self, does: Does, name: &str) -> Option<End> {
        if name.contains("fread") || name.contains("fwrite") {
            return Some(End::Bytes { count: self.product(), by: name.to_owned() });
        }
        let mut found: Option<Option<u64>> = None;
        for (number, argument) in
            self.arguments.iter().enumerate().filter(|(number, _)| *number != self.number)
        {
            let is_number = self.view.cursor(*argument).is_some_and(|argument| is_number(argument.ty()));
            if !is_number {
                continue;
            }
            let has_size = self.has_size(*argument);
            if !has_size && self.is_only_mixed_in(*argument) {
                continue;
            }
            let count = self.number_of(*argument);
            let is_length = has_size
                || number > self.number
                    && (does == Does::Reads || count.is_none() && !self.is_flag(*argument));
            if !is_length {
                continue;
            }
            let own = self.arguments.get(self.number).copied().unwrap_or(self.call);
            let count = count.filter(|_| !self.is_divided(*argument));
            let count = count.and_then(|count| bytes(self.view, self.arguments, (own, *argument), count));
            let count = count.map(|count| count.saturating_mul(self.unit_of(*argument)));
            found = Some(match found {
                Some(Some(known)) => count.map(|count| count.max(known)),
                Some(None) => None,
                None => count,
            });
        }
        if found.is_none() && does == Does::Reads && name.ends_with("ioctl") {
            found = Some(None);
        }
        let found = found.map(|count| count.filter(|_| !self.is_product()));
        found.map(|count| End::Bytes { count, by: name.to_owned() })
    }

    /// Whether numbers behind the pointer may be how many elements there are, and the size of one: a function of the program
    /// with more than one of them may multiply them.
    fn is_product(&self) -> bool {
        let view = self.view;
        if function(view, self.call).is_some_and(Cursor::is_of_system) {
            return false;
        }
        let behind = self.arguments.iter().skip(self.number + 1).copied();
        let counts = behind.filter(|argument| {
            let cursor = view.cursor(*argument).filter(|argument| is_number(argument.ty()));
            cursor.is_some_and(|cursor| {
                let is_one = cursor.constant().is_some_and(|number| number <= 1);
                !is_one && !self.is_flag(*argument)
            })
        });
        let others = counts.filter(|argument| self.has_size(*argument) || !self.is_only_mixed_in(*argument));
        others.count() > 1
    }

    /// The bytes that a number counts in: beside a pointer to elements it counts those, unless it is made of sizes.
    pub(super) fn unit_of(&self, index: Index) -> u64 {
        let own = self.arguments.get(self.number).and_then(|own| self.view.cursor(*own)?.ty().pointee());
        let size = own.filter(|own| own.kind() == TypeKind::Number).and_then(Type::size);
        size.filter(|_| !self.has_size(index)).unwrap_or(1)
    }

    /// So many elements of a size.
    pub(super) fn product(&self) -> Option<u64> {
        let numbers = self
            .arguments
            .iter()
            .filter(|argument| self.view.cursor(**argument).is_some_and(|argument| is_number(argument.ty())));
        numbers.map(|number| self.number_of(*number)).try_fold(1, |all: u64, number| all.checked_mul(number?))
    }

    /// Whether a number is one of names, or the result of a comparison.
    pub(super) fn is_flag(&self, index: Index) -> bool {
        let peeled = self.view.peeled(index);
        let cursor = self.view.cursor(peeled);
        cursor.is_some_and(|cursor| {
            cursor.ty().is_enumeration()
                || cursor.ty().size() == Some(1)
                || matches!(
                    cursor.binary_operator(),
                    Operator::Bits | Operator::Compare | Operator::Order | Operator::Logic
                )
        })
    }

    pub(super) fn is_divided(&self, index: Index) -> bool {
        let peeled = self.view.peeled(index);
        self.view.tree.kind(peeled) == Kind::Binary
            && self.view.cursor(peeled).is_some_and(|cursor| cursor.binary_operator() == Operator::Divide)
    }

    pub(super) fn has_size(&self, index: Index) -> bool {
        let own = std::iter::once(index).chain(self.view.tree.below(index));
        let mut nodes = own.into_iter();
        nodes.any(|node| self.view.tree.kind(node) == Kind::SizeOf)
            || self
                .view
                .sum(index)
                .terms
                .iter()
                .any(|(_, term)| matches!(term, Term::Size(..) | Term::Offset(_)))
    }
}
