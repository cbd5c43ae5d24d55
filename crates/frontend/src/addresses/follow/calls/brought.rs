//! Functions that bring what they are handed back to their caller, as a result or behind another argument: each call
//! gets its own, not that of others.

use super::super::super::facts::State;
use super::super::super::names;
use super::super::super::nodes::{Answer, Brought, Unit};
use super::super::follower::Follower;
use super::arguments;
use crate::clang::{Cursor, Kind};
use crate::tree::Index;
use std::rc::Rc;

impl<'u> Unit<'_, '_, 'u> {
    /// Where a function brings an address that it is handed. `None` if other units may call the function, or pointers
    /// lead to it: its results are those of all calls then.
    pub(crate) fn brought(&self, function: Cursor<'u>, number: usize, level: u8) -> Option<Rc<Brought>> {
        let function = function.definition().filter(|function| self.is_private(*function))?;
        let question = (function.identity(), number, level);
        let known = self.brought.borrow().0.get(&question).cloned();
        match known {
            Some(Answer::Known(brought)) => return Some(brought),
            Some(Answer::Open | Answer::Cyclic) => {
                self.brought.borrow_mut().0.insert(question, Answer::Cyclic);
                return None;
            }
            None => {}
        }
        self.brought.borrow_mut().0.insert(question, Answer::Open);
        let brought = Rc::new(self.follow_parameter(function, number, level));
        let mut answers = self.brought.borrow_mut();
        if let Some(Answer::Cyclic) = answers.0.get(&question) {
            return None;
        }
        answers.0.insert(question, Answer::Known(Rc::clone(&brought)));
        Some(brought)
    }

    fn follow_parameter(&self, function: Cursor<'u>, number: usize, level: u8) -> Brought {
        let parameter = u32::try_from(number).ok().and_then(|number| function.argument(number));
        let Some(parameter) = parameter.filter(|parameter| parameter.kind() == Kind::Parameter) else {
            return Brought::default();
        };
        let mut follower = Follower::new(self);
        follower.follow(parameter.identity(), State { level, ..State::PLAIN });
        let result = names::result(function);
        let written = names::all_written(function);
        let mut brought = Brought::default();
        for (state, place, ..) in follower.run().places {
            if place == result {
                brought.returned.push(state);
            } else if let Some(other) = written.iter().position(|own| *own == place) {
                brought.stored.push((other, state));
            }
        }
        brought.returned.dedup();
        brought.stored.dedup();
        brought
    }
}

impl<'u> Follower<'_, '_, '_, 'u> {
    /// Goes on where a function brings its argument.
    pub(crate) fn bring(&mut self, call: Index, (function, number): (Cursor<'u>, usize), state: State) {
        let Some(brought) = self.unit.brought(function, number, state.level) else { return };
        for own in &brought.returned {
            self.push(call, state.then(*own));
        }
        let arguments = arguments(self.unit.view, call);
        for (other, own) in &brought.stored {
            if let Some(argument) = arguments.get(*other) {
                self.store(*argument, state.then(*own));
            }
        }
    }
}
