//! Functions that return what they are handed: each call of one gets its own argument back, not that of others.

use super::super::facts::State;
use super::super::names;
use super::super::nodes::{Answer, Unit};
use super::follower::Follower;
use crate::clang::{Cursor, Kind};

impl<'u> Unit<'_, '_, 'u> {
    /// How an address has changed that a function returns as it was handed it. `None` if other units may call the
    /// function, or pointers lead to it: its result is that of all calls then.
    pub(crate) fn returned_states(
        &self,
        function: Cursor<'u>,
        number: usize,
        level: u8,
    ) -> Option<Vec<State>> {
        let function = function.definition().filter(|function| self.is_private(*function))?;
        let question = (function.identity(), number, level);
        let known = self.returned.borrow().0.get(&question).cloned();
        match known {
            Some(Answer::States(states)) => return Some(states),
            Some(Answer::Open | Answer::Cyclic) => {
                self.returned.borrow_mut().0.insert(question, Answer::Cyclic);
                return None;
            }
            None => {}
        }
        self.returned.borrow_mut().0.insert(question, Answer::Open);
        let states = self.follow_parameter(function, number, level);
        let mut returned = self.returned.borrow_mut();
        if let Some(Answer::Cyclic) = returned.0.get(&question) {
            return None;
        }
        returned.0.insert(question, Answer::States(states.clone()));
        Some(states)
    }

    fn follow_parameter(&self, function: Cursor<'u>, number: usize, level: u8) -> Vec<State> {
        let parameter = u32::try_from(number).ok().and_then(|number| function.argument(number));
        let Some(parameter) = parameter.filter(|parameter| parameter.kind() == Kind::Parameter) else {
            return Vec::new();
        };
        let mut follower = Follower::new(self);
        follower.follow(parameter.identity(), State { level, ..State::PLAIN });
        let result = names::result(function);
        let places = follower.run().places.into_iter();
        let mut states: Vec<State> =
            places.filter(|(_, place, ..)| *place == result).map(|(state, ..)| state).collect();
        states.dedup();
        states
    }
}
