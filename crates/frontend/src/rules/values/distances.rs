//! Distances between addresses as numbers: what they are divided by is the size of what lies between.

use crate::clang::{Cursor, Kind, Operator, Type, TypeKind};
use crate::demand::Demand;
use crate::report::{Findings, Found};
use crate::sum::View;
use crate::sum::plain::constant;
use crate::tree::Index;

/// `((uintptr_t)object - (uintptr_t)table) >> 4`, `((char *)object - (char *)table) / 24`
pub(super) fn find<'u>(view: View<'_, '_, 'u>, index: Index, found: &mut Findings<'u>) {
    let Some(node) = view.cursor(index) else { return };
    let operator = node.binary_operator();
    if !matches!(
        operator,
        Operator::ShiftLeft | Operator::ShiftRight | Operator::Divide | Operator::Remainder
    ) {
        return;
    }
    let mut sides = view.tree.values(index);
    let (Some(distance), Some(by)) = (sides.next(), sides.next()) else { return };
    let Some(unit) = unit(view, by, operator) else { return };
    for ty in between(view, distance) {
        let size = ty.size().filter(|size| *size > 0 && *size % unit == 0);
        let Some(subject) = view.records.subject(ty).filter(|_| size.is_some()) else { continue };
        let why = format!("distances between objects are counted in steps of {unit} bytes, a number");
        found.push(Found { subject, node, demand: Demand::Size, why });
    }
}

/// The bytes that a distance is divided by, if they are a number and no size.
fn unit(view: View<'_, '_, '_>, by: Index, operator: Operator) -> Option<u64> {
    let ty = view.cursor(by)?.ty();
    if ty.kind() == TypeKind::Pointer || view.sum(by).sizes(true).next().is_some() {
        return None;
    }
    let number = constant(view, by)?;
    let unit = match operator {
        Operator::ShiftLeft | Operator::ShiftRight => 1_u64.checked_shl(u32::try_from(number).ok()?)?,
        _ => u64::try_from(number).ok()?,
    };
    (unit > 1).then_some(unit)
}

/// The types that the two addresses lead to whose distance an expression is, unless it counts objects.
fn between<'u>(view: View<'_, '_, 'u>, distance: Index) -> Vec<Type<'u>> {
    let mut at = view.peeled(distance);
    let named = view.cursor(at).filter(|_| view.tree.kind(at) == Kind::Name).and_then(Cursor::referenced);
    if let Some([value]) = named.map(|named| view.flow.given(named.identity())) {
        at = view.peeled(*value);
    }
    let is_difference = view.tree.kind(at) == Kind::Binary
        && view.cursor(at).map(Cursor::binary_operator) == Some(Operator::Subtract);
    let sides: Vec<Index> = view.tree.values(at).filter(|_| is_difference).collect();
    let counts_objects = |side: &Index| {
        let pointee = view.cursor(*side).and_then(|side| side.ty().pointee().or_else(|| side.ty().element()));
        pointee.is_some_and(|pointee| pointee.kind() == TypeKind::Record)
    };
    if sides.iter().any(counts_objects) {
        return Vec::new();
    }
    sides.into_iter().filter_map(|side| view.sum(side).start).map(|start| start.ty).collect()
}
