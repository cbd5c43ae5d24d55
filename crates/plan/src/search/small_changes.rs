//! Cheap orders that change little.
//!
//! Replicas of one order anneal at different prices of a change ([`ChangeSize`]): where it is dear, few members move,
//! where it is cheap, lines are fewer. Neighbours exchange their orders (Swendsen and Wang, 1986). Every order on the
//! way is compared with the cheapest known for a change of its size.

use crate::cost::{CostCache, OrderState, Problem};
use crate::random::{ExponentialQuantiles, Random, mix};
use crate::search::block_moves::{draw_block, draw_block_exchange, draw_reunion};
use crate::search::change_size::ChangeMeasure;
use crate::search::move_selector::MoveSelector;
use crate::search::moves::Move;
use crate::search::{ChangeSize, CostedOrder, MoveGenerator, SearchEffort};
use std::collections::BTreeMap;

/// Prices of half a moved member, from the cheapest to the dearest replica, as shares of one line in every visit. Orders that
/// change more than the cheapest finds come from the search for the best one.
const PRICES: [f64; 4] = [0.004_2, 0.007, 0.012, 0.02];
/// Temperature at the beginning and at the end, likewise.
const TEMPERATURES: (f64, f64) = (0.036, 0.002_4);
/// Moves that a replica tries between exchanges.
const MOVES: usize = 100;
/// Rounds of moves by number of units, least and most.
const ROUNDS_BY_UNIT: usize = 14;
const ROUND_LIMITS: (usize, usize) = (90, 840);
/// Independent chains.
const CHAINS: usize = 2;
/// Shares of moves, each with those before it: reunions, blocks that move, blocks that are exchanged; the rest are those of
/// any search.
const REUNIONS: f64 = 0.3;
const BLOCKS: f64 = 0.5;
const EXCHANGES: f64 = 0.7;

/// An order, its cost, and the size of the change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SmallChange {
    /// The order with its cost.
    pub found: CostedOrder,
    /// How much it changes.
    pub size: ChangeSize,
}

/// How long to search for orders that change little.
pub fn small_change_effort(problem: &Problem<'_>) -> SearchEffort {
    let rounds = ROUNDS_BY_UNIT * problem.constraints.units.len();
    SearchEffort { chains: CHAINS, rounds: rounds.clamp(ROUND_LIMITS.0, ROUND_LIMITS.1) }
}

/// Lines that an order shall reach, and those that it may not exceed.
#[derive(Clone, Debug)]
pub struct LineTargets {
    /// By configuration, lines of all visits from which on fewer are worth nothing special.
    pub wanted: Vec<u64>,
    /// By configuration, the most lines.
    pub most: Vec<u64>,
}

/// Cheapest orders by the size of the change, none of which exceeds another in size and cost. `start` is the declared
/// order, changed as requests demand.
pub fn small_changes(
    problem: &Problem<'_>,
    start: &[usize],
    targets: &LineTargets,
    effort: SearchEffort,
    seed: u64,
) -> Vec<SmallChange> {
    let seeds: Vec<u64> = (0..effort.chains as u64).map(|chain| mix(seed ^ (5 + chain))).collect();
    let rounds = effort.rounds;
    let found = fieldline_parallel::map(&seeds, |seed| {
        let mut search = ChangeSearch::new(problem, start, targets, *seed);
        search.run(rounds);
        search.known
    });
    let mut known = KnownChanges::new();
    for (size, found) in found.into_iter().flatten() {
        if known.get(&size).is_none_or(|other| (found.cost, &found.order) < (other.cost, &other.order)) {
            known.insert(size, found);
        }
    }
    undominated(known)
}

type KnownChanges = BTreeMap<ChangeSize, CostedOrder>;

fn undominated(known: KnownChanges) -> Vec<SmallChange> {
    let mut kept: Vec<SmallChange> = Vec::new();
    // In order of cost, then size: what comes later can't be better than what came before.
    let mut all: Vec<(ChangeSize, CostedOrder)> = known.into_iter().collect();
    all.sort_by_key(|(size, found)| (found.cost, *size));
    for (size, found) in all {
        if !kept.iter().any(|other| other.size.is_within(size)) {
            kept.push(SmallChange { found, size });
        }
    }
    kept.sort_by_key(|change| (change.size.price(), change.size));
    kept
}

struct ChangeSearch<'p> {
    problem: &'p Problem<'p>,
    targets: &'p LineTargets,
    replicas: Vec<PricedReplica<'p>>,
    measure: ChangeMeasure,
    mover: MoveGenerator,
    memo: CostCache,
    random: Random,
    exponential: ExponentialQuantiles,
    known: KnownChanges,
}

struct PricedReplica<'p> {
    state: OrderState<'p>,
    size: ChangeSize,
    /// Cost of the lines above what is wanted.
    excess: u64,
    /// Of half a moved member, in cost.
    price: f64,
    selector: MoveSelector,
}

impl PricedReplica<'_> {
    fn paid(&self, price: f64) -> f64 {
        price * self.size.price() as f64
    }
}

impl<'p> ChangeSearch<'p> {
    fn new(problem: &'p Problem<'p>, start: &[usize], targets: &'p LineTargets, seed: u64) -> Self {
        let mut memo = CostCache::default();
        let state = OrderState::new(problem, start, &mut memo);
        let replica = |price: f64| PricedReplica {
            size: ChangeSize::new(problem.constraints, start),
            excess: excess(problem, targets, &state),
            state: state.clone(),
            price: price * problem.scale as f64,
            selector: MoveSelector::default(),
        };
        Self {
            replicas: PRICES.map(replica).into_iter().collect(),
            problem,
            targets,
            measure: ChangeMeasure::new(problem.constraints),
            mover: MoveGenerator::new(problem),
            memo,
            random: Random::new(seed),
            exponential: ExponentialQuantiles::default(),
            known: KnownChanges::new(),
        }
    }

    fn run(&mut self, rounds: usize) {
        for round in 0..rounds {
            let done = round as f64 / rounds as f64;
            let temperature = TEMPERATURES.0 + (TEMPERATURES.1 - TEMPERATURES.0) * done;
            let temperature = temperature * self.problem.scale as f64;
            for replica in 0..self.replicas.len() {
                (0..MOVES).for_each(|_| self.try_move(replica, temperature));
                self.replicas[replica].selector.adapt();
            }
            for replica in (round % 2..self.replicas.len() - 1).step_by(2) {
                self.exchange(replica, temperature);
            }
        }
    }

    /// How much the energy may rise: probability `min(1, exp(-rise / temperature))` (Metropolis et al., 1953).
    fn bound(&mut self, temperature: f64) -> f64 {
        temperature * self.exponential.draw(&mut self.random)
    }

    fn try_move(&mut self, replica: usize, temperature: f64) {
        let bound = self.bound(temperature);
        let Self { replicas, mover, random, memo, measure, .. } = self;
        let Some(current) = replicas.get_mut(replica) else { return };
        let (part, kind) = (random.unit(), current.selector.draw(random));
        let drawn = if part < REUNIONS {
            draw_reunion(mover, &current.state, random)
        } else if part < BLOCKS {
            draw_block(mover, &current.state, random)
        } else if part < EXCHANGES {
            draw_block_exchange(mover, &current.state, random)
        } else {
            mover.draw(&current.state, kind, random)
        };
        let Some(drawn) = drawn else { return };
        let before = current.state.cost();
        let (mut size, paid, room) =
            (current.size, current.paid(current.price), bound + current.excess as f64);
        // What the change costs more is paid before lines are counted, and what exceeds their targets may fall.
        let within = |order: &[usize]| {
            size = measure.measure(order);
            room + paid - current.price * size.price() as f64
        };
        let moved = match drawn {
            Move::Replace(first) => current.state.try_replace_within(first, &mover.units, memo, within),
            Move::Exchange(this, other) => current.state.try_exchange_within(this, other, memo, within),
        };
        let kept = moved && self.keep(replica, before, size, bound);
        if part >= EXCHANGES {
            self.replicas[replica].selector.count(kind, kept);
        }
    }

    /// Keeps the order that a move made if its energy rises by less than `bound`; undoes the move otherwise.
    fn keep(&mut self, replica: usize, before: u64, size: ChangeSize, bound: f64) -> bool {
        let current = &mut self.replicas[replica];
        let excess = excess(self.problem, self.targets, &current.state);
        let rise = current.state.cost() as f64 - before as f64 + excess as f64 - current.excess as f64
            + current.price * (size.price() as f64 - current.size.price() as f64);
        if rise >= bound {
            current.state.undo();
            return false;
        }
        (current.size, current.excess) = (size, excess);
        self.note(replica);
        true
    }

    /// Keeps a replica's order if it is the cheapest known for its size.
    fn note(&mut self, replica: usize) {
        let current = &self.replicas[replica];
        let cost = current.state.cost() + current.excess;
        if self.known.get(&current.size).is_some_and(|known| known.cost <= cost) || !current.state.fits() {
            return;
        }
        let mut lines = (0..self.problem.configs.len()).map(|config| current.state.line_cost(config));
        if lines.by_ref().zip(&self.targets.most).all(|(lines, most)| lines <= *most) {
            self.known.insert(current.size, CostedOrder { order: current.state.order().to_vec(), cost });
        }
    }

    /// Lets two replicas exchange their orders as if both were one system.
    fn exchange(&mut self, cheap: usize, temperature: f64) {
        let bound = self.bound(temperature);
        let [this, other] = &mut self.replicas[cheap..=cheap + 1] else { return };
        let now = this.paid(this.price) + other.paid(other.price);
        let then = this.paid(other.price) + other.paid(this.price);
        if then - now < bound {
            std::mem::swap(&mut this.state, &mut other.state);
            std::mem::swap(&mut this.size, &mut other.size);
            std::mem::swap(&mut this.excess, &mut other.excess);
        }
    }
}

/// Cost of the lines above what is wanted, in all configurations as much as in the first.
fn excess(problem: &Problem<'_>, targets: &LineTargets, state: &OrderState<'_>) -> u64 {
    let weight = problem.configs.first().map_or(0, |config| config.weight);
    let over = targets.wanted.iter().enumerate();
    over.map(|(config, wanted)| weight * state.line_cost(config).saturating_sub(*wanted)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_larger_and_costs_more_is_left_out() {
        let change = |moved, blocks, cost| {
            let size = ChangeSize { moved, blocks, parted: 0 };
            (size, CostedOrder { order: vec![moved], cost })
        };
        let known =
            [change(0, 0, 100), change(2, 0, 90), change(2, 1, 80), change(3, 1, 85), change(4, 0, 95)];
        let kept = undominated(KnownChanges::from(known));
        let costs: Vec<u64> = kept.iter().map(|change| change.found.cost).collect();
        assert_eq!(costs, [100, 90, 80]);
    }
}
