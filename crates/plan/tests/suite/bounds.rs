//! Bounds against all orders counted by hand, and what must not change them; terms against the cost they make
//! up.

use crate::common::{Case, Sets, layout};
use fieldline_layout::constraint::{MemberNote, PinnedMember, PlacementRequests, constraints};
use fieldline_plan::cost::CostCache;
use fieldline_plan::cost::cost_terms::cost_terms;
use fieldline_plan::cost::{BuildPlacement, LineConfig, OrderState, Problem};
use fieldline_plan::random::Random;
use fieldline_plan::search::starts::search;
use fieldline_plan::search::{SearchEffort, lower_bound};
use std::collections::BTreeSet;

/// A struct whose visits are sets of bytes.
fn case(sizes: &[u64], sets: &Sets, requests: &PlacementRequests) -> Case {
    let bytes: Vec<u64> = sets.iter().flat_map(|(set, _)| set).map(|byte| *byte as u64).collect();
    Case::new(layout("sample", sizes), &bytes, sets, requests)
}

/// Objects that begin `phase` bytes into a line, on lines of two sizes and for two compilers.
fn problem(case: &Case, phase: u64) -> Problem<'_> {
    let configs = vec![
        LineConfig::new(0, 64, phase, 4),
        LineConfig::new(0, 128, phase, 1),
        LineConfig::new(1, 128, 0, 1),
        LineConfig::on_pairs(0, 64, 0, 1),
        LineConfig::new(0, 32, 0, 1),
    ];
    case.problem(&[64, 128], configs)
}

/// Sets of a few bytes of a struct, anywhere in its members.
fn random_sets(bytes: u64, count: usize, random: &mut Random) -> Sets {
    let set = |random: &mut Random| {
        let set: BTreeSet<usize> = (0..1 + random.below(5)).map(|_| random.below(bytes as usize)).collect();
        (set.into_iter().collect(), 100 + random.below(900) as u64)
    };
    (0..count).map(|_| set(random)).collect()
}

/// The fewest lines of each configuration, and the least cost, over all orders.
fn least(problem: &Problem<'_>, units: usize) -> (Vec<u64>, u64) {
    let mut memo = CostCache::default();
    let mut order: Vec<usize> = (0..units).collect();
    let mut state = OrderState::new(problem, &order, &mut memo);
    let (mut touched, mut cost) = (state.touched_lines(), u64::MAX);
    visit_all(&mut order, 0, &mut |order| {
        state.reset(order, &mut memo);
        for (least, here) in touched.iter_mut().zip(state.touched_lines()) {
            *least = here.min(*least);
        }
        cost = cost.min(state.cost());
    });
    (touched, cost)
}

fn visit_all(order: &mut Vec<usize>, first: usize, visit: &mut impl FnMut(&[usize])) {
    if first == order.len() {
        visit(order);
    }
    for other in first..order.len() {
        order.swap(first, other);
        visit_all(order, first + 1, visit);
        order.swap(first, other);
    }
}

#[test]
fn no_order_is_below_the_bound() {
    for seed in 0..40 {
        let count = 2 + seed as usize % 5;
        let mut random = Random::new(seed);
        let sizes: Vec<u64> = (0..count).map(|_| [1, 2, 4, 8, 16, 24, 40, 64][random.below(8)]).collect();
        let bytes = layout("sample", &sizes).size;
        let case = case(&sizes, &random_sets(bytes, 10, &mut random), &PlacementRequests::default());
        let problem = problem(&case, [0, 4, 8, 48][random.below(4)]);
        let (touched, cost) = least(&problem, count);
        let found =
            search(&problem, &case.constraints.initial_order(), SearchEffort { chains: 1, rounds: 1 }, 1);
        for known in [None, found.best().map(|found| found.order.as_slice())] {
            let bound = lower_bound(&problem, known);
            for (config, (bound, least)) in bound.touched.iter().zip(&touched).enumerate() {
                assert!(bound <= least, "view {config}: {bound} > {least}");
            }
            assert!(bound.cost <= cost, "{} > {cost}", bound.cost);
        }
    }
}

#[test]
fn terms_make_up_the_cost() {
    for seed in 0..40 {
        let mut random = Random::new(seed);
        let sizes: Vec<u64> = (0..14).map(|_| [1, 2, 4, 8, 16, 24, 64][random.below(7)]).collect();
        let guard =
            |random: &mut Random| MemberNote { guard: Some(random.below(3) as u32), ..MemberNote::default() };
        let requests = PlacementRequests {
            notes: (0..14).map(|_| guard(&mut random)).collect(),
            ..PlacementRequests::default()
        };
        let bytes = layout("sample", &sizes).size;
        let case = case(&sizes, &random_sets(bytes, 20, &mut random), &requests);
        let problem = problem(&case, 8);
        let declared: Vec<usize> = (0..14).collect();
        let mut order = declared.clone();
        random.shuffle(&mut order);
        let cost = |order: &[usize]| OrderState::evaluate(&problem, order).cost();
        let found = cost_terms(&problem, &declared, &order);
        assert_eq!(found.iter().map(|term| term.cost_before).sum::<u64>(), cost(&declared));
        assert_eq!(found.iter().map(|term| term.cost_after).sum::<u64>(), cost(&order));
    }
}

#[test]
fn doubling_and_shuffling_visits_scale_and_keep_the_bound() {
    for seed in 0..40 {
        let mut random = Random::new(seed);
        let sizes: Vec<u64> = (0..10).map(|_| [4, 8, 16, 24][random.below(4)]).collect();
        let bytes = layout("sample", &sizes).size;
        let sets = random_sets(bytes, 14, &mut random);
        let mut shuffled = sets.clone();
        random.shuffle(&mut shuffled);
        let doubled: Sets = sets.iter().map(|(set, weight)| (set.clone(), 2 * weight)).collect();
        let split: Sets = sets.iter().chain(&sets).cloned().collect();
        let touched = |sets: &Sets| {
            let case = case(&sizes, sets, &PlacementRequests::default());
            lower_bound(&problem(&case, 0), None).touched
        };
        let once = touched(&sets);
        assert_eq!(&touched(&shuffled), &once);
        assert_eq!(touched(&split), touched(&doubled));
        for (once, twice) in once.iter().zip(touched(&doubled)) {
            // Rounded down once, the bound can lose one.
            assert!(2 * once <= twice + 1 && twice <= 2 * once + 2, "{once} {twice}");
        }
    }
}

#[test]
fn limits_never_make_the_best_order_cheaper() {
    for seed in 0..40 {
        let mut random = Random::new(seed);
        let sizes: Vec<u64> = (0..6).map(|_| [4, 8, 16, 24, 40][random.below(5)]).collect();
        let bytes = layout("sample", &sizes).size;
        let sets = random_sets(bytes, 10, &mut random);
        let lines = |sizes: &[u64], requests: &PlacementRequests| {
            let case = case(sizes, &sets, requests);
            let problem = problem(&case, 0);
            let found =
                search(&problem, &case.constraints.initial_order(), SearchEffort { chains: 1, rounds: 1 }, 1);
            assert!(found.is_exact);
            found.best().unwrap().cost
        };
        let free = lines(&sizes, &PlacementRequests::default());
        let pin = PinnedMember { member: random.below(6), reason: "a test wants it".to_owned() };
        let first = PlacementRequests { first: vec![pin], ..PlacementRequests::default() };
        if constraints(&layout("sample", &sizes), &first).is_err() {
            continue;
        }
        assert!(lines(&sizes, &first) >= free);
    }
}

/// Lines are chosen first; visits are unions of few of them; then members are shuffled.
#[test]
fn planted_lines_are_found_and_proven() {
    let mut random = Random::new(3);
    let lines = 4;
    let mut place: Vec<usize> = (0..lines * 8).collect();
    random.shuffle(&mut place);
    let sets: Sets = (0..40)
        .map(|_| {
            let chosen: BTreeSet<usize> = (0..1 + random.below(2)).map(|_| random.below(lines)).collect();
            let members = (0..lines * 8).filter(|member| chosen.contains(&(place[*member] / 8)));
            (members.map(|member| member * 8).collect(), 1 + random.below(20) as u64)
        })
        .collect();
    let case = case(&vec![8; lines * 8], &sets, &PlacementRequests::default());
    let build = BuildPlacement::new(&case.layout, &case.constraints, 64, 64);
    let configs = vec![LineConfig::new(0, 64, 0, 1)];
    let problem =
        Problem::new(&case.constraints, &case.ranges, &case.visits, &case.sharing, vec![build], configs);
    let start = case.constraints.initial_order();
    let found = search(&problem, &start, SearchEffort { chains: 3, rounds: 100 }, 3);
    let best = found.best().unwrap();
    let bound = lower_bound(&problem, Some(&best.order));
    let planted: u64 = sets.iter().map(|(set, weight)| (set.len() as u64 / 8) * weight).sum();
    assert_eq!(bound.touched, [planted]);
    assert_eq!(OrderState::evaluate(&problem, &best.order).touched_lines(), [planted]);
}
