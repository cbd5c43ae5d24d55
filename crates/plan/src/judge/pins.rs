//! What pins ask of the result: an order that breaks one is never offered, and where the declared order breaks one
//! the cheapest that keeps all is, even if it touches more lines.

use crate::cost::{OrderState, Problem};
use crate::judge::forecast::Counts;
use crate::judge::planner::Planner;
use crate::result::{PinReport, StructPlan};
use fieldline_layout::constraint::{Constraints, HoldKind};
use std::collections::BTreeSet;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Broken {
    /// Wishes about lines, by index in [`Constraints::lines`].
    lines: Vec<usize>,
    /// Members away from their pinned place, by the pin's reason.
    places: Vec<String>,
}

impl Broken {
    pub(crate) fn of(problem: &Problem<'_>, order: &[usize]) -> Self {
        let state = OrderState::of(problem, order);
        let wishes = &problem.constraints.lines;
        let broken = state.broken().filter_map(|pin| wishes.iter().position(|wish| std::ptr::eq(wish, pin)));
        Self { lines: broken.collect(), places: misplaced(problem.constraints, order) }
    }

    pub(crate) fn is_none(&self) -> bool {
        self.lines.is_empty() && self.places.is_empty()
    }
}

/// Reasons of the units that an order has before others of an earlier region.
fn misplaced(constraints: &Constraints, order: &[usize]) -> Vec<String> {
    let mut sorted = order.to_vec();
    sorted.sort_by_key(|unit| constraints.units[*unit].region);
    let moved = order.iter().zip(&sorted).filter(|(one, other)| one != other);
    let pinned = moved.filter_map(|(_, unit)| constraints.units[*unit].hold.as_ref());
    let reasons = pinned.filter(|hold| hold.kind == HoldKind::Place).map(|hold| hold.reason.clone());
    reasons.collect::<BTreeSet<String>>().into_iter().collect()
}

impl Planner<'_> {
    /// Tells what became of the pins: of each wish, and of those the declared order broke.
    pub(crate) fn report_pins(&self, result: &mut StructPlan, declared: &Broken, chosen: Option<&[usize]>) {
        let after = chosen.map_or_else(|| declared.clone(), |order| Broken::of(&self.together, order));
        let wishes = self.constraints.lines.iter().enumerate().map(|(index, pin)| PinReport {
            pin: pin.reason.clone(),
            declared: !declared.lines.contains(&index),
            chosen: !after.lines.contains(&index),
        });
        let places = declared.places.iter().map(|reason| PinReport {
            pin: reason.clone(),
            declared: false,
            chosen: !after.places.contains(reason),
        });
        result.pins = wishes.chain(places).collect();
    }

    /// Why no order is offered, when the declared one breaks pins.
    pub(crate) fn unkept(&self, declared: &Broken) -> String {
        let lines = declared.lines.iter().filter_map(|index| self.constraints.lines.get(*index));
        let reasons = lines.map(|pin| &pin.reason).chain(&declared.places);
        let pins = reasons.map(String::as_str).collect::<Vec<_>>().join("; ");
        let within = self.options.max_moves.map_or_else(String::new, |most| format!(" within {most} moves"));
        format!("no order found{within} keeps all pins; the declared order breaks: {pins}")
    }
}

/// What to say of an order that pins force though it is worse somewhere.
pub(crate) fn price(before: &Counts, after: &Counts) -> Option<String> {
    let sum = |counts: &Counts| counts.together.iter().sum::<u64>();
    let mut pairs =
        after.together.iter().chain(&after.alone).zip(before.together.iter().chain(&before.alone));
    let price = match (sum(after) > sum(before), pairs.any(|(after, before)| after > before)) {
        (true, _) => "pins ask for this order although visits touch more lines than as declared",
        (_, true) => {
            "pins ask for this order; visits touch fewer lines than as declared, but not by every count"
        }
        _ => return None,
    };
    Some(price.to_owned())
}
