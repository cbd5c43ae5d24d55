//! Entries of null links: where the link comes first, the entry is null too, and code may test that.

use crate::meaning::code::evaluator::Evaluator;
use crate::meaning::flows::Slot;
use crate::meaning::types::{Type, lossy};
use crate::meaning::value::{Sum, Term, Value, join};
use crate::uses::UseDemand;

/// Where entries are kept of functions that return them.
const RETURNED: &[u8] = b"()";

impl<'t> Evaluator<'_, '_, 't> {
    /// The first member that an address was counted back by.
    pub(in crate::meaning) fn entry_of(
        &self,
        sums: &[Sum<'t>],
        to: &Type<'t>,
    ) -> Option<(&'t [u8], &'t [u8])> {
        let Type::Record(wanted) = to else { return None };
        sums.iter().find_map(|sum| match sum.terms.as_slice() {
            [(false, Term::Offset(record, member))] if record == wanted => {
                let (_, subject) = self.subject(record)?;
                (subject.member(member)?.offset == 0).then_some((*record, *member))
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
            let number = self.subject(record).and_then(|(_, subject)| subject.number(member));
            let Some(number) = number else { continue };
            let what = format!("the entry of a null {} is tested for null", lossy(member));
            self.tell(record, UseDemand::Offset, vec![number], what);
        }
    }
}
