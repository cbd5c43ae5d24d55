//! Attributes of variables that give them to others: a second name, a section, a function that cleans up.

use super::super::facts::{Origin, State};
use super::super::follow::Follower;
use super::super::names;
use super::reader::Reader;
use crate::clang::{Cursor, Kind, Type, TypeKind};
use crate::tree::Index;

impl<'u> Reader<'_, '_, '_, 'u> {
    pub(crate) fn attribute(&mut self, index: Index) {
        let view = self.unit.view;
        let parent = view.tree.parent(index);
        if let Some(function) = parent.filter(|parent| view.tree.kind(*parent) == Kind::Function) {
            return self.function_attribute(index, function);
        }
        let variable = parent.filter(|parent| view.tree.kind(*parent) == Kind::Variable);
        let Some(variable) = variable.and_then(|variable| view.cursor(variable)) else { return };
        let Some(attribute) = view.cursor(index) else { return };
        let words = self.unit.places.borrow_mut().words(attribute);
        let has = |word: &str| words.iter().any(|own| own.trim_matches('_') == word);
        let has_subject = !view.records.within(variable.ty()).is_empty();
        let texts: Vec<&str> =
            words.iter().filter_map(|word| word.strip_prefix('"')?.strip_suffix('"')).collect();
        for text in &texts {
            if has("alias") || has("weakref") {
                self.attribute_name(index, (*text).to_owned(), variable.ty(), has_subject);
            }
            if has("section") && is_identifier(text) {
                self.attribute_name(index, format!("__start_{text}"), variable.ty(), has_subject);
                self.attribute_name(index, format!("__stop_{text}"), variable.ty(), has_subject);
                self.collected(index, variable, text);
            }
        }
        if has("cleanup") {
            self.cleaned(index, variable, &words);
        }
        // The linker has symbols for sections with other names, by which code finds what is in them.
        if has("section") && !texts.iter().any(|text| is_identifier(text)) {
            self.read_from_outside(index, variable);
        }
    }

    /// `__attribute__((used, section(".stamp")))`: what no code names is kept for whoever reads the program's file.
    fn read_from_outside(&mut self, index: Index, variable: Cursor<'u>) {
        let view = self.unit.view;
        let Some(declaration) = view.tree.parent(index) else { return };
        let is_used = |node: Index| {
            let words =
                view.cursor(node).map(|own| self.unit.places.borrow_mut().words(own)).unwrap_or_default();
            words.iter().any(|word| ["used", "retain"].contains(&word.trim_matches('_')))
        };
        let is_kept = view
            .tree
            .children(declaration)
            .any(|child| view.tree.kind(child) == Kind::Attribute && is_used(child));
        let is_named = |node: Index| {
            let named =
                view.cursor(node).filter(|_| view.tree.kind(node) == Kind::Name).and_then(Cursor::referenced);
            named.is_some_and(|named| named.identity() == variable.identity())
        };
        if !is_kept || variable.is_shared() || (0..view.tree.len()).any(is_named) {
            return;
        }
        let mut ty = variable.ty();
        while let Some(element) = ty.element() {
            ty = element;
        }
        if ty.kind() == TypeKind::Record {
            self.by_value(index, ty);
        }
    }

    /// A pointer in a section is one of the section's array.
    fn collected(&mut self, index: Index, variable: Cursor<'u>, section: &str) {
        let mut follower = Follower::new(self.unit);
        for end in ["start", "stop"] {
            let array = format!("c:@__{end}_{section}");
            follower.hand(index, State { level: 1, ..State::PLAIN }, array, None);
        }
        let outcome = follower.run();
        match variable.ty().pointee().filter(|pointee| pointee.kind() == TypeKind::Record) {
            Some(record) => {
                let origin = Origin::Object(self.unit.shape(record));
                self.depart(index, origin, outcome);
            }
            None => self.passage(names::variable(variable), 0, outcome),
        }
    }

    /// A function that is another name of one, or of what one gives.
    fn function_attribute(&mut self, index: Index, declaration: Index) {
        let view = self.unit.view;
        let (Some(function), Some(attribute)) = (view.cursor(declaration), view.cursor(index)) else {
            return;
        };
        let words = self.unit.places.borrow_mut().words(attribute);
        let has = |word: &str| words.iter().any(|own| own.trim_matches('_') == word);
        let (is_alias, is_chosen) = (has("alias") || has("weakref"), has("ifunc"));
        if !is_alias && !is_chosen {
            return;
        }
        let texts: Vec<&str> =
            words.iter().filter_map(|word| word.strip_prefix('"')?.strip_suffix('"')).collect();
        let bodies: Vec<Index> = (0..view.tree.len())
            .filter(|node| {
                view.tree.kind(*node) == Kind::Function
                    && view.cursor(*node).is_some_and(|own| texts.contains(&own.name().as_str()))
            })
            .collect();
        for body in bodies {
            match is_alias {
                true => self.second_name(index, function, view.cursor(body)),
                false => {
                    let named: Vec<Index> =
                        view.tree.below(body).filter(|node| view.tree.kind(*node) == Kind::Name).collect();
                    for name in named {
                        self.second_name(index, function, view.cursor(name).and_then(Cursor::referenced));
                    }
                }
            }
        }
    }

    /// Calls of one function are calls of another.
    fn second_name(&mut self, index: Index, function: Cursor<'u>, target: Option<Cursor<'u>>) {
        let Some(target) = target
            .filter(|target| target.kind() == Kind::Function && target.identifier() != function.identifier())
        else {
            return;
        };
        self.defined.push(names::function(function));
        let (own, other) = (function.ty(), target.ty());
        for number in 0..own.parameter_count().min(other.parameter_count()) {
            let mut follower = Follower::new(self.unit);
            follower.hand(index, State::PLAIN, names::parameter(target, number), None);
            let outcome = follower.run();
            self.passage(names::parameter(function, number), 0, outcome);
            let record = |ty: Type<'u>| {
                let ty = u32::try_from(number).ok().and_then(|number| ty.parameter(number))?;
                ty.pointee().filter(|pointee| pointee.kind() == TypeKind::Record)
            };
            let symbol = format!("{} as {} parameter {number}", function.name(), target.name());
            if let Some((own, other)) = record(own).zip(record(other)) {
                self.named(index, symbol.clone(), own);
                self.named(index, symbol, other);
            }
        }
        let mut follower = Follower::new(self.unit);
        follower.hand(index, State::PLAIN, names::result(function), None);
        let outcome = follower.run();
        self.passage(names::result(target), 0, outcome);
    }

    fn attribute_name(&mut self, index: Index, symbol: String, ty: Type<'u>, has_subject: bool) {
        if has_subject {
            self.attributed.insert(symbol.clone());
        }
        self.named(index, symbol, ty);
    }

    /// A variable's address is handed to a function where its block ends.
    fn cleaned(&mut self, index: Index, variable: Cursor<'u>, words: &[String]) {
        let view = self.unit.view;
        let ty = variable.ty();
        let (record, level) = match ty.kind() {
            TypeKind::Record => (Some(ty), 0),
            _ => (ty.pointee().filter(|pointee| pointee.kind() == TypeKind::Record), 1),
        };
        let Some(record) = record else { return };
        let functions = (0..view.tree.len()).filter(|node| view.tree.kind(*node) == Kind::Function);
        let function = functions
            .filter_map(|node| view.cursor(node))
            .find(|function| words.iter().any(|word| *word == function.name()));
        let Some(function) = function else { return };
        let mut follower = Follower::new(self.unit);
        follower.hand(index, State { level, ..State::PLAIN }, names::parameter(function, 0), None);
        let (origin, outcome) = (Origin::Object(self.unit.shape(record)), follower.run());
        self.depart(index, origin, outcome);
    }

    /// A variable that other units know by a name has a type there.
    pub(crate) fn named(&mut self, index: Index, symbol: String, ty: Type<'u>) {
        let mut ty = ty;
        while let Some(element) = ty.element() {
            ty = element;
        }
        if matches!(ty.kind(), TypeKind::Record | TypeKind::Byte | TypeKind::Number) {
            let shape = self.unit.shape(ty);
            self.symbols.insert((symbol, shape, self.unit.place(index)));
        }
    }
}

/// Whether the linker makes symbols for the begin and the end of a section of this name.
fn is_identifier(name: &str) -> bool {
    name.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
}
