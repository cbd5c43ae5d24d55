//! Lengths that stand beside offsets of members: in rows of a table, in arguments of a call. Code that is handed an offset
//! and a length from one of these has that member's length.

use crate::meaning::code::evaluator::Evaluator;
use crate::meaning::flows::Slot;
use crate::meaning::value::{Sum, Term};

impl<'t> Evaluator<'_, '_, 't> {
    /// Values that stand together: where one is a member's offset or address, the lengths beside it are its own.
    pub(in crate::meaning) fn stand_together(&mut self, all: &[Vec<Sum<'t>>]) {
        let single = |sums: &Vec<Sum<'t>>| match sums.as_slice() {
            [sum] => Some(sum.clone()),
            _ => None,
        };
        for (at, sum) in all.iter().enumerate().filter_map(|(at, sums)| Some((at, single(sums)?))) {
            let Some((record, member)) = sum.member() else { continue };
            if self.subject(record).is_none() {
                continue;
            }
            let others = all.iter().enumerate().filter(|(other, _)| *other != at);
            let lengths = others.filter_map(|(_, sums)| single(sums)).filter(|sum| is_length(sum));
            let lengths: Vec<Sum<'t>> = lengths.collect();
            self.keep(Slot::Beside(record, member), &lengths);
        }
    }

    /// Of the lengths that code may have beside an address, those that stand beside that address's member, less what is
    /// taken off. All of them, unless each of them stands beside a member that the address may be of.
    pub(in crate::meaning) fn of_own_row(
        &self,
        sum: &Sum<'t>,
        addresses: &[Sum<'t>],
        lengths: Vec<Sum<'t>>,
    ) -> Vec<Sum<'t>> {
        let Some((record, member)) = sum.member().filter(|_| lengths.len() > 1) else { return lengths };
        let own = self.kept(Slot::Beside(record, member));
        if own.is_empty() {
            return lengths;
        }
        let members = addresses.iter().filter_map(Sum::member);
        let known: Vec<Sum<'t>> =
            members.flat_map(|(record, member)| self.kept(Slot::Beside(record, member))).collect();
        let whole: Vec<Sum<'t>> = lengths.iter().map(without_numbers_off).collect();
        if !whole.iter().all(|length| known.contains(length)) {
            return lengths;
        }
        let row: Vec<Sum<'t>> = whole.into_iter().filter(|length| own.contains(length)).collect();
        if row.is_empty() { lengths } else { row }
    }
}

/// Whether a value is a size alone.
fn is_length(sum: &Sum<'_>) -> bool {
    sum.base.is_none() && matches!(sum.terms.as_slice(), [(true, Term::MemberSize(..) | Term::Size(_))])
}

/// `length - 1`: the length.
fn without_numbers_off<'t>(sum: &Sum<'t>) -> Sum<'t> {
    let mut sum = sum.clone();
    sum.terms.retain(|(is_added, term)| *is_added || !matches!(term, Term::Number(_)));
    sum
}
