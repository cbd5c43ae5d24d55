//! Offsets that are kept together with a number of elements: whoever reads that many reads what lies behind the member.

use crate::clang::{Cursor, Kind, Operator, Type, TypeKind};
use crate::demand::Demand;
use crate::records::positions::{Position, positions};
use crate::records::{Part, named_holder};
use crate::report::{Findings, Found};
use crate::sum::plain::constant;
use crate::sum::{Term, View};
use crate::tree::Index;

/// `{ offsetof(struct s, member), 3 }`, where the second number is what a loop runs to, or a function is told.
pub(super) fn listed<'u>(view: View<'_, '_, 'u>, list: Index, values: &[Index], found: &mut Findings<'u>) {
    for value in values {
        let sum = view.sum(*value);
        let [(true, Term::Offset(path))] = sum.terms.as_slice() else { continue };
        let Some(start) = sum.start.is_none().then(|| First::find(view, path)).flatten() else { continue };
        for other in values.iter().filter(|other| *other != value) {
            let count = count(view, *other).filter(|_| is_walked_to(view, list, *other));
            if let (Some(count), Some(node)) = (count, view.cursor(list)) {
                start.report(view, node, count, found);
            }
        }
    }
}

/// The number of elements that an expression may be: one that isn't a size.
fn count(view: View<'_, '_, '_>, index: Index) -> Option<u64> {
    let node = view.cursor(index)?;
    let is_number = node.ty().is_integer() && !node.ty().is_enumeration();
    let sum = view.sum(index);
    let is_size = sum.sizes(true).next().is_some() || sum.has_offsets();
    let is_named = view.tree.kind(view.peeled(index)) == Kind::Name;
    let count = u64::try_from(constant(view, index).filter(|_| is_number && !is_size && !is_named)?).ok()?;
    (count > 1).then_some(count)
}

/// Whether a member that is given a value is compared, multiplied or handed to a function.
fn is_walked_to(view: View<'_, '_, '_>, list: Index, value: Index) -> bool {
    let Some(member) = member_of(view, list, value) else { return false };
    let is_own = |index: &Index| {
        view.tree.kind(*index) == Kind::MemberAccess
            && view
                .cursor(*index)
                .and_then(Cursor::referenced)
                .is_some_and(|own| own.identity() == member.identity())
    };
    (0..view.tree.len()).filter(is_own).any(|index| {
        let mut parents = std::iter::successors(view.tree.parent(index), |parent| view.tree.parent(*parent));
        let user = parents.find(|parent| !matches!(view.tree.kind(*parent), Kind::Unexposed | Kind::Paren));
        user.is_some_and(|user| match view.tree.kind(user) {
            Kind::Call | Kind::Variable => true,
            Kind::Binary => matches!(
                view.cursor(user).map(Cursor::binary_operator),
                Some(
                    Operator::Order
                        | Operator::Multiply
                        | Operator::Compare
                        | Operator::Assign
                        | Operator::Add
                )
            ),
            _ => false,
        })
    })
}

/// The member that a value of a list is for.
fn member_of<'u>(view: View<'_, '_, 'u>, list: Index, value: Index) -> Option<Cursor<'u>> {
    let named = view.tree.parent(value).filter(|parent| *parent != list);
    let name = named.and_then(|named| {
        view.tree.children(named).filter(|child| view.tree.kind(*child) == Kind::MemberName).last()
    });
    if let Some(name) = name {
        return view.cursor(name)?.referenced();
    }
    positions(view.tree, view.records, list).into_iter().find_map(|(own, position)| match position {
        Position::Member(member) if own == value => Some(member),
        _ => None,
    })
}

/// A member that is no array, where the elements begin.
struct First<'u> {
    part: Part,
    member: Cursor<'u>,
    ty: Type<'u>,
}

impl<'u> First<'u> {
    fn find(view: View<'_, '_, 'u>, path: &[Cursor<'u>]) -> Option<Self> {
        let (member, last) = (*path.first()?, *path.last()?);
        let ty = last.ty();
        let is_single = !matches!(ty.kind(), TypeKind::Array | TypeKind::Record);
        Some(Self { part: view.records.part(member).filter(|_| is_single && path.len() == 1)?, member, ty })
    }

    fn report(&self, view: View<'_, '_, 'u>, node: Cursor<'u>, count: u64, found: &mut Findings<'u>) {
        let (Some(holder), Some(size)) = (named_holder(self.member).map(Cursor::ty), self.ty.size()) else {
            return;
        };
        let first = self.member.bit_offset().unwrap_or(0);
        let end = first.saturating_add(count.saturating_mul(size).saturating_mul(8));
        if holder.size().is_none_or(|size| end > size.saturating_mul(8)) {
            return;
        }
        let members = view.records.members(holder);
        let reached = members.iter().filter(|member| member.offset >= first && member.offset < end);
        let members: Vec<String> = reached.map(|member| member.name.clone()).collect();
        if members.len() > 1 {
            let why = format!("{count} elements from {} on are told by its offset", self.part.member);
            found.push(Found { subject: self.part.subject, node, demand: Demand::Run { members }, why });
        }
    }
}
