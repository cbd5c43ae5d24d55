//! Cheap orders: replica exchange from several starts.
//!
//! One long chain begins at random orders; a shorter one does so with other random numbers, and the spread of
//! their results shows how sure the best one is. Another has a warm start from what they found.

use super::chain::{REPLICAS, ReplicaExchange};
use super::order::{CostedOrder, costliest_first};
use crate::cost::{LineConfig, Problem};
use crate::random::Random;
use crate::search::greedy_fill::fill_lines;
use crate::search::{MoveGenerator, exact};

/// Hottest temperature, as a share of what half of all costly moves cost more than.
const START_TEMPERATURE: f64 = 0.5;
/// Hottest temperature of a chain with a warm start from what the first ones found.
const RESTART_TEMPERATURE: f64 = 0.5;
/// Likewise, of a short chain with a warm start from known orders.
const WARM_START_TEMPERATURE: f64 = 0.25;

/// Units up to which replicas begin shuffled; with more, declared neighbours aren't found again.
const SHUFFLED_UNITS: usize = 80;

/// More units than these need more moves.
const UNITS: usize = 50;

/// Chains that begin anywhere, least and most rounds of the first (docs/METHOD.md, examples/search_effort.rs).
const CHAINS: usize = 2;
const ROUND_LIMITS: (usize, usize) = (42, 672);
/// Divisor of the rounds of the other chains: they only measure the spread.
const OTHER_CHAINS_DIVISOR: usize = 4;

/// How long to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchEffort {
    /// Independent chains.
    pub chains: usize,
    /// Rounds of the first: moves, line exchanges and replica exchanges. Others have a quarter of them.
    pub rounds: usize,
}

impl SearchEffort {
    /// The effort for a problem: more touched units need more rounds, and more still the more positions they
    /// can take.
    pub fn for_problem(problem: &Problem<'_>) -> Self {
        let touched = MoveGenerator::new(problem).hot.len();
        let spread = problem.constraints.units.len().clamp(UNITS, UNITS * 3 / 2);
        Self { chains: CHAINS, rounds: (8 * touched * spread / UNITS).clamp(ROUND_LIMITS.0, ROUND_LIMITS.1) }
    }
}

/// Results of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchResults {
    /// The cheapest order each chain found, in order of chains; one only if all orders were tried.
    pub found: Vec<CostedOrder>,
    /// Whether all orders were tried.
    pub is_exact: bool,
}

impl SearchResults {
    /// The cheapest order; the first of several.
    pub fn best(&self) -> Option<&CostedOrder> {
        self.found.iter().min_by_key(|found| found.cost)
    }
}

/// Searches from an order that keeps the constraints: from random orders first, then with a warm start.
pub fn search(problem: &Problem<'_>, start: &[usize], effort: SearchEffort, seed: u64) -> SearchResults {
    if let Some(found) = exact::search_all_orders(problem, start) {
        return SearchResults { found: vec![found], is_exact: true };
    }
    let seed_of = |chain: u64| seed.wrapping_add(chain.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let chain = |chain: u64| {
        let orders = start_orders(problem, start, chain, &mut Random::new(seed_of(chain)));
        let rounds = if chain == 0 { effort.rounds } else { effort.rounds.div_ceil(OTHER_CHAINS_DIVISOR) };
        ReplicaExchange::new(problem, start, &orders, seed_of(chain)).run(rounds, START_TEMPERATURE)
    };
    let chains = effort.chains as u64;
    let mut found: Vec<CostedOrder> =
        fieldline_parallel::map(&Vec::from_iter(0..chains), |number| chain(*number));
    let known = costliest_first(&found);
    let rounds = (effort.rounds * 3).div_ceil(4);
    let last = ReplicaExchange::new(problem, start, &known, seed_of(chains));
    found.push(last.run(rounds, RESTART_TEMPERATURE));
    SearchResults { found, is_exact: false }
}

/// The cheapest order that a chain of `rounds` finds with a warm start; the last known order is the one to
/// beat.
pub fn search_from(
    problem: &Problem<'_>,
    start: &[usize],
    known: &[Vec<usize>],
    rounds: usize,
    seed: u64,
) -> CostedOrder {
    ReplicaExchange::new(problem, start, known, seed).run(rounds, WARM_START_TEMPERATURE)
}

/// Initial orders of replicas: one as declared, the first chain's coldest from lines filled greedily, others
/// at random.
fn start_orders(problem: &Problem<'_>, start: &[usize], chain: u64, random: &mut Random) -> Vec<Vec<usize>> {
    let line = problem.configs.first().map_or(64, LineConfig::line);
    let grouped = |line: u64| fill_lines(problem, start, line).unwrap_or_else(|| start.to_vec());
    let order = |replica: usize| match (chain, REPLICAS - replica) {
        (0, 1) => grouped(line),
        (0, 2) => grouped(2 * line),
        _ if replica > 0 && start.len() <= SHUFFLED_UNITS => random_order(problem, start, random),
        _ => start.to_vec(),
    };
    (0..REPLICAS).map(order).collect()
}

/// A random order that keeps the constraints, or the one given if a few draws find none.
fn random_order(problem: &Problem<'_>, start: &[usize], random: &mut Random) -> Vec<usize> {
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
