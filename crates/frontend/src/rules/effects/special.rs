//! Comparisons and assignments of objects of a class.

use super::{Effect, Effects, Search, element};
use crate::clang::{Cursor, Kind, Type};
use crate::tree::Index;

impl<'u> Effects<'_, '_, 'u> {
    /// The effects of comparing two objects of a class member by member.
    pub(crate) fn of_comparing(&self, class: Type<'u>) -> Effect {
        let mut search = Search::new(self);
        for member in class.members() {
            for own in self.comparisons(member.ty()) {
                search.function(own, false);
            }
        }
        search.found
    }

    /// The functions of the program that compare objects of a type, or an array's elements.
    fn comparisons(&self, ty: Type<'u>) -> Vec<Cursor<'u>> {
        let ty = element(ty);
        let is_own = |other: Type<'u>| other.pointee().unwrap_or(other).equals(ty);
        let compares = |function: &Cursor<'u>| {
            let class = function.holder().filter(|holder| holder.kind() == Kind::Record);
            function.name() == "operator=="
                && !function.is_defaulted()
                && !function.is_of_system()
                && (class.is_some_and(|class| is_own(class.ty()))
                    || function.ty().parameter(0).is_some_and(is_own))
        };
        let mut bodies: Vec<Index> = self.declared().bodies.values().copied().collect();
        bodies.sort_unstable();
        bodies.into_iter().filter_map(|body| self.view.cursor(body)).filter(compares).collect()
    }

    /// Whether giving an object of a class another one's value may throw, by the class's own code.
    pub(crate) fn throws_when_assigned(&self, ty: Type<'u>) -> bool {
        let class = element(ty).canonical().declaration().and_then(Cursor::definition);
        let Some(node) = class.and_then(|class| self.class(class)) else { return false };
        self.assignments(node).into_iter().any(|own| {
            let body = self.body(own);
            body.is_some_and(|body| {
                self.view.tree.below(body).any(|below| self.view.tree.kind(below) == Kind::Throw)
            })
        })
    }

    /// Whether a class says itself how its objects are assigned.
    pub(crate) fn assigns_itself(&self, class: Index) -> bool {
        !self.assignments(class).is_empty()
    }

    fn assignments(&self, class: Index) -> Vec<Cursor<'u>> {
        let parts = self.view.tree.children(class).filter_map(|part| self.view.cursor(part));
        let is_own = |part: &Cursor<'u>| {
            part.kind() == Kind::Function
                && part.name() == "operator="
                && !part.is_deleted()
                && !part.is_defaulted()
        };
        parts.filter(is_own).collect()
    }
}
