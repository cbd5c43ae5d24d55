//! Smaller changes than the best: for each number of moved members the cheapest order known.
//!
//! Two ways lead there. From the best order, moved units go back to their declared neighbours, the one that costs
//! least first. From the declared order, a beam of orders is changed by single units, stretches of units and
//! exchanges, with several orders kept for each number of moved members: what a single move costs first, the next
//! one may bring back.

use crate::cost::{Memo, OrderState, Problem};
use crate::judge::forecast::Counts;
use crate::search::order::{exchanged, inserted};
use crate::search::{CostedOrder, Mover, moved};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Moved members up to which the beam goes.
pub const SMALL: usize = 8;
/// Orders kept for each number of moved members.
const WIDTH: usize = 4;
/// Orders each of them contributes.
const BRANCHES: usize = 24;
/// Most units that move together, where units are few.
const BLOCK: usize = 3;
/// Units up to which all changes are tried; beyond, single touched units only.
const FEW: usize = 80;
/// By which share of one line more in every visit a change may cost more than what it starts from.
const SLACK: f64 = 0.05;

/// Cheapest acceptable orders by number of moved members, all cheaper than those with fewer moved. `known` are results
/// of a search, `start` is the declared order or what wishes make of it; no order moves more than `most` members.
pub fn front(
    problem: &Problem<'_>,
    start: &[usize],
    known: &[CostedOrder],
    most: usize,
    accepts: &dyn Fn(&[usize]) -> bool,
) -> Vec<CostedOrder> {
    let mut beams = Beams { problem, accepts, by_moved: BTreeMap::new(), kept: BTreeMap::new() };
    known.iter().for_each(|found| beams.add(found.clone()));
    let ways = if start.len() <= FEW { known.len() } else { known.len().min(1) };
    let paths = known[..ways].par_iter().map(|found| back(problem, found));
    paths.collect::<Vec<_>>().into_iter().flatten().for_each(|found| beams.add(found));
    let cost = OrderState::of(problem, start).cost();
    beams.add(CostedOrder { order: start.to_vec(), cost });
    // Lines of one step come back in the next.
    let mut memos = vec![Memo::default(); WIDTH];
    for count in 0..SMALL.min(most) {
        let here = beams.by_moved.get(&count).cloned().unwrap_or_default();
        let steps = here.par_iter().zip(&mut memos);
        let next = steps.map(|(found, memo)| branches(problem, found, count, memo));
        next.collect::<Vec<_>>().into_iter().flatten().for_each(|found| beams.add(found));
    }
    let mut front: Vec<CostedOrder> = Vec::new();
    for (_, found) in beams.kept.into_iter().filter(|(moved, _)| *moved <= most) {
        if front.last().is_none_or(|last| found.cost < last.cost) {
            front.push(found);
        }
    }
    front
}

/// How many members an order moves: those of all moved units.
pub fn moved_members(problem: &Problem<'_>, order: &[usize]) -> usize {
    moved(order).iter().map(|unit| problem.constraints.units[*unit].members.len()).sum()
}

/// Index of the candidate at the knee of the front: where its share of what the best one brings is most above its share
/// of the members that one moves; the first of equals. Beyond it each further member brings less than the mean.
pub(crate) fn smallest(front: &[Counts], declared: u64) -> Option<usize> {
    let gain = |found: &Counts| u128::from(declared.saturating_sub(found.cost));
    let moves = |found: &Counts| moved(&found.order).len() as u128;
    let best = front.last()?;
    // Both shares times both wholes, so that integers compare; a candidate that moves more than the best is none.
    let above = |found: &Counts| (gain(found) * moves(best)).checked_sub(moves(found) * gain(best));
    let knee = front.iter().enumerate().rev().max_by_key(|(_, found)| above(found));
    knee.map(|(index, _)| index)
}

/// Orders by number of moved members, cheapest first.
struct Beams<'p> {
    problem: &'p Problem<'p>,
    /// Whether an order may be offered. Others may still be on the way to one that may.
    accepts: &'p dyn Fn(&[usize]) -> bool,
    by_moved: BTreeMap<usize, Vec<CostedOrder>>,
    /// The cheapest that may be offered.
    kept: BTreeMap<usize, CostedOrder>,
}

impl Beams<'_> {
    /// Keeps an order if it is among the cheapest for its moved members.
    fn add(&mut self, found: CostedOrder) {
        let moved = moved_members(self.problem, &found.order);
        let is_cheaper = self.kept.get(&moved).is_none_or(|known| found.cost < known.cost);
        let fits = || OrderState::of(self.problem, &found.order).fits();
        if is_cheaper && fits() && (self.accepts)(&found.order) {
            self.kept.insert(moved, found.clone());
        }
        insert(self.by_moved.entry(moved).or_default(), found, WIDTH);
    }
}

/// Keeps an order among so many of the cheapest; equally dear ones mostly have the same lines.
fn insert(beam: &mut Vec<CostedOrder>, found: CostedOrder, most: usize) {
    let place = beam.partition_point(|other| other.cost < found.cost);
    if beam.get(place).is_none_or(|other| other.cost != found.cost) {
        beam.insert(place, found);
        beam.truncate(most);
    }
}

/// The way back: unit by unit to its declared neighbours, the cheapest step first.
fn back(problem: &Problem<'_>, found: &CostedOrder) -> Vec<CostedOrder> {
    let mut memo = Memo::default();
    let mut state = OrderState::new(problem, &found.order, &mut memo);
    let mut path = Vec::new();
    loop {
        let away = moved(state.order());
        let orders = away.iter().map(|unit| returned(state.order(), *unit, &away));
        let legal = orders.filter(|order| problem.constraints.check(order).is_ok());
        let mut next: Option<CostedOrder> = None;
        for order in legal {
            let mut trial = state.clone();
            trial.reset(&order, &mut memo);
            if next.as_ref().is_none_or(|next| trial.cost() < next.cost) {
                next = Some(CostedOrder { cost: trial.cost(), order });
            }
        }
        let Some(next) = next else { return path };
        state.reset(&next.order, &mut memo);
        path.push(next);
    }
}

/// The order with a moved unit behind the nearest unit declared before it that is not moved.
pub(crate) fn returned(order: &[usize], unit: usize, away: &[usize]) -> Vec<usize> {
    let mut order: Vec<usize> = order.iter().copied().filter(|other| *other != unit).collect();
    let before = (0..unit).rev().find(|before| !away.contains(before));
    let place = before.and_then(|before| order.iter().position(|other| *other == before));
    order.insert(place.map_or(0, |place| place + 1), unit);
    order
}

/// The cheapest orders one change away that move more members.
fn branches(problem: &Problem<'_>, found: &CostedOrder, count: usize, memo: &mut Memo) -> Vec<CostedOrder> {
    let mut state = OrderState::new(problem, &found.order, memo);
    let mover = Mover::new(problem);
    let (slack, start) = (SLACK * problem.scale as f64, state.cost());
    let mut best: Vec<CostedOrder> = Vec::new();
    for (first, units) in changes(problem, &mover, &state) {
        let worst = best.get(BRANCHES - 1).map_or(u64::MAX, |worst| worst.cost);
        let bound = slack.min(worst.saturating_sub(start) as f64);
        if !state.allows(first, &units) || !state.replace_below(first, &units, memo, bound) {
            continue;
        }
        let cost = state.cost();
        let is_new = cost < worst && best.iter().all(|other| other.cost != cost);
        if is_new && moved_members(problem, state.order()) > count {
            insert(&mut best, CostedOrder { order: state.order().to_vec(), cost }, BRANCHES);
        }
        state.undo();
    }
    best
}

/// All changes tried: where they begin, and the units from there on.
fn changes(problem: &Problem<'_>, mover: &Mover, state: &OrderState<'_>) -> Vec<(usize, Vec<usize>)> {
    let order = state.order();
    let few = order.len() <= FEW;
    let mut changes = Vec::new();
    for from in 0..order.len() {
        let (low, high) = mover.regions[from];
        if !few && problem.parts(order[from]).is_empty() {
            continue;
        }
        for length in 1..=if few { BLOCK.min(high - from) } else { 1 } {
            let places = (low..=high - length).filter(|to| *to != from);
            changes.extend(places.map(|to| inserted(order, from, length, to)));
        }
        let others = if few { from + 1..high } else { from..from };
        changes.extend(others.map(|to| exchanged(order, from, to)));
    }
    changes
}
