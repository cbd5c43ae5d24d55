//! Exchanges between lines against costs recomputed from offsets.

use crate::common::{Case, layout};
use fieldline_layout::constraint::{PinnedMember, PlacementRequests};
use fieldline_plan::cost::CostCache;
use fieldline_plan::cost::{LineConfig, OrderState, Problem};
use fieldline_plan::random::Random;
use fieldline_plan::search::LineExchanges;

/// A struct without holes, and visits to random members.
fn case(random: &mut Random, requests: &PlacementRequests) -> Case {
    let sizes: Vec<u64> = (0..40).map(|_| [8, 8, 8, 16, 24, 40][random.below(6)]).collect();
    let set = |random: &mut Random| (0..1 + random.below(6)).map(|_| random.below(40)).collect();
    let sets = (0..300).map(|_| (set(random), 1 + random.below(9) as u64)).collect();
    Case::for_members(layout("sample", &sizes), &sets, requests)
}

fn problem(case: &Case) -> Problem<'_> {
    case.problem(
        &[64, 128],
        vec![LineConfig::new(0, 64, 0, 4), LineConfig::new(0, 128, 0, 1), LineConfig::new(1, 128, 0, 2)],
    )
}

/// Weighted lines that visits touch, counted from offsets.
fn lines(problem: &Problem<'_>, order: &[usize]) -> f64 {
    let touched = OrderState::evaluate(problem, order).touched_lines();
    let weighed = problem.configs.iter().zip(touched).map(|(config, touched)| config.weight * touched);
    weighed.sum::<u64>() as f64
}

/// The order after some exchanges from the declared one, and the predicted cost change.
fn exchange_at_random(
    problem: &Problem<'_>,
    steps: usize,
    bound: f64,
    random: &mut Random,
) -> Option<(Vec<usize>, f64)> {
    let mut memo = CostCache::default();
    let state = OrderState::new(problem, &problem.constraints.initial_order(), &mut memo);
    let mut exchanges = LineExchanges::new(problem);
    exchanges.load(&state, &mut memo);
    for _ in 0..steps {
        exchanges.try_exchange(random, &mut memo, bound);
    }
    let change = exchanges.total_change();
    Some((exchanges.exchanged_order(&state)?.to_vec(), change))
}

#[test]
fn without_holes_line_exchanges_cost_as_recomputed_from_offsets() {
    let mut compared = 0;
    for seed in 0..20 {
        let mut random = Random::new(seed);
        let case = case(&mut random, &PlacementRequests::default());
        let problem = problem(&case);
        let before = lines(&problem, &problem.constraints.initial_order());
        for steps in [1, 5, 60] {
            let Some((order, change)) = exchange_at_random(&problem, steps, f64::INFINITY, &mut random)
            else {
                continue;
            };
            assert!(problem.constraints.check(&order).is_ok(), "seed {seed}");
            assert_eq!(lines(&problem, &order) - before, change, "seed {seed}, {steps} steps");
            compared += 1;
        }
    }
    assert!(compared > 30, "{compared}");
}

#[test]
fn line_exchanges_below_zero_cost_touch_fewer_lines() {
    for seed in 0..5 {
        let mut random = Random::new(seed);
        let case = case(&mut random, &PlacementRequests::default());
        let problem = problem(&case);
        let (order, change) = exchange_at_random(&problem, 3_000, 0.0, &mut random).unwrap();
        let before = lines(&problem, &problem.constraints.initial_order());
        assert!(change < 0.0 && lines(&problem, &order) < before, "seed {seed}: {change}");
    }
}

#[test]
fn a_pinned_member_stays_where_it_is() {
    let keep = vec![PinnedMember { member: 17, reason: "a test's".to_owned() }];
    for seed in 0..5 {
        let mut random = Random::new(seed);
        let case =
            case(&mut random, &PlacementRequests { keep: keep.clone(), ..PlacementRequests::default() });
        let problem = problem(&case);
        let (order, _) = exchange_at_random(&problem, 300, f64::INFINITY, &mut random).unwrap();
        let offset_of_pinned = |order: &[usize]| {
            let sizes =
                |unit: &usize| case.layout.members[problem.constraints.units[*unit].members[0]].bit_size;
            let place =
                order.iter().position(|unit| problem.constraints.units[*unit].members == [17]).unwrap();
            order[..place].iter().map(sizes).sum::<u64>()
        };
        // Only its own line may be sorted anew; the search then refuses what moves it.
        assert_eq!(
            offset_of_pinned(&order) / 512,
            offset_of_pinned(&problem.constraints.initial_order()) / 512,
            "seed {seed}"
        );
    }
}
