//! The steps of an address from expression to expression.

mod copies;

use super::super::facts::{End, Outcome, State};
use super::super::numbers;
use super::super::shapes::wrappers::is_wrapper;
use super::follower::Follower;
use super::moves::{bytes, shifted};
use crate::clang::{Cursor, Kind, Operator, Type, TypeKind};
use crate::tree::Index;

/// Most steps on one way: what goes further is not understood.
const MOST_STEPS: usize = 1 << 16;

impl<'u> Follower<'_, '_, '_, 'u> {
    /// Follows to all ends.
    pub(crate) fn run(mut self) -> Outcome {
        while let Some((index, state)) = self.open.pop() {
            if self.seen.len() > MOST_STEPS {
                self.end(index, State::PLAIN, End::Unknown);
                break;
            }
            self.step(index, state);
        }
        self.outcome.ends.sort_unstable();
        self.outcome.ends.dedup();
        self.outcome.places.sort_unstable();
        self.outcome.places.dedup();
        self.outcome
    }

    pub(crate) fn step(&mut self, index: Index, state: State) {
        let tree = self.unit.view.tree;
        let Some(parent) = tree.parent(index) else { return };
        if state.level == 0 && self.is_reference(index) {
            return self.referred(index, parent, state);
        }
        match tree.kind(parent) {
            Kind::Paren | Kind::StatementExpression => self.push(parent, state),
            Kind::Unexposed | Kind::Cast | Kind::FunctionalCast => self.converted(index, parent, state),
            Kind::Unary => self.unary(index, parent, state),
            Kind::Binary => self.binary(index, parent, state),
            Kind::Subscript => self.subscript(index, parent, state),
            Kind::Conditional | Kind::Selection if tree.values(parent).next() == Some(index) => {}
            Kind::Conditional | Kind::Selection => self.push(parent, state),
            Kind::Call => self.handed(index, parent, state),
            Kind::Return => self.returned(parent, state),
            Kind::Variable | Kind::Member | Kind::Parameter => self.stored_in(parent, state),
            Kind::List => self.listed(index, parent, state),
            Kind::Constructor => self.constructed(index, parent, state),
            Kind::Block => self.dropped(index, parent, state),
            Kind::Lambda => self.captured(index, parent, state),
            Kind::New => self.made(index, parent, state),
            Kind::Asm => self.assembled(index, parent, state),
            Kind::MemberAccess => self.unwrapped(parent, state),
            Kind::CompoundLiteral if self.ty(parent).is_some_and(is_wrapper) => self.push(parent, state),
            // Tested, measured, or an operand as any address is.
            Kind::Statement
            | Kind::Switch
            | Kind::Case
            | Kind::SizeOf
            | Kind::Delete
            | Kind::Declarations
            | Kind::StaticAssert
            | Kind::Enumerator => {}
            _ => self.not_understood(index, state),
        }
    }

    /// A member is named of what holds the address: of a wrapper, it is that itself.
    fn unwrapped(&mut self, member: Index, state: State) {
        match self.unit.wrapper_of(member) {
            Some((_, false)) => self.push(member, state),
            Some((_, true)) if state.level > 0 => {
                self.push(member, State { level: state.level - 1, ..state });
            }
            _ => {}
        }
    }

    /// `new void *(address)`, `new (address) int[3]`
    fn made(&mut self, index: Index, new: Index, state: State) {
        let Some(made) = self.ty(new).and_then(Type::pointee) else { return };
        if self.ty(index).is_some_and(|own| own.equals(made)) {
            return self.push(new, State { level: state.level.saturating_add(1), ..state });
        }
        self.made_at(index, new, state);
    }

    /// The last value of a statement expression is the expression's.
    pub(crate) fn dropped(&mut self, index: Index, block: Index, state: State) {
        let tree = self.unit.view.tree;
        let holder = tree.parent(block).filter(|holder| tree.kind(*holder) == Kind::StatementExpression);
        if let Some(holder) = holder
            && tree.children(block).last() == Some(index)
        {
            self.push(holder, state);
        }
    }

    pub(crate) fn unary(&mut self, index: Index, parent: Index, state: State) {
        let Some(operator) = self.unit.view.cursor(parent).map(Cursor::unary_operator) else { return };
        match operator {
            Operator::Dereference => self.read(index, parent, state),
            Operator::AddressOf => self.push(parent, State { level: state.level.saturating_add(1), ..state }),
            Operator::Step | Operator::StepBack if state.level == 0 => {
                let state = if operator == Operator::Step { state.forward() } else { state.anywhere() };
                self.push(parent, state);
                self.store(index, state);
            }
            Operator::Step | Operator::StepBack | Operator::Same => self.push(parent, state),
            // The same operator gives the address back.
            Operator::Minus | Operator::Complement => self.push(parent, state.as_number()),
            _ => {}
        }
    }

    /// The node is what the address leads to.
    pub(crate) fn read(&mut self, index: Index, node: Index, state: State) {
        if let Some(level) = state.level.checked_sub(1) {
            let state = State { level, ..state };
            if let Some(ty) = self.ty(node).filter(|_| level == 0) {
                self.read_as(node, ty, state);
            }
            return self.push(node, state);
        }
        let tree = self.unit.view.tree;
        let mut outer = node;
        while let Some(parent) = tree.parent(outer).filter(|parent| tree.kind(*parent) == Kind::Paren) {
            outer = parent;
        }
        let address = tree.parent(outer).filter(|parent| {
            let operator = self.unit.view.cursor(*parent).map(Cursor::unary_operator);
            tree.kind(*parent) == Kind::Unary && operator == Some(Operator::AddressOf)
        });
        if let Some(address) = address {
            return self.push(address, state);
        }
        let Some(ty) = self.ty(node) else { return };
        match ty.kind() {
            TypeKind::Array => self.push(node, state),
            // The conversion to a pointer to it was asked.
            TypeKind::Record | TypeKind::Function | TypeKind::Void => {}
            _ if self.unit.view.is_never_run(node) => {}
            _ => {
                let (count, by) = (ty.size(), ty.spelling());
                let is_copied =
                    matches!(ty.kind(), TypeKind::Byte | TypeKind::Number) && self.is_copied(node);
                match is_copied {
                    true => {
                        let end = End::Sets { count, by, is_fixed: false };
                        self.end(index, self.stepped(index, state), end);
                    }
                    false => self.end(index, state, End::Bytes { count, by }),
                }
            }
        }
    }

    pub(crate) fn subscript(&mut self, index: Index, parent: Index, state: State) {
        let view = self.unit.view;
        let mut sides = view.tree.values(parent);
        let (Some(mut array), Some(mut number)) = (sides.next(), sides.next()) else { return };
        // `number[array]`
        if self.ty(array).is_some_and(|ty| ty.kind() == TypeKind::Number) {
            (array, number) = (number, array);
        }
        if array != index {
            return;
        }
        let size = self.ty(parent).and_then(Type::size);
        let moved = bytes(numbers::number(view, number), size);
        let is_back = view.cursor(view.peeled(number)).is_some_and(|number| {
            number.unary_operator() == Operator::Minus || number.binary_operator() == Operator::Subtract
        });
        let state = if state.level > 0 { state } else { shifted(state, moved, !is_back) };
        self.read(index, parent, state);
    }

    /// Whether a number is computed that no address fits in: hashes and sums of an address' bytes.
    pub(crate) fn is_too_narrow(&self, computed: Index) -> bool {
        let number = self.ty(computed).filter(|ty| ty.kind() == TypeKind::Number);
        number.and_then(Type::size).is_some_and(|size| size < self.unit.address_size)
    }

    pub(crate) fn binary(&mut self, index: Index, parent: Index, state: State) {
        let view = self.unit.view;
        let mut sides = view.tree.values(parent);
        let (Some(left), Some(right)) = (sides.next(), sides.next()) else { return };
        let Some(operator) = view.cursor(parent).map(Cursor::binary_operator) else { return };
        let is_left = left == index;
        if matches!(operator, Operator::Compare | Operator::Order) {
            return self.compared(index, if is_left { right } else { left }, state);
        }
        if !matches!(operator, Operator::Assign | Operator::Comma) && self.is_too_narrow(parent) {
            return;
        }
        match operator {
            Operator::Add | Operator::Subtract => {
                let other = if is_left { right } else { left };
                self.moved(index, parent, (other, operator == Operator::Add), state, is_left);
            }
            Operator::Bits => {
                self.masked(parent, if is_left { right } else { left }, state);
                self.taken_apart(parent, state);
                self.push(parent, state);
            }
            Operator::Remainder if is_left => {
                self.masked(parent, right, state);
                self.taken_apart(parent, state);
            }
            Operator::ShiftRight if is_left => self.shifted_back(index, parent, right, state),
            Operator::Divide if is_left => self.divided(index, parent, state),
            Operator::ShiftLeft if is_left => self.push(parent, state.as_number()),
            Operator::Multiply => self.push(parent, state.as_number()),
            Operator::AssignBits if is_left => {
                self.masked(parent, right, state);
                self.push(parent, state);
            }
            Operator::Scale if is_left => self.divided(index, parent, state),
            Operator::AssignBits => {
                self.masked(parent, left, state);
                self.push(parent, state);
                self.store(left, state);
            }
            Operator::Comma if !is_left => self.push(parent, state),
            Operator::Assign if !is_left => {
                self.push(parent, state);
                self.store(left, state);
            }
            Operator::Move | Operator::MoveBack => {
                let state = match operator {
                    _ if state.level > 0 => state,
                    Operator::Move => state.forward(),
                    _ => state.anywhere(),
                };
                self.push(parent, state);
                self.store(left, state);
            }
            _ => {}
        }
    }
}
