//! Numbers that are added to an address.

use super::super::facts::{End, Place, State};
use super::super::names;
use super::super::numbers;
use super::follower::Follower;
use crate::clang::{Cursor, Kind, Operator, Type, TypeKind};
use crate::tree::Index;

/// Most variables on the way to a number.
const MOST_HOPS: usize = 8;

impl<'u> Follower<'_, '_, '_, 'u> {
    pub(crate) fn moved(
        &mut self,
        index: Index,
        parent: Index,
        (other, is_added): (Index, bool),
        state: State,
        is_left: bool,
    ) {
        let view = self.unit.view;
        let Some(amount) = view.cursor(other) else { return };
        if !is_added {
            self.subtracted(index, (parent, other), is_left, state);
        }
        // A distance between two addresses is none.
        if !is_added && (!is_left || amount.ty().kind() == TypeKind::Pointer) {
            return;
        }
        if state.level > 0 {
            return self.push(parent, state);
        }
        // A number that is added to an address of elements counts them, and one that was computed is no distance.
        let is_index = self.ty(index).is_some_and(|ty| ty.kind() == TypeKind::Number)
            && amount
                .ty()
                .pointee()
                .or_else(|| amount.ty().element())
                .is_some_and(|element| state.is_number || element.size().is_some_and(|size| size > 1));
        if is_index {
            return;
        }
        if state.is_number {
            return self.push(parent, state.anywhere());
        }
        // An offset that the compiler takes leads to the member wherever that stands.
        if view.sum(other).has_offsets() && !self.is_counter(other) {
            let member = numbers::number(view, other).and_then(|bytes| u64::try_from(bytes).ok());
            if is_added && member.is_some() && state == State::PLAIN {
                self.push(parent, State { member, ..state });
            }
            return;
        }
        if self.is_taken_offset(other) {
            return;
        }
        let pointee = self.ty(index).and_then(|ty| ty.pointee().or_else(|| ty.element()));
        let scale = pointee.filter(|pointee| pointee.kind() != TypeKind::Void).map_or(Some(1), Type::size);
        if let Some(place) = self.given_place(other, MOST_HOPS) {
            let scale = scale.and_then(|scale| i64::try_from(scale).ok()).unwrap_or(1);
            return self.summed(parent, &place, if is_added { scale } else { -scale }, state);
        }
        if let Some(bytes) = self.stride(other, scale) {
            self.end(parent, state, End::Strides { bytes });
        }
        for steps in self.given_steps(other, scale) {
            self.hand(parent, state, steps, None);
        }
        let amount = bytes(numbers::number(view, other), scale);
        let amount = if is_added { amount } else { amount.and_then(i64::checked_neg) };
        let state = match amount {
            None if is_added => State {
                least: state.least.and_then(|own| own.checked_add(self.least(other))),
                ..state.forward()
            },
            _ => shifted(state, amount, is_added),
        };
        self.push(parent, state);
    }

    /// Bytes that a sum has at least: the sizes of records in it.
    fn least(&self, index: Index) -> i64 {
        let sum = self.unit.view.sum(index);
        if sum.terms.iter().any(|(is_added, _)| !is_added) {
            return 0;
        }
        let sizes = sum.sizes(true).filter_map(|(ty, _)| i64::try_from(ty.size()?).ok());
        sizes.fold(0, i64::saturating_add)
    }

    /// The places that may give the number of bytes that an address is moved in steps of, or that number's bits.
    fn given_steps(&self, index: Index, scale: Option<u64>) -> Vec<Place> {
        let view = self.unit.view;
        let index = view.peeled(index);
        let is_shift = match view.cursor(index).map(Cursor::binary_operator) {
            Some(Operator::ShiftLeft) => true,
            Some(Operator::Multiply) => false,
            _ => return Vec::new(),
        };
        let Some(scale) = scale else { return Vec::new() };
        let at = self.unit.place(index);
        let line = format!("{}:{}", at.file.display(), at.line);
        let sides = view.tree.values(index).skip(usize::from(is_shift));
        let places = sides.filter_map(|side| self.given_place(side, MOST_HOPS));
        places.map(|place| names::steps(&place, (scale, is_shift), &line)).collect()
    }

    /// The number of bytes that a product of a number and something unknown counts in.
    fn stride(&self, index: Index, scale: Option<u64>) -> Option<u64> {
        let view = self.unit.view;
        let index = view.peeled(index);
        if view.cursor(index)?.constant().is_some() {
            return None;
        }
        let is_product = match view.cursor(index)?.binary_operator() {
            Operator::Multiply => true,
            Operator::ShiftLeft => false,
            _ => return None,
        };
        if !is_product {
            let bits = view.tree.values(index).nth(1).and_then(|bits| view.cursor(bits)?.constant())?;
            return 1_u64.checked_shl(u32::try_from(bits).ok()?)?.checked_mul(scale?);
        }
        let number = view.tree.values(index).find_map(|side| {
            let has_size = view.tree.kind(view.peeled(side)) == Kind::SizeOf
                || view.sum(side).sizes(true).next().is_some();
            u64::try_from(view.cursor(side)?.constant().filter(|_| !has_size)?).ok()
        });
        number?.checked_mul(scale?)
    }

    /// Whether a variable runs over offsets.
    pub(crate) fn is_counter(&self, index: Index) -> bool {
        let view = self.unit.view;
        let declared = view.cursor(view.peeled(index)).and_then(Cursor::referenced);
        declared.is_some_and(|declared| {
            declared.kind() == Kind::Variable && view.flow.is_changed(declared.identity())
        })
    }

    /// Whether a number is a variable's that offsets are given to.
    fn is_taken_offset(&self, index: Index) -> bool {
        let view = self.unit.view;
        let index = view.peeled(index);
        let declared = view.cursor(index).filter(|_| view.tree.kind(index) == Kind::Name);
        let Some(declared) = declared.and_then(Cursor::referenced) else { return false };
        let given = view.flow.given(declared.identity());
        let is_offset = |value: &Index| view.sum(*value).has_offsets();
        declared.kind() == Kind::Variable && given.iter().any(is_offset)
    }

    /// The member or the parameter that a number is read from: all units tell what these are given.
    fn given_place(&self, index: Index, hops: usize) -> Option<Place> {
        let view = self.unit.view;
        let index = view.peeled(index);
        if !matches!(view.tree.kind(index), Kind::MemberAccess | Kind::Name) {
            return None;
        }
        let declared = view.cursor(index).and_then(Cursor::referenced)?;
        match declared.kind() {
            Kind::Member => Some(names::variable(declared)),
            Kind::Parameter if !view.flow.is_changed(declared.identity()) => parameter_of(declared),
            Kind::Variable if !declared.is_shared() && !view.flow.is_changed(declared.identity()) => {
                match view.flow.given(declared.identity()) {
                    [value] => self.given_place(*value, hops.checked_sub(1)?),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The address is moved by what a place is given.
    fn summed(&mut self, parent: Index, place: &str, scale: i64, state: State) {
        let at = self.unit.place(parent);
        let sum = names::sum(place, scale, &format!("{}:{}", at.file.display(), at.line));
        self.unit.sums.borrow_mut().insert((sum.clone(), parent));
        self.hand(parent, state, sum, None);
    }
}

/// The place of a function's parameter.
pub(crate) fn parameter_of(parameter: Cursor<'_>) -> Option<Place> {
    let function = parameter.holder()?;
    let number = (0..function.argument_count()).position(|number| {
        function.argument(number).is_some_and(|own| own.identity() == parameter.identity())
    })?;
    Some(names::parameter(function, number))
}

/// So many places of a size.
pub(crate) fn bytes(number: Option<i64>, size: Option<u64>) -> Option<i64> {
    number
        .zip(size.and_then(|size| i64::try_from(size).ok()))
        .and_then(|(number, size)| number.checked_mul(size))
}

/// An address moved by a number of bytes, which may be unknown.
pub(crate) fn shifted(state: State, amount: Option<i64>, is_added: bool) -> State {
    match amount {
        Some(amount) => state.by(amount),
        None if is_added => state.forward(),
        None => state.anywhere(),
    }
}
