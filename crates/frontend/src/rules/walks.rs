//! Steps from member to member.

use crate::clang::{Cursor, Kind, Operator, Type, TypeKind};
use crate::demand::{Demand, Edge};
use crate::records::{Part, named_holder};
use crate::report::{Findings, Found, before};
use crate::sum::{Sum, Term, View};
use crate::tree::Index;

pub(super) fn find<'u>(view: View<'_, '_, 'u>, index: Index, found: &mut Findings<'u>) {
    let Some(node) = view.cursor(index) else { return };
    let walked = match view.tree.kind(index) {
        Kind::Subscript => view.tree.values(index).next().map(|array| (array, Step::Read)),
        Kind::Unary => match node.unary_operator() {
            Operator::Step => view.tree.only(index).map(|pointer| (pointer, Step::On)),
            Operator::Dereference => view.tree.only(index).map(|pointer| (pointer, Step::Read)),
            _ => None,
        },
        Kind::Binary => match node.binary_operator() {
            Operator::Move => view.tree.values(index).next().map(|pointer| (pointer, Step::On)),
            Operator::Add | Operator::Subtract => {
                view.tree.values(index).next().map(|pointer| (pointer, Step::Add))
            }
            _ => None,
        },
        _ => None,
    };
    let Some((pointer, step)) = walked else { return };
    let Some(pointee) = view.cursor(pointer).and_then(|pointer| pointer.ty().pointee()) else { return };
    if !matches!(pointee.kind(), TypeKind::Byte | TypeKind::Number | TypeKind::Pointer | TypeKind::Record) {
        return;
    }
    let walk = Walk { view, node, pointee, step };
    let number = match (step, view.tree.kind(index)) {
        (Step::On, _) => None,
        (_, Kind::Unary) => Some(0),
        _ => view.tree.values(index).nth(1).and_then(|number| view.cursor(number)?.constant()),
    };
    walk.judge(&view.sum(pointer), number, found);
}

/// How an address is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// `p[i]`, `*p`
    Read,
    /// `p++`, `p += n`
    On,
    /// `p + n`
    Add,
}

/// A step from an address.
struct Walk<'v, 's, 'u> {
    view: View<'v, 's, 'u>,
    node: Cursor<'u>,
    pointee: Type<'u>,
    step: Step,
}

impl<'u> Walk<'_, '_, 'u> {
    fn judge(&self, sum: &Sum<'u>, number: Option<i64>, found: &mut Findings<'u>) {
        let Some(start) = &sum.start else { return };
        match sum.terms.as_slice() {
            [(true, Term::Offset(path))] => self.leave(path, number, found),
            [(true, Term::Offset(path)), (is_added, more)] if self.step == Step::Read => {
                let more = match more {
                    Term::Size(..) => Some(1),
                    Term::Number(bytes) => self.elements(*bytes),
                    _ => None,
                };
                let more = more.map(|more| if *is_added { more } else { more.saturating_neg() });
                let number = number.zip(more).and_then(|(number, more)| number.checked_add(more));
                self.leave(path, number, found);
            }
            [] if self.step == Step::On && self.pointee.kind() == TypeKind::Byte => {
                self.bytes(start.ty, None, found)
            }
            [] if self.step == Step::Read => self.bytes(start.ty, number.map(Some), found),
            [(true, Term::Number(bytes))] if self.step == Step::Read => {
                let at = number.and_then(|number| self.scaled(number)?.checked_add(*bytes));
                self.bytes(start.ty, at.map(|_| None), found);
            }
            // With a larger type it is a member by an offset that somebody took of it.
            [(true, Term::Other)] if self.step == Step::Read && self.pointee.kind() == TypeKind::Byte => {
                self.bytes(start.ty, None, found)
            }
            _ => {}
        }
    }

    fn scaled(&self, number: i64) -> Option<i64> {
        number.checked_mul(i64::try_from(self.pointee.size()?).ok()?)
    }

    fn elements(&self, bytes: i64) -> Option<i64> {
        bytes.checked_div(i64::try_from(self.pointee.size()?).ok()?)
    }

    /// Elements of an object that isn't declared as an array: bytes of it.
    fn bytes(&self, ty: Type<'u>, number: Option<Option<i64>>, found: &mut Findings<'u>) {
        // The first bytes as something else are a cast, and told there.
        if number == Some(Some(0)) || self.pointee.kind() == TypeKind::Record {
            return;
        }
        for subject in self.view.records.within(ty) {
            let why = format!("its bytes are read or written by number, as {}", self.pointee.spelling());
            found.push(Found { subject, node: self.node, demand: Demand::Whole, why });
        }
    }

    /// Past a member's end, or in front of its beginning.
    fn leave(&self, path: &[Cursor<'u>], number: Option<i64>, found: &mut Findings<'u>) {
        let (Some(member), Some(part)) =
            (path.last(), path.first().and_then(|first| self.view.records.part(*first)))
        else {
            return;
        };
        let ty = member.ty();
        let elements = ty.size().zip(self.pointee.size()).map_or(1, |(own, size)| own / size.max(1)).max(1);
        let is_array = ty.kind() == TypeKind::Array;
        // Bytes behind a member are an address that others judge.
        if self.step == Step::Add && !self.pointee.equals(ty) {
            return;
        }
        let Some(holder) = named_holder(path.first().copied().unwrap_or(*member)) else {
            return;
        };
        let is_inside = |number: i64| u64::try_from(number).is_ok_and(|number| number < elements);
        match number {
            Some(number) if is_inside(number) => {}
            // Right behind the member is where a loop ends.
            Some(1) if self.step == Step::Add && !is_array => {}
            Some(number) if number < 0 && self.step != Step::On => self.in_front(holder.ty(), &part, found),
            None if is_array || self.step == Step::Add => {}
            Some(_) if is_array && self.is_last(holder.ty(), &part.member) => {
                let why = format!("{} is read behind its end", part.member);
                let demand = Demand::Last { member: part.member };
                found.push(Found { subject: part.subject, node: self.node, demand, why });
            }
            _ if ty.kind() == TypeKind::Record => {}
            _ => self.behind(holder.ty(), (&part, ty), found),
        }
    }

    fn is_last(&self, ty: Type<'u>, member: &str) -> bool {
        self.view.records.members(ty).last().is_some_and(|last| last.name == member)
    }

    fn in_front(&self, ty: Type<'u>, part: &Part, found: &mut Findings<'u>) {
        let number = self.view.records.number(ty, &part.member).unwrap_or(0);
        let members = self.view.records.members(ty);
        let previous = number.checked_sub(1).and_then(|previous| members.get(previous));
        let Some(previous) = previous else { return };
        let why = format!("bytes in front of {} are read or written", part.member);
        let demand = Demand::Run { members: vec![previous.name.clone(), part.member.clone()] };
        found.push(Found { subject: part.subject, node: self.node, demand, why });
    }

    /// Members of one type in a row are walked as an array.
    fn behind(&self, ty: Type<'u>, (part, own): (&Part, Type<'u>), found: &mut Findings<'u>) {
        let number = self.view.records.number(ty, &part.member).unwrap_or(0);
        let members = self.view.records.members(ty);
        let same_type = members.iter().skip(number).take_while(|member| {
            let element = member.ty.element().unwrap_or(member.ty);
            element.equals(own.element().unwrap_or(own))
        });
        let members: Vec<String> = same_type.map(|member| member.name.clone()).collect();
        let why = format!("code walks on from {} to the members behind it", part.member);
        let demand = match members.len() {
            0 | 1 => Demand::Range { from: before(part), to: Edge::End },
            _ => Demand::Run { members },
        };
        found.push(Found { subject: part.subject, node: self.node, demand, why });
    }
}
