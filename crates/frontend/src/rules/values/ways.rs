//! Numbers on their way through a unit: variables, members, parameters and sums that they get into, and all that is
//! done with them there.

use crate::clang::{Cursor, Identity, Kind, Operator, Type, TypeKind};
use crate::records::positions::{Position, positions};
use crate::sum::View;
use crate::sum::plain::constant;
use crate::tree::Index;
use rustc_hash::{FxHashMap, FxHashSet};

/// Most nodes that one number is followed through.
const MOST_STEPS: usize = 2000;

/// How a number has changed on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Form {
    /// It is what it was.
    Same,
    /// Something unknown was added to it.
    Added,
    /// It was computed with otherwise.
    Computed,
}

/// A use of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// It is asked whether it is zero.
    Tested,
    /// It is compared with another expression.
    Compared { other: Index, operator: Operator },
    /// It is shifted, divided, or a part of a number by `|`.
    Computed { operator: Operator },
    /// Another expression is divided by it.
    Divides { other: Index },
    /// Another expression is taken off it.
    Reduced { by: Index },
    /// It is kept in so many bits, the sign apart.
    Kept { bits: u32 },
    /// It is the index of a table.
    Index,
    /// It is a case of a switch.
    Case,
    /// A switch chooses by it.
    Chooses { switch: Index },
    /// It is printed.
    Printed,
    /// It goes further than is followed.
    TooFar,
}

/// The nodes that name each declaration.
#[derive(Default)]
pub(super) struct Names(FxHashMap<Identity, Vec<Index>>);

impl Names {
    pub(super) fn read(view: View<'_, '_, '_>) -> Self {
        let mut names = Self::default();
        for index in 0..view.tree.len() {
            if matches!(view.tree.kind(index), Kind::Name | Kind::MemberAccess)
                && let Some(declared) = view.cursor(index).and_then(Cursor::referenced)
            {
                names.0.entry(declared.identity()).or_default().push(index);
            }
        }
        names
    }

    /// The nodes that name a declaration.
    pub(super) fn places(&self, declared: Identity) -> &[Index] {
        self.0.get(&declared).map_or(&[], Vec::as_slice)
    }
}

/// A number on its way.
pub(super) struct Way<'o, 'v, 's, 'u> {
    view: View<'v, 's, 'u>,
    names: &'o Names,
    /// Whether functions that are handed the number are followed.
    follows_calls: bool,
    seen: FxHashSet<(Index, Form)>,
    open: Vec<(Index, Form)>,
    found: Vec<(Form, Use)>,
}

impl<'o, 'v, 's, 'u> Way<'o, 'v, 's, 'u> {
    pub(super) fn new(view: View<'v, 's, 'u>, names: &'o Names) -> Self {
        let (seen, open, found) = (FxHashSet::default(), Vec::new(), Vec::new());
        Self { view, names, follows_calls: true, seen, open, found }
    }

    /// A way that ends where the number is handed to a function.
    pub(super) fn inside(view: View<'v, 's, 'u>, names: &'o Names) -> Self {
        Self { follows_calls: false, ..Self::new(view, names) }
    }

    /// All uses of the number that a node is.
    pub(super) fn uses(mut self, index: Index) -> Vec<(Form, Use)> {
        self.open.push((index, Form::Same));
        while let Some((index, form)) = self.open.pop() {
            if self.seen.len() > MOST_STEPS {
                self.found.push((form, Use::TooFar));
                break;
            }
            if self.seen.insert((index, form)) {
                self.step(index, form);
            }
        }
        self.found
    }

    fn step(&mut self, index: Index, form: Form) -> Option<()> {
        let tree = self.view.tree;
        let parent = tree.parent(index)?;
        match tree.kind(parent) {
            Kind::Unexposed if self.is_designated(parent) => self.designated(index, parent, form)?,
            Kind::StatementExpression => self.open.push((parent, form)),
            Kind::Paren | Kind::Unexposed | Kind::Cast | Kind::FunctionalCast => {
                self.converted(index, parent, form);
            }
            Kind::Unary => self.negated(parent, form),
            Kind::Binary => self.computed(index, parent, form)?,
            Kind::Conditional | Kind::Selection if tree.values(parent).next() != Some(index) => {
                self.open.push((parent, form));
            }
            // What a loop begins with, and how it goes on.
            Kind::Statement if self.is_assignment(index) => {}
            Kind::Conditional | Kind::Statement => self.found.push((form, Use::Tested)),
            Kind::Block => self.last_of(index, parent, form)?,
            Kind::Subscript if tree.values(parent).next() == Some(index) => self.open.push((parent, form)),
            Kind::Subscript => self.found.push((form, Use::Index)),
            Kind::Case => self.found.push((form, Use::Case)),
            Kind::Switch => self.found.push((form, Use::Chooses { switch: parent })),
            Kind::List => self.listed(index, parent, form),
            Kind::Variable => self.kept_in(self.view.cursor(parent)?, form),
            Kind::Return => self.returned(parent, form)?,
            Kind::Call if self.follows_calls => self.handed(index, parent, form)?,
            _ => {}
        }
        Some(())
    }

    fn is_assignment(&self, index: Index) -> bool {
        let operator = self.view.cursor(index).map(Cursor::binary_operator);
        self.view.tree.kind(index) == Kind::Binary
            && matches!(operator, Some(Operator::Assign | Operator::Move | Operator::Comma))
    }

    /// The last value of a statement expression is the expression's.
    fn last_of(&mut self, index: Index, block: Index, form: Form) -> Option<()> {
        let tree = self.view.tree;
        let holder = tree.parent(block).filter(|holder| tree.kind(*holder) == Kind::StatementExpression)?;
        if tree.children(block).last() == Some(index) {
            self.open.push((holder, form));
        }
        Some(())
    }

    /// A number that becomes an address by itself is still one; what it is added to is an address.
    fn converted(&mut self, index: Index, parent: Index, form: Form) {
        let (Some(to), Some(from)) =
            (self.view.cursor(parent).map(Cursor::ty), self.view.cursor(index).map(Cursor::ty))
        else {
            return;
        };
        match to.kind() {
            TypeKind::Pointer if form == Form::Same => self.open.push((parent, form)),
            TypeKind::Pointer => {}
            TypeKind::Number if to.size() == Some(1) && !to.is_integer() => {
                self.found.push((form, Use::Tested));
            }
            _ => {
                if from.size().zip(to.size()).is_some_and(|(from, to)| to < from) {
                    self.narrowed(to, form);
                }
                self.open.push((parent, form));
            }
        }
    }

    fn narrowed(&mut self, to: Type<'u>, form: Form) {
        let is_unsigned = to.canonical().spelling().starts_with("unsigned");
        let bits = to.size().and_then(|size| u32::try_from(size.saturating_mul(8)).ok());
        if let Some(bits) = bits.filter(|_| to.is_integer()) {
            self.found.push((form, Use::Kept { bits: if is_unsigned { bits } else { bits - 1 } }));
        }
    }

    fn negated(&mut self, parent: Index, form: Form) {
        match self.view.cursor(parent).map(Cursor::unary_operator) {
            Some(Operator::Not) => self.found.push((form, Use::Tested)),
            Some(Operator::Minus | Operator::Complement) => self.open.push((parent, Form::Computed)),
            Some(Operator::Same) => self.open.push((parent, form)),
            _ => {}
        }
    }

    fn is_designated(&self, index: Index) -> bool {
        let tree = self.view.tree;
        let is_in_list = tree.parent(index).is_some_and(|list| tree.kind(list) == Kind::List);
        is_in_list && !self.view.is_offset_of(index) && tree.children(index).nth(1).is_some()
    }

    /// `.member = number`, `[number] = value`
    fn designated(&mut self, index: Index, parent: Index, form: Form) -> Option<()> {
        let tree = self.view.tree;
        let name = tree.children(parent).filter(|child| tree.kind(*child) == Kind::MemberName).last();
        match name {
            Some(name) => self.kept_in(self.view.cursor(name)?.referenced()?, form),
            // An index in front of a value.
            None if tree.children(parent).next() == Some(index) => self.found.push((form, Use::Index)),
            None => {}
        }
        Some(())
    }

    fn listed(&mut self, index: Index, list: Index, form: Form) {
        let view = self.view;
        let Some(ty) = view.cursor(list).map(Cursor::ty) else { return };
        if !matches!(ty.kind(), TypeKind::Record | TypeKind::Array) {
            return self.open.push((list, form));
        }
        let all = positions(view.tree, view.records, list);
        match all.into_iter().find(|(value, _)| *value == index) {
            Some((_, Position::Member(member))) => self.kept_in(member, form),
            _ => self.open.push((list, form)),
        }
    }

    fn computed(&mut self, index: Index, parent: Index, form: Form) -> Option<()> {
        let view = self.view;
        let (left, right) = (view.tree.values(parent).next()?, view.tree.values(parent).nth(1)?);
        let other = if left == index { right } else { left };
        let node = view.cursor(parent)?;
        let operator = node.binary_operator();
        match operator {
            Operator::Add
            | Operator::Subtract
            | Operator::Multiply
            | Operator::Bits
            | Operator::Remainder
                if node.ty().kind() == TypeKind::Pointer => {}
            Operator::Add => {
                let is_number = constant(view, other).is_some();
                let form = if is_number || form == Form::Computed { Form::Computed } else { Form::Added };
                self.open.push((parent, form));
            }
            Operator::Subtract | Operator::Multiply => self.open.push((parent, Form::Computed)),
            Operator::Bits => {
                if node.joins_bits() {
                    self.found.push((form, Use::Computed { operator }));
                } else if let Some(mask) = constant(view, other).filter(|mask| *mask > 0) {
                    self.found.push((form, Use::Kept { bits: mask.trailing_ones() }));
                }
                self.open.push((parent, Form::Computed));
            }
            Operator::Divide | Operator::Remainder | Operator::ShiftLeft | Operator::ShiftRight => {
                self.found.push((form, Use::Computed { operator }));
                if right == index && matches!(operator, Operator::Divide | Operator::Remainder) {
                    self.found.push((form, Use::Divides { other }));
                }
                self.open.push((parent, Form::Computed));
            }
            Operator::Compare | Operator::Order => self.found.push((form, Use::Compared { other, operator })),
            Operator::Logic => self.found.push((form, Use::Tested)),
            Operator::Assign if left != index => {
                self.open.push((parent, form));
                self.kept_in(view.cursor(view.peeled(left))?.referenced()?, form);
            }
            Operator::Comma if left != index => self.open.push((parent, form)),
            Operator::MoveBack if left == index => self.found.push((form, Use::Reduced { by: right })),
            Operator::Move if left != index => {
                self.kept_in(view.cursor(view.peeled(left))?.referenced()?, Form::Computed);
            }
            _ => {}
        }
        Some(())
    }

    fn returned(&mut self, index: Index, form: Form) -> Option<()> {
        let view = self.view;
        let mut holders = std::iter::successors(view.tree.parent(index), |holder| view.tree.parent(*holder));
        let function = holders.find(|holder| view.tree.kind(*holder) == Kind::Function)?;
        let named = self.names.0.get(&view.cursor(function)?.identity()).into_iter().flatten();
        for name in named.copied() {
            let mut parents = std::iter::successors(view.tree.parent(name), |at| view.tree.parent(*at));
            let call = parents.find(|at| !matches!(view.tree.kind(*at), Kind::Unexposed | Kind::Paren));
            let call = call.filter(|call| view.tree.kind(*call) == Kind::Call);
            self.open.extend(call.map(|call| (call, form)));
        }
        Some(())
    }

    fn handed(&mut self, index: Index, call: Index, form: Form) -> Option<()> {
        let view = self.view;
        let function = view.cursor(call)?.referenced()?;
        let count = usize::try_from(view.cursor(call)?.argument_count()).ok()?;
        let values: Vec<Index> = view.tree.values(call).collect();
        let number = values
            .len()
            .checked_sub(count)
            .and_then(|first| values.get(first..)?.iter().position(|argument| *argument == index))?;
        if function.ty().is_open_function() && number >= function.ty().parameter_count() {
            if function.name().contains("print") {
                self.found.push((form, Use::Printed));
            }
            return Some(());
        }
        let own = function.definition()?;
        self.kept_in(own.argument(u32::try_from(number).ok()?)?, form);
        Some(())
    }

    /// All uses of what the number is kept in.
    fn kept_in(&mut self, declared: Cursor<'u>, form: Form) {
        if let Some(bits) = declared.bits() {
            self.found.push((form, Use::Kept { bits }));
        }
        let named = self.names.0.get(&declared.identity()).into_iter().flatten();
        self.open.extend(named.map(|name| (*name, form)));
    }
}
