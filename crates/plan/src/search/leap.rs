//! Leaps: what lies on a line goes elsewhere, small moves repair what that broke, and all of it is judged as one move.
//!
//! Two good orders often differ in which lines are next to each other, and in a member or two that belong elsewhere
//! then. Either change alone costs more than a cold order keeps, and hot ones seldom make both. (Large steps with local
//! search behind each: Martin, Otto and Felten, 1991.)

use super::chain::Worker;
use crate::repertoire::Kind;

/// Moves that repair, and at which part of the replica's temperature.
const REPAIRS: usize = 120;
const CALM: f64 = 0.3;
/// What a leap begins with.
const LEADS: [Kind; 2] = [Kind::SwapLines, Kind::InsertLine];

impl Worker<'_> {
    /// Tries a leap of a replica.
    pub(super) fn leap(&mut self, number: usize, exponential: &[f64]) {
        let kind = LEADS[self.random.below(LEADS.len())];
        let lead = self.mover.draw(&self.replicas[number].state, kind, &mut self.random);
        let Some(lead) = lead else { return };
        let before = self.replicas[number].state.clone();
        if !self.make(number, lead, f64::INFINITY) {
            return;
        }
        self.best.take(&self.replicas[number].state, true);
        self.repair(number, exponential);
        let bound = self.bound(number, exponential);
        let rise = self.replicas[number].state.cost() as f64 - before.cost() as f64;
        if rise > 0.0 && rise >= bound {
            self.replicas[number].state = before;
        }
    }

    fn repair(&mut self, number: usize, exponential: &[f64]) {
        let temperature = self.replicas[number].temperature;
        self.replicas[number].temperature = temperature * CALM;
        for _ in 0..REPAIRS {
            self.step(number, exponential);
        }
        self.replicas[number].temperature = temperature;
    }
}
