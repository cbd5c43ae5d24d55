//! Steps from what a pointer to a member leads to.

use crate::clang::{Cursor, Kind, Operator};
use crate::demand::Demand;
use crate::report::{Findings, Found};
use crate::sum::View;
use crate::tree::Index;

/// `*(&(object.*member) + 1)`, `(&(object->*member))[1]`
pub(super) fn find<'u>(view: View<'_, '_, 'u>, index: Index, found: &mut Findings<'u>) {
    let Some(node) = view.cursor(index) else { return };
    let is_step = match view.tree.kind(index) {
        Kind::Subscript => true,
        Kind::Unary => matches!(node.unary_operator(), Operator::Step | Operator::StepBack),
        Kind::Binary => {
            matches!(
                node.binary_operator(),
                Operator::Move | Operator::MoveBack | Operator::Add | Operator::Subtract
            )
        }
        _ => false,
    };
    let Some(pointer) = view.tree.values(index).next().filter(|_| is_step) else { return };
    let address = view.peeled(pointer);
    let is_address = view.cursor(address).map(Cursor::unary_operator) == Some(Operator::AddressOf);
    let inner = view.tree.only(address).map(|inner| view.peeled(inner)).filter(|_| is_address);
    let inner = inner.filter(|inner| view.tree.kind(*inner) == Kind::Binary);
    let Some(object) = inner.and_then(|inner| view.tree.values(inner).next()) else { return };
    let Some(ty) = view.cursor(object).map(Cursor::ty) else { return };
    if let Some(subject) = view.records.subject(ty.pointee().unwrap_or(ty)) {
        let why = "code walks on from what a pointer to a member leads to".to_owned();
        found.push(Found { subject, node, demand: Demand::Whole, why });
    }
}
