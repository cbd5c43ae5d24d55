//! Arguments and results of calls.

use super::super::facts::{Departure, End, Origin, RAW, State};
use super::super::follow::Follower;
use super::super::{follow, names};
use super::reader::{Reader, is_open};
use crate::clang::{Cursor, Kind, Type, TypeKind};
use crate::tree::Index;

impl<'u> Reader<'_, '_, '_, 'u> {
    pub(crate) fn call(&mut self, index: Index) {
        let view = self.unit.view;
        let Some(ty) = view.cursor(index).map(Cursor::ty) else { return };
        if is_open(ty) {
            let place = match follow::function(view, index) {
                Some(function) => Some(names::result(function)),
                None => follow::pointed_to(view, index).map(names::callback_result),
            };
            if let Some(place) = place {
                self.results.entry(place).or_default().push(index);
            }
            self.raw(index);
        }
        self.variable_arguments(index);
        self.bound(index);
        self.given(index);
    }

    /// Members that references are bound to.
    fn bound(&mut self, index: Index) {
        let view = self.unit.view;
        for (number, argument) in follow::arguments(view, index).into_iter().enumerate() {
            let mut named = argument;
            while matches!(view.tree.kind(named), Kind::Paren | Kind::Unexposed)
                && let Some(inner) = view.tree.only(named)
            {
                named = inner;
            }
            let is_member = view.tree.kind(named) == Kind::MemberAccess;
            if is_member && follow::binds(view, index, number) {
                let mut follower = Follower::new(self.unit);
                follower.bound(argument, index, State::PLAIN);
                let outcome = follower.run();
                self.member_of(named, &view.address_sum(named), outcome);
            }
        }
    }

    /// Memory that a function gives whose body is elsewhere, if anywhere.
    pub(crate) fn raw(&mut self, index: Index) {
        let view = self.unit.view;
        let function = follow::function(view, index);
        if function.is_some_and(|function| function.definition().is_some()) {
            return;
        }
        let mut follower = Follower::new(self.unit);
        follower.push(index, State::PLAIN);
        let mut outcome = follower.run();
        outcome.ends.clear();
        if !outcome.places.is_empty() {
            let by = Some(function.map(Cursor::identifier).unwrap_or_default());
            let (origin, at) = (Origin::Other(RAW.to_owned()), self.unit.place(index));
            self.departures.push(Departure { origin, at, outcome, by });
        }
    }

    /// Arguments that no parameter is declared for keep their type.
    pub(crate) fn variable_arguments(&mut self, index: Index) {
        let view = self.unit.view;
        let Some(function) = follow::function(view, index) else { return };
        let declared = function.ty();
        if !declared.is_open_function() {
            return;
        }
        for (number, argument) in
            follow::arguments(view, index).into_iter().enumerate().skip(declared.parameter_count())
        {
            let Some(ty) = view.cursor(argument).map(Cursor::ty) else { continue };
            let is_blind = declared.has_no_parameters_declared() || function.definition().is_none();
            if ty.kind() == TypeKind::Record && is_blind {
                self.by_value(argument, ty);
            }
            let Some(own) = ty.pointee().filter(|own| own.kind() == TypeKind::Record) else { continue };
            let place = match declared.has_no_parameters_declared() {
                true => names::parameter(function, number),
                false => names::variable_arguments(function),
            };
            let origin = self.origin(own);
            let mut follower = Follower::new(self.unit);
            let by = function.name();
            let is_printed = by.contains("print") || by.contains("scan");
            if function.definition().is_none() && !is_printed && !declared.has_no_parameters_declared() {
                follower.end(argument, State::PLAIN, End::Bytes { count: None, by });
            }
            follower.hand(argument, State::PLAIN, place, None);
            let outcome = follower.run();
            self.depart(argument, origin, outcome);
        }
    }

    /// An object itself, for whatever takes it out of its bytes.
    pub(crate) fn by_value(&mut self, argument: Index, ty: Type<'u>) {
        let mut follower = Follower::new(self.unit);
        follower.end(argument, State::PLAIN, End::Unknown);
        let (origin, outcome) = (self.origin(ty), follower.run());
        self.depart(argument, origin, outcome);
    }

    /// A subject's address as what it is, for a function without a body here.
    pub(crate) fn given(&mut self, index: Index) {
        let view = self.unit.view;
        let Some(function) = follow::function(view, index).filter(|function| function.definition().is_none())
        else {
            return;
        };
        for argument in follow::arguments(view, index) {
            let own = view.cursor(argument).and_then(|argument| argument.ty().pointee());
            if let Some(own) = own.filter(|own| view.records.subject(*own).is_some()) {
                self.given.insert((function.name(), self.unit.shape(own), self.unit.place(index)));
            }
        }
    }
}
