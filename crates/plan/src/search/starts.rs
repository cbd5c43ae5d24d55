//! Cheap orders: replica exchange from several starts.
//!
//! One long chain begins anywhere; a shorter one does so with other random numbers, and how far their results lie apart
//! tells how sure the best one is. Another goes on from what they found.

use super::chain::{Chain, REPLICAS};
use super::order::{CostedOrder, hottest_first};
use crate::cost::{Problem, View};
use crate::random::Random;
use crate::search::seed::grouped;
use crate::search::{Mover, exact};
use rayon::prelude::*;

/// Hottest temperature, as a share of what half of all costly moves cost more than.
const HOT: f64 = 0.5;
/// Hottest temperature of a chain that goes on from what the first ones found: as hot again, over other ground.
const AGAIN: f64 = 0.5;
/// Likewise, of one that only settles what differs from orders known already.
const NEAR: f64 = 0.25;

/// Units up to which replicas begin shuffled; more would not find back to the declared neighbours that readers like.
const SHUFFLED: usize = 80;

/// More units than these need more moves.
const UNITS: usize = 50;

/// Chains that begin anywhere, least and most rounds of the first (docs/METHOD.md, examples/search_effort.rs).
const CHAINS: usize = 2;
const ROUNDS: (usize, usize) = (42, 672);
/// By what rounds are divided for the other chains: they only tell how far results lie apart.
const OTHERS: usize = 4;

/// How long to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Independent chains.
    pub chains: usize,
    /// Rounds of the first: moves, trades and exchanges of all its replicas. Others have a quarter of them.
    pub rounds: usize,
}

impl Effort {
    /// What is enough for a problem: more touched units need more rounds, and more still the more places they can take.
    pub fn for_problem(problem: &Problem<'_>) -> Self {
        let touched = Mover::new(problem).hot.len();
        let spread = problem.constraints.units.len().clamp(UNITS, UNITS * 3 / 2);
        Self { chains: CHAINS, rounds: (8 * touched * spread / UNITS).clamp(ROUNDS.0, ROUNDS.1) }
    }
}

/// Results of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Search {
    /// The cheapest order each chain found, in order of chains; one only if all orders were tried.
    pub found: Vec<CostedOrder>,
    /// Whether all orders were tried.
    pub is_exact: bool,
}

impl Search {
    /// The cheapest order; the first of several.
    pub fn best(&self) -> Option<&CostedOrder> {
        self.found.iter().min_by_key(|found| found.cost)
    }
}

/// Searches from an order that keeps the constraints: far and wide first, then again from what was found.
pub fn search(problem: &Problem<'_>, start: &[usize], effort: Effort, seed: u64) -> Search {
    if let Some(found) = exact::try_all(problem, start) {
        return Search { found: vec![found], is_exact: true };
    }
    let seed_of = |chain: u64| seed.wrapping_add(chain.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let chain = |chain: u64| {
        let orders = first_orders(problem, start, chain, &mut Random::new(seed_of(chain)));
        let rounds = if chain == 0 { effort.rounds } else { effort.rounds.div_ceil(OTHERS) };
        Chain::new(problem, start, &orders, seed_of(chain)).run(rounds, HOT)
    };
    let chains = effort.chains as u64;
    let mut found: Vec<CostedOrder> = (0..chains).into_par_iter().map(chain).collect();
    let known = hottest_first(&found);
    let rounds = (effort.rounds * 3).div_ceil(4);
    found.push(Chain::new(problem, start, &known, seed_of(chains)).run(rounds, AGAIN));
    Search { found, is_exact: false }
}

/// The cheapest order that a chain of `rounds` finds from known ones on; the last of them is the one to beat.
pub fn search_near(
    problem: &Problem<'_>,
    start: &[usize],
    known: &[Vec<usize>],
    rounds: usize,
    seed: u64,
) -> CostedOrder {
    Chain::new(problem, start, known, seed).run(rounds, NEAR)
}

/// Where replicas begin: one as declared, the first chain's coldest from lines filled greedily, others anywhere.
fn first_orders(problem: &Problem<'_>, start: &[usize], chain: u64, random: &mut Random) -> Vec<Vec<usize>> {
    let line = problem.views.first().map_or(64, View::line);
    let grouped = |line: u64| grouped(problem, start, line).unwrap_or_else(|| start.to_vec());
    let order = |replica: usize| match (chain, REPLICAS - replica) {
        (0, 1) => grouped(line),
        (0, 2) => grouped(2 * line),
        _ if replica > 0 && start.len() <= SHUFFLED => shuffled(problem, start, random),
        _ => start.to_vec(),
    };
    (0..REPLICAS).map(order).collect()
}

/// A random order that keeps the constraints, or the one given if a few draws find none.
fn shuffled(problem: &Problem<'_>, start: &[usize], random: &mut Random) -> Vec<usize> {
    for _ in 0..20 {
        let mut order = start.to_vec();
        random.shuffle(&mut order);
        order.sort_by_key(|unit| problem.constraints.units[*unit].region);
        if problem.is_legal(&order) {
            return order;
        }
    }
    start.to_vec()
}
