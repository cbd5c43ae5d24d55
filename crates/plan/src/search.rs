//! Cheap orders: replica exchange from several starts.
//!
//! Each chain holds one order per temperature and lets neighbours exchange theirs (Swendsen and Wang, 1986): hot ones
//! rearrange whole lines, cold ones settle details. Chains differ in their seed only; how far their results lie apart
//! tells how sure the best one is.

use crate::exact;
use crate::moves::{Move, Mover};
use crate::problem::{Problem, View};
use crate::random::Random;
use crate::repertoire::Repertoire;
use crate::seed::grouped;
use crate::state::{Memo, State};
use crate::trades::Trades;
use rayon::prelude::*;
use std::cmp::Reverse;

/// Temperatures of a chain.
const REPLICAS: usize = 6;
/// What a replica tries between exchanges: moves, placed byte by byte, and trades between lines. Without trades chains
/// end in worse orders; more of them help no further.
const MOVES: usize = 200;
const TRADES: usize = 20;
/// Random moves per replica that tell how hot is hot.
const PROBES: usize = 200;
/// Hottest temperature, as a share of what half of all costly moves cost more than.
const HOT: f64 = 0.5;
/// Coldest temperature, as a share of what one costly move in twenty costs less than.
const COLD: f64 = 0.25;
/// Hottest temperature of chains that go on from what the first ones found.
const WARM: f64 = 0.25;
/// How many go on. Where they are a third as long as the first ones, orders are worse.
const AGAIN: u64 = 2;
/// Quantiles of the exponential distribution in use.
const QUANTILES: usize = 1024;

/// Up to so many units, replicas begin with shuffled orders. More would not find back to declared neighbours, which
/// readers of a patch are glad of.
const SHUFFLED: usize = 80;

/// More units than these need more moves.
const UNITS: usize = 50;

/// Chains that begin anywhere, and most rounds of each. With as many moves, few long chains end in better orders than
/// many short ones (`examples/search_effort.rs`).
const CHAINS: usize = 2;
const ROUNDS: usize = 168;

/// How many times shorter a short search is near its result.
const SHORTER: usize = 2;

/// How long to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Independent chains.
    pub chains: usize,
    /// Rounds of each: moves, trades and exchanges of all its replicas.
    pub rounds: usize,
}

impl Effort {
    /// What is enough for a problem: more touched units need more rounds, and more still the more places they can take.
    pub fn for_problem(problem: &Problem<'_>) -> Self {
        let touched = Mover::new(problem).touched();
        let spread = problem.constraints.units.len().clamp(UNITS, UNITS * 3 / 2);
        Self { chains: CHAINS, rounds: (4 * touched * spread / UNITS).clamp(ROUNDS / 8, ROUNDS) }
    }
}

/// An order and its cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Units in order.
    pub order: Vec<usize>,
    /// Its cost.
    pub cost: u64,
}

impl Found {
    /// Takes over an order that has just changed, if it is cheaper and fits.
    fn take(&mut self, state: &State<'_>, changed: bool) {
        if changed && state.cost() < self.cost && state.fits() {
            self.cost = state.cost();
            self.order.copy_from_slice(state.order());
        }
    }
}

/// Results of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Search {
    /// The cheapest order each chain found, in order of chains; one only if all orders were tried.
    pub found: Vec<Found>,
    /// Whether all orders were tried.
    pub is_exact: bool,
}

impl Search {
    /// The cheapest order; the first of several.
    pub fn best(&self) -> Option<&Found> {
        self.found.iter().min_by_key(|found| found.cost)
    }
}

/// Searches from an order that keeps the constraints.
pub fn search(problem: &Problem<'_>, start: &[usize], effort: Effort, seed: u64) -> Search {
    search_by(problem, problem, start, effort, seed)
}

/// Like [`search`], but far and wide in a problem of fewer visits only, `sketch`; the last chains go on from there in
/// the problem itself.
pub fn search_by(
    problem: &Problem<'_>,
    sketch: &Problem<'_>,
    start: &[usize],
    effort: Effort,
    seed: u64,
) -> Search {
    if let Some(found) = exact::try_all(problem, start) {
        return Search { found: vec![found], is_exact: true };
    }
    let random = |chain: u64| Random::new(seed.wrapping_add(chain.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
    let chains = effort.chains as u64;
    let chain = |chain: u64| {
        let mut random = random(chain);
        let orders = first_orders(sketch, start, chain, &mut random);
        let found = Chain::new(sketch, start, &orders).run(effort.rounds, HOT, &mut random);
        Found { cost: State::of(problem, &found.order).cost(), ..found }
    };
    let mut found: Vec<Found> = (0..chains).into_par_iter().map(chain).collect();
    let mut known = found.clone();
    known.sort_by_key(|found| Reverse(found.cost));
    let known: Vec<Vec<usize>> = known.into_iter().map(|found| found.order).collect();
    let again = |chain: u64| Chain::new(problem, start, &known).run(effort.rounds, WARM, &mut random(chain));
    found.par_extend((chains..chains + AGAIN).into_par_iter().map(again));
    Search { found, is_exact: false }
}

/// A search that is done over and over: one chain of `rounds` in the sketch, then a shorter one near its result. Orders
/// are at most a little worse than those of [`search_by`].
pub fn search_short(
    problem: &Problem<'_>,
    sketch: &Problem<'_>,
    start: &[usize],
    rounds: usize,
    seed: u64,
) -> Found {
    if let Some(found) = exact::try_all(problem, start) {
        return found;
    }
    let mut random = Random::new(seed);
    let orders = first_orders(sketch, start, 0, &mut random);
    let found = Chain::new(sketch, start, &orders).run(rounds, HOT, &mut random);
    search_near(problem, start, &[start.to_vec(), found.order], rounds.div_ceil(SHORTER), seed)
}

/// The cheapest order that a chain of `rounds` finds from known ones on; the last of them is the one to beat.
pub fn search_near(
    problem: &Problem<'_>,
    start: &[usize],
    known: &[Vec<usize>],
    rounds: usize,
    seed: u64,
) -> Found {
    Chain::new(problem, start, known).run(rounds, WARM, &mut Random::new(seed))
}

/// Orders at several temperatures.
struct Chain<'p> {
    mover: Mover,
    /// By temperature.
    repertoires: Vec<Repertoire>,
    trades: Trades<'p>,
    memo: Memo,
    replicas: Vec<State<'p>>,
    temperatures: Vec<f64>,
    exponential: Vec<f64>,
    best: Found,
}

impl<'p> Chain<'p> {
    /// A chain whose replicas begin with orders, the hottest with the first; the last ones stand for those missing.
    fn new(problem: &'p Problem<'p>, start: &[usize], orders: &[Vec<usize>]) -> Self {
        let mut memo = Memo::default();
        let order = |replica: usize| orders.get(replica).or(orders.last()).map_or(start, Vec::as_slice);
        let skipped = orders.len().saturating_sub(REPLICAS);
        let replicas =
            (skipped..skipped + REPLICAS).map(|replica| State::new(problem, order(replica), &mut memo));
        let replicas: Vec<State<'p>> = replicas.collect();
        let declared = Found { order: start.to_vec(), cost: u64::MAX };
        let best = replicas
            .iter()
            .filter(|state| state.fits())
            .map(|state| Found { order: state.order().to_vec(), cost: state.cost() });
        let best = best.min_by_key(|found| found.cost).unwrap_or(declared);
        Self {
            mover: Mover::new(problem),
            repertoires: vec![Repertoire::default(); REPLICAS],
            trades: Trades::new(problem),
            memo,
            replicas,
            temperatures: Vec::new(),
            exponential: exponential(),
            best,
        }
    }

    /// Sets temperatures by what random moves cost: hot enough to undo half of what they do, cold enough to undo
    /// hardly any.
    fn calibrate(&mut self, hot: f64, random: &mut Random) {
        let mut increases: Vec<u64> = Vec::new();
        for replica in 0..self.replicas.len() {
            self.trades.load(&self.replicas[replica], &mut self.memo);
            for _ in 0..PROBES {
                increases.extend(self.probe(replica, random));
                let trade = self.trades.probe(random, &mut self.memo);
                increases.extend(trade.filter(|increase| *increase > 0.0).map(|increase| increase as u64));
            }
        }
        increases.sort_unstable();
        let share =
            |percent: usize| increases.get(increases.len() * percent / 100).copied().unwrap_or(1).max(1);
        self.temperatures = temperatures(hot * share(50) as f64, COLD * share(5) as f64);
    }

    /// By how much a random move, placed byte by byte, increases the cost, if it does.
    fn probe(&mut self, replica: usize, random: &mut Random) -> Option<u64> {
        let before = self.replicas[replica].cost();
        let kind = self.repertoires[replica].draw(random);
        let drawn = self.mover.draw(&self.replicas[replica], kind, random)?;
        let moved = self.make(replica, drawn, f64::INFINITY);
        let after = self.replicas[replica].cost();
        if moved {
            self.replicas[replica].undo();
        }
        (after > before).then(|| after - before)
    }

    fn run(mut self, rounds: usize, hot: f64, random: &mut Random) -> Found {
        self.calibrate(hot, random);
        for round in 0..rounds {
            for replica in 0..REPLICAS {
                for _ in 0..MOVES {
                    self.step(replica, random);
                }
                self.trade(replica, random);
                self.repertoires[replica].adapt();
            }
            for replica in (round % 2..REPLICAS - 1).step_by(2) {
                self.exchange(replica, random);
            }
        }
        self.best
    }

    /// Tries a move; keeps it with probability `min(1, exp(-increase / temperature))` (Metropolis et al., 1953).
    fn step(&mut self, replica: usize, random: &mut Random) {
        let kind = self.repertoires[replica].draw(random);
        let moved = self.mover.draw(&self.replicas[replica], kind, random).is_some_and(|drawn| {
            let bound = self.temperatures[replica] * self.exponential[random.below(QUANTILES)];
            self.make(replica, drawn, bound)
        });
        self.repertoires[replica].count(kind, moved);
        self.best.take(&self.replicas[replica], moved);
    }

    /// Makes a move if the cost rises by less than `bound`.
    #[inline]
    fn make(&mut self, replica: usize, drawn: Move, bound: f64) -> bool {
        let state = &mut self.replicas[replica];
        match drawn {
            Move::Replace(first) => state.replace_below(first, self.mover.units(), &mut self.memo, bound),
            Move::Exchange(one, other) => state.exchange_below(one, other, &mut self.memo, bound),
        }
    }

    /// Tries trades between lines, and keeps what they come to if it is worth what they promised.
    fn trade(&mut self, replica: usize, random: &mut Random) {
        let state = &mut self.replicas[replica];
        let temperature = self.temperatures[replica];
        self.trades.load(state, &mut self.memo);
        for _ in 0..TRADES {
            let bound = temperature * self.exponential[random.below(QUANTILES)];
            self.trades.step(random, &mut self.memo, bound);
        }
        let bound = temperature * self.exponential[random.below(QUANTILES)] + self.trades.change();
        if let Some(order) = self.trades.order(state) {
            let moved = state.replace_below(0, order, &mut self.memo, bound.max(0.0));
            self.best.take(state, moved);
        }
    }

    /// Lets two neighbours exchange their orders with probability `min(1, exp((1/T - 1/t)·(C - c)))`.
    fn exchange(&mut self, replica: usize, random: &mut Random) {
        let (hot, cold) = (replica, replica + 1);
        let difference = self.replicas[hot].cost() as f64 - self.replicas[cold].cost() as f64;
        let gain = (1.0 / self.temperatures[hot] - 1.0 / self.temperatures[cold]) * difference;
        if gain >= 0.0 || -gain < self.exponential[random.below(QUANTILES)] {
            self.replicas.swap(hot, cold);
        }
    }
}

/// Where a chain's replicas begin: one from the declared order, in the first chain the coldest from lines filled
/// greedily, others anywhere.
fn first_orders(problem: &Problem<'_>, start: &[usize], chain: u64, random: &mut Random) -> Vec<Vec<usize>> {
    let line = problem.views.first().map_or(64, View::line);
    let grouped = |line: u64| grouped(problem, start, line).unwrap_or_else(|| start.to_vec());
    let mut order = |replica: usize| match (chain, REPLICAS - replica) {
        (0, 1) => grouped(line),
        (0, 2) => grouped(2 * line),
        _ if replica > 0 && start.len() <= SHUFFLED => shuffled(problem, start, random),
        _ => start.to_vec(),
    };
    (0..REPLICAS).map(&mut order).collect()
}

/// A random order that keeps the constraints, or the one given if a few draws find none.
fn shuffled(problem: &Problem<'_>, start: &[usize], random: &mut Random) -> Vec<usize> {
    for _ in 0..20 {
        let mut order = start.to_vec();
        random.shuffle(&mut order);
        order.sort_by_key(|unit| problem.constraints.units[*unit].region);
        if problem.constraints.check(&order).is_ok() && problem.keeps_all(&order) {
            return order;
        }
    }
    start.to_vec()
}

/// From hot to cold by a constant factor.
fn temperatures(hot: f64, cold: f64) -> Vec<f64> {
    let factor = root((cold / hot).min(1.0), REPLICAS - 1);
    let steps = std::iter::successors(Some(hot), |hotter| Some(hotter * factor));
    steps.take(REPLICAS).collect()
}

/// The number whose `degree`th power is `value` below 1, by bisection: library powers differ between machines.
fn root(value: f64, degree: usize) -> f64 {
    let (mut low, mut high) = (0.0_f64, 1.0_f64);
    for _ in 0..64 {
        let middle = (low + high) / 2.0;
        let power: f64 = (0..degree).map(|_| middle).product();
        if power < value {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// Expected order statistics of the exponential distribution: sums of `1 / (n - i)`.
fn exponential() -> Vec<f64> {
    let mut sum = 0.0;
    let quantiles = (0..QUANTILES).map(|index| {
        sum += 1.0 / (QUANTILES - index) as f64;
        sum
    });
    quantiles.collect()
}
