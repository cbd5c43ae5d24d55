//! Objects that are read by steps and indexes.

use crate::meaning::code::evaluator::Evaluator;
use crate::meaning::judge::callee::ANONYMOUS;
use crate::meaning::types::{Type, lossy, spell};
use crate::meaning::value::{Base, Sum, Term, Value, number_sum};
use crate::uses::UseDemand;

impl<'t> Evaluator<'_, '_, 't> {
    /// `*value`, or `value[index]`.
    pub(in crate::meaning) fn dereference(&mut self, value: &Value<'t>, index: Option<i64>) -> Value<'t> {
        let world = self.world();
        let resolved = world.resolve(&value.ty);
        let Some(pointee) = resolved.element().cloned() else {
            let is_function = matches!(resolved, Type::Function(_));
            return if is_function { value.clone() } else { Value::default() };
        };
        let is_array = matches!(resolved, Type::Array(..));
        let inner = world.resolve(&pointee);
        let sums = self.sums_of(value);
        if index != Some(0) {
            self.counted_on(value);
        }
        if !matches!(inner, Type::Record(_)) || !is_array {
            for sum in &sums {
                self.read_at(sum, &inner, index, &resolved);
            }
        }
        let has_content = sums.iter().any(|sum| matches!(sum.base, Some(Base::Content(_))));
        let place = match &inner {
            Type::Record(record) => {
                let own = Sum::object(record);
                let null = sums.iter().all(|sum| sum.base.is_none()) && !sums.is_empty();
                if null { sums } else { vec![own] }
            }
            _ => sums,
        };
        // Pointers in an array, or behind a pointer, are kept with it.
        let is_kept = match &inner {
            Type::Pointer(_) => !self.is_typed(&pointee),
            Type::Number(_, 8) | Type::Function(_) => true,
            _ => false,
        };
        let (name, member, kept) = match is_kept {
            true => (value.name, value.member, self.content(value)),
            false => (None, None, Vec::new()),
        };
        // An object's address comes out of a place by a type that isn't its own.
        if has_content && !kept.is_empty() {
            self.convert(&Value::sums(Type::Void.pointer(), kept.clone()), &pointee, false);
        }
        let mut found = Value { ty: pointee, place: Some(place), name, member, ..Value::default() };
        (found.sums, found.is_content) = (kept, is_kept);
        found
    }

    /// Values that an array keeps, or that are kept where a pointer points to.
    pub(in crate::meaning) fn content(&self, value: &Value<'t>) -> Vec<Sum<'t>> {
        let own = match value.name.and_then(|name| self.local(name)) {
            Some(local) => local.sums.clone(),
            None => value.sums.clone(),
        };
        own.iter().filter_map(Sum::content).collect()
    }

    fn read_at(&mut self, sum: &Sum<'t>, pointee: &Type<'t>, index: Option<i64>, ty: &Type<'t>) {
        let taken = if *pointee == Type::Byte { Type::Byte.pointer() } else { pointee.clone() };
        self.taken_behind(sum, &taken);
        if sum.base == Some(Base::Mapped(ANONYMOUS)) && !matches!(pointee, Type::Record(_)) {
            self.mapped_otherwise();
        }
        if let Some(Base::Behind(record)) = sum.base
            && (index.is_some_and(|index| index < 0) || sum.terms.iter().any(|(added, _)| !added))
        {
            return self.tell_whole(record, "its last bytes are found from its end".to_owned());
        }
        if sum.base == Some(Base::Escaped) && (index != Some(0) || !sum.terms.is_empty()) {
            for record in self.escaped_as(pointee) {
                let sum = Sum { base: Some(Base::Object(record)), terms: sum.terms.clone() };
                self.read_at(&sum, pointee, index, ty);
            }
        }
        let Some(Base::Object(record)) = sum.base else { return };
        if self.subject(record).is_none() || sum.subtracts() {
            return;
        }
        let is_record = matches!(pointee, Type::Record(_));
        let as_type = || format!("its bytes are read or written by number, as {}", spell(pointee));
        match sum.terms.as_slice() {
            [] if is_record || matches!(pointee, Type::Array(..) | Type::Unknown | Type::Void) => {}
            // The first bytes as something else are a cast, and told there.
            [] if index == Some(0) && *pointee != Type::Byte => {}
            [] if matches!(ty, Type::Array(..)) => {}
            [] => self.tell_whole(record, as_type()),
            [(true, Term::Offset(own, member))] if *own == record => {
                self.at_member(record, member, pointee, index)
            }
            [
                (true, Term::Offset(own, member)),
                (true, Term::Number(_) | Term::MemberSize(..) | Term::Size(_)),
            ] if *own == record && !self.is_array(record, member) => {
                self.walk(record, member);
            }
            [(true, Term::Offset(own, member)), (true, Term::Other)]
                if *own == record && index == Some(0) && !self.is_array(record, member) =>
            {
                self.walk(record, member);
            }
            [(true, Term::Offset(own, member)), (true, Term::Other)]
                if *own == record && index == Some(0) =>
            {
                let what = format!("elements of {} are counted without its end", lossy(member));
                self.beyond(record, member, what);
            }
            // With a larger type it is a member by an offset that somebody took of it.
            terms if terms.iter().any(|(_, term)| *term == Term::Stride) && sum.offsets().count() == 0 => {
                self.tell_whole(record, as_type())
            }
            [(true, Term::MemberSize(..) | Term::Size(_)), ..] if *pointee == Type::Byte => {
                self.tell_whole(record, as_type())
            }
            [(true, Term::Other)] if *pointee == Type::Byte => self.tell_whole(record, as_type()),
            [(true, Term::Number(_))] => self.tell_whole(record, as_type()),
            _ => {}
        }
    }

    pub(in crate::meaning) fn is_array(&self, record: &[u8], member: &[u8]) -> bool {
        let world = self.world();
        let ty = world.member(record, member).map(|ty| world.resolve(&ty));
        matches!(ty, Some(Type::Array(..) | Type::Unknown))
    }

    /// Elements counted from a member's address.
    fn at_member(&mut self, record: &'t [u8], member: &'t [u8], pointee: &Type<'t>, index: Option<i64>) {
        let world = self.world();
        let Some((_, subject)) = self.subject(record) else { return };
        let own = world.member(record, member).map(|ty| world.resolve(&ty)).unwrap_or_default();
        let size = subject.member(member).map_or(0, |member| member.size);
        let width = world.size(pointee).unwrap_or(1);
        let is_array = matches!(own, Type::Array(..));
        match index {
            Some(index) if index < 0 => {
                let number = subject.number(member).unwrap_or(0);
                let names: Vec<&[u8]> = [number.checked_sub(1), Some(number)]
                    .into_iter()
                    .flatten()
                    .filter_map(|number| subject.label(number))
                    .map(|name| name.as_bytes())
                    .collect();
                let what = format!("bytes in front of {} are read or written", lossy(member));
                self.tell_pins(record, &names, what);
            }
            Some(0) => {}
            Some(index) => {
                let end = u64::try_from(index).unwrap_or(0).saturating_add(1).saturating_mul(width);
                let is_tail = subject
                    .members
                    .last()
                    .is_some_and(|last| last.names.iter().any(|name| name.as_bytes() == member));
                if end > size && !(is_array && is_tail) && (size > 0) && !matches!(own, Type::Unknown) {
                    self.walk(record, member);
                }
            }
            None if is_array || matches!(own, Type::Unknown) => {}
            None => self.walk(record, member),
        }
    }

    /// Members in a row are walked as an array.
    pub(in crate::meaning) fn walk(&mut self, record: &'t [u8], member: &'t [u8]) {
        let world = self.world();
        let Some((_, subject)) = self.subject(record) else { return };
        let Some(first) = subject.number(member) else {
            return self.tell_whole(record, "code walks from member to member".to_owned());
        };
        let ty_of = |number: usize| {
            let name = subject.label(number)?;
            let ty = world.resolve(&world.member(record, name.as_bytes())?);
            Some(match ty {
                Type::Array(inner, _) => world.resolve(&inner),
                ty => ty,
            })
        };
        let own = ty_of(first);
        let before = (0..first).rev().take_while(|number| own.is_some() && ty_of(*number) == own).count();
        let similar = (first..subject.members.len())
            .take_while(|number| own.is_some() && ty_of(*number) == own)
            .count();
        let end = if similar + before > 1 { first + similar } else { subject.members.len() };
        // One more place behind keeps others from coming between.
        let members: Vec<usize> = (first - before..end.min(subject.members.len())).collect();
        let what = format!("code walks on from {} to the members behind it", lossy(member));
        self.tell(record, UseDemand::Boundary, members, what);
    }

    /// `--value`, from the end of an object on.
    pub(in crate::meaning) fn walked_back(&mut self, value: &Value<'t>) {
        if matches!(self.world().pointee(&value.ty), Some(Type::Record(_))) {
            return;
        }
        for sum in self.sums_of(value) {
            if let Some(Base::Behind(record)) = sum.base {
                self.tell_whole(record, "its last bytes are found from its end".to_owned());
            }
        }
    }

    /// `value++`
    pub(in crate::meaning) fn walked(&mut self, value: &Value<'t>) {
        let single = Value::sums(Type::Number(b"int", 4), vec![number_sum(1)]);
        self.stepped(value, &single, true);
    }

    /// `value += number`
    pub(in crate::meaning) fn stepped(&mut self, value: &Value<'t>, number: &Value<'t>, added: bool) {
        let world = self.world();
        let Some(pointee) = world.pointee(&value.ty) else { return };
        if matches!(pointee, Type::Record(_)) {
            return self.counted_on(value);
        }
        let takes_offset = number.sums.iter().any(|sum| sum.offsets().count() > 0);
        for sum in self.sums_of(value) {
            let Some(Base::Object(record)) = sum.base else { continue };
            match sum.terms.as_slice() {
                [] if !takes_offset && !matches!(pointee, Type::Void | Type::Unknown) => {
                    let what = format!("its bytes are passed one after another, as {}", spell(&pointee));
                    self.tell_whole(record, what);
                }
                [(true, Term::Offset(own, member))]
                    if *own == record
                        && pointee == Type::Byte
                        && !self.is_array(record, member)
                        && !takes_offset =>
                {
                    let what = format!("bytes are passed one after another from {} on", lossy(member));
                    self.tell_from(record, member, what);
                }
                terms
                    if pointee == Type::Byte
                        && !takes_offset
                        && sum.offsets().count() == 0
                        && !sum.subtracts()
                        && !terms.is_empty() =>
                {
                    self.tell_whole(record, "its bytes are passed one after another".to_owned());
                }
                [(true, Term::Offset(own, member))]
                    if *own == record && !self.is_array(record, member) && !takes_offset && added =>
                {
                    self.walk(record, member);
                }
                _ => {}
            }
        }
        if let Some(name) = value.name {
            let grown: Vec<Sum<'t>> = self.sum_of_both(value, number, added);
            self.assign(name, &grown);
        }
    }

    fn sum_of_both(&mut self, value: &Value<'t>, number: &Value<'t>, added: bool) -> Vec<Sum<'t>> {
        let sums = self.sums_of(value);
        let terms = if number.sums.is_empty() { vec![Sum::term(Term::Other)] } else { number.sums.clone() };
        let all = sums.iter().flat_map(|sum| terms.iter().map(move |term| sum.plus(term, added)));
        all.filter(|sum| sum.offsets().count() > 0 || sum.base.is_none()).collect()
    }
}
