//! Bytes and numbers that are read only to be written elsewhere: code that moves objects, whatever they are.

use super::super::super::facts::State;
use super::super::follower::Follower;
use crate::clang::{Cursor, Identity, Kind, Operator, TypeKind};
use crate::sum::nearby::outermost;
use crate::tree::Index;

/// Most variables on the way to where a pointer comes from.
const MOST_HOPS: usize = 8;

/// A place in memory that code moves something from or to. Equal ones are as far from the begin of two objects, so that
/// what is moved is no other's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PlaceInMemory {
    /// The place that a variable numbers.
    Numbered(Identity),
    /// The place that a pointer is stepped to.
    Next {
        /// Whether it is stepped back.
        is_back: bool,
    },
}

impl Follower<'_, '_, '_, '_> {
    /// Whether a value that is read or written through a pointer only goes from one place in memory to another, and nobody
    /// says of either what it is of: `t = *a; *a = *b; *b = t` of two `void *`.
    pub(crate) fn is_copied(&self, node: Index) -> bool {
        let Some((index, parent)) = self.used_by(node) else { return false };
        let view = self.unit.view;
        match view.tree.kind(parent) {
            Kind::Binary => self.is_copy(index, parent),
            Kind::Variable => view.cursor(parent).is_some_and(|variable| self.is_only_copied(variable)),
            _ => false,
        }
    }

    /// Where a pointer leads that moves objects: one that is stepped leads to each byte.
    pub(crate) fn stepped(&self, pointer: Index, state: State) -> State {
        let view = self.unit.view;
        let mut nodes = std::iter::once(pointer).chain(view.tree.below(pointer));
        let is_stepped = |node: Index| {
            let named =
                view.cursor(node).and_then(Cursor::referenced).filter(|_| view.tree.kind(node) == Kind::Name);
            named.is_some_and(|named| view.flow.is_changed(named.identity()))
        };
        if nodes.any(is_stepped) { state.forward() } else { state }
    }

    /// The outermost expression that is the same value, and what uses it.
    fn used_by(&self, node: Index) -> Option<(Index, Index)> {
        outermost(self.unit.view, node, |kind| matches!(kind, Kind::Paren | Kind::Unexposed))
    }

    /// Whether an operator assigns one side to the other, one of them `index`, and both are the same place of what they lead
    /// to, or one is kept only to be written there.
    fn is_copy(&self, index: Index, assignment: Index) -> bool {
        let view = self.unit.view;
        let mut sides = view.tree.values(assignment);
        let (Some(left), Some(right)) = (sides.next(), sides.next()) else { return false };
        let operator = view.cursor(assignment).map(Cursor::binary_operator);
        let (own, other) = if left == index { (left, right) } else { (right, left) };
        let is_alone = view.tree.parent(assignment).is_some_and(|outer| {
            view.tree.kind(outer) == Kind::Block || view.tree.kind(outer) == Kind::Statement
        });
        let is_same =
            || self.place_in_memory(own).is_some_and(|own| self.place_in_memory(other) == Some(own));
        operator == Some(Operator::Assign) && is_alone && (is_same() || self.is_kept(other))
    }

    /// Whether an expression is a variable that only keeps what is copied.
    fn is_kept(&self, index: Index) -> bool {
        let view = self.unit.view;
        let index = view.peeled(index);
        let variable =
            view.cursor(index).and_then(Cursor::referenced).filter(|_| view.tree.kind(index) == Kind::Name);
        variable.is_some_and(|variable| self.is_only_copied(variable))
    }

    /// Whether a variable is only given what is at one place in memory, all of it, and is only written there again.
    fn is_only_copied(&self, variable: Cursor<'_>) -> bool {
        let view = self.unit.view;
        if !variable.is_local() || view.flow.is_changed(variable.identity()) {
            return false;
        }
        let given = view.flow.given(variable.identity());
        let Some(place) = given.first().and_then(|value| self.place_in_memory(*value)) else { return false };
        let is_whole = |value: &Index| {
            let size = view.cursor(view.peeled(*value)).and_then(|value| value.ty().size());
            self.place_in_memory(*value) == Some(place) && size == variable.ty().size()
        };
        let names = self.unit.names.get(&variable.identity()).map_or(&[][..], Vec::as_slice);
        let is_assigned = |name: &Index| {
            let Some((index, parent)) = self.used_by(*name) else { return false };
            let mut sides = view.tree.values(parent).filter(|_| view.tree.kind(parent) == Kind::Binary);
            let (Some(left), operator) = (sides.next(), view.cursor(parent).map(Cursor::binary_operator))
            else {
                return false;
            };
            operator == Some(Operator::Assign) && (left == index || self.place_in_memory(left) == Some(place))
        };
        given.iter().all(is_whole) && names.iter().all(is_assigned)
    }

    /// The place of what an expression reads or writes behind a pointer that was handed over as one to anything.
    fn place_in_memory(&self, index: Index) -> Option<PlaceInMemory> {
        let view = self.unit.view;
        let index = view.peeled(index);
        let is_read = match view.tree.kind(index) {
            Kind::Subscript => true,
            Kind::Unary => view.cursor(index).map(Cursor::unary_operator) == Some(Operator::Dereference),
            _ => false,
        };
        let mut sides = view.tree.values(index);
        let pointer = sides.next().filter(|pointer| is_read && self.is_open_pointer(*pointer, MOST_HOPS))?;
        if let Some(number) = sides.next() {
            return self.counted_by(number);
        }
        let pointer = view.peeled(pointer);
        match view.tree.kind(pointer) {
            Kind::Binary => self.counted_by(view.tree.values(pointer).nth(1)?),
            _ => {
                let mut nodes = std::iter::once(pointer).chain(view.tree.below(pointer));
                let name = nodes.find(|node| view.tree.kind(*node) == Kind::Name)?;
                let variable = view.cursor(name)?.referenced()?.identity();
                Some(PlaceInMemory::Next { is_back: view.flow.is_counted_down(variable) })
            }
        }
    }

    /// `[n]`, `[--n]`, `+ (n -= 8)`
    fn counted_by(&self, number: Index) -> Option<PlaceInMemory> {
        let view = self.unit.view;
        let mut at = view.peeled(number);
        if matches!(view.tree.kind(at), Kind::Unary | Kind::Binary) {
            let cursor = view.cursor(at)?;
            let is_step = matches!(cursor.unary_operator(), Operator::Step | Operator::StepBack)
                || matches!(cursor.binary_operator(), Operator::Move | Operator::MoveBack);
            at = view.tree.values(at).next().filter(|_| is_step).map(|inner| view.peeled(inner))?;
        }
        let variable = view.cursor(at).filter(|_| view.tree.kind(at) == Kind::Name)?.referenced()?;
        Some(PlaceInMemory::Numbered(variable.identity()))
    }

    fn is_open_pointer(&self, index: Index, hops: usize) -> bool {
        let (view, Some(hops)) = (self.unit.view, hops.checked_sub(1)) else { return false };
        let index = view.peeled(index);
        let operand =
            || view.tree.values(index).next().is_some_and(|inner| self.is_open_pointer(inner, hops));
        match view.tree.kind(index) {
            Kind::Cast | Kind::Unexposed | Kind::Paren | Kind::Unary => operand(),
            Kind::Binary => {
                let operator = view.cursor(index).map(Cursor::binary_operator);
                matches!(operator, Some(Operator::Add | Operator::Subtract)) && operand()
            }
            Kind::Name => {
                let Some(declared) = view.cursor(index).and_then(Cursor::referenced) else { return false };
                match declared.kind() {
                    Kind::Parameter => declared.ty().pointee().is_some_and(|ty| ty.kind() == TypeKind::Void),
                    Kind::Variable if declared.is_local() => {
                        let given = view.flow.given(declared.identity());
                        !given.is_empty() && given.iter().all(|value| self.is_open_pointer(*value, hops))
                    }
                    _ => false,
                }
            }
            _ => false,
        }
    }
}
