//! Smaller changes than the best: for each number of moved members the cheapest order known.
//!
//! From the best order, moved units return to their declared neighbours, the cheapest step first. From the
//! declared order, a beam search applies moves of single units, runs of units and exchanges, with several
//! orders kept for each number of moved members: the cost of one move may be regained by the next.

use crate::cost::{CostCache, OrderState, Problem};
use crate::judge::forecast::OrderEvaluation;
use crate::search::order::{exchange, insertion};
use crate::search::{CostedOrder, MoveGenerator, moved_units};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Moved members up to which the beam goes.
pub const BEAM_DEPTH: usize = 8;
/// Orders kept for each number of moved members.
const BEAM_WIDTH: usize = 4;
/// Orders each of them contributes.
const BRANCHES: usize = 24;
/// Most units that move together, where units are few.
const BLOCK: usize = 3;
/// Units up to which all changes are tried; beyond, single touched units only.
const FEW: usize = 80;
/// By which share of one line more in every visit a change may cost more than what it starts from.
const SLACK: f64 = 0.05;

/// Cheapest acceptable orders by number of moved members, all cheaper than those with fewer moved. `known`
/// are results of a search, `start` is the declared order, changed as requests demand; no order moves more
/// than `most` members.
pub fn pareto_front(
    problem: &Problem<'_>,
    start: &[usize],
    known: &[CostedOrder],
    most: usize,
    accepts: &dyn Fn(&[usize]) -> bool,
) -> Vec<CostedOrder> {
    let mut beam = BeamSearch { problem, accepts, by_moved: BTreeMap::new(), kept: BTreeMap::new() };
    known.iter().for_each(|found| beam.add(found.clone()));
    let returned_count = if start.len() <= FEW { known.len() } else { known.len().min(1) };
    let paths = fieldline_parallel::map(&known[..returned_count], |found| return_units(problem, found));
    paths.into_iter().flatten().for_each(|found| beam.add(found));
    let cost = OrderState::evaluate(problem, start).cost();
    beam.add(CostedOrder { order: start.to_vec(), cost });
    // Line costs of one step are reused in the next.
    let mut memos = vec![CostCache::default(); BEAM_WIDTH];
    for count in 0..BEAM_DEPTH.min(most) {
        let here = beam.by_moved.get(&count).cloned().unwrap_or_default();
        let steps = here.par_iter().zip(&mut memos);
        let next = steps.map(|(found, memo)| expand(problem, found, count, memo));
        next.collect::<Vec<_>>().into_iter().flatten().for_each(|found| beam.add(found));
    }
    let mut front: Vec<CostedOrder> = Vec::new();
    for (_, found) in beam.kept.into_iter().filter(|(moved, _)| *moved <= most) {
        if front.last().is_none_or(|last| found.cost < last.cost) {
            front.push(found);
        }
    }
    front
}

/// How many members an order moves: those of all moved units.
pub fn moved_members(problem: &Problem<'_>, order: &[usize]) -> usize {
    moved_units(order).iter().map(|unit| problem.constraints.units[*unit].members.len()).sum()
}

/// Index of the candidate at the knee of the Pareto front: where its share of the best gain is most above its
/// share of the best one's moved members; the first of equals. Beyond it each further member gains less than
/// the mean.
pub(crate) fn knee_index(front: &[OrderEvaluation], declared: u64) -> Option<usize> {
    let gain = |found: &OrderEvaluation| u128::from(declared.saturating_sub(found.cost));
    let moves = |found: &OrderEvaluation| moved_units(&found.order).len() as u128;
    let best = front.last()?;
    // Both shares times both totals, so that integers compare; a candidate that moves more than the best is
    // none.
    let above = |found: &OrderEvaluation| (gain(found) * moves(best)).checked_sub(moves(found) * gain(best));
    let knee = front.iter().enumerate().rev().max_by_key(|(_, found)| above(found));
    knee.map(|(index, _)| index)
}

/// Orders by number of moved members, cheapest first.
struct BeamSearch<'p> {
    problem: &'p Problem<'p>,
    /// Whether an order may be offered. Others may still lead to one that may.
    accepts: &'p dyn Fn(&[usize]) -> bool,
    by_moved: BTreeMap<usize, Vec<CostedOrder>>,
    /// The cheapest that may be offered.
    kept: BTreeMap<usize, CostedOrder>,
}

impl BeamSearch<'_> {
    /// Keeps an order if it is among the cheapest for its moved members.
    fn add(&mut self, found: CostedOrder) {
        let moved = moved_members(self.problem, &found.order);
        let is_cheaper = self.kept.get(&moved).is_none_or(|known| found.cost < known.cost);
        let fits = || OrderState::evaluate(self.problem, &found.order).fits();
        if is_cheaper && fits() && (self.accepts)(&found.order) {
            self.kept.insert(moved, found.clone());
        }
        insert_bounded(self.by_moved.entry(moved).or_default(), found, BEAM_WIDTH);
    }
}

/// Keeps an order among so many of the cheapest; orders of equal cost mostly have the same lines.
fn insert_bounded(beam: &mut Vec<CostedOrder>, found: CostedOrder, most: usize) {
    let index = beam.partition_point(|other| other.cost < found.cost);
    if beam.get(index).is_none_or(|other| other.cost != found.cost) {
        beam.insert(index, found);
        beam.truncate(most);
    }
}

/// Returns moved units one by one to their declared neighbours, the cheapest step first.
fn return_units(problem: &Problem<'_>, found: &CostedOrder) -> Vec<CostedOrder> {
    let mut memo = CostCache::default();
    let mut state = OrderState::new(problem, &found.order, &mut memo);
    let mut path = Vec::new();
    loop {
        let moved = moved_units(state.order());
        let orders = moved.iter().map(|unit| with_unit_returned(state.order(), *unit, &moved));
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
pub(crate) fn with_unit_returned(order: &[usize], unit: usize, moved: &[usize]) -> Vec<usize> {
    let mut order: Vec<usize> = order.iter().copied().filter(|other| *other != unit).collect();
    let before = (0..unit).rev().find(|before| !moved.contains(before));
    let index = before.and_then(|before| order.iter().position(|other| *other == before));
    order.insert(index.map_or(0, |index| index + 1), unit);
    order
}

/// The cheapest orders one change away that move more members.
fn expand(problem: &Problem<'_>, from: &CostedOrder, count: usize, memo: &mut CostCache) -> Vec<CostedOrder> {
    let mut state = OrderState::new(problem, &from.order, memo);
    let mover = MoveGenerator::new(problem);
    let (slack, start) = (SLACK * problem.scale as f64, state.cost());
    let mut best: Vec<CostedOrder> = Vec::new();
    for (first, units) in changes(problem, &mover, &state) {
        let worst = best.get(BRANCHES - 1).map_or(u64::MAX, |worst| worst.cost);
        let bound = slack.min(worst.saturating_sub(start) as f64);
        if !state.allows(first, &units) || !state.try_replace(first, &units, memo, bound) {
            continue;
        }
        let cost = state.cost();
        let is_new = cost < worst && best.iter().all(|other| other.cost != cost);
        if is_new && moved_members(problem, state.order()) > count {
            insert_bounded(&mut best, CostedOrder { order: state.order().to_vec(), cost }, BRANCHES);
        }
        state.undo();
    }
    best
}

/// All changes tried: where they begin, and the units from there on.
fn changes(problem: &Problem<'_>, mover: &MoveGenerator, state: &OrderState<'_>) -> Vec<(usize, Vec<usize>)> {
    let order = state.order();
    let few = order.len() <= FEW;
    let mut found = Vec::new();
    for from in 0..order.len() {
        let (low, high) = mover.regions[from];
        if !few && problem.unit_touched_bits(order[from]).is_empty() {
            continue;
        }
        for length in 1..=if few { BLOCK.min(high - from) } else { 1 } {
            let places = (low..=high - length).filter(|to| *to != from);
            found.extend(places.map(|to| insertion(order, from, length, to)));
        }
        let others = if few { from + 1..high } else { from..from };
        found.extend(others.map(|to| exchange(order, from, to)));
    }
    found
}
