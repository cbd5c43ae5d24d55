//! Functions, variables and members that other units may know.

use super::super::facts::{End, Place, State};
use super::super::follow::{Follower, points_to_pointers};
use super::super::nodes::is_callee;
use super::super::shapes::wrappers::is_wrapper;
use super::super::{follow, names};
use super::reader::{Reader, is_byte_array, is_open, levels};
use crate::clang::{Cursor, Kind, Type, TypeKind};
use crate::tree::Index;
use std::collections::{BTreeMap, BTreeSet};

impl<'u> Reader<'_, '_, '_, 'u> {
    /// A variable that other units may declare, too.
    pub(crate) fn symbol(&mut self, index: Index) {
        let variable = self.unit.view.cursor(index).filter(|variable| variable.is_shared());
        if let Some(variable) = variable {
            let symbol = variable.symbol().trim_start_matches('\u{1}').to_owned();
            // Units that know it by the linker's name don't say the program's.
            if symbol != variable.name() && !self.unit.view.records.within(variable.ty()).is_empty() {
                self.attributed.insert(symbol.clone());
            }
            self.named(index, symbol, variable.ty());
        }
    }

    /// The records that a function takes and returns, as they are declared by hand or defined here.
    pub(crate) fn signature(&mut self, index: Index) {
        let view = self.unit.view;
        let Some(function) = view.cursor(index).filter(|function| function.is_shared()) else { return };
        let has_body = view.tree.children(index).any(|child| view.tree.kind(child) == Kind::Block);
        if function.is_of_system() || !has_body && !function.is_in_main_file() {
            return;
        }
        let ty = function.ty();
        let name = function.symbol().trim_start_matches('\u{1}').to_owned();
        if let Some(record) = ty.result().and_then(as_record) {
            self.named(index, format!("{name} result"), record);
        }
        for number in 0..ty.parameter_count() {
            let record = ty.parameter(u32::try_from(number).unwrap_or(u32::MAX)).and_then(as_record);
            if let Some(record) = record {
                self.named(index, format!("{name} parameter {number}"), record);
            }
        }
    }

    /// Parameters of a function with a body.
    pub(crate) fn parameters(&mut self, index: Index) {
        let view = self.unit.view;
        let Some(function) = view.cursor(index) else { return };
        if !view.tree.children(index).any(|child| view.tree.kind(child) == Kind::Block) {
            return;
        }
        // What a library's template does with open types isn't shown by its text.
        if view.tree.kind(index) == Kind::Template && function.is_of_system() {
            return;
        }
        if function.is_shared() {
            self.defined.push(names::function(function));
            self.defined_as(function);
        }
        let parameters = view.tree.children(index).filter(|child| view.tree.kind(*child) == Kind::Parameter);
        for (number, node) in parameters.enumerate().collect::<Vec<_>>() {
            let Some(parameter) = view.cursor(node) else { continue };
            let place = names::parameter(function, number);
            let record = parameter.ty().pointee().filter(|pointee| pointee.kind() == TypeKind::Record);
            // What is handed as its address is judged as any pointer to a record.
            if record.is_some_and(is_wrapper) {
                self.held_by_parameter((function, number), parameter);
            }
            match record {
                Some(record) if function.is_shared() => {
                    let mut follower = Follower::new(self.unit);
                    let shape = self.unit.shape(record);
                    follower.end(node, State::PLAIN, End::Record(shape));
                    let outcome = follower.run();
                    self.passage(place, 0, outcome);
                }
                None if is_open(parameter.ty()) => {
                    let pointee = parameter.ty().pointee().map(Type::kind);
                    if function.is_shared() && pointee == Some(TypeKind::Void) {
                        self.open.insert(place.clone());
                    }
                    self.held_by_parameter((function, number), parameter);
                }
                _ => {}
            }
        }
    }

    /// Members and variables of all units.
    pub(crate) fn variables(&mut self) {
        let view = self.unit.view;
        // Members of a union share a place, and so do declarations of one variable.
        let mut declared: BTreeMap<Place, Vec<Cursor<'u>>> = BTreeMap::new();
        for nodes in self.unit.named() {
            let Some(cursor) = nodes.first().and_then(|node| view.cursor(*node)?.referenced()) else {
                continue;
            };
            let is_global = match cursor.kind() {
                Kind::Member => true,
                Kind::Variable => cursor.holder().is_none_or(|holder| holder.kind() != Kind::Function),
                _ => false,
            };
            let mut ty = cursor.ty();
            while let Some(element) = ty.element().filter(|element| element.kind() != TypeKind::Byte) {
                ty = element;
            }
            if is_global && (is_open(ty) || is_byte_array(ty)) {
                declared.entry(names::variable(cursor)).or_default().push(cursor);
            }
        }
        for (place, cursor) in
            declared.iter().flat_map(|(place, all)| all.iter().map(move |own| (place, *own)))
        {
            self.held(place, cursor);
        }
    }

    /// Tables of other units with numbers that addresses are moved by: those units tell the numbers.
    pub(crate) fn tables(&mut self) {
        let view = self.unit.view;
        let sums = self.unit.sums.borrow();
        let moved: BTreeSet<&str> =
            sums.iter().filter_map(|(place, _)| names::sum_of(place)).map(|(by, _)| by).collect();
        if moved.is_empty() {
            return;
        }
        for nodes in self.unit.named() {
            let named = nodes.first().and_then(|node| view.cursor(*node)?.referenced());
            let is_elsewhere = |own: &Cursor<'u>| {
                own.kind() == Kind::Variable && own.is_shared() && own.definition().is_none()
            };
            let Some(variable) = named.filter(is_elsewhere) else { continue };
            let mut ty = variable.ty();
            while let Some(inner) = ty.element().or_else(|| ty.pointee()) {
                ty = inner;
            }
            if ty.members().into_iter().any(|member| moved.contains(names::variable(member).as_str())) {
                self.attributed.insert(variable.name());
            }
        }
    }

    /// A function whose address is taken may be called through any pointer to its type, or to the type it is cast to.
    pub(crate) fn callback(&mut self, index: Index) {
        let view = self.unit.view;
        let Some(function) = view.cursor(index).and_then(Cursor::referenced) else { return };
        if function.kind() != Kind::Function || is_callee(view, index) {
            return;
        }
        let mut types = vec![function.ty()];
        let mut at = index;
        while let Some(parent) = view.tree.parent(at)
            && matches!(view.tree.kind(parent), Kind::Unexposed | Kind::Paren | Kind::Cast | Kind::Unary)
        {
            let pointee = view.cursor(parent).and_then(|cursor| cursor.ty().pointee());
            types.extend(pointee.filter(|pointee| pointee.kind() == TypeKind::Function));
            at = parent;
        }
        let mut seen = BTreeSet::new();
        if let Some(ty) = types.iter().find(|ty| ty.result().is_some_and(is_open)) {
            let mut follower = Follower::new(self.unit);
            follower.hand(index, State::PLAIN, names::callback_result(*ty), None);
            let outcome = follower.run();
            self.passage(names::result(function), 0, outcome);
        }
        for ty in types {
            self.numbers_of_callback(function, ty);
            for number in 0..ty.parameter_count() {
                let place = names::callback(ty, number);
                let own = ty.parameter(u32::try_from(number).unwrap_or(0));
                if own.is_some_and(|own| points_to_pointers(own) || is_void_pointer(own)) {
                    let mut follower = Follower::new(self.unit);
                    let written = names::written_by_callback(ty, number);
                    follower.hand(index, State { level: 1, ..State::PLAIN }, written, None);
                    let outcome = follower.run();
                    self.passage(names::written(function, number), 1, outcome);
                }
                if own.is_some_and(is_open) && seen.insert(place.clone()) {
                    self.called_back(index, (function, number), &place, own.map_or(0, levels));
                }
            }
        }
    }

    /// Arguments of a function that a pointer leads to.
    fn called_back(
        &mut self,
        index: Index,
        (function, number): (Cursor<'u>, usize),
        place: &Place,
        levels: u8,
    ) {
        let own = function.ty().parameter(u32::try_from(number).unwrap_or(0)).and_then(Type::pointee);
        for level in 0..=levels {
            let mut follower = Follower::new(self.unit);
            match own.filter(|own| own.kind() == TypeKind::Record) {
                Some(record) => {
                    let shape = self.unit.shape(record);
                    follower.end(index, State { level, ..State::PLAIN }, End::Record(shape));
                }
                None => {
                    let end = own
                        .filter(|_| function.definition().is_none())
                        .and_then(|own| follow::alone(function, own));
                    let state = State { level, ..State::PLAIN };
                    follower.hand(index, state, names::parameter(function, number), end);
                }
            }
            let outcome = follower.run();
            self.passage(place.clone(), level, outcome);
        }
    }
}

fn is_void_pointer(ty: Type<'_>) -> bool {
    ty.pointee().is_some_and(|held| held.kind() == TypeKind::Void)
}

/// The record that a type is or points to.
fn as_record(ty: Type<'_>) -> Option<Type<'_>> {
    let record = ty.pointee().unwrap_or(ty);
    (record.kind() == TypeKind::Record).then_some(record)
}
