//! Members of other objects that describe an object's bytes: its address in one of them, a length in another.

use crate::meaning::code::evaluator::Evaluator;
use crate::meaning::judge::callee::Does;
use crate::meaning::syntax::words::is_among;
use crate::meaning::types::{Type, innermost, lossy};
use crate::meaning::value::{Base, Sum, Term};

/// Names of the type of a list of arguments.
const ARGUMENTS: &str = " va_list __builtin_va_list __gnuc_va_list __va_list_tag ";

impl<'t> Evaluator<'_, '_, 't> {
    /// An address and a size that are given to members of one object say: these bytes.
    pub(in crate::meaning) fn describe(&mut self, member: &'t [u8], sums: &[Sum<'t>], start: usize) {
        let holder = self.cursor.text(start);
        let mut pairs = Vec::new();
        let entry = self.described.entry(holder).or_default();
        for sum in sums {
            match (sum.base, sum.terms.as_slice()) {
                (Some(Base::Object(object)), []) => entry.objects.push(object),
                (None, [(true, Term::Size(object))]) => entry.sizes.push(object),
                _ => continue,
            }
            pairs.extend(entry.objects.iter().filter(|object| entry.sizes.contains(object)).copied());
        }
        if member == b"iov_base" {
            pairs.extend(entry.objects.iter().copied());
        }
        pairs.sort_unstable();
        pairs.dedup();
        for object in pairs {
            let what = format!("its address and its size are kept together in {}", lossy(holder));
            self.tell_whole(object, what);
        }
        self.range_described(holder, member, sums);
    }

    /// A range from a member on: its address is given to one member of another object, its length to another one.
    fn range_described(&mut self, holder: &'t [u8], member: &[u8], sums: &[Sum<'t>]) {
        let is_vector = member.starts_with(b"iov_");
        let is_part = |sum: &&Sum<'t>| matches!(sum.base, Some(Base::Object(_))) && sum.member().is_some();
        // Other members are numbers of whatever.
        let is_length = |sum: &&Sum<'t>| sum.base.is_none() && (is_vector || sum.is_telling());
        let part: Vec<Sum<'t>> = sums.iter().filter(is_part).cloned().collect();
        let lengths: Vec<Sum<'t>> = sums.iter().filter(is_length).cloned().collect();
        let Some(entry) = self.described.get_mut(holder) else { return };
        if !part.is_empty() || member == b"iov_base" {
            if !entry.part.is_empty() {
                entry.lengths.clear();
            }
            entry.part = part;
        } else if lengths.is_empty() {
            return;
        } else {
            entry.lengths = lengths;
        }
        let (part, lengths) = (entry.part.clone(), entry.lengths.clone());
        for (sum, length) in part.iter().flat_map(|sum| lengths.iter().map(move |length| (sum, length))) {
            if let Some(Base::Object(object)) = sum.base {
                self.bytes(holder, Does::Reads, (object, sum), length, None);
            }
        }
    }

    /// Addresses that are kept in a struct of the library's, which nobody defines here: it may give them to anybody.
    pub(in crate::meaning) fn kept_by_library(&mut self, record: &[u8], sums: &[Sum<'t>]) {
        let is_foreign = !record.is_empty() && !self.world().records.contains_key(record);
        if is_foreign && self.subject(record).is_none() {
            self.lost(sums);
        }
    }

    /// Addresses in a list of arguments that is made by hand: a format says what is read there.
    pub(in crate::meaning) fn kept_as_arguments(&mut self, holder: &Type<'t>, sums: &[Sum<'t>]) {
        let (Type::Named(name) | Type::Record(name)) = innermost(self.world(), holder) else { return };
        for sum in sums.iter().filter(|_| is_among(ARGUMENTS, name)) {
            if let Some(Base::Object(record)) = sum.base {
                self.tell_whole(record, "its bytes are made a list of arguments".to_owned());
            }
        }
    }
}
