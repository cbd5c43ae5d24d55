//! Pointers to anything that objects of C++'s standard library give back.

use super::super::super::facts::{End, State};
use super::super::super::follow::{
    self, Follower, gives_otherwise, is_kept_pointer, keeps_pointer, opens_pointer,
};
use super::super::super::names;
use super::super::reader::Reader;
use crate::clang::{Cursor, Kind, Type};
use crate::tree::Index;

impl Reader<'_, '_, '_, '_> {
    /// A kept pointer comes out: as an element, or in a way that nobody follows.
    pub(crate) fn kept_pointers(&mut self, index: Index) {
        let view = self.unit.view;
        let is_asked = matches!(view.tree.kind(index), Kind::Call | Kind::MemberAccess | Kind::Name);
        // The library's own bodies are made of pieces that look like such uses.
        if !is_asked || view.cursor(index).is_none_or(Cursor::is_of_system) {
            return;
        }
        if is_kept_pointer(view, index) {
            self.results.entry(names::KEPT_POINTERS.to_owned()).or_default().push(index);
        }
        if view.tree.kind(index) == Kind::Call && opens_pointer(view, index) {
            self.opened(index);
        }
        if view.tree.kind(index) == Kind::Call && gives_otherwise(view, index) {
            let mut follower = Follower::new(self.unit);
            follower.end(index, State::PLAIN, End::Unknown);
            let outcome = follower.run();
            self.passage(names::KEPT_POINTERS.to_owned(), 0, outcome);
        }
    }

    /// `pointers.emplace_back(&object)`: the library makes the pointer to anything.
    fn opened(&mut self, call: Index) {
        let view = self.unit.view;
        for argument in follow::arguments(view, call) {
            let own = view.cursor(argument).map(Cursor::ty);
            let own = own.and_then(Type::pointee).filter(|own| view.records.subject(*own).is_some());
            let Some(own) = own else { continue };
            let mut follower = Follower::new(self.unit);
            match keeps_pointer(view, call) {
                true => follower.hand(argument, State::PLAIN, names::KEPT_POINTERS.to_owned(), None),
                false => follower.end(argument, State::PLAIN, End::Unknown),
            }
            let (origin, outcome) = (self.origin(own), follower.run());
            self.depart(argument, origin, outcome);
        }
    }
}
