//! An address that is kept in variables, members and results.

use super::super::contracts::{of_memory, returns};
use super::super::facts::{End, State};
use super::super::names;
use super::super::shapes::wrappers::{is_wrapper, unwrapped};
use super::callee::is_void;
use super::calls::containers::{is_kept_pointer, keeps_pointers};
use super::calls::{arguments, function as called};
use super::follower::Follower;
use crate::clang::{Cursor, Kind, Operator, Type, TypeKind};
use crate::records::positions::{Position, positions};
use crate::rules::is_standard;
use crate::sum::View;
use crate::tree::Index;

impl<'u> Follower<'_, '_, '_, 'u> {
    pub(crate) fn returned(&mut self, index: Index, state: State) {
        let view = self.unit.view;
        let mut holders = std::iter::successors(view.tree.parent(index), |holder| view.tree.parent(*holder));
        let function = holders
            .find(|holder| matches!(view.tree.kind(*holder), Kind::Function | Kind::Template | Kind::Lambda));
        match function.and_then(|function| view.cursor(function)) {
            Some(lambda) if lambda.kind() == Kind::Lambda => {
                self.hand(index, state, names::lambda_result(lambda), None);
            }
            Some(function) => {
                let is_method = function.holder().is_some_and(|holder| holder.kind() == Kind::Record);
                let pointee = self.ty(function_value(view, index)).and_then(Type::pointee);
                // Loops over ranges and conversions call methods where the text has no call.
                if is_method
                    && pointee
                        .is_some_and(|pointee| matches!(pointee.kind(), TypeKind::Number | TypeKind::Byte))
                {
                    self.end(index, state, End::Elements { by: function.name() });
                }
                self.hand(index, state, names::result(function), None);
            }
            None => self.end(index, state, End::Unknown),
        }
    }

    /// The value of a variable's or a member's declaration.
    pub(crate) fn stored_in(&mut self, declaration: Index, state: State) {
        if let Some(cursor) = self.unit.view.cursor(declaration) {
            self.variable(declaration, cursor, state);
        }
    }

    /// The value behind a designator.
    pub(crate) fn stored_as(&mut self, name: Index, state: State) {
        let member = self.unit.view.cursor(name).and_then(Cursor::referenced);
        if let Some(member) = member {
            self.variable(name, member, state);
        }
    }

    pub(crate) fn variable(&mut self, index: Index, declared: Cursor<'u>, state: State) {
        let is_local = declared.kind() == Kind::Variable
            && !declared.is_shared()
            && declared
                .holder()
                .is_some_and(|holder| matches!(holder.kind(), Kind::Function | Kind::Constructor));
        let arrays = std::iter::successors(declared.ty().element(), |element| element.element()).count();
        let level = state.level.saturating_add(u8::try_from(arrays).unwrap_or(u8::MAX));
        let state = State { level, ..state };
        if !is_local {
            return self.kept_in(index, declared, state);
        }
        self.follow(declared.identity(), state);
    }

    /// The address is written to a variable or a member that other functions may know. What stands in the system's records
    /// is for the system: it may give it back through a file, and a list of arguments is read by whoever takes it.
    fn kept_in(&mut self, index: Index, declared: Cursor<'u>, state: State) {
        let holder = declared.holder().filter(|_| declared.kind() == Kind::Member);
        if let Some(holder) = holder.filter(|_| state.level == 0) {
            if holder.place().file.is_empty() {
                self.end(index, state, End::Unknown);
            } else if is_void(declared.ty()) && is_standard(declared) && !self.is_of_system(index) {
                self.hand(index, state, names::KEPT_POINTERS.to_owned(), None);
            } else if holder.is_of_system() {
                self.hand(index, state, names::FILES.to_owned(), None);
            }
        }
        self.hand(index, state, names::variable(declared), None);
    }

    /// Whether code is a library's own.
    fn is_of_system(&self, index: Index) -> bool {
        self.unit.view.cursor(index).is_none_or(Cursor::is_of_system)
    }

    /// The address is written to what an expression names.
    pub(crate) fn store(&mut self, to: Index, state: State) {
        let view = self.unit.view;
        let mut at = to;
        let mut level = state.level;
        loop {
            let inner = view.tree.values(at).next();
            if let Some((wrapper, is_pointer)) = self.unit.wrapper_of(at) {
                (at, level) = (wrapper, level.saturating_add(u8::from(is_pointer)));
                continue;
            }
            match (view.tree.kind(at), inner) {
                (Kind::StatementExpression, _) => match last_value(view, at) {
                    Some(last) => at = last,
                    None => break,
                },
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
        if view.tree.kind(at) == Kind::Conditional {
            let sides: Vec<Index> = view.tree.values(at).skip(1).collect();
            return sides.into_iter().for_each(|side| self.store(side, State { level, ..state }));
        }
        // No memory at all.
        if view.tree.kind(at) == Kind::Integer {
            return;
        }
        let declared = view.cursor(at).and_then(Cursor::referenced);
        let is_named = matches!(view.tree.kind(at), Kind::Name | Kind::MemberAccess);
        match declared.filter(|_| is_named) {
            Some(declared) if matches!(declared.kind(), Kind::Variable | Kind::Parameter | Kind::Member) => {
                if state.level > 0 {
                    self.read_as(to, declared.ty(), State { level, ..state });
                }
                let state = State { level, ..state };
                let is_local = match declared.kind() {
                    Kind::Parameter => true,
                    Kind::Variable => declared.holder().is_some_and(|holder| holder.kind() == Kind::Function),
                    _ => false,
                };
                if declared.kind() == Kind::Parameter && level > 0 {
                    self.stored_through(to, declared, state);
                }
                if is_local && declared.kind() == Kind::Variable && level > 0 {
                    self.stored_behind(declared, state);
                }
                match is_local {
                    true => self.follow(declared.identity(), state),
                    false => self.kept_in(to, declared, state),
                }
            }
            // `map[key] = p`, `*iterator = p`
            _ if level == 0 && is_kept_pointer(view, at) && !self.is_of_system(at) => {
                self.hand(to, state, names::KEPT_POINTERS.to_owned(), None);
            }
            // `*f() = p`
            _ => match called(view, at).filter(|_| level > 0) {
                Some(function) => {
                    let state = State { level, ..state };
                    // New memory has no other name.
                    if of_memory(&function.name()).is_none() {
                        self.hand(to, state, names::result(function), None);
                    }
                    self.stored_through_same(at, function, state);
                }
                None => self.not_understood(to, State { level: 0, ..state }),
            },
        }
    }

    /// `*pointer = p`: what the variable points to is what its values point to, and has other names there.
    fn stored_behind(&mut self, variable: Cursor<'u>, state: State) {
        if !self.behind.insert((variable.identity(), state.level)) {
            return;
        }
        let view = self.unit.view;
        let given = view.flow.given(variable.identity()).iter();
        for value in given.filter(|value| leads_to_addresses(view, **value) || leads_to_bytes(view, **value))
        {
            self.store(*value, state);
        }
    }

    /// `*realloc(list, size) = p`: a function gives an argument back.
    fn stored_through_same(&mut self, call: Index, function: Cursor<'u>, state: State) {
        let name = function.name();
        if function.definition().is_some() && of_memory(&name).is_none() {
            return;
        }
        let given_back = arguments(self.unit.view, call).into_iter().enumerate();
        for (_, argument) in given_back.filter(|(number, _)| returns(&name, *number).is_some()) {
            self.store(argument, state);
        }
    }

    /// `*parameter = p`: whoever handed its address has it then.
    pub(crate) fn stored_through(&mut self, index: Index, parameter: Cursor<'u>, state: State) {
        let Some(function) = parameter.holder() else { return };
        let number = (0..function.argument_count()).position(|number| {
            function.argument(number).is_some_and(|own| own.identity() == parameter.identity())
        });
        if let Some(number) = number {
            self.hand(index, state, names::written(function, number), None);
        }
    }

    /// A value of a list of values.
    pub(crate) fn listed(&mut self, index: Index, list: Index, state: State) {
        let view = self.unit.view;
        let Some(ty) = self.ty(list) else { return };
        let is_of_library =
            |class: Cursor<'u>| class.is_of_cpp() && class.is_of_system() && class.template().is_some();
        match ty.kind() {
            // `std::initializer_list<void *>`
            TypeKind::Record if ty.canonical().declaration().is_some_and(is_of_library) => {
                return match keeps_pointers(ty) {
                    true => self.hand(index, state, names::KEPT_POINTERS.to_owned(), None),
                    false => self.not_understood(index, state),
                };
            }
            TypeKind::Record | TypeKind::Array => {}
            _ => return self.push(list, state),
        }
        if is_wrapper(ty) {
            return self.push(list, state);
        }
        let all = positions(view.tree, view.records, list);
        match all.into_iter().find(|(value, _)| *value == index) {
            Some((_, Position::Member(member))) => self.variable(index, member, state),
            Some((_, Position::Element)) => self.push(list, state),
            None => self.not_understood(index, state),
        }
    }

    /// `[variable = value] { … }`
    pub(crate) fn captured(&mut self, index: Index, lambda: Index, state: State) {
        for variable in captures(self.unit.view, lambda).into_iter().filter(|(value, _)| *value == index) {
            self.follow(variable.1.identity(), state);
        }
    }

    /// `: member(value)`
    pub(crate) fn constructed(&mut self, index: Index, constructor: Index, state: State) {
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

/// The values that a function without a name keeps, with the variables that it knows them by.
pub(crate) fn captures<'u>(view: View<'_, '_, 'u>, lambda: Index) -> Vec<(Index, Cursor<'u>)> {
    let is_variable = |child: &Index| view.tree.kind(*child) == Kind::VariableName;
    let variables = view.tree.children(lambda).filter(is_variable);
    let variables = variables.filter_map(|child| view.cursor(child).and_then(Cursor::referenced));
    let is_value =
        |child: &Index| !matches!(view.tree.kind(*child), Kind::VariableName | Kind::Block | Kind::This);
    view.tree.values(lambda).filter(is_value).zip(variables).collect()
}

/// Whether a type is a pointer to pointers.
pub(crate) fn points_to_pointers(ty: Type<'_>) -> bool {
    ty.pointee().map(unwrapped).is_some_and(|held| held.kind() == TypeKind::Pointer)
}

/// Whether a type is a pointer to numbers that are as wide as pointers.
fn points_to_numbers(ty: Type<'_>) -> bool {
    ty.pointee().map(unwrapped).is_some_and(|held| {
        held.kind() == TypeKind::Number && held.size() == Some(8) && !held.is_enumeration()
    })
}

/// Whether a value is a pointer to memory that keeps addresses, or was one before it was made a pointer to anything: to
/// pointers, and to numbers that may be addresses.
pub(crate) fn leads_to_addresses(view: View<'_, '_, '_>, value: Index) -> bool {
    leads(view, value, |ty| points_to_pointers(ty) || points_to_numbers(ty))
}

/// Whether a value is a variable or a member that points to bytes.
fn leads_to_bytes(view: View<'_, '_, '_>, value: Index) -> bool {
    let is_bytes = |ty: Type<'_>| {
        ty.pointee().is_some_and(|held| matches!(held.kind(), TypeKind::Byte | TypeKind::Void))
    };
    let peeled = view.peeled(value);
    matches!(view.tree.kind(peeled), Kind::Name | Kind::MemberAccess) && leads(view, peeled, is_bytes)
}

/// The same, of numbers only those that have a type of their own.
pub(crate) fn leads_to_pointers(view: View<'_, '_, '_>, value: Index) -> bool {
    leads(view, value, |ty| points_to_pointers(ty) || ty.pointee().is_some_and(is_wrapper))
}

fn leads(view: View<'_, '_, '_>, value: Index, is_wanted: fn(Type<'_>) -> bool) -> bool {
    let (whole, inner) = (view.cursor(value), view.cursor(view.peeled(value)));
    let is_constant = view.tree.kind(view.peeled(value)) == Kind::Integer;
    !is_constant && [whole, inner].into_iter().flatten().any(|own| is_wanted(own.ty()))
}

/// The value of a statement expression.
fn last_value(view: View<'_, '_, '_>, expression: Index) -> Option<Index> {
    let mut blocks = view.tree.children(expression).filter(|child| view.tree.kind(*child) == Kind::Block);
    view.tree.children(blocks.next()?).last()
}

/// The value that a `return` gives.
fn function_value(view: View<'_, '_, '_>, index: Index) -> Index {
    view.tree.values(index).next().unwrap_or(index)
}
