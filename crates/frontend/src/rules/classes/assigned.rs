//! Objects that keep what they were given so far when giving them the rest throws.

use crate::clang::Cursor;
use crate::demand::Demand;
use crate::report::{Findings, Found};
use crate::rules::effects::Effects;
use crate::sum::View;
use crate::tree::Index;

/// A member whose assignment may throw keeps its place among the others: those in front of it have new values then, those
/// behind it old ones.
pub(super) fn find<'u>(
    view: View<'_, '_, 'u>,
    (index, subject): (Index, usize),
    effects: &Effects<'_, '_, 'u>,
    found: &mut Findings<'u>,
) {
    let Some(node) = view.cursor(index).filter(|_| !effects.assigns_itself(index)) else { return };
    let members = view.records.members(Cursor::ty(node));
    for (at, own) in members.iter().enumerate().filter(|(_, own)| effects.throws_when_assigned(own.ty)) {
        for (number, other) in members.iter().enumerate().filter(|(number, _)| *number != at) {
            let (first, then) = if number < at { (other, own) } else { (own, other) };
            let why = format!("giving {} another value may throw when {} has its own", then.name, first.name);
            let demand = Demand::Order { first: first.name.clone(), then: then.name.clone() };
            found.push(Found { subject, node, demand, why });
        }
    }
}
