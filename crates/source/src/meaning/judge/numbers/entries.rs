//! Entries of null links: where the link comes first, the entry is null too, and code may test that. Where it doesn't,
//! the entry is never null, and code may count on that.

use crate::meaning::code::evaluator::Evaluator;
use crate::meaning::flows::Slot;
use crate::meaning::types::{Type, lossy};
use crate::meaning::value::{Sum, Term, Value, join};
use crate::uses::UseDemand;

/// Where entries are kept of functions that return them.
const RETURNED: &[u8] = b"()";

impl<'t> Evaluator<'_, '_, 't> {
    /// The member that an address was counted back by, which may be null: where nobody has tested it, or the member is the
    /// first one.
    pub(in crate::meaning) fn entry_of(
        &self,
        sums: &[Sum<'t>],
        to: &Type<'t>,
        is_object: bool,
    ) -> Option<(&'t [u8], &'t [u8])> {
        let Type::Record(wanted) = to else { return None };
        sums.iter().find_map(|sum| match sum.terms.as_slice() {
            [(false, Term::Offset(record, member))] if record == wanted => {
                let (_, subject) = self.subject(record)?;
                let is_first = subject.member(member)?.offset == 0;
                (is_first || !is_object).then_some((*record, *member))
            }
            _ => None,
        })
    }

    fn slot_of(&self, value: &Value<'t>) -> Option<Slot<'t>> {
        let own = value.name.map(|name| match self.local(name) {
            Some(_) => Slot::Entry(self.function, name),
            None => Slot::Entry(b"", name),
        });
        let member = value.member.map(|(_, member)| Slot::Entry(b"", member));
        own.or(member).or(value.call.map(|name| Slot::Entry(RETURNED, name)))
    }

    /// All entries that a value may be.
    fn entries(&self, value: &Value<'t>) -> Vec<Sum<'t>> {
        let kept = self.slot_of(value).map(|slot| self.kept(slot)).unwrap_or_default();
        let own =
            value.entry.map(|(record, member)| Sum::object(record).and(true, Term::Offset(record, member)));
        let mut all: Vec<Sum<'t>> = own.into_iter().collect();
        join(&mut all, &kept);
        all
    }

    /// Keeps that a variable or member may be an entry of a null link.
    pub(in crate::meaning) fn keep_entry(&mut self, left: &Value<'t>, right: &Value<'t>) {
        if !left.is_content {
            self.set_object(left.name, right.is_object);
        }
        let entries = self.entries(right);
        if let Some(slot) = self.slot_of(left).filter(|_| !entries.is_empty()) {
            self.keep(slot, &entries);
        }
    }

    /// Keeps that the function here may return an entry of a null link.
    pub(in crate::meaning) fn returned_entry(&mut self, value: &Value<'t>) {
        let entries = self.entries(value);
        if !entries.is_empty() && !self.function.is_empty() {
            self.keep(Slot::Entry(RETURNED, self.function), &entries);
        }
    }

    /// A value that is tested for null: where it may be an entry of a null link, the link stays first.
    pub(in crate::meaning) fn null_is_tested(&mut self, value: &Value<'t>) {
        for (record, member) in self.entries(value).iter().filter_map(Sum::member) {
            let Some((_, subject)) = self.subject(record) else { continue };
            let Some((number, placed)) = subject.number(member).zip(subject.member(member)) else { continue };
            let what = format!("the entry of a null {} is tested for null", lossy(member));
            match placed.offset {
                0 => self.tell(record, UseDemand::Offset, vec![number], what),
                _ => self.tell(record, UseDemand::First, Vec::new(), what),
            }
        }
        self.is_tested(value);
    }

    /// A variable or member that was tested is an object from there on.
    fn is_tested(&mut self, value: &Value<'t>) {
        if value.is_content {
            return;
        }
        if let Some((_, member)) = value.member {
            self.tested.insert(member);
        }
        self.set_object(value.name, true);
    }

    /// Notes whether a variable here is known not to be null.
    fn set_object(&mut self, name: Option<&'t [u8]>, is_object: bool) {
        let local = name.and_then(|name| self.scopes.iter_mut().rev().find_map(|scope| scope.get_mut(name)));
        if let Some(local) = local {
            local.is_object = is_object;
        }
    }
}
