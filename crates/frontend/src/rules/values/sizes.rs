//! Sizes of subjects that are used as numbers: parts of numbers, and what they are compared with.

use super::ways::{Form, Names, Use, Way};
use crate::clang::{Cursor, Kind, Operator, Type};
use crate::demand::Demand;
use crate::report::{Findings, Found};
use crate::sum::View;
use crate::sum::plain::constant;
use crate::tree::Index;

/// All sizes of subjects in a unit.
pub(super) fn find<'u>(view: View<'_, '_, 'u>, names: &Names, found: &mut Findings<'u>) {
    for index in (0..view.tree.len()).filter(|index| view.tree.kind(*index) == Kind::SizeOf) {
        let Some((ty, _)) = view.sum(index).sizes(true).next() else { continue };
        let (Some(subject), Some(node)) = (view.records.subject(ty), view.cursor(index)) else { continue };
        let size = Size { view, ty };
        let uses = Way::new(view, names).uses(index);
        if let Some(used) = uses.iter().find_map(|(form, used)| size.fixed(*form, *used)) {
            found.push(Found { subject, node, demand: Demand::Size, why: format!("its size {used}") });
        }
    }
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
