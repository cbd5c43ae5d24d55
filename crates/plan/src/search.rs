//! Cheap orders: replica exchange from several starts.
//!
//! Each chain holds one order per temperature and lets neighbours exchange theirs (Swendsen and Wang, 1986): hot ones
//! rearrange whole lines, cold ones settle details. Chains differ in their seed only; how far their results lie apart
//! tells how sure the best one is.

use crate::exact;
use crate::moves::Mover;
use crate::problem::Problem;
use crate::random::Random;
use crate::state::{Memo, State};
use rayon::prelude::*;

/// Temperatures of a chain.
const REPLICAS: usize = 6;
/// Moves of a replica between exchanges.
const ROUND: usize = 100;
/// Hottest and coldest temperature, as a share of one line more touched in every visit.
const HOT: f64 = 0.02;
const COLD: f64 = 0.002;
/// Quantiles of the exponential distribution in use.
const QUANTILES: usize = 1024;

/// Up to so many units, replicas begin with shuffled orders. More would not find back to declared neighbours, which
/// readers of a patch are glad of.
const SHUFFLED: usize = 80;

/// How long to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Independent chains.
    pub chains: usize,
    /// Moves tried in each, over all its replicas.
    pub moves: usize,
}

impl Effort {
    /// What is enough for a problem: more touched units need more moves.
    pub fn for_problem(problem: &Problem<'_>) -> Self {
        let touched = Mover::new(problem).touched();
        Self { chains: 4, moves: (3_000 * touched).clamp(12_000, 240_000) }
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
    if let Some(found) = exact::try_all(problem, start) {
        return Search { found: vec![found], is_exact: true };
    }
    let chain = |chain: u64| {
        let mut random = Random::new(seed.wrapping_add(chain.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
        Chain::new(problem, start, &mut random).run(effort.moves, &mut random)
    };
    Search { found: (0..effort.chains as u64).into_par_iter().map(chain).collect(), is_exact: false }
}

/// Orders at several temperatures.
struct Chain<'p> {
    mover: Mover,
    memo: Memo,
    replicas: Vec<State<'p>>,
    temperatures: Vec<f64>,
    exponential: Vec<f64>,
    best: Found,
}

impl<'p> Chain<'p> {
    fn new(problem: &'p Problem<'p>, start: &[usize], random: &mut Random) -> Self {
        let mut memo = Memo::default();
        let mut replicas: Vec<State<'p>> = Vec::new();
        for replica in 0..REPLICAS {
            let order = if replica == 0 || start.len() > SHUFFLED {
                start.to_vec()
            } else {
                shuffled(problem, start, random)
            };
            replicas.push(State::new(problem, &order, &mut memo));
        }
        let best = Found {
            order: start.to_vec(),
            cost: replicas.first().filter(|state| state.fits()).map_or(u64::MAX, State::cost),
        };
        Self {
            mover: Mover::new(problem),
            memo,
            replicas,
            temperatures: temperatures(problem.scale() as f64),
            exponential: exponential(),
            best,
        }
    }

    fn run(mut self, moves: usize, random: &mut Random) -> Found {
        for round in 0..moves.div_ceil(ROUND * REPLICAS) {
            for replica in 0..REPLICAS {
                for _ in 0..ROUND {
                    self.step(replica, random);
                }
            }
            for replica in (round % 2..REPLICAS - 1).step_by(2) {
                self.exchange(replica, random);
            }
        }
        self.best
    }

    /// Tries a move; keeps it with probability `min(1, exp(-increase / temperature))` (Metropolis et al., 1953).
    fn step(&mut self, replica: usize, random: &mut Random) {
        let state = &mut self.replicas[replica];
        let Some(first) = self.mover.draw(state, random) else {
            return;
        };
        let before = state.cost();
        let after = state.replace(first, self.mover.units(), &mut self.memo);
        let bound = self.temperatures[replica] * self.exponential[random.below(QUANTILES)];
        let refused = after > before && (after - before) as f64 >= bound;
        if refused || !state.keeps_offsets() {
            state.undo();
        } else if after < self.best.cost && state.fits() {
            self.best.cost = after;
            self.best.order.copy_from_slice(state.order());
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
fn temperatures(scale: f64) -> Vec<f64> {
    let factor = root(COLD / HOT, REPLICAS - 1);
    let steps = std::iter::successors(Some(HOT * scale), |hotter| Some(hotter * factor));
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
