//! The search against orders counted by hand, planted answers, and changes that must not change the answer.

use crate::common::{Case, Sets, layout};
use fieldline_layout::abi;
use fieldline_layout::constraint::{MemberNote, PinnedMember, PlacementRequests, constraints};
use fieldline_plan::cost::CostCache;
use fieldline_plan::cost::{LineConfig, OrderState, Problem};
use fieldline_plan::random::Random;
use fieldline_plan::search::starts::search;
use fieldline_plan::search::{MoveGenerator, SearchEffort, reduce_moves};
use std::collections::BTreeSet;

/// A struct whose visits are sets of members.
fn case(sizes: &[u64], sets: &Sets, requests: &PlacementRequests) -> Case {
    Case::for_members(layout("sample", sizes), sets, requests)
}

fn problem(case: &Case) -> Problem<'_> {
    case.problem(
        &[64, 128],
        vec![LineConfig::new(0, 64, 0, 4), LineConfig::new(0, 128, 0, 1), LineConfig::new(1, 128, 0, 1)],
    )
}

/// Lines of 64 bytes that all visits touch, counted from offsets alone.
fn lines_of(case: &Case, sets: &Sets, order: &[usize]) -> u64 {
    let placed = abi::reorder(&case.layout, &case.constraints.member_order(order)).unwrap();
    let line = |member: &usize| {
        let name = &case.layout.members[*member].name;
        placed.members.iter().find(|placed| &placed.name == name).unwrap().offset() / 64
    };
    let touched = |set: &[usize]| set.iter().map(line).collect::<BTreeSet<u64>>().len() as u64;
    sets.iter().map(|(set, weight)| touched(set) * weight).sum()
}

fn random_sets(members: usize, count: usize, random: &mut Random) -> Sets {
    let set = |random: &mut Random| {
        let size = 1 + random.below(5);
        let set: BTreeSet<usize> = (0..size).map(|_| random.below(members)).collect();
        (set.into_iter().collect(), 1 + random.below(9) as u64)
    };
    (0..count).map(|_| set(random)).collect()
}

/// All permutations, by inserting each number everywhere.
fn permutations(count: usize) -> Vec<Vec<usize>> {
    let Some(last) = count.checked_sub(1) else { return vec![Vec::new()] };
    let grow = |order: Vec<usize>| {
        (0..=order.len()).map(move |place| {
            let mut order = order.clone();
            order.insert(place, last);
            order
        })
    };
    permutations(last).into_iter().flat_map(grow).collect()
}

fn cost(problem: &Problem<'_>, order: &[usize]) -> u64 {
    OrderState::evaluate(problem, order).cost()
}

#[test]
fn few_members_get_the_cheapest_of_all_orders() {
    for seed in 0..6 {
        let mut random = Random::new(seed);
        let sizes: Vec<u64> = (0..7).map(|_| [4, 8, 16, 24, 32, 48][random.below(6)]).collect();
        let case = case(&sizes, &random_sets(7, 12, &mut random), &PlacementRequests::default());
        let problem = problem(&case);
        let fits = |order: &Vec<usize>| OrderState::evaluate(&problem, order).fits();
        let cheapest =
            permutations(7).iter().filter(|order| fits(order)).map(|order| cost(&problem, order)).min();
        let found =
            search(&problem, &case.constraints.initial_order(), SearchEffort::for_problem(&problem), seed);
        assert!(found.is_exact);
        assert_eq!(found.best().map(|found| found.cost), cheapest, "seed {seed}");
    }
}

#[test]
fn eight_members_get_the_cheapest_of_all_orders_by_annealing() {
    let mut random = Random::new(5);
    let sizes = [8, 16, 24, 8, 32, 16, 48, 8];
    let case = case(&sizes, &random_sets(8, 14, &mut random), &PlacementRequests::default());
    let problem = problem(&case);
    let mut cheapest = u64::MAX;
    let mut memo = CostCache::default();
    let mut state = OrderState::new(&problem, &case.constraints.initial_order(), &mut memo);
    for order in permutations(8) {
        state.reset(&order, &mut memo);
        if state.fits() {
            cheapest = cheapest.min(state.cost());
        }
    }
    let found = search(&problem, &case.constraints.initial_order(), SearchEffort::for_problem(&problem), 1);
    assert!(!found.is_exact);
    assert_eq!(found.best().map(|found| found.cost), Some(cheapest));
}

/// Lines are chosen first; visits are unions of few of them; then members are shuffled.
#[test]
fn planted_lines_are_found_again() {
    let mut random = Random::new(11);
    let lines = 6;
    let mut place: Vec<usize> = (0..lines * 8).collect();
    random.shuffle(&mut place);
    let sets: Sets = (0..60)
        .map(|_| {
            let chosen: BTreeSet<usize> = (0..1 + random.below(2)).map(|_| random.below(lines)).collect();
            let members = (0..lines * 8).filter(|member| chosen.contains(&(place[*member] / 8)));
            (members.collect(), 1 + random.below(20) as u64)
        })
        .collect();
    let case = case(&vec![8; lines * 8], &sets, &PlacementRequests::default());
    let problem = problem(&case);
    let found = search(&problem, &case.constraints.initial_order(), SearchEffort::for_problem(&problem), 3);
    let best = found.best().unwrap();
    let least: u64 = sets.iter().map(|(set, weight)| (set.len() as u64 / 8) * weight).sum();
    assert_eq!(lines_of(&case, &sets, &best.order), least);
}

#[test]
fn scaling_all_weights_keeps_the_answer() {
    let mut random = Random::new(2);
    let sizes: Vec<u64> = (0..20).map(|_| [4, 8, 16][random.below(3)]).collect();
    let sets = random_sets(20, 40, &mut random);
    let scaled: Sets = sets.iter().map(|(set, weight)| (set.clone(), weight * 16_000)).collect();
    let large: Sets = sets.iter().map(|(set, weight)| (set.clone(), weight * 8_000)).collect();
    let answer = |sets: &Sets| {
        let case = case(&sizes, sets, &PlacementRequests::default());
        let problem = problem(&case);
        let found =
            search(&problem, &case.constraints.initial_order(), SearchEffort { chains: 2, rounds: 33 }, 9);
        found.found.iter().map(|found| found.order.clone()).collect::<Vec<_>>()
    };
    assert_eq!(answer(&large), answer(&scaled));
}

#[test]
fn the_order_of_visits_and_doubled_visits_do_not_matter() {
    let mut random = Random::new(4);
    let sizes: Vec<u64> = (0..16).map(|_| [4, 8, 16][random.below(3)]).collect();
    let sets = random_sets(16, 30, &mut random);
    let mut shuffled = sets.clone();
    random.shuffle(&mut shuffled);
    let split: Sets =
        sets.iter().flat_map(|(set, weight)| [(set.clone(), *weight), (set.clone(), *weight)]).collect();
    let double: Sets = sets.iter().map(|(set, weight)| (set.clone(), 2 * weight)).collect();
    let answer = |sets: &Sets| {
        let case = case(&sizes, sets, &PlacementRequests::default());
        let problem = problem(&case);
        search(&problem, &case.constraints.initial_order(), SearchEffort { chains: 2, rounds: 20 }, 9)
    };
    assert_eq!(answer(&sets), answer(&shuffled));
    assert_eq!(answer(&split), answer(&double));
}

#[test]
fn threads_do_not_matter() {
    let mut random = Random::new(6);
    let sizes: Vec<u64> = (0..24).map(|_| [4, 8, 16, 64][random.below(4)]).collect();
    let case = case(&sizes, &random_sets(24, 50, &mut random), &PlacementRequests::default());
    let problem = problem(&case);
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let start = case.constraints.initial_order();
        pool.install(|| search(&problem, &start, SearchEffort { chains: 4, rounds: 20 }, 1))
    };
    assert_eq!(with(1), with(4));
}

#[test]
fn reducing_moves_never_costs_more_than_it_saves_and_leaves_cold_members_in_place() {
    // Only the first and the last member are touched; what a search did to the others is undone.
    let sizes = vec![8; 24];
    let case = case(&sizes, &vec![(vec![0, 23], 100_000)], &PlacementRequests::default());
    let problem = problem(&case);
    let mut order: Vec<usize> = (0..24).rev().collect();
    order.swap(3, 9);
    let found = fieldline_plan::search::order::CostedOrder { cost: cost(&problem, &order), order };
    let reduced = reduce_moves(&problem, &found);
    assert!(reduced.cost <= found.cost);
    assert!(
        fieldline_plan::search::reduce_moves::moved_units(&reduced.order).len() <= 1,
        "{:?}",
        reduced.order
    );
}

/// Random requests for members.
fn random_requests(count: usize, random: &mut Random) -> PlacementRequests {
    let pin = |member: usize| PinnedMember { member, reason: "a test wants it".to_owned() };
    let cut = random.below(count);
    let note = |member: usize, random: &mut Random| MemberNote {
        unit: None,
        guard: Some(random.below(3) as u32),
        region: Some(u32::from(member >= cut)),
        immovable: (random.below(6) == 0).then(|| "a macro".to_owned()),
        ..MemberNote::default()
    };
    PlacementRequests {
        notes: (0..count).map(|member| note(member, random)).collect(),
        first: (random.below(2) == 0).then(|| pin(0)).into_iter().collect(),
        last: (random.below(2) == 0).then(|| pin(count - 1)).into_iter().collect(),
        keep: (random.below(2) == 0).then(|| pin(count / 2)).into_iter().collect(),
        ..PlacementRequests::default()
    }
}

#[test]
fn constraints_are_never_broken() {
    for seed in 0..40 {
        let count = 4 + seed as usize % 20;
        let mut random = Random::new(seed);
        let sizes: Vec<u64> = (0..count).map(|_| [1, 2, 4, 8, 16, 24, 64][random.below(7)]).collect();
        let sets = random_sets(count, 20, &mut random);
        let requests = random_requests(count, &mut random);
        let layout = layout("sample", &sizes);
        if constraints(&layout, &requests).is_err() {
            continue;
        }
        let case = case(&sizes, &sets, &requests);
        let problem = problem(&case);
        let start = case.constraints.initial_order();
        let found = search(&problem, &start, SearchEffort { chains: 2, rounds: 5 }, seed);
        for found in found.found.iter().map(|found| reduce_moves(&problem, found)) {
            assert_eq!(case.constraints.check(&found.order), Ok(()));
            let state = OrderState::evaluate(&problem, &found.order);
            assert!(state.fits() || found.order == start);
            assert_eq!(state.cost(), found.cost);
            let placed = abi::reorder(&layout, &case.constraints.member_order(&found.order)).unwrap();
            for pin in &requests.keep {
                let name = &layout.members[pin.member].name;
                let kept = placed.members.iter().find(|member| &member.name == name).unwrap();
                assert_eq!(kept.offset(), layout.members[pin.member].offset());
            }
        }
    }
}

#[test]
fn moves_and_their_undoing_keep_the_cost_right() {
    for seed in 0..40 {
        let mut random = Random::new(seed);
        let sizes: Vec<u64> = (0..14).map(|_| [1, 2, 4, 8, 16, 24, 64][random.below(7)]).collect();
        let sets = random_sets(14, 25, &mut random);
        let case = case(&sizes, &sets, &PlacementRequests::default());
        let problem = problem(&case);
        let mut memo = CostCache::default();
        let mut state = OrderState::new(&problem, &case.constraints.initial_order(), &mut memo);
        for _ in 0..60 {
            let first = random.below(14);
            let mut units = state.order()[first..first + 1 + random.below(14 - first)].to_vec();
            random.shuffle(&mut units);
            let before = (state.cost(), state.order().to_vec());
            assert!(state.try_replace(first, &units, &mut memo, f64::INFINITY));
            assert_eq!(state.cost(), cost(&problem, state.order()));
            assert_eq!(state.touched_lines()[0], lines_of(&case, &sets, state.order()));
            if random.below(2) == 0 {
                state.undo();
                assert_eq!(&before, &(state.cost(), state.order().to_vec()));
            }
        }
    }
}

#[test]
fn exchanges_and_their_undoing_keep_the_cost_right() {
    for seed in 0..40 {
        let mut random = Random::new(seed);
        let sizes: Vec<u64> = (0..14).map(|_| [4, 8, 8, 24][random.below(4)]).collect();
        let sets = random_sets(14, 25, &mut random);
        let case = case(&sizes, &sets, &PlacementRequests::default());
        let problem = problem(&case);
        let mover = MoveGenerator::new(&problem);
        let mut memo = CostCache::default();
        let mut state = OrderState::new(&problem, &case.constraints.initial_order(), &mut memo);
        for _ in 0..60 {
            let (this, other) = (random.below(13), 1 + random.below(13));
            let is_same_kind = mover.kind(state.order()[this]) == mover.kind(state.order()[other]);
            if this == other || !is_same_kind {
                continue;
            }
            let before = (state.cost(), state.order().to_vec(), state.touched_lines());
            assert!(state.try_exchange(this.min(other), this.max(other), &mut memo, f64::INFINITY));
            assert_eq!(state.cost(), cost(&problem, state.order()));
            assert_eq!(state.touched_lines()[0], lines_of(&case, &sets, state.order()));
            assert_eq!(state.position(state.order()[this]), this);
            if random.below(2) == 0 {
                state.undo();
                assert_eq!(&before, &(state.cost(), state.order().to_vec(), state.touched_lines()));
                assert_eq!(state.position(state.order()[this]), this);
            }
        }
    }
}
