//! Atomic operations on memory that an address is kept in, or leads to.

use super::super::facts::{End, State};
use super::follower::Follower;
use crate::clang::{Kind, Type, TypeKind};
use crate::tree::Index;

impl<'u> Follower<'_, '_, '_, 'u> {
    /// The operands of an atomic operation that the front end has no call for: the memory, and what goes there.
    pub(crate) fn atomic_operands(&self, node: Index) -> Option<Vec<Index>> {
        let tree = self.unit.view.tree;
        if tree.kind(node) != Kind::Unexposed || tree.only(node).is_some() {
            return None;
        }
        let operands: Vec<Index> = tree.values(node).collect();
        let memory = self.ty(*operands.first()?)?;
        let held = memory.pointee()?;
        let fits =
            |operand: &Index| self.ty(*operand).is_some_and(|ty| ty.equals(held) || is_memory(ty, held));
        let is_named = self.ty(node).is_some_and(|ty| ty.kind() == TypeKind::Void || ty.equals(held));
        (is_named || operands.iter().skip(1).any(fits)).then_some(operands)
    }

    /// The address is an operand of an atomic operation.
    pub(crate) fn atomic(&mut self, index: Index, node: Index, operands: &[Index], state: State) {
        let Some(memory) = operands.first().copied() else { return };
        let Some(held) = self.ty(memory).and_then(Type::pointee) else { return };
        let has_type = |own: Option<Type<'u>>| own.is_some_and(|own| own.equals(held));
        let is_named = has_type(self.ty(node));
        let is_memory = |operand: Index| self.ty(operand).is_some_and(|ty| is_memory(ty, held));
        if index != memory && !is_memory(index) {
            if is_named {
                self.push(node, state);
            }
            return self.store(memory, State { level: state.level.saturating_add(1), ..state });
        }
        let Some(level) = state.level.checked_sub(1) else {
            return self.operated(index, state);
        };
        let others: Vec<Index> =
            operands.iter().copied().filter(|other| *other != index && is_memory(*other)).collect();
        others.into_iter().for_each(|other| self.store(other, state));
        if is_named {
            self.push(node, State { level, ..state });
        }
    }

    /// An atomic operation on what the address leads to.
    pub(crate) fn operated(&mut self, index: Index, state: State) {
        let pointee = self.ty(index).and_then(Type::pointee);
        if let Some(pointee) = pointee.filter(|pointee| pointee.kind() != TypeKind::Record) {
            self.end(index, state, End::Bytes { count: pointee.size(), by: pointee.spelling() });
        }
    }
}

/// Whether a type is the address of memory that holds values of another one.
fn is_memory(ty: Type<'_>, held: Type<'_>) -> bool {
    ty.pointee().is_some_and(|own| own.equals(held))
}
