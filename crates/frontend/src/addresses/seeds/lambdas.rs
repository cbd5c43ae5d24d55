//! Functions without a name.

use super::super::facts::{End, State};
use super::super::follow::{Follower, captures};
use super::super::names;
use super::reader::{Reader, is_open};
use crate::clang::{Cursor, Kind, Type, TypeKind};
use crate::tree::Index;

/// Most conversions on the way from such a function to a pointer.
const MOST_CONVERSIONS: usize = 6;

impl<'u> Reader<'_, '_, '_, 'u> {
    pub(crate) fn lambda(&mut self, index: Index) {
        let view = self.unit.view;
        let Some(lambda) = view.cursor(index) else { return };
        let parameters = view.tree.children(index).filter(|child| view.tree.kind(*child) == Kind::Parameter);
        let parameters: Vec<Cursor<'u>> = parameters.filter_map(|child| view.cursor(child)).collect();
        let pointers = self.pointers(index);
        for (number, parameter) in parameters.into_iter().enumerate() {
            let own = names::lambda_parameter(lambda, number);
            let callbacks = pointers.iter().map(|pointer| names::callback(*pointer, number));
            for place in std::iter::once(own).chain(callbacks) {
                let record = parameter.ty().pointee().filter(|pointee| pointee.kind() == TypeKind::Record);
                match record {
                    Some(record) => {
                        let mut follower = Follower::new(self.unit);
                        let shape = self.unit.shape(record);
                        follower.end(index, State::PLAIN, End::Record(shape));
                        let outcome = follower.run();
                        self.passage(place, 0, outcome);
                    }
                    None if is_open(parameter.ty()) => self.held(&place, parameter),
                    None => {}
                }
            }
        }
        for pointer in pointers {
            for number in 0..pointer.parameter_count() {
                let mut follower = Follower::new(self.unit);
                let written = names::written_by_callback(pointer, number);
                follower.hand(index, State { level: 1, ..State::PLAIN }, written, None);
                let outcome = follower.run();
                self.passage(names::written_by_lambda(lambda, number), 1, outcome);
            }
            let mut follower = Follower::new(self.unit);
            follower.hand(index, State::PLAIN, names::callback_result(pointer), None);
            let outcome = follower.run();
            self.passage(names::lambda_result(lambda), 0, outcome);
        }
        self.kept_otherwise(index);
    }

    /// Types of functions that a pointer to the function is one to.
    fn pointers(&self, index: Index) -> Vec<Type<'u>> {
        let view = self.unit.view;
        let parents = std::iter::successors(view.tree.parent(index), |parent| view.tree.parent(*parent));
        let types = parents.take(MOST_CONVERSIONS).filter_map(|parent| view.cursor(parent)?.ty().pointee());
        types.filter(|ty| ty.kind() == TypeKind::Function).take(1).collect()
    }

    /// `[bytes = reinterpret_cast<char *>(&object)]`: the tree doesn't show the conversion.
    fn kept_otherwise(&mut self, index: Index) {
        let view = self.unit.view;
        for (value, variable) in captures(view, index) {
            let own = view.cursor(value).and_then(|value| value.ty().pointee());
            let Some(own) = own.filter(|own| own.kind() == TypeKind::Record) else { continue };
            let to = variable.ty().pointee();
            let is_number = variable.ty().kind() == TypeKind::Number;
            if to.is_some_and(|to| to.equals(own)) || to.is_none() && !is_number {
                continue;
            }
            let mut follower = Follower::new(self.unit);
            match to.filter(|to| to.kind() == TypeKind::Record) {
                Some(other) => {
                    let shape = self.unit.shape(other);
                    follower.end(value, State::PLAIN, End::Record(shape));
                }
                None => follower.follow(variable.identity(), State::PLAIN),
            }
            let (origin, outcome) = (self.origin(own), follower.run());
            self.depart(value, origin, outcome);
        }
    }
}
