//! Replica exchange.
//!
//! A chain holds one order per temperature and exchanges those of neighbours (Swendsen and Wang, 1986): hot
//! ones rearrange whole lines, cold ones settle details. Between exchanges, replicas know nothing of each
//! other: two workers share them, each with random numbers of its own, so that the number of threads doesn't
//! matter.

use super::order::CostedOrder;
use crate::cost::{CostCache, OrderState, Problem};
use crate::random::{ExponentialQuantiles, Random, mix};
use crate::search::move_selector::MoveSelector;
use crate::search::moves::Move;
use crate::search::{LineExchanges, MoveGenerator};

/// Random moves per replica that calibrate temperatures.
const PROBES: usize = 200;
/// Coldest temperature, as a share of what one costly move in twenty costs less than.
const COLD: f64 = 0.25;
pub(crate) const REPLICAS: usize = 6;
/// Moves a replica tries between exchanges, placed byte by byte; and line exchanges, without which chains end
/// in worse orders.
const MOVES: usize = 200;
const LINE_EXCHANGES: usize = 20;
/// A chain ends if it finds no cheaper order in this part of its rounds: a divisor. It saves a third of the time
/// and hardly costs any quality (examples/search_effort.rs).
const ROUNDS_WITHOUT_GAIN: usize = 3;

pub(crate) struct ReplicaExchange<'p> {
    /// Replicas from hot to cold in turns, so that neighbours are at different workers.
    even: ReplicaWorker<'p>,
    odd: ReplicaWorker<'p>,
    exponential: ExponentialQuantiles,
    random: Random,
}

/// Every second replica, with its move generators.
struct ReplicaWorker<'p> {
    replicas: Vec<Replica<'p>>,
    mover: MoveGenerator,
    exchanges: LineExchanges<'p>,
    memo: CostCache,
    random: Random,
    best: CostedOrder,
}

struct Replica<'p> {
    state: OrderState<'p>,
    temperature: f64,
    repertoire: MoveSelector,
}

impl<'p> ReplicaExchange<'p> {
    /// A chain whose replicas begin with orders, the hottest with the first; the last ones stand for those
    /// missing.
    pub(crate) fn new(problem: &'p Problem<'p>, start: &[usize], orders: &[Vec<usize>], seed: u64) -> Self {
        let order = |replica: usize| orders.get(replica).or(orders.last()).map_or(start, Vec::as_slice);
        let skipped = orders.len().saturating_sub(REPLICAS);
        let worker = |number: usize| {
            let orders = (skipped + number..skipped + REPLICAS).step_by(2).map(order);
            ReplicaWorker::new(problem, start, orders, Random::new(mix(seed ^ (number as u64 + 1))))
        };
        Self {
            even: worker(0),
            odd: worker(1),
            exponential: ExponentialQuantiles::default(),
            random: Random::new(mix(seed)),
        }
    }

    /// Sets temperatures by what random moves cost: hot enough to undo half of them, cold enough to undo
    /// hardly any.
    fn calibrate(&mut self, hot: f64) {
        let (even, odd) = rayon::join(|| self.even.probe(), || self.odd.probe());
        let mut increases = [even, odd].concat();
        increases.sort_unstable();
        let share = |percent| increases.get(increases.len() * percent / 100).copied().unwrap_or(1).max(1);
        let (mut temperature, coldest) = (hot * share(50) as f64, COLD * share(5) as f64);
        let factor = root((coldest / temperature).min(1.0), REPLICAS - 1);
        for number in 0..REPLICAS {
            let worker = if number.is_multiple_of(2) { &mut self.even } else { &mut self.odd };
            worker.replicas[number / 2].temperature = temperature;
            temperature *= factor;
        }
    }

    /// Cost of the cheapest order so far.
    fn least_cost(&self) -> u64 {
        self.even.best.cost.min(self.odd.best.cost)
    }

    /// The cheapest order found in at most `rounds`. `hot`: the hottest temperature, as a share of what half of costly moves
    /// exceed.
    pub(crate) fn run(mut self, rounds: usize, hot: f64) -> CostedOrder {
        self.calibrate(hot);
        let (mut least, mut found_in) = (self.least_cost(), 0);
        for round in 0..rounds {
            let exponential = &self.exponential;
            rayon::join(|| self.even.round(exponential), || self.odd.round(exponential));
            for replica in (round % 2..REPLICAS - 1).step_by(2) {
                self.exchange(replica);
            }
            if self.least_cost() < least {
                (least, found_in) = (self.least_cost(), round);
            } else if round - found_in > rounds.div_ceil(ROUNDS_WITHOUT_GAIN) {
                break;
            }
        }
        if self.odd.best.cost < self.even.best.cost { self.odd.best } else { self.even.best }
    }

    /// Lets two neighbours exchange their orders with probability `min(1, exp((1/T - 1/t)·(C - c)))`.
    fn exchange(&mut self, hot: usize) {
        let (even, odd) = (hot.div_ceil(2), hot / 2);
        let (even, odd) = (&mut self.even.replicas[even], &mut self.odd.replicas[odd]);
        let (hot, cold) = if hot.is_multiple_of(2) { (even, odd) } else { (odd, even) };
        let difference = hot.state.cost() as f64 - cold.state.cost() as f64;
        let gain = (1.0 / hot.temperature - 1.0 / cold.temperature) * difference;
        if gain >= 0.0 || -gain < self.exponential.draw(&mut self.random) {
            std::mem::swap(&mut hot.state, &mut cold.state);
        }
    }
}

impl<'p> ReplicaWorker<'p> {
    fn new<'o>(
        problem: &'p Problem<'p>,
        start: &[usize],
        orders: impl Iterator<Item = &'o [usize]>,
        random: Random,
    ) -> Self {
        let mut memo = CostCache::default();
        let replicas = orders.map(|order| Replica {
            state: OrderState::new(problem, order, &mut memo),
            temperature: 1.0,
            repertoire: MoveSelector::default(),
        });
        let replicas: Vec<Replica<'p>> = replicas.collect();
        let mut best = CostedOrder { order: start.to_vec(), cost: u64::MAX };
        replicas.iter().for_each(|replica| best.take_if_cheaper(&replica.state, true));
        Self {
            mover: MoveGenerator::new(problem),
            exchanges: LineExchanges::new(problem),
            memo,
            replicas,
            random,
            best,
        }
    }

    /// Cost increases of random moves and line exchanges.
    fn probe(&mut self) -> Vec<u64> {
        let mut increases = Vec::new();
        for number in 0..self.replicas.len() {
            self.exchanges.load(&self.replicas[number].state, &mut self.memo);
            for _ in 0..PROBES {
                increases.extend(self.probe_move(number));
                let exchange = self.exchanges.probe(&mut self.random, &mut self.memo);
                increases.extend(exchange.filter(|increase| *increase > 0.0).map(|increase| increase as u64));
            }
        }
        increases
    }

    fn probe_move(&mut self, number: usize) -> Option<u64> {
        let before = self.replicas[number].state.cost();
        let kind = self.replicas[number].repertoire.draw(&mut self.random);
        let drawn = self.mover.draw(&self.replicas[number].state, kind, &mut self.random)?;
        let moved = self.apply(number, drawn, f64::INFINITY);
        let after = self.replicas[number].state.cost();
        if moved {
            self.replicas[number].state.undo();
        }
        (after > before).then(|| after - before)
    }

    fn round(&mut self, exponential: &ExponentialQuantiles) {
        for number in 0..self.replicas.len() {
            for _ in 0..MOVES {
                self.try_move(number, exponential);
            }
            self.try_line_exchanges(number, exponential);
            self.replicas[number].repertoire.adapt();
        }
    }

    /// The cost increase that a move may have: probability `min(1, exp(-increase / temperature))` (Metropolis
    /// et al., 1953).
    #[inline]
    fn bound(&mut self, number: usize, exponential: &ExponentialQuantiles) -> f64 {
        self.replicas[number].temperature * exponential.draw(&mut self.random)
    }

    fn try_move(&mut self, number: usize, exponential: &ExponentialQuantiles) {
        let kind = self.replicas[number].repertoire.draw(&mut self.random);
        let drawn = self.mover.draw(&self.replicas[number].state, kind, &mut self.random);
        let moved = drawn.is_some_and(|drawn| {
            let bound = self.bound(number, exponential);
            self.apply(number, drawn, bound)
        });
        self.replicas[number].repertoire.count(kind, moved);
        self.best.take_if_cheaper(&self.replicas[number].state, moved);
    }

    /// Makes a move if the cost rises by less than `bound`.
    #[inline]
    fn apply(&mut self, number: usize, drawn: Move, bound: f64) -> bool {
        let state = &mut self.replicas[number].state;
        match drawn {
            Move::Replace(first) => state.try_replace(first, &self.mover.units, &mut self.memo, bound),
            Move::Exchange(this, other) => state.try_exchange(this, other, &mut self.memo, bound),
        }
    }

    /// Tries exchanges between lines, and keeps the resulting order if its cost is as predicted.
    fn try_line_exchanges(&mut self, number: usize, exponential: &ExponentialQuantiles) {
        self.exchanges.load(&self.replicas[number].state, &mut self.memo);
        for _ in 0..LINE_EXCHANGES {
            let bound = self.bound(number, exponential);
            self.exchanges.try_exchange(&mut self.random, &mut self.memo, bound);
        }
        let bound = self.bound(number, exponential) + self.exchanges.total_change();
        let state = &mut self.replicas[number].state;
        if let Some(order) = self.exchanges.exchanged_order(state) {
            let moved = state.try_replace(0, order, &mut self.memo, bound.max(0.0));
            self.best.take_if_cheaper(state, moved);
        }
    }
}

/// The number whose `degree`th power is `value` below 1, by bisection: library powers differ between
/// machines.
fn root(value: f64, degree: usize) -> f64 {
    let (mut low, mut high) = (0.0_f64, 1.0_f64);
    for _ in 0..64 {
        let middle = (low + high) / 2.0;
        let power: f64 = (0..degree).map(|_| middle).product();
        (low, high) = if power < value { (middle, high) } else { (low, middle) };
    }
    low
}
