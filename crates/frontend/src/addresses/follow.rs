//! An address on its way through a unit, from the node that has it to its ends.

use super::calls;
use super::facts::{CodePlace, End, Place, ShapeNumber, State, Way};
use super::names;
use super::numbers;
use super::shapes::Shapes;
use crate::clang::{Cursor, Identity, Kind, Operator, Type, TypeKind};
use crate::report::Places;
use crate::sum::View;
use crate::tree::Index;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;

/// Most steps on one way: what goes further is not understood.
const MOST_STEPS: usize = 4000;

/// A unit with the nodes that name each variable and member.
pub(super) struct Unit<'v, 's, 'u> {
    pub(super) view: View<'v, 's, 'u>,
    pub(super) names: FxHashMap<Identity, Vec<Index>>,
    pub(super) shapes: RefCell<Shapes>,
    pub(super) places: RefCell<Places<'v, 's, 'u>>,
}

impl<'v, 's, 'u> Unit<'v, 's, 'u> {
    pub(super) fn new(view: View<'v, 's, 'u>) -> Self {
        let mut names: FxHashMap<Identity, Vec<Index>> = FxHashMap::default();
        for index in 0..view.tree.len() {
            if matches!(view.tree.kind(index), Kind::Name | Kind::MemberAccess)
                && let Some(declared) = view.cursor(index).and_then(Cursor::referenced)
            {
                names.entry(declared.identity()).or_default().push(index);
            }
        }
        Self { view, names, shapes: RefCell::default(), places: RefCell::new(Places::new(view.records)) }
    }

    pub(super) fn shape(&self, ty: Type<'u>) -> ShapeNumber {
        self.shapes.borrow_mut().number(self.view.records, ty)
    }

    pub(super) fn place(&self, index: Index) -> CodePlace {
        self.view.cursor(index).map(|cursor| self.places.borrow_mut().of(cursor)).unwrap_or_default()
    }
}

/// Most times an address is read from memory on its way.
const MOST_LEVELS: u8 = 4;

/// Most distances that an address is told apart by at one node.
const MOST_STATES: usize = 4;

/// One way.
pub(super) struct Follower<'f, 'v, 's, 'u> {
    pub(super) unit: &'f Unit<'v, 's, 'u>,
    pub(super) way: Way,
    seen: FxHashSet<(Index, State)>,
    /// How many states each node was given.
    states: FxHashMap<Index, usize>,
    open: Vec<(Index, State)>,
}

impl<'f, 'v, 's, 'u> Follower<'f, 'v, 's, 'u> {
    pub(super) fn new(unit: &'f Unit<'v, 's, 'u>) -> Self {
        Self {
            unit,
            way: Way::default(),
            seen: FxHashSet::default(),
            states: FxHashMap::default(),
            open: Vec::new(),
        }
    }

    /// The node has the address as its value.
    pub(super) fn push(&mut self, index: Index, state: State) {
        if state.level > MOST_LEVELS || self.seen.contains(&(index, state)) {
            return;
        }
        let count = self.states.entry(index).or_default();
        *count += 1;
        // What is moved on again and again is a walk.
        let state = if *count > MOST_STATES { State { moved: None, ..state } } else { state };
        if self.seen.insert((index, state)) {
            self.open.push((index, state));
        }
    }

    /// Follows to all ends.
    pub(super) fn run(mut self) -> Way {
        while let Some((index, state)) = self.open.pop() {
            if self.seen.len() > MOST_STEPS {
                self.end(index, State::PLAIN, End::Unknown);
                break;
            }
            self.step(index, state);
        }
        self.way.ends.sort_unstable();
        self.way.ends.dedup();
        self.way.places.sort_unstable();
        self.way.places.dedup();
        self.way
    }

    pub(super) fn end(&mut self, index: Index, state: State, end: End) {
        // Pointers read as bytes or as other pointers are no bytes of the object.
        if state.level == 0 {
            self.way.ends.push((state, end, self.unit.place(index)));
        }
    }

    pub(super) fn hand(&mut self, index: Index, state: State, place: Place, otherwise: Option<End>) {
        self.way.places.push((state, place, otherwise.filter(|_| state.level == 0), self.unit.place(index)));
    }

    pub(super) fn ty(&self, index: Index) -> Option<Type<'u>> {
        self.unit.view.cursor(index).map(Cursor::ty)
    }

    fn step(&mut self, index: Index, state: State) {
        let tree = self.unit.view.tree;
        let Some(parent) = tree.parent(index) else { return };
        match tree.kind(parent) {
            Kind::Paren | Kind::StatementExpression => self.push(parent, state),
            Kind::Unexposed | Kind::Cast | Kind::FunctionalCast => self.converted(index, parent, state),
            Kind::Unary => self.unary(index, parent, state),
            Kind::Binary => self.binary(index, parent, state),
            Kind::Subscript => self.subscript(index, parent, state),
            Kind::Conditional if tree.values(parent).next() == Some(index) => {}
            Kind::Conditional => self.push(parent, state),
            Kind::Call => calls::handed(self, index, parent, state),
            Kind::Return => self.returned(parent, state),
            Kind::Variable | Kind::Member | Kind::Parameter => self.stored_in(parent, state),
            Kind::List => self.listed(index, parent, state),
            Kind::Constructor => self.constructed(index, parent, state),
            Kind::Block => self.dropped(index, parent, state),
            // Read by its members' names, tested, measured, or an operand as any address is.
            Kind::MemberAccess
            | Kind::Statement
            | Kind::Switch
            | Kind::Case
            | Kind::SizeOf
            | Kind::Delete
            | Kind::New
            | Kind::Asm
            | Kind::Declarations
            | Kind::StaticAssert
            | Kind::Enumerator => {}
            _ => self.not_understood(index, state),
        }
    }

    fn not_understood(&mut self, index: Index, state: State) {
        // A number is no address until it is made one.
        if self.ty(index).is_some_and(|ty| ty.kind() != TypeKind::Number) {
            self.end(index, state, End::Unknown);
        }
    }

    /// The last value of a statement expression is the expression's.
    fn dropped(&mut self, index: Index, block: Index, state: State) {
        let tree = self.unit.view.tree;
        let holder = tree.parent(block).filter(|holder| tree.kind(*holder) == Kind::StatementExpression);
        if let Some(holder) = holder
            && tree.children(block).last() == Some(index)
        {
            self.push(holder, state);
        }
    }

    fn converted(&mut self, index: Index, parent: Index, state: State) {
        let view = self.unit.view;
        if view.is_offset_of(parent) {
            return;
        }
        let named =
            view.tree.children(parent).filter(|child| view.tree.kind(*child) == Kind::MemberName).last();
        if let Some(named) = named {
            return self.stored_as(named, state);
        }
        let (Some(to), Some(from)) = (self.ty(parent), self.ty(index)) else { return };
        if view.tree.kind(parent) == Kind::Unexposed && view.tree.only(parent).is_none() && !to.equals(from) {
            return self.operated(index, state);
        }
        match to.kind() {
            TypeKind::Void => {}
            TypeKind::Number if state.level > 0 || to.size() < from.size() => {}
            TypeKind::Pointer => match to.pointee() {
                Some(pointee) if pointee.kind() == TypeKind::Record && state.level == 0 => {
                    self.taken_for(index, parent, (from, pointee), state);
                }
                Some(pointee) if pointee.kind() == TypeKind::Function => {}
                _ => self.push(parent, state),
            },
            TypeKind::Number | TypeKind::Array => self.push(parent, state),
            _ => self.not_understood(index, state),
        }
    }

    /// An atomic operation on what the address leads to.
    fn operated(&mut self, index: Index, state: State) {
        let pointee = self.ty(index).and_then(Type::pointee);
        if let Some(pointee) = pointee.filter(|pointee| pointee.kind() != TypeKind::Record) {
            self.end(index, state, End::Bytes { count: pointee.size(), by: pointee.spelling() });
        }
    }

    /// The address becomes one of a record.
    fn taken_for(&mut self, index: Index, parent: Index, (from, to): (Type<'u>, Type<'u>), state: State) {
        let view = self.unit.view;
        if view.is_never_run(parent) {
            return;
        }
        let own = from.pointee().or_else(|| from.element());
        match own.is_some_and(|own| own.equals(to)) {
            // Qualifiers and decay.
            true => self.push(parent, state),
            false => {
                let shape = self.unit.shape(to);
                self.end(index, state, End::Record(shape));
                if self.is_counted_on(parent) {
                    self.push(parent, state);
                }
            }
        }
    }

    /// Whether code counts on from an address: `(struct head *)object + 1`.
    fn is_counted_on(&self, index: Index) -> bool {
        let view = self.unit.view;
        let mut parents = std::iter::successors(view.tree.parent(index), |parent| view.tree.parent(*parent));
        let outer = parents.find(|parent| view.tree.kind(*parent) != Kind::Paren);
        let Some((outer, cursor)) = outer.and_then(|outer| Some((outer, view.cursor(outer)?))) else {
            return false;
        };
        match view.tree.kind(outer) {
            Kind::Subscript => true,
            Kind::Unary => cursor.unary_operator() == Operator::Step,
            Kind::Binary => matches!(cursor.binary_operator(), Operator::Add | Operator::Subtract),
            _ => false,
        }
    }

    fn unary(&mut self, index: Index, parent: Index, state: State) {
        let Some(operator) = self.unit.view.cursor(parent).map(Cursor::unary_operator) else { return };
        match operator {
            Operator::Dereference => self.read(index, parent, state),
            Operator::AddressOf => self.push(parent, State { level: state.level.saturating_add(1), ..state }),
            Operator::Step if state.level == 0 => {
                let state = State { moved: None, ..state };
                self.push(parent, state);
                self.store(index, state);
            }
            Operator::Step => self.push(parent, state),
            _ => {}
        }
    }

    /// The node is what the address leads to.
    fn read(&mut self, index: Index, node: Index, state: State) {
        if let Some(level) = state.level.checked_sub(1) {
            return self.push(node, State { level, ..state });
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
                let by = ty.spelling();
                self.end(index, state, End::Bytes { count: ty.size(), by });
            }
        }
    }

    fn subscript(&mut self, index: Index, parent: Index, state: State) {
        let view = self.unit.view;
        let mut sides = view.tree.values(parent);
        let (Some(array), Some(number)) = (sides.next(), sides.next()) else { return };
        if array != index {
            return;
        }
        let size = self.ty(parent).and_then(Type::size);
        let moved = bytes(numbers::number(view, number), size);
        let state = if state.level > 0 { state } else { state.then(State { moved, ..State::PLAIN }) };
        self.read(index, parent, state);
    }

    fn binary(&mut self, index: Index, parent: Index, state: State) {
        let view = self.unit.view;
        let mut sides = view.tree.values(parent);
        let (Some(left), Some(right)) = (sides.next(), sides.next()) else { return };
        let Some(operator) = view.cursor(parent).map(Cursor::binary_operator) else { return };
        let is_left = left == index;
        match operator {
            Operator::Add | Operator::Subtract => {
                let other = if is_left { right } else { left };
                self.moved(index, parent, (other, operator == Operator::Add), state, is_left);
            }
            Operator::Bits => self.push(parent, state),
            Operator::Comma if !is_left => self.push(parent, state),
            Operator::Assign if !is_left => {
                self.push(parent, state);
                self.store(left, state);
            }
            Operator::Move => {
                let state = if state.level > 0 { state } else { State { moved: None, ..state } };
                self.push(parent, state);
                self.store(left, state);
            }
            _ => {}
        }
    }

    fn moved(
        &mut self,
        index: Index,
        parent: Index,
        (other, is_added): (Index, bool),
        state: State,
        is_left: bool,
    ) {
        let view = self.unit.view;
        let Some(amount) = view.cursor(other) else { return };
        // A distance between two addresses is none.
        if !is_added && (!is_left || amount.ty().kind() == TypeKind::Pointer) {
            return;
        }
        if state.level > 0 {
            return self.push(parent, state);
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
        let amount = bytes(numbers::number(view, other), scale);
        let amount = if is_added { amount } else { amount.and_then(i64::checked_neg) };
        self.push(parent, state.then(State { moved: amount, ..State::PLAIN }));
    }

    /// Whether a variable runs over offsets.
    fn is_counter(&self, index: Index) -> bool {
        let view = self.unit.view;
        let declared = view.cursor(view.peeled(index)).and_then(Cursor::referenced);
        declared.is_some_and(|declared| {
            declared.kind() == Kind::Variable && view.flow.is_changed(declared.identity())
        })
    }

    /// Whether a number is a member's or a parameter's that offsets are given to, or nothing that the unit tells.
    fn is_taken_offset(&self, index: Index) -> bool {
        let view = self.unit.view;
        let index = view.peeled(index);
        if !matches!(view.tree.kind(index), Kind::MemberAccess | Kind::Name) {
            return false;
        }
        let Some(declared) = view.cursor(index).and_then(Cursor::referenced) else { return false };
        let given = view.flow.given(declared.identity());
        let is_offset = |value: &Index| view.sum(*value).has_offsets();
        let is_number = |value: &Index| {
            let value = view.cursor(*value).and_then(Cursor::constant);
            value.is_some_and(|value| value != 0)
        };
        let is_local = declared.kind() == Kind::Variable && !declared.is_shared() && given.len() == 1;
        if is_local && let Some(value) = given.first().filter(|value| **value != index) {
            return is_offset(value) || self.is_taken_offset(*value);
        }
        given.iter().any(is_offset) || declared.kind() != Kind::Variable && !given.iter().any(is_number)
    }

    fn returned(&mut self, index: Index, state: State) {
        let view = self.unit.view;
        let mut holders = std::iter::successors(view.tree.parent(index), |holder| view.tree.parent(*holder));
        let function =
            holders.find(|holder| matches!(view.tree.kind(*holder), Kind::Function | Kind::Template));
        match function.and_then(|function| view.cursor(function)) {
            Some(function) => {
                let is_method = function.holder().is_some_and(|holder| holder.kind() == Kind::Record);
                let pointee = self.ty(function_value(view, index)).and_then(Type::pointee);
                // Loops over ranges and conversions call methods where the text has no call.
                if is_method && pointee.is_some_and(|pointee| pointee.kind() == TypeKind::Number) {
                    self.end(index, state, End::Elements { by: function.name() });
                }
                self.hand(index, state, names::result(function), None);
            }
            None => self.end(index, state, End::Unknown),
        }
    }

    /// The value of a variable's or a member's declaration.
    fn stored_in(&mut self, declaration: Index, state: State) {
        if let Some(cursor) = self.unit.view.cursor(declaration) {
            self.variable(declaration, cursor, state);
        }
    }

    /// The value behind a designator.
    fn stored_as(&mut self, name: Index, state: State) {
        let member = self.unit.view.cursor(name).and_then(Cursor::referenced);
        if let Some(member) = member {
            self.variable(name, member, state);
        }
    }

    fn variable(&mut self, index: Index, declared: Cursor<'u>, state: State) {
        let is_local = declared.kind() == Kind::Variable
            && !declared.is_shared()
            && declared
                .holder()
                .is_some_and(|holder| matches!(holder.kind(), Kind::Function | Kind::Constructor));
        let arrays = std::iter::successors(declared.ty().element(), |element| element.element()).count();
        let level = state.level.saturating_add(u8::try_from(arrays).unwrap_or(u8::MAX));
        let state = State { level, ..state };
        if !is_local {
            return self.hand(index, state, names::variable(declared), None);
        }
        self.follow(declared.identity(), state);
    }

    /// All places that name a variable.
    pub(super) fn follow(&mut self, variable: Identity, state: State) {
        let named = self.unit.names.get(&variable).cloned().unwrap_or_default();
        named.into_iter().for_each(|name| self.push(name, state));
    }

    /// The address is written to what an expression names.
    fn store(&mut self, to: Index, state: State) {
        let view = self.unit.view;
        let mut at = to;
        let mut level = state.level;
        loop {
            let inner = view.tree.values(at).next();
            match (view.tree.kind(at), inner) {
                (Kind::Paren | Kind::Unexposed | Kind::Cast, Some(inner)) => at = inner,
                (Kind::Subscript, Some(inner)) => (at, level) = (inner, level.saturating_add(1)),
                (Kind::Unary, Some(inner)) => {
                    let operator = view.cursor(at).map(Cursor::unary_operator);
                    match operator {
                        Some(Operator::Dereference) => level = level.saturating_add(1),
                        Some(Operator::AddressOf) => level = level.saturating_sub(1),
                        _ => {}
                    }
                    at = inner;
                }
                (Kind::Binary, Some(inner)) => at = inner,
                _ => break,
            }
        }
        let declared = view.cursor(at).and_then(Cursor::referenced);
        let is_named = matches!(view.tree.kind(at), Kind::Name | Kind::MemberAccess);
        match declared.filter(|_| is_named) {
            Some(declared) if matches!(declared.kind(), Kind::Variable | Kind::Parameter | Kind::Member) => {
                let state = State { level, ..state };
                let is_local = match declared.kind() {
                    Kind::Parameter => true,
                    Kind::Variable => declared.holder().is_some_and(|holder| holder.kind() == Kind::Function),
                    _ => false,
                };
                if declared.kind() == Kind::Parameter && level > 0 {
                    self.stored_through(to, declared, state);
                }
                match is_local {
                    true => self.follow(declared.identity(), state),
                    false => self.hand(to, state, names::variable(declared), None),
                }
            }
            // `*f() = p`
            _ => self.not_understood(to, State { level: 0, ..state }),
        }
    }

    /// `*parameter = p`: whoever handed its address has it then.
    fn stored_through(&mut self, index: Index, parameter: Cursor<'u>, state: State) {
        let Some(function) = parameter.holder() else { return };
        let number = (0..function.argument_count()).position(|number| {
            function.argument(number).is_some_and(|own| own.identity() == parameter.identity())
        });
        if let Some(number) = number {
            self.hand(index, state, names::parameter(function, number), None);
        }
    }

    /// A value of a list of values.
    fn listed(&mut self, index: Index, list: Index, state: State) {
        let view = self.unit.view;
        let Some(ty) = self.ty(list) else { return };
        match ty.kind() {
            TypeKind::Record => {
                let number = view.tree.children(list).position(|value| value == index);
                let members = view.records.members(ty);
                if let Some(member) = number.and_then(|number| members.get(number)) {
                    self.variable(index, member.cursor, state);
                }
            }
            _ => self.push(list, state),
        }
    }

    /// `: member(value)`
    fn constructed(&mut self, index: Index, constructor: Index, state: State) {
        let tree = self.unit.view.tree;
        let mut member = None;
        for child in tree.children(constructor).take_while(|child| *child != index) {
            if tree.kind(child) == Kind::MemberName {
                member = Some(child);
            }
        }
        match member {
            Some(member) => self.stored_as(member, state),
            None => self.not_understood(index, state),
        }
    }
}

/// So many places of a size.
fn bytes(number: Option<i64>, size: Option<u64>) -> Option<i64> {
    number
        .zip(size.and_then(|size| i64::try_from(size).ok()))
        .and_then(|(number, size)| number.checked_mul(size))
}

/// The value that a `return` gives.
fn function_value(view: View<'_, '_, '_>, index: Index) -> Index {
    view.tree.values(index).next().unwrap_or(index)
}
