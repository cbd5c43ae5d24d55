//! How far searches of several lengths end above the best order known, on structs and visits made up at random.
//!
//! `cargo run --release -p fieldline-plan --example search_effort [CASES [SEEDS]]`: the figures behind
//! `Effort::for_problem` and the constants of `search`. Nothing in it comes from a recording.
#![allow(clippy::unwrap_used, reason = "an example may fail by panicking")]
#![allow(clippy::print_stdout, reason = "an example tells what it measured")]

#[path = "../tests/suite/common.rs"]
mod common;

use common::{Case, Sets, layout};
use fieldline_layout::constraint::Wishes;
use fieldline_plan::cost::{Problem, View};
use fieldline_plan::random::Random;
use fieldline_plan::search::Effort;
use fieldline_plan::search::starts::search;
use std::time::{Duration, Instant};

/// Visits drawn.
const VISITS: usize = 8192;

/// Chains and rounds.
const EFFORTS: [(usize, usize); 6] = [(1, 31), (1, 63), (1, 126), (1, 252), (2, 252), (1, 504)];

/// A struct with visits drawn by chance.
fn made_up(members: usize, random: &mut Random) -> Case {
    let sizes: Vec<u64> = (0..members).map(|_| size(random)).collect();
    let sets = sets(members, random);
    Case::of_members(layout("made_up", &sizes), &sets, &Wishes::default())
}

fn problem(case: &Case) -> Problem<'_> {
    case.seen_by(&case.visits, &[64], vec![View::new(0, 64, 0, 4), View::new(0, 128, 0, 3)])
}

/// Mostly pointers and longs, some flags and small structs, as kernels have them.
fn size(random: &mut Random) -> u64 {
    match random.below(20) {
        0..12 => 8,
        12..16 => 4,
        16 => 2,
        17 => 1,
        18 => 16,
        _ => 24,
    }
}

/// What runs touch: operations run some functions each, functions touch some members each, most of the time.
fn sets(members: usize, random: &mut Random) -> Sets {
    let functions: Vec<Vec<(usize, f64)>> = (0..members)
        .map(|_| {
            (0..1 + random.below(6)).map(|_| (random.below(members), 0.3 + 0.7 * random.unit())).collect()
        })
        .collect();
    let operations: Vec<Vec<usize>> = (0..members / 2)
        .map(|_| (0..1 + random.below(5)).map(|_| random.below(functions.len())).collect())
        .collect();
    let visit = |_| {
        // Operations that come early in the list run more often.
        let operation = random.below(operations.len()).min(random.below(operations.len()));
        let mut set = Vec::new();
        for (member, rate) in operations[operation].iter().flat_map(|function| &functions[*function]) {
            if random.unit() < *rate {
                set.push(*member);
            }
        }
        set.sort_unstable();
        set.dedup();
        (set, 1)
    };
    (0..VISITS).map(visit).collect()
}

fn number(place: usize, otherwise: usize) -> usize {
    std::env::args().nth(place).and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

fn main() {
    let (cases, seeds) = (number(1, 10), number(2, 3));
    let mut excess: Vec<Vec<f64>> = vec![Vec::new(); EFFORTS.len()];
    let mut spent = vec![Duration::ZERO; EFFORTS.len()];
    for number in 0..cases {
        let mut random = Random::new(1 + number as u64);
        let made = made_up(30 + 4 * number, &mut random);
        let problem = problem(&made);
        let start = made.constraints.initial_order();
        let mut costs = vec![Vec::new(); EFFORTS.len()];
        for (effort, (chains, rounds)) in EFFORTS.into_iter().enumerate() {
            for seed in 0..seeds as u64 {
                let begun = Instant::now();
                let search = search(&problem, &start, Effort { chains, rounds }, seed);
                spent[effort] += begun.elapsed();
                costs[effort].push(search.best().unwrap().cost);
            }
        }
        let best = *costs.iter().flatten().min().unwrap() as f64;
        let declared = fieldline_plan::cost::state::OrderState::of(&problem, &start).cost() as f64;
        println!("case {number}: {} members, best {:.3} of declared", 30 + 4 * number, best / declared);
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
