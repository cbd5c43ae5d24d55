//! What is done with addresses in objects: casts, steps, comparisons.

use super::evaluator::Evaluator;
use super::expression::{constant, decayed, lossy};
use super::types::Type;
use super::value::{Base, Sum, Term, Value};
use crate::uses::UseDemand;

impl<'t> Evaluator<'_, '_, 't> {
    /// A value given another type. `is_cast`: by a cast, else by an assignment or as an argument.
    pub(super) fn convert(&mut self, value: &Value<'t>, ty: &Type<'t>, is_cast: bool) -> Value<'t> {
        let world = self.world();
        let target = world.resolve(ty);
        if let Some(function) =
            value.call.filter(|_| is_cast && value.is_function()).and_then(|name| world.functions.get(name))
        {
            let records = function.parameters.iter().filter_map(|(_, ty)| match world.pointee(ty) {
                Some(Type::Record(record)) => Some(Sum::object(record)),
                _ => None,
            });
            let records: Vec<Sum<'t>> = records.collect();
            self.keep(super::evaluator::Slot::Global(b"(cast)"), &records);
        }
        let sums = self.sums_of(value);
        let Some(to) = target.element().map(|element| world.resolve(element)) else {
            // Numbers keep what they count.
            return Value {
                ty: if target == Type::Unknown { value.ty.clone() } else { target },
                sums,
                call: value.call,
                ..Value::default()
            };
        };
        // What may be what is wanted is taken to be that.
        let is_explained = |sum: &Sum<'t>| matches!((&to, sum.base), (Type::Record(wanted), Some(Base::Object(own))) if *wanted == own && sum.terms.is_empty());
        let is_pointer = world.resolve(&value.ty).element().is_some();
        let is_kept = value.member.is_some();
        // A member of what isn't known was only guessed by its name: without a cast it has the type it is given to.
        let is_guess = !is_cast && matches!(value.member, Some((b"", _)));
        if !is_guess && !(is_kept && sums.iter().any(is_explained)) {
            for sum in &sums {
                self.judge(sum, &to, is_cast);
            }
            if let Type::Record(record) = to {
                self.bytes_as(value, &sums, record, is_cast, is_pointer);
            }
        }
        let keeps = match &to {
            Type::Record(_) => sums.iter().all(|sum| sum.base.is_none()) && sums.len() == 1 && !is_pointer,
            _ => true,
        };
        let sums = if keeps { sums } else { Vec::new() };
        Value { ty: target, sums, call: value.call, ..Value::default() }
    }

    /// Bytes or a fixed address taken for an object.
    fn bytes_as(
        &mut self,
        value: &Value<'t>,
        sums: &[Sum<'t>],
        record: &'t [u8],
        is_cast: bool,
        is_pointer: bool,
    ) {
        let pointee = self.world().pointee(&value.ty);
        if is_cast && is_pointer && sums.is_empty() && pointee == Some(Type::Byte) {
            return self.tell_whole(record, "bytes are taken for it by a cast".to_owned());
        }
        if is_cast
            && is_pointer
            && let Some(Type::Number(..)) = pointee
            && !sums.iter().any(|sum| sum.base.is_some())
        {
            let is_array = matches!(self.world().resolve(&value.ty), Type::Array(..));
            return match is_array {
                true => self.tell_whole(record, "an array of numbers is taken for it".to_owned()),
                false => self.tell(
                    record,
                    UseDemand::First,
                    Vec::new(),
                    "a pointer to a number is taken for one to it".to_owned(),
                ),
            };
        }
        if is_cast && !is_pointer && constant(value).is_some_and(|number| number != 0) {
            self.tell_whole(record, "memory at a fixed address is taken for it".to_owned());
        }
    }

    fn judge(&mut self, sum: &Sum<'t>, to: &Type<'t>, is_cast: bool) {
        match (sum.base, sum.terms.as_slice()) {
            (Some(Base::Object(record)), []) => self.start(record, to, is_cast),
            (Some(Base::Object(record)), [(true, Term::Offset(own, member))]) if record == *own => {
                self.inside(record, member, to, is_cast);
            }
            // Back or on by sizes that somebody has added up.
            (Some(Base::Object(record)), terms)
                if terms.len() > 1 && !sum.subtracts() && !sum.has_other() =>
            {
                if let Type::Record(wanted) = to {
                    let what = "a number of bytes leads from a member to a struct";
                    self.tell_whole(record, what.to_owned());
                    self.tell_whole(wanted, what.to_owned());
                }
            }
            (Some(Base::Bytes), _) => {
                if let Type::Record(wanted) = to {
                    self.tell_whole(wanted, "bytes are taken for it".to_owned());
                }
            }
            (Some(Base::Mapped(function)), _) => {
                if let Type::Record(wanted) = to {
                    self.tell_whole(wanted, format!("memory that {} gives is taken for it", lossy(function)));
                }
            }
            _ => {}
        }
    }

    /// The beginning of an object taken for something else.
    fn start(&mut self, record: &'t [u8], to: &Type<'t>, is_cast: bool) {
        match to {
            Type::Record(wanted) => self.records(record, wanted, is_cast),
            Type::Number(..) | Type::Pointer(_) => {
                if let Some(first) = self.world().first_record(record) {
                    self.start(first, to, is_cast);
                }
                let Some((_, subject)) = self.subject(record) else { return };
                let size = self.world().size(to).unwrap_or(u64::MAX);
                let covered = subject.members.iter().take_while(|member| member.offset < size);
                let count = covered.count().max(1);
                let what = format!("a pointer to it is taken for a pointer to {}", spell(to));
                self.tell(record, UseDemand::Positions(count), Vec::new(), what);
            }
            Type::Named(name) if is_cast => {
                let what = format!("a pointer to it is cast to {}, which is declared elsewhere", lossy(name));
                self.tell_whole(record, what);
            }
            Type::Array(inner, _) => self.start(record, &self.world().resolve(inner), is_cast),
            _ => {}
        }
    }

    fn records(&mut self, record: &'t [u8], wanted: &'t [u8], is_cast: bool) {
        if record == wanted {
            return;
        }
        let world = self.world();
        let what =
            || format!("a pointer to struct {} is taken for one to struct {}", lossy(record), lossy(wanted));
        let has_base = |name: &[u8]| world.records.get(name).is_some_and(|known| known.has_base);
        if has_base(record) || has_base(wanted) {
            return;
        }
        if world.begins_with(record, wanted) {
            return self.tell(record, UseDemand::First, Vec::new(), what());
        }
        if world.begins_with(wanted, record) {
            return self.tell(wanted, UseDemand::First, Vec::new(), what());
        }
        match world.common_prefix(record, wanted) {
            Some(0) if !is_cast => {}
            Some(0) => {
                self.tell_whole(record, what());
                self.tell_whole(wanted, what());
            }
            Some(count) => {
                for name in [record, wanted] {
                    self.tell(name, UseDemand::Positions(count), Vec::new(), what());
                }
            }
            // A type that nobody defines is a handle.
            None if self.is_handle(record) || self.is_handle(wanted) => {}
            None => {
                self.tell_whole(record, what());
                self.tell_whole(wanted, what());
            }
        }
    }

    fn is_handle(&self, record: &[u8]) -> bool {
        let world = self.world();
        world.is_complete && !world.records.contains_key(record) && world.declared.contains(record)
    }

    /// A member taken for something else.
    fn inside(&mut self, record: &'t [u8], member: &'t [u8], to: &Type<'t>, is_cast: bool) {
        if self.subject(record).is_none() && !matches!(to, Type::Record(_)) {
            return;
        }
        let world = self.world();
        let own = world.member(record, member).map(|ty| world.resolve(&ty)).unwrap_or_default();
        let mut element = own.clone();
        while let Type::Array(inner, _) = &element {
            element = world.resolve(inner);
        }
        let size = self.subject(record).and_then(|(_, subject)| Some(subject.member(member)?.size));
        match (&element, to) {
            (_, Type::Byte | Type::Void | Type::Unknown | Type::Function(_)) | (Type::Unknown, _) => {}
            (Type::Record(inner), Type::Record(wanted)) => {
                if inner != wanted && !matches!(own, Type::Array(..)) && world.begins_with(wanted, inner) {
                    let what =
                        format!("{} is taken for the beginning of a struct {}", lossy(member), lossy(wanted));
                    self.tell_from(record, member, what);
                }
            }
            (Type::Byte, Type::Record(wanted)) if matches!(own, Type::Array(..)) => {
                // A tail of bytes holds what its users put there.
                if is_cast {
                    self.tell_whole(wanted, format!("bytes of {} are taken for it", lossy(member)));
                }
            }
            (_, Type::Record(_)) if is_cast && !matches!(element, Type::Record(_) | Type::Byte) => {
                let what = format!("{} is taken for the beginning of a struct", lossy(member));
                self.tell_from(record, member, what);
            }
            (_, Type::Number(_, wide)) if size.is_some_and(|size| u64::from(*wide) > size && size > 0) => {
                let what = format!("more bytes than those of {} are read or written there", lossy(member));
                self.tell_from(record, member, what);
            }
            _ => {}
        }
    }

    /// `*value`, or `value[index]`.
    pub(super) fn dereference(&mut self, value: &Value<'t>, index: Option<i64>) -> Value<'t> {
        let world = self.world();
        let resolved = world.resolve(&value.ty);
        let Some(pointee) = resolved.element().cloned() else {
            let is_function = matches!(resolved, Type::Function(_));
            return if is_function { value.clone() } else { Value::default() };
        };
        let is_array = matches!(resolved, Type::Array(..));
        let inner = world.resolve(&pointee);
        let sums = self.sums_of(value);
        if !matches!(inner, Type::Record(_)) || !is_array {
            for sum in &sums {
                self.read_at(sum, &inner, index, &resolved);
            }
        }
        let place = match &inner {
            Type::Record(record) => {
                let own = Sum::object(record);
                let null = sums.iter().all(|sum| sum.base.is_none()) && !sums.is_empty();
                if null { sums } else { vec![own] }
            }
            _ => sums,
        };
        Value { ty: pointee, place: Some(place), ..Value::default() }
    }

    fn read_at(&mut self, sum: &Sum<'t>, pointee: &Type<'t>, index: Option<i64>, ty: &Type<'t>) {
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
            ] if *own == record => {
                if !self.is_array(record, member) {
                    self.walk(record, member);
                }
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

    fn is_array(&self, record: &[u8], member: &[u8]) -> bool {
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
    fn walk(&mut self, record: &'t [u8], member: &'t [u8]) {
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
        let alike = (first..subject.members.len())
            .take_while(|number| own.is_some() && ty_of(*number) == own)
            .count();
        let end = if alike + before > 1 { first + alike } else { subject.members.len() };
        // One more place behind keeps others from coming between.
        let members: Vec<usize> = (first - before..end.min(subject.members.len())).collect();
        let what = format!("code walks on from {} to the members behind it", lossy(member));
        self.tell(record, UseDemand::Boundary, members, what);
    }

    /// `value++`
    pub(super) fn walked(&mut self, value: &Value<'t>) {
        let one = Value::sums(Type::Number(b"int", 4), vec![super::expression::number_sum(1)]);
        self.stepped(value, &one, true);
    }

    /// `value += number`
    pub(super) fn stepped(&mut self, value: &Value<'t>, number: &Value<'t>, added: bool) {
        let world = self.world();
        let Some(pointee) = world.pointee(&value.ty) else { return };
        if matches!(pointee, Type::Record(_)) {
            return;
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

    /// A number added to a pointer.
    pub(super) fn added(&mut self, pointer: &Value<'t>, number: &Value<'t>, _added: bool) {
        let _ = (pointer, number, decayed(&pointer.ty));
    }

    /// Addresses of two members whose difference is taken.
    pub(super) fn distances(&mut self, sums: &[Sum<'t>]) {
        for sum in sums {
            let mut offsets = sum.offsets().filter(|(_, record, _)| self.subject(record).is_some());
            let (Some((one, record, first)), Some((other, second_record, second))) =
                (offsets.next(), offsets.next())
            else {
                continue;
            };
            if one != other && record == second_record && first != second {
                drop(offsets);
                let what = format!(
                    "the bytes from {} to {} are counted",
                    lossy(if one { second } else { first }),
                    lossy(if one { first } else { second })
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
    pub(super) fn compare(&mut self, left: &Value<'t>, right: &Value<'t>, is_equality: bool) {
        let mut addresses: Vec<(&'t [u8], &'t [u8])> = Vec::new();
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
        if self.context == super::evaluator::Context::Constant {
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
        if let [(record, first), (other, second)] = addresses.as_slice()
            && record == other
            && first != second
            && !is_equality
        {
            let what = format!("the addresses of {} and {} are compared", lossy(first), lossy(second));
            self.tell_pins(record, &[first, second], what);
        }
    }

    /// Tells the offsets that a statement compared.
    pub(super) fn flush_compared(&mut self) {
        let compared = std::mem::take(&mut self.compared);
        for (record, member, has_size) in &compared {
            let is_inside = compared
                .iter()
                .any(|(own, other, size)| own == record && other == member && size != has_size);
            if !is_inside {
                self.tell_pins(
                    record,
                    &[member],
                    format!("a number is compared with the offset of {}", lossy(member)),
                );
            }
        }
    }

    /// An offset that a number of the program is made of.
    pub(super) fn constant_offset(&mut self, sum: &Sum<'t>) {
        for (_, record, member) in sum.offsets().collect::<Vec<_>>() {
            let number = self.subject(record).and_then(|(_, subject)| subject.number(member));
            let Some(number) = number else { continue };
            let what = format!("the offset of {} is a constant that is relied on", lossy(member));
            self.tell(record, UseDemand::Offset, vec![number], what);
        }
    }
}

/// A type for messages.
pub(super) fn spell(ty: &Type<'_>) -> String {
    match ty {
        Type::Byte => "bytes".to_owned(),
        Type::Number(name, _) | Type::Named(name) => lossy(name),
        Type::Record(name) => format!("struct {}", lossy(name)),
        Type::Pointer(_) => "a pointer".to_owned(),
        _ => "another type".to_owned(),
    }
}
