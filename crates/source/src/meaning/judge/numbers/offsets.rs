//! Offsets that are subtracted, compared and used as numbers.

use crate::meaning::code::evaluator::{Context, Evaluator};
use crate::meaning::types::lossy;
use crate::meaning::value::{Base, Sum, Term, Value, constant};
use crate::uses::UseDemand;

impl<'t> Evaluator<'_, '_, 't> {
    /// Addresses of two members whose difference is taken.
    pub(in crate::meaning) fn distances(&mut self, sums: &[Sum<'t>]) {
        for sum in sums {
            let mut offsets = sum.offsets().filter(|(_, record, _)| self.subject(record).is_some());
            let (Some((is_added, record, first)), Some((other, second_record, second))) =
                (offsets.next(), offsets.next())
            else {
                continue;
            };
            if is_added != other && record == second_record && first != second {
                drop(offsets);
                let what = format!(
                    "the bytes from {} to {} are counted",
                    lossy(if is_added { second } else { first }),
                    lossy(if is_added { first } else { second })
                );
                self.tell_pins(record, &[first, second], what);
            }
        }
        for sum in sums.iter().filter(|sum| sum.base.is_none()) {
            self.up_to_end(sum);
        }
    }

    /// `sizeof(T) - offsetof(T, m)`.
    fn up_to_end(&mut self, sum: &Sum<'t>) {
        let sizes = sum.terms.iter().filter_map(|(sign, term)| match term {
            Term::Size(record) if *sign => Some(*record),
            _ => None,
        });
        let sizes: Vec<&'t [u8]> = sizes.collect();
        for (added, record, member) in sum.offsets().collect::<Vec<_>>() {
            let Some((_, subject)) = self.subject(record).filter(|_| !added && sizes.contains(&record))
            else {
                continue;
            };
            let own = sum.terms.iter().any(|(sign, term)| !sign && matches!(term, Term::MemberSize(..)));
            let placed = subject.member(member).cloned().unwrap_or_default();
            let start = placed.offset + if own { placed.size } else { 0 };
            let what = format!("the bytes from {} to the end are counted", lossy(member));
            let size = subject.size;
            self.tell_bytes(record, start as i64..size as i64, false, what);
        }
    }

    /// Offsets and addresses of members that are compared.
    pub(in crate::meaning) fn compare(&mut self, left: &Value<'t>, right: &Value<'t>, is_equality: bool) {
        let mut addresses: Vec<(&'t [u8], &'t [u8])> = Vec::new();
        if !is_equality {
            self.pointers_compared(left, right);
        }
        if is_equality && self.world().is_complete {
            self.found_by_member(left, right);
            for (value, other) in [(left, right), (right, left)] {
                match constant(other) {
                    Some(0) => self.offset_is_tested(value),
                    _ => self.size_is_compared(value, other),
                }
            }
        }
        for (value, other) in [(left, right), (right, left)] {
            if is_equality && self.is_null(other) {
                self.null_is_tested(value);
            }
            if constant(other).is_some_and(|number| number != 0) {
                self.distance_is_number(value, "compared with a number");
                if is_equality {
                    self.offset_is_compared(value, other);
                }
            }
        }
        let sides: Vec<Sum<'t>> = left.sums.iter().chain(&right.sums).cloned().collect();
        self.over_members(&sides);
        if !is_equality {
            self.room_compared(left, right);
        }
        for value in [left, right] {
            for sum in &value.sums {
                if let (Some(Base::Object(record)), Some((own, member))) = (sum.base, sum.member())
                    && record == own
                {
                    addresses.push((record, member));
                }
                if sum.base.is_none() && !is_equality {
                    let has_size = sum.terms.iter().any(|(_, term)| matches!(term, Term::MemberSize(..)));
                    self.compared.extend(sum.offsets().map(|(_, record, member)| (record, member, has_size)));
                }
            }
        }
        if self.context == Context::Constant {
            for value in [left, right] {
                for sum in &value.sums {
                    for (_, term) in &sum.terms {
                        if let Term::Size(record) = term {
                            self.tell(
                                record,
                                UseDemand::Size,
                                Vec::new(),
                                "an assertion checks its size".to_owned(),
                            );
                        }
                    }
                }
            }
        }
        match addresses.as_slice() {
            _ if is_equality => {}
            [(record, first), (other, second)] if record == other && first != second => {
                let what = format!("the addresses of {} and {} are compared", lossy(first), lossy(second));
                self.tell_pins(record, &[first, second], what);
            }
            _ => self.members_compared(left, right),
        }
    }

    /// An offset that is tested for 0, which may say that there is none.
    pub(in crate::meaning) fn offset_is_tested(&mut self, value: &Value<'t>) {
        if !self.world().is_complete {
            return;
        }
        for sum in value.sums.iter().filter(|sum| sum.base.is_none()) {
            match sum.member() {
                // As long as the first member stays, it alone has the offset 0.
                Some((record, member)) => {
                    let what = format!("the offset of {} is tested for 0", lossy(member));
                    self.tell(record, UseDemand::First, Vec::new(), what);
                }
                None => self.offset_of(sum, "tested for 0"),
            }
        }
    }

    /// A value that decides: it is tested for 0.
    pub(in crate::meaning) fn is_condition(&mut self, value: &Value<'t>) {
        self.offset_is_tested(value);
        self.null_is_tested(value);
    }

    /// An address that is looked for by that of a member, or the other way.
    fn found_by_member(&mut self, left: &Value<'t>, right: &Value<'t>) {
        let sums: Vec<Sum<'t>> = left.sums.iter().chain(&right.sums).cloned().collect();
        let object = |sum: &Sum<'t>| match sum.base {
            Some(Base::Object(record)) if sum.terms.is_empty() => Some(record),
            _ => None,
        };
        let whole: Vec<&'t [u8]> = sums.iter().filter_map(object).collect();
        for (record, member) in sums.iter().filter(|sum| sum.base.is_some()).filter_map(Sum::member) {
            let number = self.subject(record).and_then(|(_, subject)| subject.number(member));
            let Some(number) = number.filter(|_| whole.contains(&record)) else { continue };
            let what = format!("its address is compared with that of {}", lossy(member));
            self.tell(record, UseDemand::Offset, vec![number], what);
        }
    }

    /// Tells the offsets that a statement compared.
    pub(in crate::meaning) fn flush_compared(&mut self) {
        let compared = std::mem::take(&mut self.compared);
        for (record, member, has_size) in &compared {
            let is_inside = compared
                .iter()
                .any(|(own, other, size)| own == record && other == member && size != has_size);
            let number = self.subject(record).and_then(|(_, subject)| subject.number(member));
            if let Some(number) = number.filter(|_| !is_inside && *has_size) {
                let what = format!("a number is compared with the end of {}", lossy(member));
                self.tell(record, UseDemand::Positions(number + 1), Vec::new(), what);
            } else if !is_inside {
                self.tell_pins(
                    record,
                    &[member],
                    format!("a number is compared with the offset of {}", lossy(member)),
                );
            }
        }
    }

    /// An offset that is used as a number, not added to an address.
    pub(in crate::meaning) fn offset_is_number(&mut self, value: &Value<'t>, what: &str) {
        self.offsets_are(value, what);
        self.distance_is_number(value, what);
    }

    pub(in crate::meaning) fn offsets_are(&mut self, value: &Value<'t>, what: &str) {
        for sum in value.sums.iter().filter(|sum| sum.base.is_none()) {
            self.offset_of(sum, what);
        }
    }

    fn offset_of(&mut self, sum: &Sum<'t>, what: &str) {
        for (_, record, member) in sum.offsets() {
            let number = self.subject(record).and_then(|(_, subject)| subject.number(member));
            let Some(number) = number else { continue };
            let what = format!("the offset of {} is {what}", lossy(member));
            self.tell(record, UseDemand::Offset, vec![number], what);
        }
    }

    /// The bytes from object to object, as a number: the size stays.
    pub(in crate::meaning) fn distance_is_number(&mut self, value: &Value<'t>, what: &str) {
        let terms = value.sums.iter().flat_map(|sum| &sum.terms);
        let records = terms.filter_map(|(_, term)| match term {
            Term::Distance(record) => Some(*record),
            _ => None,
        });
        for record in records.collect::<Vec<_>>() {
            self.tell_size(record, format!("the bytes from object to object are {what}"));
        }
    }

    /// An offset that a number of the program is made of.
    pub(in crate::meaning) fn constant_offset(&mut self, sum: &Sum<'t>) {
        for (_, record, member) in sum.offsets().collect::<Vec<_>>() {
            let number = self.subject(record).and_then(|(_, subject)| subject.number(member));
            let Some(number) = number else { continue };
            let what = format!("the offset of {} is a constant that is relied on", lossy(member));
            self.tell(record, UseDemand::Offset, vec![number], what);
        }
    }
}
