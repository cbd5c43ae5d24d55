//! How far searches of several lengths end above the best order known, on structs and visits made up at
//! random.
//!
//! `cargo run --release -p fieldline-plan --example search_effort [CASES [SEEDS]]`: the figures behind
//! `Effort::for_problem` and the constants of `search`. Nothing in it comes from a recording.
#![allow(clippy::unwrap_used, reason = "an example may fail by panicking")]
#![allow(clippy::print_stdout, reason = "an example tells what it measured")]

#[path = "../tests/suite/common.rs"]
mod common;

use common::{Case, Sets, layout};
use fieldline_layout::constraint::PlacementRequests;
use fieldline_plan::cost::{LineConfig, OrderState};
use fieldline_plan::random::Random;
use fieldline_plan::search::SearchEffort;
use fieldline_plan::search::starts::search;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// Visits drawn.
const VISITS: usize = 8192;

/// Chains and rounds.
const EFFORTS: [(usize, usize); 6] = [(1, 31), (1, 63), (1, 126), (1, 252), (2, 252), (1, 504)];

/// Sizes of members: mostly pointers and longs, some flags and small structs, as kernels have them.
const SIZES: [u64; 20] = [8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 4, 4, 4, 4, 2, 1, 16, 24];

/// Sets of members that visits touch: operations run some functions each, functions touch some members each,
/// most of the time.
fn sets(members: usize, random: &mut Random) -> Sets {
    let mut function = |_| -> Vec<(usize, f64)> {
        (0..1 + random.below(6)).map(|_| (random.below(members), 0.3 + 0.7 * random.unit())).collect()
    };
    let functions: Vec<Vec<(usize, f64)>> = (0..members).map(&mut function).collect();
    let mut operation =
        |_| -> Vec<usize> { (0..1 + random.below(5)).map(|_| random.below(functions.len())).collect() };
    let operations: Vec<Vec<usize>> = (0..members / 2).map(&mut operation).collect();
    let visit = |_| {
        // Operations that come early in the list run more often.
        let operation = random.below(operations.len()).min(random.below(operations.len()));
        let touches = operations[operation].iter().flat_map(|function| &functions[*function]);
        let set: BTreeSet<usize> =
            touches.filter(|(_, rate)| random.unit() < *rate).map(|(member, _)| *member).collect();
        (set.into_iter().collect(), 1)
    };
    (0..VISITS).map(visit).collect()
}

fn number(index: usize, otherwise: usize) -> usize {
    std::env::args().nth(index).and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

fn main() {
    let (cases, seeds) = (number(1, 10), number(2, 3));
    let mut excess: Vec<Vec<f64>> = vec![Vec::new(); EFFORTS.len()];
    let mut spent = vec![Duration::ZERO; EFFORTS.len()];
    for number in 0..cases {
        let mut random = Random::new(1 + number as u64);
        let members = 30 + 4 * number;
        let sizes: Vec<u64> = (0..members).map(|_| SIZES[random.below(SIZES.len())]).collect();
        let sets = sets(members, &mut random);
        let case = Case::for_members(layout("made_up", &sizes), &sets, &PlacementRequests::default());
        let problem = case.problem(&[64], vec![LineConfig::new(0, 64, 0, 4), LineConfig::new(0, 128, 0, 3)]);
        let start = case.constraints.initial_order();
        let mut costs = vec![Vec::new(); EFFORTS.len()];
        for (effort, (chains, rounds)) in EFFORTS.into_iter().enumerate() {
            for seed in 0..seeds as u64 {
                let begun = Instant::now();
                let search = search(&problem, &start, SearchEffort { chains, rounds }, seed);
                spent[effort] += begun.elapsed();
                costs[effort].push(search.best().unwrap().cost);
            }
        }
        let best = *costs.iter().flatten().min().unwrap() as f64;
        let declared = OrderState::evaluate(&problem, &start).cost() as f64;
        println!("case {number}: {members} members, best {:.3} of declared", best / declared);
        for (excess, costs) in excess.iter_mut().zip(&costs) {
            excess.extend(costs.iter().map(|cost| 1000.0 * (*cost as f64 / best - 1.0)));
        }
    }
    println!("chains rounds  seconds  above the best, per mille: median  mean  worst");
    for (((chains, rounds), excess), spent) in EFFORTS.into_iter().zip(&mut excess).zip(&spent) {
        excess.sort_by(f64::total_cmp);
        let mean = excess.iter().sum::<f64>() / excess.len() as f64;
        let (median, worst) = (excess[excess.len() / 2], excess[excess.len() - 1]);
        let seconds = spent.as_secs_f64() / excess.len() as f64;
        println!("{chains:6} {rounds:6} {seconds:8.2} {median:40.2} {mean:5.2} {worst:6.2}");
    }
}
