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
        let variable = view.tree.parent(index).filter(|parent| view.tree.kind(*parent) == Kind::Variable);
        let Some(variable) = variable.and_then(|variable| view.cursor(variable)) else { return };
        let Some(attribute) = view.cursor(index) else { return };
        let words = self.unit.places.borrow_mut().words(attribute);
        let has = |word: &str| words.iter().any(|own| own.trim_matches('_') == word);
        let has_subject = !view.records.within(variable.ty()).is_empty();
        for text in words.iter().filter_map(|word| word.strip_prefix('"')?.strip_suffix('"')) {
            if has("alias") {
                self.attribute_name(index, text.to_owned(), variable.ty(), has_subject);
            }
            if has("section") && is_identifier(text) {
                self.attribute_name(index, format!("__start_{text}"), variable.ty(), has_subject);
                self.attribute_name(index, format!("__stop_{text}"), variable.ty(), has_subject);
            }
        }
        if has("cleanup") {
            self.cleaned(index, variable, &words);
        }
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
