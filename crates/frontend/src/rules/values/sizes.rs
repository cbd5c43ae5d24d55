//! Sizes of subjects that are used as numbers: parts of numbers, and what they are compared with.

use super::ways::{Form, Names, Use, Way};
use crate::clang::{Cursor, Kind, Operator, Type, TypeKind};
use crate::demand::Demand;
use crate::report::{Findings, Found};
use crate::sum::View;
use crate::sum::plain::constant;
use crate::tree::Index;
use std::collections::BTreeSet;

/// All sizes of subjects in a unit.
pub(super) fn find<'u>(view: View<'_, '_, 'u>, names: &Names, found: &mut Findings<'u>) {
    for index in (0..view.tree.len()).filter(|index| view.tree.kind(*index) == Kind::SizeOf) {
        let Some((ty, _)) = view.sum(index).sizes(true).next() else { continue };
        let Some(node) = view.cursor(index) else { continue };
        let types = match view.records.subject(ty) {
            Some(_) => vec![ty],
            None => made_for(view, index, ty),
        };
        if types.is_empty() {
            continue;
        }
        let uses = Way::new(view, names).uses(index);
        for ty in types {
            let (Some(subject), size) = (view.records.subject(ty), Size { view, ty }) else { continue };
            if uses.iter().any(|(form, used)| size.is_shortened(*form, *used)) {
                let why = "its size less a number is a length".to_owned();
                found.push(Found { subject, node, demand: Demand::Whole, why });
            }
            if let Some(used) = uses.iter().find_map(|(form, used)| size.fixed(*form, *used)) {
                found.push(Found { subject, node, demand: Demand::Size, why: format!("its size {used}") });
            }
        }
    }
}

/// The subjects that a class template is made for in a unit, if a node in its text asks for the size of a type that the
/// template doesn't know: the front end shows no value of such a class as it becomes.
fn made_for<'u>(view: View<'_, '_, 'u>, index: Index, ty: Type<'u>) -> Vec<Type<'u>> {
    if ty.kind() != TypeKind::Other {
        return Vec::new();
    }
    let mut holders = std::iter::successors(view.tree.parent(index), |holder| view.tree.parent(*holder));
    let holders: Vec<Cursor<'u>> = holders
        .by_ref()
        .filter(|holder| view.tree.kind(*holder) == Kind::Other)
        .filter_map(|holder| view.cursor(holder))
        .collect();
    let is_made = |own: &Type<'u>| {
        let class = own.canonical().declaration().and_then(Cursor::template);
        class.is_some_and(|class| holders.iter().any(|holder| holder.identity() == class.identity()))
    };
    let types = (0..view.tree.len()).filter_map(|at| Some(view.cursor(at)?.ty()));
    let types = types.map(|own| own.pointee().unwrap_or(own)).filter(|own| own.kind() == TypeKind::Record);
    let arguments = types.filter(|own| !holders.is_empty() && is_made(own));
    let mut known = BTreeSet::new();
    let arguments = arguments.flat_map(Type::template_arguments);
    arguments.filter(|own| view.records.subject(*own).is_some_and(|subject| known.insert(subject))).collect()
}

/// A subject's size.
struct Size<'v, 's, 'u> {
    view: View<'v, 's, 'u>,
    ty: Type<'u>,
}

impl<'u> Size<'_, '_, 'u> {
    /// A use that the size decides, as the end of a sentence.
    fn fixed(&self, form: Form, used: Use) -> Option<&'static str> {
        match (form, used) {
            (Form::Same, Use::Compared { other, operator: Operator::Compare }) if self.may_be(other) => {
                Some("is compared with a number")
            }
            (Form::Added, Use::Compared { other, operator: Operator::Order }) if self.is_room(other) => {
                Some("decides how many objects there is room for")
            }
            (Form::Same, Use::Compared { other, operator: Operator::Order })
                if self.is_counted_down(other) =>
            {
                Some("decides how many objects there is room for")
            }
            (Form::Same, Use::Divides { other }) if self.is_room(other) => {
                Some("decides how many objects there is room for")
            }
            (Form::Same, Use::Chooses { switch }) if self.has_case(switch) => {
                Some("chooses between numbers of cases")
            }
            (_, Use::Computed { operator: Operator::Bits }) => Some("is a part of a number"),
            _ => None,
        }
    }

    /// Whether a number is taken off it: an object without its last members.
    fn is_shortened(&self, form: Form, used: Use) -> bool {
        let Use::Reduced { by } = used else { return false };
        form == Form::Same && constant(self.view, by).is_some_and(|number| number > 0)
    }

    /// Whether an expression is a number that some order's size is, given by no size itself.
    fn may_be(&self, index: Index) -> bool {
        let view = self.view;
        let is_size = |number: i64| u64::try_from(number).is_ok_and(|number| self.is_possible(number));
        let is_number = |index: Index| {
            view.sum(index).sizes(true).next().is_none() && constant(view, index).is_some_and(is_size)
        };
        if is_number(index) {
            return true;
        }
        let named = view.cursor(view.peeled(index)).and_then(Cursor::referenced);
        named.is_some_and(|named| view.flow.given(named.identity()).iter().any(|value| is_number(*value)))
    }

    fn is_possible(&self, number: u64) -> bool {
        let least: u64 =
            self.view.records.members(self.ty).iter().filter_map(|member| member.ty.size()).sum();
        let size = self.ty.size().unwrap_or(0);
        (least.min(size)..=self.view.records.largest(self.ty)).contains(&number)
    }

    /// Whether an expression is the room of an array, or a number of bytes: a constant without a part of the subject.
    fn is_room(&self, index: Index) -> bool {
        let view = self.view;
        let sum = view.sum(index);
        let is_own =
            |ty: Type<'u>| std::iter::successors(Some(ty), |ty| ty.element()).any(|ty| ty.equals(self.ty));
        let has_own = sum.sizes(true).any(|(ty, _)| is_own(ty));
        !has_own && constant(view, index).is_some_and(|room| room > 0)
    }

    /// Whether an expression is what is left of a number of bytes.
    fn is_counted_down(&self, index: Index) -> bool {
        let view = self.view;
        let named = view.cursor(view.peeled(index)).and_then(Cursor::referenced);
        named.is_some_and(|named| {
            let given = view.flow.given(named.identity());
            view.flow.is_counted_down(named.identity()) && given.iter().any(|value| self.is_room(*value))
        })
    }

    fn has_case(&self, switch: Index) -> bool {
        let view = self.view;
        let mut cases = view.tree.below(switch).filter(|case| view.tree.kind(*case) == Kind::Case);
        cases.any(|case| view.tree.values(case).next().is_some_and(|value| self.may_be(value)))
    }
}
