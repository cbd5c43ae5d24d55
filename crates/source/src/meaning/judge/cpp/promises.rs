//! Promises of coroutines: a handle that is made of an address has whatever promise it says.

use crate::meaning::code::evaluator::Evaluator;

/// The method that makes a class the promise of a coroutine.
const PROMISE: &[u8] = b"get_return_object";

impl<'t> Evaluator<'_, '_, 't> {
    /// `std::coroutine_handle<head>::from_address(…)`: a promise of another class may be taken for one of this.
    pub(in crate::meaning) fn promises(&mut self) {
        let world = self.world();
        for at in 0..self.cursor.pieces.len() {
            let is_made =
                self.cursor.text(at) == b"from_address" && self.cursor.text(at.wrapping_sub(1)) == b"::";
            let wanted = self.cursor.text(at.wrapping_sub(3));
            if !is_made || self.cursor.text(at.wrapping_sub(2)) != b">" || self.is_promise(wanted) {
                continue;
            }
            let Some(wanted) = world.records.name(wanted) else { continue };
            let mut promises: Vec<&'t [u8]> = world.subjects.keys().copied().collect();
            promises.retain(|record| *record != wanted && self.is_promise(record));
            promises.sort_unstable();
            self.cursor.at = at + 1;
            for record in promises {
                self.records(record, wanted, true);
            }
        }
    }

    fn is_promise(&self, class: &[u8]) -> bool {
        self.class_body(class).is_some_and(|mut body| body.any(|at| self.cursor.text(at) == PROMISE))
    }
}
