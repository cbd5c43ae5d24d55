//! Trades between lines against offsets.

use crate::common::{Case, layout};
use fieldline_layout::constraint::{Pin, Wishes};
use fieldline_plan::cost::Memo;
use fieldline_plan::cost::{OrderState, Problem, View};
use fieldline_plan::random::Random;
use fieldline_plan::search::Trades;

/// A struct without holes, and visits to random members.
fn case(random: &mut Random, wishes: &Wishes) -> Case {
    let sizes: Vec<u64> = (0..40).map(|_| [8, 8, 8, 16, 24, 40][random.below(6)]).collect();
    let set = |random: &mut Random| (0..1 + random.below(6)).map(|_| random.below(40)).collect();
    let sets = (0..300).map(|_| (set(random), 1 + random.below(9) as u64)).collect();
    Case::of_members(layout("sample", &sizes), &sets, wishes)
}

fn problem(case: &Case) -> Problem<'_> {
    case.seen(&[64, 128], vec![View::new(0, 64, 0, 4), View::new(0, 128, 0, 1), View::new(1, 128, 0, 2)])
}

/// Weighted lines that visits touch, counted from offsets.
fn lines(problem: &Problem<'_>, order: &[usize]) -> f64 {
    let touched = OrderState::of(problem, order).touched();
    let weighed = problem.views.iter().zip(touched).map(|(view, touched)| view.weight * touched);
    weighed.sum::<u64>() as f64
}

/// What some trades from the declared order come to, and what they say it costs more.
fn traded(problem: &Problem<'_>, steps: usize, bound: f64, random: &mut Random) -> Option<(Vec<usize>, f64)> {
    let mut memo = Memo::default();
    let state = OrderState::new(problem, &problem.constraints.initial_order(), &mut memo);
    let mut trades = Trades::new(problem);
    trades.load(&state, &mut memo);
    for _ in 0..steps {
        trades.step(random, &mut memo, bound);
    }
    let change = trades.change();
    Some((trades.order(&state)?.to_vec(), change))
}

#[test]
fn without_holes_trades_cost_what_offsets_say() {
    let mut compared = 0;
    for seed in 0..20 {
        let mut random = Random::new(seed);
        let case = case(&mut random, &Wishes::default());
        let problem = problem(&case);
        let before = lines(&problem, &problem.constraints.initial_order());
        for steps in [1, 5, 60] {
            let Some((order, change)) = traded(&problem, steps, f64::INFINITY, &mut random) else { continue };
            assert!(problem.constraints.check(&order).is_ok(), "seed {seed}");
            assert_eq!(lines(&problem, &order) - before, change, "seed {seed}, {steps} steps");
            compared += 1;
        }
    }
    assert!(compared > 30, "{compared}");
}

#[test]
fn trades_that_must_not_cost_anything_bring_lines_closer() {
    for seed in 0..5 {
        let mut random = Random::new(seed);
        let case = case(&mut random, &Wishes::default());
        let problem = problem(&case);
        let (order, change) = traded(&problem, 3_000, 0.0, &mut random).unwrap();
        let before = lines(&problem, &problem.constraints.initial_order());
        assert!(change < 0.0 && lines(&problem, &order) < before, "seed {seed}: {change}");
    }
}

#[test]
fn a_pinned_member_stays_where_it_is() {
    let keep = vec![Pin { member: 17, reason: "a test's".to_owned() }];
    for seed in 0..5 {
        let mut random = Random::new(seed);
        let case = case(&mut random, &Wishes { keep: keep.clone(), ..Wishes::default() });
        let problem = problem(&case);
        let (order, _) = traded(&problem, 300, f64::INFINITY, &mut random).unwrap();
        let at = |order: &[usize]| {
            let sizes =
                |unit: &usize| case.layout.members[problem.constraints.units[*unit].members[0]].bit_size;
            let place =
                order.iter().position(|unit| problem.constraints.units[*unit].members == [17]).unwrap();
            order[..place].iter().map(sizes).sum::<u64>()
        };
        // Only its own line may be sorted anew; the search then refuses what moves it.
        assert_eq!(at(&order) / 512, at(&problem.constraints.initial_order()) / 512, "seed {seed}");
    }
}
