//! Pins in the result: an order that breaks one is never offered; where the declared order breaks one, the
//! cheapest order that keeps all is, even if it touches more lines.

use crate::cost::{OrderState, Problem};
use crate::judge::forecast::OrderEvaluation;
use crate::judge::planner::Planner;
use crate::result::PinReport;
use fieldline_layout::constraint::{Constraints, UnitConstraintKind};
use std::collections::BTreeSet;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PinViolations {
    /// Requests about lines, by index in [`Constraints::line_constraints`].
    lines: Vec<usize>,
    /// Members not at their pinned position, by the pin's reason.
    misplaced: Vec<String>,
}

impl PinViolations {
    pub(crate) fn find(problem: &Problem<'_>, order: &[usize]) -> Self {
        let state = OrderState::evaluate(problem, order);
        let pins = &problem.constraints.line_constraints;
        let violated = state.violated_pins();
        let lines = violated.filter_map(|pin| pins.iter().position(|other| std::ptr::eq(other, pin)));
        Self { lines: lines.collect(), misplaced: misplaced_pins(problem.constraints, order) }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.misplaced.is_empty()
    }
}

/// Reasons of the units that an order has before others of an earlier region.
fn misplaced_pins(constraints: &Constraints, order: &[usize]) -> Vec<String> {
    let mut sorted = order.to_vec();
    sorted.sort_by_key(|unit| constraints.units[*unit].region);
    let moved = order.iter().zip(&sorted).filter(|(this, other)| this != other);
    let pinned = moved.filter_map(|(_, unit)| constraints.units[*unit].constraint.as_ref());
    let fixed = pinned.filter(|hold| hold.kind == UnitConstraintKind::Fixed);
    fixed.map(|hold| hold.reason.clone()).collect::<BTreeSet<String>>().into_iter().collect()
}

impl Planner<'_> {
    /// Reports which pins are kept: each about lines, and those the declared order breaks.
    pub(crate) fn pin_reports(&self, declared: &PinViolations, chosen: Option<&[usize]>) -> Vec<PinReport> {
        let after = chosen.map(|order| PinViolations::find(&self.together, order));
        let after = after.as_ref().unwrap_or(declared);
        let pins = (0..).zip(&self.constraints.line_constraints).map(|(index, pin)| PinReport {
            pin: pin.reason.clone(),
            declared: !declared.lines.contains(&index),
            chosen: !after.lines.contains(&index),
        });
        let misplaced = declared.misplaced.iter().map(|reason| PinReport {
            pin: reason.clone(),
            declared: false,
            chosen: !after.misplaced.contains(reason),
        });
        pins.chain(misplaced).collect()
    }

    /// Why no order is offered, when the declared one breaks pins.
    pub(crate) fn describe_violations(&self, declared: &PinViolations) -> String {
        let lines = declared.lines.iter().filter_map(|index| self.constraints.line_constraints.get(*index));
        let reasons = lines.map(|pin| &pin.reason).chain(&declared.misplaced);
        let pins = reasons.map(String::as_str).collect::<Vec<_>>().join("; ");
        let within = self.options.max_moves.map_or_else(String::new, |most| format!(" within {most} moves"));
        format!("no order found{within} keeps all pins; the declared order breaks: {pins}")
    }
}

/// The reason for an order that pins force though it is worse somewhere.
pub(crate) fn describe_pin_cost(before: &OrderEvaluation, after: &OrderEvaluation) -> Option<String> {
    let sum = |counts: &OrderEvaluation| counts.together.iter().sum::<u64>();
    let counts = |order: &OrderEvaluation| [&*order.together, &order.alone].concat();
    let is_worse = counts(after).iter().zip(counts(before)).any(|(after, before)| *after > before);
    let price = match (sum(after) > sum(before), is_worse) {
        (true, _) => "pins ask for this order although visits touch more lines than as declared",
        (_, true) => "pins ask for this order; visits touch fewer lines than as declared, but not everywhere",
        _ => return None,
    };
    Some(price.to_owned())
}
