//! What an order's cost is made of, term by term, as the search adds it up.

use crate::cost::{OrderState, Problem, View};
use crate::result::{BeforeAfter, Term, TermKind, rounded};

/// A part of an order's cost, and how much of what costs it.
struct Part {
    kind: TermKind,
    /// Line size in bytes by which lines are counted, or of the build that sizes are of.
    line: Option<u64>,
    build_line: Option<u64>,
    cost: u64,
    amount: f64,
}

/// The terms of the declared order's cost and of another's. Their costs sum up to what the search compares; amounts
/// are what a person counts: lines per visit, bytes, neighbours.
pub fn terms(problem: &Problem<'_>, declared: &[usize], order: &[usize]) -> Vec<Term> {
    let before = parts(problem, declared);
    let after = parts(problem, order);
    let pairs = before.into_iter().zip(after).map(|(before, after)| Term {
        kind: before.kind,
        line: before.line,
        build_line: before.build_line,
        cost_before: before.cost,
        cost_after: after.cost,
        amount: BeforeAfter {
            before: rounded(before.amount, 10_000.0),
            after: rounded(after.amount, 10_000.0),
        },
    });
    pairs.filter(|term| !is_nothing(term)).collect()
}

/// Lines are counted anyway; of the rest only what is there.
fn is_nothing(term: &Term) -> bool {
    term.cost_before == 0 && term.cost_after == 0 && term.amount == BeforeAfter::default()
}

fn parts(problem: &Problem<'_>, order: &[usize]) -> Vec<Part> {
    let state = OrderState::of(problem, order);
    let mut parts = line_parts(problem, &state);
    parts.extend(size_parts(problem, order, &state));
    parts.extend(churn_parts(problem, order));
    parts
}

/// Lines touched, and lost to other CPUs, by line size and build, over all phases.
fn line_parts(problem: &Problem<'_>, state: &OrderState<'_>) -> Vec<Part> {
    let touched = state.touched();
    let mut groups: Vec<(View, Vec<usize>)> = Vec::new();
    for (index, view) in problem.views.iter().enumerate() {
        let is_like =
            |other: &View| (other.build, other.line(), other.pairs) == (view.build, view.line(), view.pairs);
        match groups.iter_mut().find(|(other, _)| is_like(other)) {
            Some((_, views)) => views.push(index),
            None => groups.push((*view, vec![index])),
        }
    }
    let group = |(view, views): (View, Vec<usize>)| {
        let weighted = |counts: &dyn Fn(usize) -> u64| -> u64 {
            views.iter().map(|index| problem.views[*index].weight * counts(*index)).sum()
        };
        let weight: u64 = views.iter().map(|index| problem.views[*index].weight).sum();
        let all = (weight.max(1) * problem.visits.total().max(1)) as f64;
        let part = |kind, cost: u64| Part {
            kind,
            line: Some(view.line()),
            build_line: problem.builds.get(view.build).map(|build| build.line),
            cost,
            amount: cost as f64 / all,
        };
        let (lines, lost) = match view.pairs {
            false => (TermKind::Lines, TermKind::Coherence),
            true => (TermKind::LinePairs, TermKind::PairCoherence),
        };
        [
            part(lines, weighted(&|index| touched.get(index).copied().unwrap_or(0))),
            part(lost, weighted(&|index| state.lost(index))),
        ]
    };
    groups.into_iter().flat_map(group).collect()
}

/// Size, and the part of it that no member fills, by build. Padding has no cost of its own: the size holds it.
fn size_parts(problem: &Problem<'_>, order: &[usize], state: &OrderState<'_>) -> Vec<Part> {
    let builds = problem.builds.iter().zip(state.sizes());
    let parts = builds.flat_map(|(build, size)| {
        let bits: u64 = order.iter().map(|unit| build.bits(*unit)).sum();
        let part = |kind, cost, amount| Part { kind, line: None, build_line: Some(build.line), cost, amount };
        [
            part(TermKind::Size, problem.size_cost(build, *size), *size as f64),
            part(TermKind::Padding, 0, size.saturating_sub(bits.div_ceil(8)) as f64),
        ]
    });
    parts.collect()
}

/// Neighbours that aren't so in the declared order, and those under different `#if` conditions.
fn churn_parts(problem: &Problem<'_>, order: &[usize]) -> [Part; 2] {
    let count = |differ: &dyn Fn(usize, usize) -> bool| -> u64 {
        order.windows(2).map(|pair| u64::from(differ(pair[0], pair[1]))).sum()
    };
    let seams = count(&|one, other| one + 1 != other);
    let guard = |unit: usize| problem.neighbours.traits(unit).guard;
    let guards = count(&|one, other| guard(one) != guard(other));
    let part = |kind, count: u64, weight: u64| Part {
        kind,
        line: None,
        build_line: None,
        cost: count * weight,
        amount: count as f64,
    };
    [
        part(TermKind::Seams, seams, problem.neighbours.seam_weight()),
        part(TermKind::Guards, guards, problem.neighbours.guard_weight()),
    ]
}
