//! Bytes in front of an object and behind it: where the object is a member, they are its neighbours.

use crate::clang::{Cursor, Identity, Kind, Operator, Type, TypeKind};
use crate::demand::Demand;
use crate::report::{Findings, Found};
use crate::sum::reach::reach;
use crate::sum::{Sum, Term, View};
use crate::tree::Index;
use rustc_hash::FxHashMap;

/// Code that leaves the objects of a type.
#[derive(Clone, Copy, Debug, Default)]
struct Left<'u> {
    in_front: Option<Cursor<'u>>,
    behind: Option<Cursor<'u>>,
}

/// Types whose objects a unit leaves.
#[derive(Debug, Default)]
struct Departures<'u> {
    by_record: FxHashMap<Identity, Left<'u>>,
    /// A byte in front of an address that nothing is known of.
    bytes: Option<Cursor<'u>>,
}

pub(super) fn find<'u>(view: View<'_, '_, 'u>, found: &mut Findings<'u>) {
    let mut departures = Departures::default();
    for index in 0..view.tree.len() {
        match view.tree.kind(index) {
            Kind::Binary => departures.counted(view, index),
            Kind::Cast | Kind::Unexposed => departures.cast(view, index),
            Kind::Subscript if departures.bytes.is_none() => departures.subscript(view, index),
            _ => {}
        }
    }
    for index in 0..view.tree.len() {
        if matches!(view.tree.kind(index), Kind::Record) {
            departures.judge(view, index, found);
        }
    }
}

impl<'u> Departures<'u> {
    /// `(char *)object - 8`, `(char *)object + sizeof(*object)`
    fn counted(&mut self, view: View<'_, '_, 'u>, index: Index) {
        let Some(node) = view.cursor(index) else { return };
        let ty = node.ty();
        let is_bytes = match ty.pointee() {
            Some(pointee) => matches!(pointee.kind(), TypeKind::Byte | TypeKind::Void),
            None => false,
        };
        if !is_bytes {
            return;
        }
        let sum = view.sum(index);
        let Some(start) = &sum.start else { return };
        if let Some(bytes) = number(&sum).or_else(|| constant(view, index)) {
            self.leave(start.ty, bytes, node);
        }
    }

    /// `(T *)(object + 1)`
    fn cast(&mut self, view: View<'_, '_, 'u>, index: Index) {
        let Some(node) = view.cursor(index) else { return };
        let Some(inner) = view.tree.only(index).map(|inner| view.peeled(inner)) else { return };
        if view.tree.kind(inner) != Kind::Binary {
            return self.longer(view, index);
        }
        let pointees = (node.ty().pointee(), view.cursor(inner).and_then(|inner| inner.ty().pointee()));
        let (Some(to), Some(from)) = pointees else { return };
        if from.kind() != TypeKind::Record || to.equals(from) {
            return;
        }
        let sum = view.sum(inner);
        if let (Some(start), Some(bytes)) = (&sum.start, number(&sum)) {
            self.leave(start.ty, bytes, node);
        }
    }

    /// `bytes[-1]`
    fn subscript(&mut self, view: View<'_, '_, 'u>, index: Index) {
        let Some(node) = view.cursor(index).filter(|node| node.ty().kind() == TypeKind::Byte) else { return };
        let number = view.tree.values(index).nth(1).and_then(|number| view.cursor(number)?.constant());
        self.bytes = number.filter(|number| *number < 0).map(|_| node);
    }

    /// `(struct longer *)object` of an object that begins in the same way.
    fn longer(&mut self, view: View<'_, '_, 'u>, index: Index) {
        let inner = view.tree.only(index).and_then(|inner| view.cursor(inner));
        let Some((node, inner)) = view.cursor(index).zip(inner) else { return };
        let (Some(to), Some(from)) = (node.ty().pointee(), inner.ty().pointee()) else { return };
        // The address of a member is followed.
        if view.tree.kind(index) != Kind::Cast || from.kind() != TypeKind::Record {
            return;
        }
        let named = |variable: Identity| {
            let is_own = |node: &Index| {
                let named = view.cursor(*node).filter(|_| view.tree.kind(*node) == Kind::Name);
                named.and_then(Cursor::referenced).is_some_and(|named| named.identity() == variable)
            };
            (0..view.tree.len()).filter(is_own).collect()
        };
        let begins_same = view.records.shared(from, to) > 0;
        if let Some(count) = reach(view, index, (from, to), named).filter(|_| begins_same) {
            self.leave(from, i64::try_from(count).unwrap_or(i64::MAX), node);
        }
    }

    fn leave(&mut self, ty: Type<'u>, bytes: i64, node: Cursor<'u>) {
        let Some(record) = ty.canonical().declaration().filter(|_| ty.kind() == TypeKind::Record) else {
            return;
        };
        let left = self.by_record.entry(record.identity()).or_default();
        if bytes < 0 {
            left.in_front.get_or_insert(node);
        } else if ty.size().and_then(|size| i64::try_from(size).ok()).is_some_and(|size| bytes >= size) {
            left.behind.get_or_insert(node);
        }
    }

    /// Members whose neighbours are reached.
    fn judge(&self, view: View<'_, '_, 'u>, index: Index, found: &mut Findings<'u>) {
        let record = view.cursor(index).filter(|_| view.records.is_definition(view.tree, index));
        let Some(record) = record else { return };
        let Some(subject) = view.records.declared(record) else { return };
        let members = view.records.members(record.ty());
        for (at, member) in members.iter().enumerate() {
            let left = self.left(member.ty, at + 1 == members.len());
            let name = || member.name.clone();
            if let Some(node) = left.in_front {
                let previous = at.checked_sub(1).and_then(|at| members.get(at));
                let demand = match previous {
                    Some(previous) => Demand::Run { members: vec![previous.name.clone(), name()] },
                    None => Demand::First { count: 1 },
                };
                let why = format!("bytes in front of {} are reached by number", member.name);
                found.push(Found { subject, node, demand, why });
            }
            if let Some(node) = left.behind {
                let demand = match members.get(at + 1) {
                    Some(next) => Demand::Run { members: vec![name(), next.name.clone()] },
                    None => Demand::Last { member: name() },
                };
                let why = format!("bytes behind {} are reached by number", member.name);
                found.push(Found { subject, node, demand, why: why.clone() });
                if members.get(at + 1).is_some_and(|next| is_moved_apart(member.ty, next.ty)) {
                    found.push(Found { subject, node, demand: Demand::Offset { member: name() }, why });
                }
            }
        }
    }

    fn left(&self, ty: Type<'u>, is_last: bool) -> Left<'u> {
        let is_tail = is_last
            && ty.kind() == TypeKind::Array
            && ty.length().is_none_or(|length| length <= 1)
            && ty.element().is_some_and(|element| element.kind() == TypeKind::Byte);
        if is_tail {
            return Left { in_front: self.bytes, behind: None };
        }
        let mut ty = ty;
        while let Some(element) = ty.element() {
            ty = element;
        }
        let record = ty.canonical().declaration().filter(|_| ty.kind() == TypeKind::Record);
        record.and_then(|record| self.by_record.get(&record.identity()).copied()).unwrap_or_default()
    }
}

/// Whether how far a member lies behind another one depends on where that stands.
fn is_moved_apart(first: Type<'_>, then: Type<'_>) -> bool {
    matches!((first.alignment(), then.alignment()), (Some(first), Some(then)) if then > first)
}

/// The bytes that a number always is which is added to an address that was not moved before:
/// `(char *)head + ((sizeof(*head) + 3) & ~3)`.
fn constant(view: View<'_, '_, '_>, index: Index) -> Option<i64> {
    let is_added = match view.cursor(index)?.binary_operator() {
        Operator::Add => true,
        Operator::Subtract => false,
        _ => return None,
    };
    let mut sides = view.tree.values(index);
    let (left, right) = (sides.next()?, sides.next()?);
    let is_plain = view.sum(left).terms.is_empty() && !view.sum(right).has_offsets();
    let bytes = view.cursor(right).filter(|right| is_plain && right.ty().is_integer())?.constant()?;
    Some(if is_added { bytes } else { bytes.saturating_neg() })
}

/// The bytes that a sum of numbers and sizes is.
fn number(sum: &Sum<'_>) -> Option<i64> {
    let mut bytes: i64 = 0;
    for (is_added, term) in &sum.terms {
        let term = match term {
            Term::Number(number) => *number,
            Term::Size(ty, _) => i64::try_from(ty.size()?).ok()?,
            Term::Offset(_) | Term::Other => return None,
        };
        bytes = if *is_added { bytes.checked_add(term)? } else { bytes.checked_sub(term)? };
    }
    Some(bytes)
}
