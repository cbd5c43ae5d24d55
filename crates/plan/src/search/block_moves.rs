//! Moves of declared neighbours as one block: what a reviewer reads as one hunk.

use crate::cost::OrderState;
use crate::random::Random;
use crate::search::MoveGenerator;
use crate::search::moves::Move;

/// Draws a move of a unit, or of the block it stands in, next to a unit that it is declared next to.
pub(super) fn draw_reunion(
    mover: &mut MoveGenerator,
    state: &OrderState<'_>,
    random: &mut Random,
) -> Option<Move> {
    let order = state.order();
    let unit = random.below(order.len());
    let at = state.position(unit);
    let alone = random.below(2) == 0;
    let (from, length, to) = if random.below(2) == 0 {
        let target = state.position(unit.checked_sub(1)?) + 1;
        (at, if alone { 1 } else { block_length(order, at) }, target)
    } else {
        let target = order.get(unit + 1).map(|_| state.position(unit + 1))?;
        let length = if alone { 1 } else { block_length_before(order, at) };
        (at + 1 - length, length, target)
    };
    insert_before(mover, state, from, length, to)
}

/// Draws a move of a unit or block, or a part of it, to any place; every second time to one between blocks.
pub(super) fn draw_block(
    mover: &mut MoveGenerator,
    state: &OrderState<'_>,
    random: &mut Random,
) -> Option<Move> {
    let order = state.order();
    let from = random.below(order.len());
    let block = block_length(order, from);
    let length = match random.below(4) {
        0 | 1 => 1,
        2 => block,
        _ => 1 + random.below(block),
    };
    let mut to = random.below(order.len() + 1);
    if random.below(2) == 0 {
        let begins_block = |place: &usize| *place == 0 || order[*place - 1] + 1 != order[*place];
        to = (to..order.len()).find(begins_block).unwrap_or(order.len());
    }
    insert_before(mover, state, from, length, to)
}

/// Draws an exchange of a unit or a part of a block for as many bytes elsewhere: what stands between them, and behind, keeps
/// its place on its lines.
pub(super) fn draw_block_exchange(
    mover: &mut MoveGenerator,
    state: &OrderState<'_>,
    random: &mut Random,
) -> Option<Move> {
    let order = state.order();
    let (from, other) = (random.below(order.len()), random.below(order.len()));
    let end = from + 1 + random.below(block_length(order, from));
    let bits =
        |range: std::ops::Range<usize>| -> u64 { order[range].iter().map(|unit| mover.bits[*unit]).sum() };
    let own = bits(from..end);
    let longest = other + block_length(order, other);
    let other_end = (other + 1..=longest).find(|end| bits(other..*end) >= own).unwrap_or(longest);
    let (low, high) = mover.regions[from];
    if other < low || other_end > high || end > high {
        return None;
    }
    let first = mover.exchange(state, (from, end), (other, other_end))?;
    state.allows(first, &mover.units).then_some(Move::Replace(first))
}

/// Units from a position on that follow each other as declared.
fn block_length(order: &[usize], from: usize) -> usize {
    order[from..].windows(2).take_while(|pair| pair[0] + 1 == pair[1]).count() + 1
}

/// The same, up to a position.
fn block_length_before(order: &[usize], last: usize) -> usize {
    order[..=last].windows(2).rev().take_while(|pair| pair[0] + 1 == pair[1]).count() + 1
}

/// Moves units in front of the one at a position now, if they may stand there.
fn insert_before(
    mover: &mut MoveGenerator,
    state: &OrderState<'_>,
    from: usize,
    length: usize,
    target: usize,
) -> Option<Move> {
    if (from..=from + length).contains(&target) {
        return None;
    }
    let to = if target > from { target - length } else { target };
    let (low, high) = mover.regions[from];
    if to < low || to + length > high || from + length > high {
        return None;
    }
    let end = from + length;
    let first = if to < from {
        mover.exchange(state, (to, from), (from, end))
    } else {
        mover.exchange(state, (from, end), (end, to + length))
    }?;
    state.allows(first, &mover.units).then_some(Move::Replace(first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_declared_neighbours() {
        let order = [3, 4, 5, 0, 1, 6];
        assert_eq!([0, 1, 3, 5].map(|from| block_length(&order, from)), [3, 2, 2, 1]);
        assert_eq!([0, 2, 4, 5].map(|last| block_length_before(&order, last)), [1, 3, 2, 1]);
    }
}
