//! The fewest moved members for a size.

use super::insertion::{Insertion, MAX_REINSERTED};
use super::judge::{SizeCost, SizeJudge};
use crate::search::moved_units;

/// Units up to which every set of three is tried; beyond, pairs.
const MAX_UNITS_FOR_TRIPLES: usize = 40;
/// Units up to which pairs are tried; beyond, single units.
const MAX_UNITS_FOR_PAIRS: usize = 300;
/// Orders kept for each number of moves beyond.
const BEAM_WIDTH: usize = 16;
/// Alignments from here on are meant for cachelines.
const LINE: u64 = 32;
/// Moves made one after the other.
const BEAM_DEPTH: usize = 12;

/// An order that is smaller than the declared one; the lesser is better.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PackedOrder {
    /// Members that move among the others.
    pub(super) moved: usize,
    pub(super) cost: SizeCost,
    /// Sum of the units' distances from their declared positions.
    distance: usize,
    pub(super) order: Vec<usize>,
}

/// The Pareto front of moved members and size.
pub(super) struct PackingFront {
    pub(super) orders: Vec<PackedOrder>,
    /// Whether no order as small as the last moves fewer units.
    pub(super) proven: bool,
}

/// The best orders by number of moved members, up to one as small as `small`. None moves more than `most`
/// members.
pub(super) fn pareto_front(judge: &SizeJudge<'_>, small: &[usize], most: usize) -> PackingFront {
    let target = judge.order_cost(small);
    let mut search = FewestMovesSearch { judge, target, most, found: Vec::new(), rejected: false };
    let proven = search.exact();
    if !proven {
        search.beam();
        search.return_units(small);
    }
    PackingFront { orders: search.into_front(), proven }
}

struct FewestMovesSearch<'j, 'a> {
    judge: &'j SizeJudge<'a>,
    target: SizeCost,
    most: usize,
    found: Vec<PackedOrder>,
    /// Whether an order was small enough but not acceptable, so that another of the same units may be.
    rejected: bool,
}

impl FewestMovesSearch<'_, '_> {
    /// Moves ever more units until the target is reached; returns whether it is, proven with the fewest
    /// units.
    fn exact(&mut self) -> bool {
        let start = self.judge.constraints.initial_order();
        let movable = movable(self.judge, &start);
        let most = match start.len() {
            few if few <= MAX_UNITS_FOR_TRIPLES => MAX_REINSERTED,
            many if many <= MAX_UNITS_FOR_PAIRS => 2,
            _ => 1,
        };
        for count in 1..=most {
            let sets = sets(&movable, count);
            let judge = self.judge;
            let promising = fieldline_parallel::map(&sets, |set| {
                let order = reinserted(judge, &start, set, true)?;
                judge.is_gain(judge.order_cost(&order)).then_some(order)
            });
            for order in promising.into_iter().flatten() {
                self.offer(order);
            }
            if self.found.iter().any(|found| found.cost <= self.target) {
                return !self.rejected;
            }
        }
        false
    }

    /// Keeps an order if it is acceptable and worth a change.
    fn offer(&mut self, order: Vec<usize>) -> bool {
        let packed = measure(self.judge, order);
        let is_gain = self.judge.is_gain(packed.cost);
        let accepted = is_gain && self.judge.accepts(&packed.order, 0);
        self.rejected |= is_gain && !accepted;
        if accepted && packed.moved <= self.most {
            self.found.push(packed);
        }
        accepted
    }

    /// From a small order, moved units go back to their declared neighbours as long as nothing is lost.
    fn return_units(&mut self, small: &[usize]) {
        let mut order = small.to_vec();
        if !self.offer(order.clone()) {
            return;
        }
        let worth = measure(self.judge, order.clone()).cost;
        loop {
            let here = moved_units(&order);
            let tried = here.iter().filter_map(|unit| {
                let nearer = with_unit_returned(&order, *unit);
                let fewer = moved_units(&nearer).len() < here.len();
                (fewer && self.judge.accepts(&nearer, 0)).then(|| measure(self.judge, nearer))
            });
            let kept = tried.filter(|packed| packed.cost <= worth);
            let Some(next) = kept.min_by_key(|packed| (packed.moved, packed.distance)) else { break };
            order.clone_from(&next.order);
            self.offer(next.order);
        }
    }

    /// Beam search over single moves; several orders are kept, because a hole that one move opens the next
    /// may fill.
    fn beam(&mut self) {
        let judge = self.judge;
        let start = judge.constraints.initial_order();
        let movable = movable(judge, &start);
        let mut kept = vec![start];
        for _ in 0..BEAM_DEPTH.min(self.most) {
            let pairs: Vec<(&Vec<usize>, usize)> =
                kept.iter().flat_map(|order| movable.iter().map(move |unit| (order, *unit))).collect();
            let moved = fieldline_parallel::map(&pairs, |(order, unit)| {
                let earliest = reinserted(judge, order, &[*unit], false);
                let next = earliest.into_iter().chain(in_holes(judge, order, *unit));
                let legal = next.filter(|next| judge.constraints.check(next).is_ok());
                legal.map(|next| (rank_promise(judge, &next), next)).collect::<Vec<_>>()
            });
            let mut next: Vec<(OrderPromise, Vec<usize>)> = moved.into_iter().flatten().collect();
            next.sort_unstable();
            next.dedup();
            next.truncate(BEAM_WIDTH);
            kept = next.into_iter().map(|(_, order)| order).collect();
            for order in &kept {
                self.offer(order.clone());
            }
            // One more move would not be one fewer.
            if self.found.iter().any(|found| found.cost <= self.target) {
                break;
            }
        }
    }

    /// The Pareto front of what was found.
    fn into_front(mut self) -> Vec<PackedOrder> {
        self.found.sort();
        let mut best: Option<SizeCost> = None;
        self.found.retain(|found| {
            let better = best.is_none_or(|best| found.cost < best);
            best = if better { Some(found.cost) } else { best };
            better
        });
        self.found
    }
}

fn measure(judge: &SizeJudge<'_>, order: Vec<usize>) -> PackedOrder {
    let units = &judge.constraints.units;
    PackedOrder {
        cost: judge.order_cost(&order),
        moved: moved_units(&order).iter().map(|unit| units[*unit].members.len()).sum(),
        distance: distance(&order),
        order,
    }
}

/// Sum of the units' distances from their declared positions.
fn distance(order: &[usize]) -> usize {
    order.iter().enumerate().map(|(place, unit)| place.abs_diff(*unit)).sum()
}

/// Units that nothing holds and that have a neighbour in their region.
fn movable(judge: &SizeJudge<'_>, order: &[usize]) -> Vec<usize> {
    let units = &judge.constraints.units;
    let has_room = |unit: usize| units.iter().filter(|other| other.region == units[unit].region).count() > 1;
    order.iter().copied().filter(|unit| units[*unit].constraint.is_none() && has_room(*unit)).collect()
}

fn sets(units: &[usize], count: usize) -> Vec<Vec<usize>> {
    let mut sets: Vec<Vec<usize>> = vec![Vec::new()];
    for _ in 0..count {
        let longer = sets.iter().flat_map(|set| {
            let last = set.last().and_then(|last| units.iter().position(|unit| unit == last));
            let next = units.iter().skip(last.map_or(0, |last| last + 1));
            next.map(move |unit| set.iter().copied().chain([*unit]).collect())
        });
        sets = longer.collect();
    }
    sets
}

/// The order with some units where the struct ends earliest. `may_stay`: also where they were.
fn reinserted(judge: &SizeJudge<'_>, order: &[usize], units: &[usize], may_stay: bool) -> Option<Vec<usize>> {
    let rest: Vec<usize> = order.iter().copied().filter(|unit| !units.contains(unit)).collect();
    let before = |unit: usize| {
        order.iter().take_while(|other| **other != unit).filter(|other| !units.contains(other)).count()
    };
    let moving: Vec<(usize, usize)> = units.iter().map(|unit| (*unit, before(*unit))).collect();
    let (constraints, build) = (judge.constraints, &judge.builds[0]);
    let insertion = Insertion { constraints, build, rest: &rest, moving: &moving, may_stay };
    if may_stay {
        let size = build.size(insertion.earliest_end()?);
        if !judge.is_gain(judge.size_cost(size)) {
            return None;
        }
    }
    insertion.order()
}

/// The order with a unit behind the nearest unit declared before it, or else before the nearest declared
/// behind it.
fn with_unit_returned(order: &[usize], unit: usize) -> Vec<usize> {
    let mut rest: Vec<usize> = order.iter().copied().filter(|other| *other != unit).collect();
    let before = rest.iter().enumerate().filter(|(_, other)| **other < unit).max_by_key(|(_, other)| **other);
    let place = before.map_or(0, |(place, _)| place + 1);
    rest.insert(place, unit);
    rest
}

/// Orders that have a unit inside a hole it fits in.
fn in_holes(judge: &SizeJudge<'_>, order: &[usize], unit: usize) -> Vec<Vec<usize>> {
    let rest: Vec<usize> = order.iter().copied().filter(|other| *other != unit).collect();
    let build = &judge.builds[0];
    let mut orders = Vec::new();
    let mut end = 0;
    for (place, next) in rest.iter().enumerate() {
        let (start, stop) = build.place(*next, end);
        if start > end && build.place(unit, end).1 <= start {
            let mut order = rest.clone();
            order.insert(place, unit);
            orders.push(order);
        }
        end = stop;
    }
    orders
}

/// How near an order is to being smaller, the nearest first: where it ends in bits, how many bits of a line
/// are still missing before the member aligned to lines (or the end) that has most room before it, how far
/// units went.
type OrderPromise = (u64, u64, usize);

fn rank_promise(judge: &SizeJudge<'_>, order: &[usize]) -> OrderPromise {
    let build = &judge.builds[0];
    let mut end = 0;
    let mut room = 0;
    for unit in order {
        let (start, stop) = build.place(*unit, end);
        if build.unit_align(*unit) >= LINE {
            room = room.max(start - end);
        }
        end = stop;
    }
    (end, build.line.saturating_mul(8).saturating_sub(room), distance(order))
}
