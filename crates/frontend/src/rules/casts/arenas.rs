//! Memory that a unit asks for as bytes and uses as objects of one type alone: `(struct node *)(base + link)`.

use crate::addresses::{arguments, function, manages_memory};
use crate::clang::{Cursor, Identity, Kind, Operator, Type, TypeKind};
use crate::sum::View;
use crate::sum::nearby::{is_wrapping, outermost};
use crate::tree::Index;
use rustc_hash::FxHashSet;

/// Most nodes that the memory's address is followed through.
const MOST_NODES: usize = 2000;

/// Whether an address is counted from variables of this unit that only have memory which a function gives, or an array of
/// bytes, and of which nothing is used but objects of a type. What these are made of was written as such objects.
pub(super) fn is_arena<'u>(view: View<'_, '_, 'u>, address: Index, to: Type<'u>) -> bool {
    let Some(variable) = variable_of(view, address) else { return false };
    let mut arena =
        Arena { view, to, variables: FxHashSet::default(), seen: FxHashSet::default(), open: vec![] };
    if !arena.add(variable) {
        return false;
    }
    while let Some(node) = arena.open.pop() {
        if arena.seen.insert(node) && (arena.seen.len() > MOST_NODES || arena.step(node).is_none()) {
            return false;
        }
    }
    true
}

/// The variable that an address is counted from: `base + link`.
fn variable_of<'u>(view: View<'_, '_, 'u>, address: Index) -> Option<Cursor<'u>> {
    let mut at = view.peeled(address);
    while view.tree.kind(at) == Kind::Binary {
        let is_pointer = |side: &Index| view.cursor(*side).is_some_and(|side| side.ty().pointee().is_some());
        at = view.peeled(view.tree.values(at).find(is_pointer)?);
    }
    view.cursor(at).filter(|_| view.tree.kind(at) == Kind::Name)?.referenced()
}

/// Variables that have the memory's address, and what is done with it.
struct Arena<'v, 's, 'u> {
    view: View<'v, 's, 'u>,
    to: Type<'u>,
    variables: FxHashSet<Identity>,
    seen: FxHashSet<Index>,
    open: Vec<Index>,
}

impl<'u> Arena<'_, '_, 'u> {
    /// A variable has the address, or a parameter may: `false` if other code may use it, or if it has other values.
    fn add(&mut self, variable: Cursor<'u>) -> bool {
        let own = variable.identity();
        if self.variables.contains(&own) {
            return true;
        }
        let is_parameter = variable.kind() == Kind::Parameter && !self.variables.is_empty();
        if !is_parameter && (variable.kind() != Kind::Variable || variable.is_shared()) {
            return false;
        }
        self.variables.insert(own);
        let view = self.view;
        let names = |index: &Index| {
            let named = view.cursor(*index).and_then(Cursor::referenced).map(Cursor::identity);
            view.tree.kind(*index) == Kind::Name && named == Some(own)
        };
        self.open.extend((0..view.tree.len()).filter(names));
        let is_array = variable.ty().element().is_some();
        is_parameter
            || is_array && !variable.is_initialized()
            || view.flow.given(own).iter().all(|value| self.is_memory(*value))
    }

    /// Whether a value is memory that a function gives, nothing, or counted from a variable that has the address.
    fn is_memory(&mut self, value: Index) -> bool {
        let peeled = self.view.peeled(value);
        self.view.tree.kind(peeled) == Kind::Call && manages(self.view, peeled)
            || self.view.tree.kind(peeled) == Kind::Integer
            || variable_of(self.view, value).is_some_and(|variable| self.add(variable))
    }

    /// Follows the address that a node is to its use; `None` if that isn't known to be of objects of the type alone.
    fn step(&mut self, node: Index) -> Option<()> {
        let view = self.view;
        let (inner, parent) = outermost(view, node, is_wrapping)?;
        let taken = view.cursor(inner).filter(|_| inner != node).and_then(|inner| inner.ty().pointee());
        if let Some(taken) = taken.filter(|taken| !matches!(taken.kind(), TypeKind::Void | TypeKind::Byte)) {
            return taken.equals(self.to).then_some(());
        }
        match view.tree.kind(parent) {
            Kind::Binary => self.computed(inner, parent),
            Kind::Variable => self.add(view.cursor(parent)?).then_some(()),
            // Memory that is given back may be what is asked for next.
            Kind::Call if manages(view, parent) => self.used(parent),
            Kind::Call => self.handed(inner, parent),
            Kind::Return => self.returned(parent),
            Kind::Subscript => self.element(inner, parent),
            Kind::Conditional if view.tree.values(parent).next() != Some(inner) => {
                self.open.push(parent);
                Some(())
            }
            Kind::Unary if view.cursor(parent)?.unary_operator() == Operator::Not => Some(()),
            Kind::Conditional | Kind::Statement | Kind::SizeOf => Some(()),
            _ => None,
        }
    }

    fn computed(&mut self, inner: Index, parent: Index) -> Option<()> {
        let view = self.view;
        let mut sides = view.tree.values(parent);
        let (left, right) = (sides.next()?, sides.next()?);
        match view.cursor(parent)?.binary_operator() {
            Operator::Add => self.open.push(parent),
            Operator::Subtract => {
                let is_pointer = view.cursor(right)?.ty().kind() == TypeKind::Pointer;
                // The bytes between two addresses are none.
                if left == inner && !is_pointer {
                    self.open.push(parent);
                }
            }
            Operator::Compare | Operator::Order | Operator::Logic => {}
            // Its values were asked.
            Operator::Assign if left == inner => {}
            Operator::Move | Operator::MoveBack if left == inner => return self.used(parent),
            Operator::Assign => {
                let variable = view.cursor(left).filter(|_| view.tree.kind(left) == Kind::Name)?;
                let is_known = self.add(variable.referenced()?);
                return self.used(parent).filter(|()| is_known);
            }
            _ => return None,
        }
        Some(())
    }

    /// An expression gives the address, too, if somebody takes it.
    fn used(&mut self, node: Index) -> Option<()> {
        let tree = self.view.tree;
        let parent = tree.parent(node)?;
        let is_statement = matches!(tree.kind(parent), Kind::Block | Kind::Statement);
        let is_value = tree.parent(parent).is_some_and(|outer| tree.kind(outer) == Kind::StatementExpression);
        let has_address = self.view.cursor(node)?.ty().kind() != TypeKind::Void;
        if has_address && (!is_statement || is_value) {
            self.open.push(node);
        }
        Some(())
    }

    /// A function of this unit alone is handed the address.
    fn handed(&mut self, inner: Index, call: Index) -> Option<()> {
        let own = function(self.view, call)?.definition().filter(|own| !own.is_shared())?;
        let number = arguments(self.view, call).into_iter().position(|argument| argument == inner)?;
        self.add(own.argument(u32::try_from(number).ok()?)?).then_some(())
    }

    /// A function of this unit alone gives the address to all that call it.
    fn returned(&mut self, index: Index) -> Option<()> {
        let view = self.view;
        let mut holders = std::iter::successors(view.tree.parent(index), |holder| view.tree.parent(*holder));
        let own = view.cursor(holders.find(|holder| view.tree.kind(*holder) == Kind::Function)?)?;
        let names = (0..view.tree.len()).filter(|name| {
            let named = view.cursor(*name).and_then(Cursor::referenced).map(Cursor::identity);
            view.tree.kind(*name) == Kind::Name && named == Some(own.identity())
        });
        let calls: Option<Vec<Index>> = names
            .map(|name| {
                let (inner, call) = outermost(view, name, is_wrapping)?;
                let is_called =
                    view.tree.kind(call) == Kind::Call && view.tree.values(call).next() == Some(inner);
                is_called.then_some(call)
            })
            .collect();
        self.open.extend(calls.filter(|_| !own.is_shared())?);
        Some(())
    }

    /// `&base[number]`
    fn element(&mut self, inner: Index, element: Index) -> Option<()> {
        let view = self.view;
        let (_, outer) = outermost(view, element, |kind| kind == Kind::Paren)?;
        let is_address = view.cursor(outer)?.unary_operator() == Operator::AddressOf;
        let is_base = view.tree.values(element).next() == Some(inner);
        self.open.push(Some(outer).filter(|_| is_address && is_base)?);
        Some(())
    }
}

/// Whether a call gives memory or takes it back, by a function of the system.
fn manages(view: View<'_, '_, '_>, call: Index) -> bool {
    function(view, call).is_some_and(|by| by.is_of_system() && manages_memory(&by.name()))
}
