//! How CPUs take turns on the lines of objects, from the times of samples.
//!
//! A CPU's accesses to a line between two writes of other CPUs are a turn. The line had to be fetched for it. If
//! the CPU touched no byte that the others had written since its last turn, other members alone took the line.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Fewer turns are not significant: a count of four is two deviations above none (Poisson).
pub const MIN_TURNS: u64 = 4;

/// Turns of CPUs on the lines of a struct's objects, for one line size.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineTurns {
    /// Bytes of a line.
    pub line: u64,
    /// Turns in which a CPU touched bytes that others had written.
    pub true_turns: u64,
    /// Turns in which others had written other bytes of the line only.
    pub false_turns: u64,
    /// CPUs that touched one object, at most.
    pub cpus: u64,
    /// The members of the turns behind writes of others only, by offsets.
    pub pairs: Vec<TurnPair>,
}

/// Turns in which a CPU touched one offset after others had written another on the line, and nothing that it
/// touched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnPair {
    /// Byte offset that was touched.
    pub offset: u64,
    /// Byte offset that was written.
    pub written: u64,
    /// How many turns.
    pub turns: u64,
    /// Objects they happened on. In a sum of recordings, the sum.
    pub objects: u64,
}

impl LineTurns {
    /// All turns.
    pub fn turns(&self) -> u64 {
        self.true_turns.saturating_add(self.false_turns)
    }

    /// Adds those of another recording, of the same line size.
    pub fn add(&mut self, other: &Self) {
        self.true_turns = self.true_turns.saturating_add(other.true_turns);
        self.false_turns = self.false_turns.saturating_add(other.false_turns);
        self.cpus = self.cpus.max(other.cpus);
        let mut pairs: BTreeMap<(u64, u64), TurnPair> = BTreeMap::new();
        for pair in self.pairs.iter().chain(&other.pairs) {
            let sum = pairs.entry((pair.offset, pair.written)).or_insert(TurnPair {
                turns: 0,
                objects: 0,
                ..*pair
            });
            sum.turns = sum.turns.saturating_add(pair.turns);
            sum.objects = sum.objects.saturating_add(pair.objects);
        }
        self.pairs = pairs.into_values().collect();
    }
}

/// Adds turns of another recording to those known, by line size.
pub(crate) fn merge_turns(known: &mut Vec<LineTurns>, other: &[LineTurns]) {
    for turns in other {
        match known.iter_mut().find(|known| known.line == turns.line) {
            Some(sum) => sum.add(turns),
            None => known.push(turns.clone()),
        }
    }
    known.sort_by_key(|turns| turns.line);
}
