//! Offsets that are used as numbers: what is right only while a member stands where it does.
//!
//! An offset that is added to an address follows its member. So each one is followed through the unit to what is done
//! with it at last.

use super::ways::{Form, Names, Use, Way};
use crate::clang::{Cursor, Kind, Operator, TypeKind};
use crate::demand::Demand;
use crate::records::{Part, named_holder};
use crate::report::{Findings, Found};
use crate::sum::plain::constant;
use crate::sum::{Term, View};
use crate::tree::Index;

/// All offsets of subjects' members in a unit.
pub(super) fn find<'u>(view: View<'_, '_, 'u>, names: &Names, found: &mut Findings<'u>) {
    for index in (0..view.tree.len()).filter(|index| is_offset(view, *index)) {
        let sum = view.sum(index);
        let path = sum.offsets(true).next();
        let Some(part) = path.and_then(|path| view.records.part(*path.first()?)) else { continue };
        let (Some(node), Some(path)) = (view.cursor(index), path) else { continue };
        let offset = Offset { view, part, path };
        offset.judge(node, &Way::new(view, names).uses(index), found);
    }
}

/// Whether a node is `offsetof`, or `(size_t)&((T *)0)->m`.
fn is_offset(view: View<'_, '_, '_>, index: Index) -> bool {
    if view.is_offset_of(index) {
        return true;
    }
    let Some(node) = view.cursor(index).filter(|_| view.tree.kind(index) == Kind::Cast) else { return false };
    let inner = view.tree.only(index).and_then(|inner| view.cursor(inner));
    let is_address = inner.is_some_and(|inner| inner.ty().kind() == TypeKind::Pointer);
    if node.ty().kind() != TypeKind::Number || !is_address {
        return false;
    }
    let sum = view.sum(index);
    sum.start.is_none() && matches!(sum.terms.as_slice(), [(true, Term::Offset(_))])
}

/// A member's offset.
struct Offset<'o, 'v, 's, 'u> {
    view: View<'v, 's, 'u>,
    part: Part,
    path: &'o [Cursor<'u>],
}

impl<'u> Offset<'_, '_, '_, 'u> {
    fn judge(&self, node: Cursor<'u>, uses: &[(Form, Use)], found: &mut Findings<'u>) {
        let subject = self.part.subject;
        let mut tell = |demand, used: &str| {
            let why = format!("the offset of {} {used}", self.part.member);
            found.push(Found { subject, node, demand, why });
        };
        if let Some(used) = uses.iter().find_map(|(form, used)| self.fixed(*form, *used)) {
            return tell(Demand::Offset { member: self.part.member.clone() }, used);
        }
        if uses.iter().any(|(form, used)| *form == Form::Same && self.is_zero_test(*used))
            && let Some(demand) = zero(self.view, self.path, &self.part)
        {
            tell(demand, "is tested for being zero");
        }
    }

    /// A use as a number, as the end of a sentence.
    fn fixed(&self, form: Form, used: Use) -> Option<&'static str> {
        match used {
            Use::Compared { other, .. } if self.is_own(other) || self.is_apart(form, other) => None,
            Use::Compared { .. } if self.is_zero_test(used) && form == Form::Same => None,
            Use::Compared { .. } => Some("is compared"),
            Use::Computed { operator: Operator::Bits } => None,
            Use::Computed { .. } => Some("is computed with"),
            Use::Kept { bits } => self.outgrows(bits).then_some("is kept in too few bits for any offset"),
            Use::Index => Some("is the index of a table"),
            Use::Case => Some("is a case of a switch"),
            Use::Chooses { .. } => Some("chooses between cases"),
            Use::Printed => Some("is printed"),
            Use::TooFar => Some("goes further than is followed"),
            // It is computed with, too.
            Use::Divides { .. } | Use::Tested | Use::Reduced { .. } => None,
        }
    }

    fn is_zero_test(&self, used: Use) -> bool {
        match used {
            Use::Tested => true,
            Use::Compared { other, .. } => constant(self.view, other) == Some(0) && !self.is_own(other),
            _ => false,
        }
    }

    /// Whether a number is an offset, too, or a size.
    fn is_own(&self, index: Index) -> bool {
        let sum = self.view.sum(index);
        sum.has_offsets() || sum.sizes(true).next().is_some()
    }

    /// Whether no order gives the member an offset as large as a number, or as small.
    fn is_apart(&self, form: Form, index: Index) -> bool {
        let number = constant(self.view, index).filter(|_| form == Form::Same);
        number.is_some_and(|number| number < 0 || number.unsigned_abs() > self.largest())
    }

    fn outgrows(&self, bits: u32) -> bool {
        self.largest().checked_shr(bits).is_some_and(|rest| rest > 0)
    }

    /// The largest offset that any order gives.
    fn largest(&self) -> u64 {
        let holder = self.path.first().and_then(|member| named_holder(*member));
        let size = holder.map_or(0, |holder| self.view.records.largest(holder.ty()));
        let own = self.path.last().and_then(|member| member.ty().size()).unwrap_or(0);
        size.saturating_sub(own)
    }
}

/// The demand that keeps an offset zero, or keeps it from being zero.
pub(super) fn zero<'u>(view: View<'_, '_, 'u>, path: &[Cursor<'u>], part: &Part) -> Option<Demand> {
    let is_inside = path.iter().skip(1).any(|member| member.bit_offset().unwrap_or(0) > 0);
    let holder = named_holder(*path.first()?)?;
    let members = view.records.members(holder.ty());
    let first = members.first().filter(|_| !is_inside)?;
    let is_first = view.records.number(holder.ty(), &part.member) == Some(0);
    Some(match is_first {
        true => Demand::First { count: 1 },
        false => Demand::Order { first: first.name.clone(), then: part.member.clone() },
    })
}
