//! The terms of an order's cost, as the search adds them up.

use crate::cost::adjacency::{GUARD, REORDERED};
use crate::cost::{LineConfig, OrderState, Problem};
use crate::result::{BeforeAfter, Term, TermKind};

/// The declared order and another.
type BeforeAfterStates<'p> = [OrderState<'p>; 2];

/// The terms of the declared order's cost and of another's. Their costs sum up to what the search compares;
/// amounts are human-readable: lines per visit, bytes, neighbours. Terms that are zero are left out.
pub fn cost_terms(problem: &Problem<'_>, declared: &[usize], order: &[usize]) -> Vec<Term> {
    let states = [declared, order].map(|order| OrderState::evaluate(problem, order));
    let mut terms = line_terms(problem, &states);
    terms.extend(size_terms(problem, &states));
    terms.extend(churn_terms(problem, &states));
    terms.retain(|term| term.cost_before > 0 || term.cost_after > 0 || term.amount != BeforeAfter::default());
    terms
}

/// A term from what it costs on either side, and how much of it there is.
fn build_term(
    kind: TermKind,
    line: Option<u64>,
    build_line: Option<u64>,
    [before, after]: [(u64, f64); 2],
) -> Term {
    let amount = BeforeAfter::round_to(before.1, after.1, 10_000.0);
    Term { kind, line, build_line, cost_before: before.0, cost_after: after.0, amount }
}

/// Lines touched, and lost to other CPUs, by line size and build, over all phases.
fn line_terms(problem: &Problem<'_>, states: &BeforeAfterStates<'_>) -> Vec<Term> {
    let touched = states.each_ref().map(OrderState::touched_lines);
    let key = |config: &LineConfig| (config.build, config.line(), config.is_line_pair);
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (index, config) in problem.configs.iter().enumerate() {
        let is_like = |group: &&mut Vec<usize>| key(&problem.configs[group[0]]) == key(config);
        match groups.iter_mut().find(is_like) {
            Some(group) => group.push(index),
            None => groups.push(vec![index]),
        }
    }
    let group = |configs: Vec<usize>| {
        let config = &problem.configs[configs[0]];
        let weighted = |count: &dyn Fn(usize) -> u64| -> u64 {
            configs.iter().map(|index| problem.configs[*index].weight * count(*index)).sum()
        };
        let all = (weighted(&|_| 1).max(1) * problem.visits.total().max(1)) as f64;
        let build_line = problem.builds.get(config.build).map(|build| build.line);
        let term = |kind, count: &dyn Fn(usize, usize) -> u64| {
            let costs = [0, 1].map(|state| weighted(&|index| count(state, index)));
            build_term(kind, Some(config.line()), build_line, costs.map(|cost| (cost, cost as f64 / all)))
        };
        let (lines, lost) = match config.is_line_pair {
            false => (TermKind::Lines, TermKind::Coherence),
            true => (TermKind::LinePairs, TermKind::PairCoherence),
        };
        [
            term(lines, &|side, index| touched[side][index]),
            term(lost, &|side, index| states[side].lost_lines(index)),
        ]
    };
    groups.into_iter().flat_map(group).collect()
}

/// Size, and the part of it that no member fills, by build. Padding has no cost of its own: the size holds
/// it.
fn size_terms(problem: &Problem<'_>, states: &BeforeAfterStates<'_>) -> Vec<Term> {
    let is_counted = |index: usize| problem.configs.iter().any(|config| config.build == index);
    let builds = problem.builds.iter().enumerate().filter(|(index, _)| is_counted(*index));
    let terms = builds.flat_map(|(index, build)| {
        let filled = build.all_bits().div_ceil(8);
        let sizes = states.each_ref().map(|state| state.sizes()[index]);
        let costs = sizes.map(|size| (problem.size_cost(build, size), size as f64));
        let padding = sizes.map(|size| (0, size.saturating_sub(filled) as f64));
        [(TermKind::Size, costs), (TermKind::Padding, padding)]
            .map(|(kind, figures)| build_term(kind, None, Some(build.line), figures))
    });
    terms.collect()
}

/// Neighbours that aren't so in the declared order, and those under different `#if` conditions.
fn churn_terms(problem: &Problem<'_>, states: &BeforeAfterStates<'_>) -> [Term; 2] {
    let figures = |pair: u8, differ: &dyn Fn(usize, usize) -> bool| {
        states.each_ref().map(|state| {
            let pairs = state.order().windows(2).filter(|pair| differ(pair[0], pair[1])).count() as u64;
            (pairs * problem.adjacency.weight(pair), pairs as f64)
        })
    };
    let guard = |unit: usize| problem.constraints.units[unit].guard;
    [
        build_term(TermKind::Reordered, None, None, figures(REORDERED, &|this, other| this + 1 != other)),
        build_term(TermKind::Guards, None, None, figures(GUARD, &|this, other| guard(this) != guard(other))),
    ]
}
