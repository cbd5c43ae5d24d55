//! Which of the candidates is proposed.

use crate::judge::forecast::Counts;
use crate::options::Choice;
use crate::search::{CostedOrder, moved};

pub(crate) fn choose(front: &[(CostedOrder, Counts)], declared: u64, choice: Choice) -> Option<usize> {
    match choice {
        Choice::Best => front.len().checked_sub(1),
        Choice::Smallest => smallest(front, declared),
        Choice::Number(number) => number.checked_sub(1).filter(|index| *index < front.len()),
    }
}

/// Index of the candidate at the knee of the front: where its share of what the best one brings is most above its share
/// of the members that one moves; the first of equals. Beyond it each further member brings less than the mean.
pub(crate) fn smallest(front: &[(CostedOrder, Counts)], declared: u64) -> Option<usize> {
    let gain = |found: &CostedOrder| u128::from(declared.saturating_sub(found.cost));
    let moves = |found: &CostedOrder| moved(&found.order).len() as u128;
    let best = &front.last()?.0;
    // Both shares times both wholes, so that integers compare; a candidate that moves more than the best is none.
    let above = |found: &CostedOrder| (gain(found) * moves(best)).checked_sub(moves(found) * gain(best));
    let mut knee = 0;
    for (index, (found, _)) in front.iter().enumerate() {
        if above(found) > above(&front[knee].0) {
            knee = index;
        }
    }
    Some(knee)
}
