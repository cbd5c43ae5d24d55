//! What an order's cost is made of, term by term, as the search adds it up.

use crate::cost::neighbours::{GUARD, SEAM};
use crate::cost::{OrderState, Problem};
use crate::result::{BeforeAfter, Term, TermKind};

/// The declared order and another.
type Sides<'p> = [OrderState<'p>; 2];

/// The terms of the declared order's cost and of another's. Their costs sum up to what the search compares; amounts
/// are what a person counts: lines per visit, bytes, neighbours. Of those, only what is there.
pub fn terms(problem: &Problem<'_>, declared: &[usize], order: &[usize]) -> Vec<Term> {
    let sides = [declared, order].map(|order| OrderState::of(problem, order));
    let mut terms = line_terms(problem, &sides);
    terms.extend(size_terms(problem, &sides));
    terms.extend(churn_terms(problem, &sides));
    terms.retain(|term| term.cost_before > 0 || term.cost_after > 0 || term.amount != BeforeAfter::default());
    terms
}

/// A term from what it costs on either side, and how much of it there is.
fn term(
    kind: TermKind,
    line: Option<u64>,
    build_line: Option<u64>,
    [before, after]: [(u64, f64); 2],
) -> Term {
    let amount = BeforeAfter::rounded(before.1, after.1, 10_000.0);
    Term { kind, line, build_line, cost_before: before.0, cost_after: after.0, amount }
}

/// Lines touched, and lost to other CPUs, by line size and build, over all phases.
fn line_terms(problem: &Problem<'_>, sides: &Sides<'_>) -> Vec<Term> {
    let touched = sides.each_ref().map(OrderState::touched);
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (index, view) in problem.views.iter().enumerate() {
        let is_like = |group: &&mut Vec<usize>| {
            let other = &problem.views[group[0]];
            (other.build, other.line(), other.pairs) == (view.build, view.line(), view.pairs)
        };
        match groups.iter_mut().find(is_like) {
            Some(group) => group.push(index),
            None => groups.push(vec![index]),
        }
    }
    let group = |views: Vec<usize>| {
        let view = &problem.views[views[0]];
        let weighted = |count: &dyn Fn(usize) -> u64| -> u64 {
            views.iter().map(|index| problem.views[*index].weight * count(*index)).sum()
        };
        let all = (weighted(&|_| 1).max(1) * problem.visits.total().max(1)) as f64;
        let build_line = problem.builds.get(view.build).map(|build| build.line);
        let term = |kind, count: &dyn Fn(usize, usize) -> u64| {
            let costs = [0, 1].map(|side| weighted(&|index| count(side, index)));
            term(kind, Some(view.line()), build_line, costs.map(|cost| (cost, cost as f64 / all)))
        };
        let (lines, lost) = match view.pairs {
            false => (TermKind::Lines, TermKind::Coherence),
            true => (TermKind::LinePairs, TermKind::PairCoherence),
        };
        [term(lines, &|side, index| touched[side][index]), term(lost, &|side, index| sides[side].lost(index))]
    };
    groups.into_iter().flat_map(group).collect()
}

/// Size, and the part of it that no member fills, by build. Padding has no cost of its own: the size holds it.
fn size_terms(problem: &Problem<'_>, sides: &Sides<'_>) -> Vec<Term> {
    let terms = problem.builds.iter().enumerate().flat_map(|(index, build)| {
        let filled = build.all_bits().div_ceil(8);
        let sizes = sides.each_ref().map(|state| state.sizes()[index]);
        let costs = sizes.map(|size| (problem.size_cost(build, size), size as f64));
        let padding = sizes.map(|size| (0, size.saturating_sub(filled) as f64));
        [(TermKind::Size, costs), (TermKind::Padding, padding)]
            .map(|(kind, figures)| term(kind, None, Some(build.line), figures))
    });
    terms.collect()
}

/// Neighbours that aren't so in the declared order, and those under different `#if` conditions.
fn churn_terms(problem: &Problem<'_>, sides: &Sides<'_>) -> [Term; 2] {
    let figures = |pair: u8, differ: &dyn Fn(usize, usize) -> bool| {
        sides.each_ref().map(|state| {
            let pairs = state.order().windows(2).filter(|pair| differ(pair[0], pair[1])).count() as u64;
            (pairs * problem.neighbours.weight(pair), pairs as f64)
        })
    };
    let guard = |unit: usize| problem.constraints.units[unit].guard;
    [
        term(TermKind::Seams, None, None, figures(SEAM, &|one, other| one + 1 != other)),
        term(TermKind::Guards, None, None, figures(GUARD, &|one, other| guard(one) != guard(other))),
    ]
}
